"""docs/upgrading.md describes every migration, and CHANGELOG.md every version."""

import re
from pathlib import Path

import pytest

from bowerbird import __version__
from bowerbird.storage.migrations import available

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "upgrading.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_every_migration_has_one_line_in_the_table(dialect: str) -> None:
    rows = re.findall(r"^\| `(\d{4}_\w+)` \| (yes|no)\b[^|]* \| ([^|]+\.) \|", PAGE, re.MULTILINE)
    expected = [
        (migration.name.removesuffix(".sql"), "yes" if migration.is_compatible else "no")
        for migration in available(dialect)
    ]

    assert [(name, is_compatible) for name, is_compatible, _ in rows] == expected


def test_every_version_is_an_entry_of_the_changelog_with_a_date() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entries = re.findall(r"^## (.+)$", changelog, re.MULTILINE)

    dated = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)", one) for one in entries]
    assert None not in dated
    versions = [tuple(map(int, one.groups()[:3])) for one in dated if one]
    assert versions == sorted(set(versions), reverse=True)
    assert entries[0].startswith(f"[{__version__}] ")
    assert versions[-1] == (0, 2, 0)
