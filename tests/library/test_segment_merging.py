"""Segments of the word index are merged in the background, and searches find the same."""

import pytest

from bowerbird.library.upkeep.corrections import SegmentMerging
from bowerbird.storage.bookmarks.word_index import WordSegments
from bowerbird.storage.database import Database
from tests.support import service
from tests.support.service import Member

pytestmark = pytest.mark.anyio

SEGMENTS = "SELECT count(DISTINCT segid) FROM keyword_idx"


async def segments(database: Database) -> int:
    return int((await database.rows(SEGMENTS, {}))[0][0])


async def save_some(member: Member, first: int) -> None:
    """In transactions of their own, each of which adds a segment."""
    for number in range(first, first + 11):
        await member.save(text=f"apple number{number} nest{number % 3}")


async def test_segments_are_merged(sqlite: Database) -> None:
    built = await service.build(sqlite)
    await save_some(built.alice, 0)
    await save_some(built.bob, 0)
    before = await segments(sqlite)

    await SegmentMerging(sqlite, pause_s=0).run()

    assert before > 3
    assert await segments(sqlite) <= 2
    assert not await WordSegments(sqlite).merge()


async def test_a_deleted_post_is_not_found_after_a_merge(sqlite: Database) -> None:
    alice = (await service.build(sqlite)).alice
    await save_some(alice, 0)
    kept = await alice.ids(q="nest1")
    details = {**(post := await alice.save(text="nest1"))["tweet_details"], "text": "banana"}
    await alice.save_all([{**post, "tweet_details": details}])

    await SegmentMerging(sqlite, pause_s=0).run()

    assert await alice.ids(q="nest1") == kept
    assert await alice.ids(q="banana") == [post["post_id"]]
