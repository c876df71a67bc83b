"""docs/upgrading.md describes every migration, and says truly whether it is compatible."""

import re
from pathlib import Path

import pytest

from bowerbird.storage.migrations import available

PAGE = (Path(__file__).parents[2] / "docs" / "upgrading.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_every_migration_has_one_line_in_the_table(dialect: str) -> None:
    rows = re.findall(r"^\| `(\d{4}_\w+)` \| (yes|no)\b[^|]* \| ([^|]+\.) \|", PAGE, re.MULTILINE)
    expected = [
        (migration.name.removesuffix(".sql"), "yes" if migration.is_compatible else "no")
        for migration in available(dialect)
    ]

    assert [(name, is_compatible) for name, is_compatible, _ in rows] == expected
