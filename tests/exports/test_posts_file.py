"""The file of posts is a JSON array, and is read back a page at a time."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from bowerbird.exports.posts_file import framed, pages
from bowerbird.model.bookmarks import Bookmark
from tests.exports.files import bookmark, posts_file

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("count", [0, 1, 3, 7])
async def test_it_is_one_json_array_of_the_posts(tmp_path: Path, count: int) -> None:
    posts = [bookmark(text=f"line\nbreak {number}") for number in range(count)]

    file = await posts_file(tmp_path, posts)

    assert json.loads(file.read_bytes()) == posts


async def test_a_reader_holds_one_page_at_a_time(tmp_path: Path) -> None:
    file = await posts_file(tmp_path, [bookmark() for _ in range(7)], page=3)

    assert [len(page) for page in pages(file, Bookmark)] == [3, 3, 1]


async def test_pages_without_posts_leave_no_trace() -> None:
    async def given() -> AsyncIterator[bytes]:
        for page in (b"", b"{}", b"", b"{},{}", b""):
            yield page

    text = b"".join([piece async for piece in framed(given())])

    assert text == b"[\n{},\n{},{}\n]\n"


async def test_another_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "posts.json"
    file.write_bytes(b"[\n{]\n]\n")

    with pytest.raises(msgspec.MsgspecError):
        list(pages(file, Bookmark))
