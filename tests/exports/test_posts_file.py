"""The file of posts is a JSON array that is read one page at a time; the formats are documented."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from bowerbird.exports.csv_file import COLUMNS
from bowerbird.exports.tasks import (
    FORMATS,
    ZIPPED_VOLUMES,
    ProcessLimits,
    read_pages,
    to_json_array,
)
from bowerbird.exports.volumes import MAX_POSTS
from bowerbird.exports.writer import write_export
from bowerbird.model.posts.bookmarks import Bookmark
from tests.exports.files import Progress, bookmark, document_info, posts_file

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("count", [0, 1, 3, 7])
async def test_the_file_is_a_json_array_of_the_posts(tmp_path: Path, count: int) -> None:
    posts = [bookmark(text=f"line\nbreak {number}") for number in range(count)]

    file = await posts_file(tmp_path, posts)

    assert json.loads(file.read_bytes()) == posts


async def test_a_reader_gets_one_page_at_a_time(tmp_path: Path) -> None:
    file = await posts_file(tmp_path, [bookmark() for _ in range(7)], page=3)

    assert [len(page) for page in read_pages(file, Bookmark)] == [3, 3, 1]


async def test_empty_pages_are_left_out() -> None:
    async def pages() -> AsyncIterator[bytes]:
        for page in (b"", b"{}", b"", b"{},{}", b""):
            yield page

    text = b"".join([piece async for piece in to_json_array(pages())])

    assert text == b"[\n{},\n{},{}\n]\n"


async def test_a_file_with_other_content_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "posts.json"
    file.write_bytes(b"[\n{]\n]\n")

    with pytest.raises(msgspec.MsgspecError):
        list(read_pages(file, Bookmark))


@pytest.mark.parametrize("format", ["csv", "pdf", "markdown", "netscape"])
async def test_a_value_that_is_nested_too_deeply_is_left_out(tmp_path: Path, format: str) -> None:
    posts = [bookmark(text="before"), bookmark(text="deep", article={"x": "here"}), bookmark()]
    file = await posts_file(tmp_path, posts)
    deep = b"[" * 20_000 + b"]" * 20_000
    file.write_bytes(file.read_bytes().replace(b'"here"', deep))

    written = await write_export(format, file, tmp_path, document_info(3), Progress())

    assert written.path.stat().st_size > 0
    if format == "csv":
        content = written.path.read_bytes()
        assert content.count(b"\r\n") == 4
        assert b'"before"' in content
        assert b'"deep"' in content


@pytest.mark.parametrize("sizes", [[1], [700] * 5, [5_000_000, 10, 9_000_000], [4_194_250] * 3])
def test_pages_of_any_size_are_read(tmp_path: Path, sizes: list[int]) -> None:
    posts = [{"text": "x" * size + ",\n["} for size in sizes]
    file = tmp_path / "posts.json"
    pages = [msgspec.json.encode(post) for post in posts]
    file.write_bytes(b"[\n" + b",\n".join(pages) + b"\n]\n")

    assert list(read_pages(file, dict)) == [[post] for post in posts]


def test_a_file_that_was_cut_off_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "posts.json"
    file.write_bytes(b'[\n{"text":"one"},\n{"text":"tw')

    with pytest.raises(msgspec.MsgspecError):
        list(read_pages(file, dict))


ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "export-formats.md").read_text(encoding="utf-8")


def test_every_column_is_documented() -> None:
    assert [column for column in COLUMNS if f"`{column}`" not in PAGE] == []


def test_every_file_suffix_is_documented() -> None:
    suffixes = [format.suffix for format in (*FORMATS.values(), ZIPPED_VOLUMES)]

    assert [suffix for suffix in suffixes if f"`{suffix}`" not in PAGE] == []


def test_the_limits_are_documented() -> None:
    assert f"{ProcessLimits().memory_mib:,} MiB of memory" in PAGE
    assert f"{ProcessLimits().cpu_s} seconds of CPU" in PAGE
    assert f"More than {MAX_POSTS:,} posts" in PAGE
