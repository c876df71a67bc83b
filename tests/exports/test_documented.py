"""docs/export-formats.md matches the code, and the package includes the template."""

from pathlib import Path

import pytest

from bowerbird.exports.csv_file import COLUMNS
from bowerbird.exports.formats import FORMATS, ZIPPED_VOLUMES
from bowerbird.exports.tasks import ProcessLimits
from bowerbird.exports.volumes import MAX_POSTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "export-formats.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("column", COLUMNS)
def test_every_column_is_documented(column: str) -> None:
    assert f"`{column}`" in PAGE


@pytest.mark.parametrize("format", [*FORMATS.values(), ZIPPED_VOLUMES])
def test_every_file_suffix_is_documented(format: tuple[str, str]) -> None:
    assert f"`{format[1]}`" in PAGE


def test_the_limits_are_documented() -> None:
    assert f"{ProcessLimits().memory_mib:,} MiB of memory" in PAGE
    assert f"{ProcessLimits().cpu_s} seconds of CPU" in PAGE
    assert f"More than {MAX_POSTS:,} posts" in PAGE


def test_the_template_is_in_the_package() -> None:
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert '"bowerbird.exports" = ["*.typ"]' in declared
