"""docs/export-formats.md matches the code, and the package includes the template."""

from pathlib import Path

from bowerbird.exports.csv_file import COLUMNS
from bowerbird.exports.tasks import FORMATS, ZIPPED_VOLUMES, ProcessLimits
from bowerbird.exports.volumes import MAX_POSTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "export-formats.md").read_text(encoding="utf-8")


def test_every_column_is_documented() -> None:
    assert [column for column in COLUMNS if f"`{column}`" not in PAGE] == []


def test_every_file_suffix_is_documented() -> None:
    suffixes = [suffix for _, suffix in (*FORMATS.values(), ZIPPED_VOLUMES)]

    assert [suffix for suffix in suffixes if f"`{suffix}`" not in PAGE] == []


def test_the_limits_are_documented() -> None:
    assert f"{ProcessLimits().memory_mib:,} MiB of memory" in PAGE
    assert f"{ProcessLimits().cpu_s} seconds of CPU" in PAGE
    assert f"More than {MAX_POSTS:,} posts" in PAGE


def test_the_template_is_in_the_package() -> None:
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert '"bowerbird.exports" = ["*.typ"]' in declared
