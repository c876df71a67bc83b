"""GET /v1/bookmarks."""

import pytest

from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def test_lists_newest_first(alice: Member) -> None:
    older = await alice.save(sort_index=1)
    newer = await alice.save(sort_index=2)

    assert await alice.ids() == [newer["post_id"], older["post_id"]]


async def test_q_finds_words(alice: Member) -> None:
    first = await alice.save(text="Die Katze liegt auf der Matte", author="eve")
    other = await alice.save(text="unrelated words")
    second = await alice.save(text="noch eine KATZE")

    assert await alice.ids(q="katze") == [second["post_id"], first["post_id"]]
    assert await alice.ids(q="katze -matte") == [second["post_id"]]
    assert await alice.ids(q="katze", sort_by="relevance") == [second["post_id"], first["post_id"]]
    assert await alice.ids(q="katze", sort_by="posted_at", author="eve") == [first["post_id"]]
    assert (await alice.listed(q="katze", limit=1))["meta"]["total_count"] == 2
    assert await alice.crawl(q="katze", limit=1) == [second["post_id"], first["post_id"]]
    assert await alice.ids(q="-katze") == [other["post_id"]]
