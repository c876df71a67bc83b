"""docs/export-formats.md says what the writers do, and the package brings what they need."""

from pathlib import Path

from bowerbird.exports.arranging import MOST_POSTS
from bowerbird.exports.csv_file import COLUMNS
from bowerbird.exports.formats import FORMATS, VOLUMES
from bowerbird.exports.tasks import Limits

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "export-formats.md").read_text(encoding="utf-8")


def test_every_column_is_documented() -> None:
    assert [column for column in COLUMNS if f"`{column}`" not in PAGE] == []


def test_every_kind_of_file_is_documented() -> None:
    suffixes = [suffix for _, suffix in (*FORMATS.values(), VOLUMES)]

    assert [suffix for suffix in suffixes if f"`{suffix}`" not in PAGE] == []


def test_the_limits_are_documented() -> None:
    assert f"{Limits().memory_mib:,} MiB of memory" in PAGE
    assert f"{Limits().cpu_s} seconds of CPU" in PAGE
    assert f"More than {MOST_POSTS:,} posts" in PAGE


def test_the_template_is_in_the_package() -> None:
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert '"bowerbird.exports" = ["*.typ"]' in declared
