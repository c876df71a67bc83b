"""A large export is split into volumes of limited size."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from bowerbird.exports.posts_file import Picture
from bowerbird.exports.volumes import MAX_POSTS, PostIndex
from tests.exports.documents import Document
from tests.exports.files import bookmark, export


def numbered(number: int, **fields: Any) -> dict[str, Any]:
    month = 1 + number // 1_000
    return bookmark(text=f"n{number}", bookmarked_at=f"2026-{month:02}-01T00:00:00+00:00", **fields)


def volumes(posts: list[dict[str, Any]]) -> list[list[list[int]]]:
    index = PostIndex()
    index.add([Raw(json.dumps(post).encode()) for post in posts])
    return list(index.volumes())


def counts(posts: list[dict[str, Any]]) -> list[int]:
    return [sum(map(len, volume)) for volume in volumes(posts)]


def test_more_posts_than_one_document_has_are_split_into_volumes() -> None:
    posts = [numbered(number) for number in range(MAX_POSTS + 1)]
    assert counts(posts[:-1]) == [MAX_POSTS]

    found = volumes(posts)

    assert [sum(map(len, volume)) for volume in found] == [2_000, 2_000, 1_001]
    numbers = [number for volume in found for thread in volume for number in thread]
    assert sorted(numbers) == list(range(MAX_POSTS + 1))


def test_volumes_of_long_texts_contain_few_posts() -> None:
    long = {"title": "T", "plain_text": "x" * 600_000}

    assert counts([numbered(number, article=long) for number in range(9)]) == [2, 2, 2, 2, 1]


def test_a_very_long_conversation_does_not_exceed_the_size_of_a_volume() -> None:
    meta = {"tweet_conversation_id": "1"}

    assert max(counts([numbered(number, meta=meta) for number in range(6_000)])) <= 2_000


@pytest.mark.slow
def test_a_large_export_is_a_zip_of_documents(tmp_path: Path) -> None:
    written = export("pdf", tmp_path, [numbered(number) for number in range(MAX_POSTS + 1)])

    assert (written.media_type, written.suffix) == ("application/zip", ".zip")
    with zipfile.ZipFile(written.path) as archive:
        assert archive.namelist() == [
            "volume-1-of-3-2026-06-to-2026-04.pdf",
            "volume-2-of-3-2026-04-to-2026-02.pdf",
            "volume-3-of-3-2026-02-to-2026-01.pdf",
        ]
        archive.extract("volume-3-of-3-2026-02-to-2026-01.pdf", tmp_path)
    found = Document(tmp_path / "volume-3-of-3-2026-02-to-2026-01.pdf")
    assert "Volume 3 of 3" in found.pages[0]
    assert "1,001" in found.pages[0]
    assert found.bookmarks == ["Contents", "February 2026", "January 2026"]


def test_many_large_pictures_make_several_volumes() -> None:
    urls = [f"https://pbs.twimg.com/{number}" for number in range(300)]
    pictures = {url: Picture("x", 2_000, 1_000) for url in urls}
    posts = [
        Raw(json.dumps(bookmark(attachments=[{"type": "image", "url": url}])).encode())
        for url in urls
    ]
    with_pictures, without = PostIndex(pictures), PostIndex()
    for index in (with_pictures, without):
        index.add(posts)

    assert len(list(without.volumes())) == 1
    volumes = list(with_pictures.volumes())
    assert len(volumes) > 5
    # Two million pixels each: 8 MB of memory.
    assert max(sum(map(len, volume)) for volume in volumes) * 8 < 400
