"""More posts than one document holds come in volumes, each no larger than it should be."""

import json
import zipfile
from pathlib import Path
from typing import Any

from msgspec import Raw

from bowerbird.exports.arranging import MOST_POSTS, Places
from tests.exports.documents import Document
from tests.exports.files import bookmark, export


def saved(number: int, **fields: Any) -> dict[str, Any]:
    month = 1 + number // 1_000
    return bookmark(text=f"n{number}", bookmarked_at=f"2026-{month:02}-01T00:00:00+00:00", **fields)


def volumes(posts: list[dict[str, Any]]) -> list[list[list[int]]]:
    places = Places()
    places.add([Raw(json.dumps(post).encode()) for post in posts])
    return list(places.volumes())


def counts(posts: list[dict[str, Any]]) -> list[int]:
    return [sum(map(len, volume)) for volume in volumes(posts)]


def test_as_many_as_a_document_holds_are_one() -> None:
    assert counts([saved(number) for number in range(MOST_POSTS)]) == [MOST_POSTS]


def test_one_more_makes_volumes() -> None:
    assert counts([saved(number) for number in range(MOST_POSTS + 1)]) == [2_000, 2_000, 1_001]


def test_long_texts_make_volumes_of_few_posts() -> None:
    long = {"title": "T", "plain_text": "x" * 600_000}

    assert counts([saved(number, article=long) for number in range(9)]) == [2, 2, 2, 2, 1]


def test_a_conversation_without_end_fills_no_volume_too_far() -> None:
    meta = {"tweet_conversation_id": "1"}

    assert max(counts([saved(number, meta=meta) for number in range(6_000)])) <= 2_000


def test_every_post_is_in_one_volume_once() -> None:
    found = volumes([saved(number) for number in range(5_500)])

    numbers = [number for volume in found for thread in volume for number in thread]
    assert sorted(numbers) == list(range(5_500))


def test_a_large_export_is_a_zip_of_documents(tmp_path: Path) -> None:
    made = export("pdf", tmp_path, [saved(number) for number in range(MOST_POSTS + 1)])

    assert (made.media_type, made.suffix) == ("application/zip", ".zip")
    with zipfile.ZipFile(made.path) as packed:
        assert packed.namelist() == [
            "volume-1-of-3-2026-06-to-2026-04.pdf",
            "volume-2-of-3-2026-04-to-2026-02.pdf",
            "volume-3-of-3-2026-02-to-2026-01.pdf",
        ]
        packed.extract("volume-3-of-3-2026-02-to-2026-01.pdf", tmp_path)
    found = Document(tmp_path / "volume-3-of-3-2026-02-to-2026-01.pdf")
    assert "Volume 3 of 3" in found.pages[0]
    assert "1,001" in found.pages[0]
    assert found.bookmarks == ["Contents", "February 2026", "January 2026"]
