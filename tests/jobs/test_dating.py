"""Posts that an earlier release stored without a time get one in the background.

`check` does not report them, nor those that it stored without the article that they quote.
"""

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from bowerbird.clock import system_clock
from bowerbird.jobs.account_jobs import reindex_jobs
from bowerbird.library.bookmarks.writing.bookmark_row import counted_words, stored_words
from bowerbird.library.upkeep.checks import Checks
from bowerbird.library.upkeep.corrections import Reindexing
from bowerbird.model.instants import UNKNOWN, with_offset
from bowerbird.model.posts.media import BITS
from bowerbird.search.words.tokens import INDEX_FORM
from bowerbird.storage.bookmarks.upsert import StoredPost, UpsertStore
from bowerbird.storage.database import Readable, Transaction, place_values
from bowerbird.storage.libraries import LibraryStore
from tests.support import make, waiting, working
from tests.support.posts.sources import no_report
from tests.support.service import NOW, Member

pytestmark = pytest.mark.anyio

TIMED: Final = "1945678901234567890"
TIME: Final = "2025-07-17T02:56:13.677000+00:00"
TIME_IN_JSON: Final = re.compile(rb'("posted_at":)"[^"]*"')
ARTICLE_IN_JSON: Final = re.compile(rb'("article":)\{[^}]*\}')


Edit = Callable[[bytes], bytes]


async def _change(member: Member, post_ids: list[str], edit: Edit) -> None:
    """Changes the stored JSON of posts, and indexes the words of the changed one if it has some."""
    store, libraries = UpsertStore(member.database), LibraryStore(member.database)

    async def work(transaction: Transaction) -> None:
        library = await libraries.lock(transaction, member.account_id)
        posts = await store.posts(library, library.place, post_ids)
        for stored in posts.values():
            row: dict[str, Any] = {"number": stored.existing.number, "word_form": INDEX_FORM}
            row["content_hash"] = stored.existing.content_hash
            row["rendering"] = edit(stored.rendering)
            assert row["rendering"] != stored.rendering
            row["words"] = stored_words(row["rendering"])
            counted = await counted_words(member.database, library, [row["number"]])
            await store.rewrite(library, row, counted)
        await libraries.touch(library)

    await member.database.write(work)


async def _run(member: Member, sql: str, post_ids: Sequence[str] = (), **values: Any) -> None:
    async def work(transaction: Transaction) -> None:
        for post_id in post_ids:
            values.update(account_id=member.account_id, post_id=post_id)
            await transaction.run(sql, values)

    await member.database.write(work)


OF_POST: Final = " WHERE account_id = :account_id AND post_id = :post_id"
DAMAGE: Final = f"UPDATE bookmark SET author_key = 'x'{OF_POST}"  # noqa: S608 - ours


async def _undate(member: Member, post_ids: list[str]) -> None:
    """Stores posts as an earlier release did."""
    await _change(member, post_ids, lambda json: TIME_IN_JSON.sub(rb'\1""', json, count=1))
    sql = f"UPDATE bookmark SET posted_at = :unknown, word_form = 3{OF_POST}"  # noqa: S608 - ours
    await _run(member, sql, post_ids, unknown=UNKNOWN)


async def _times(member: Member) -> dict[str, str]:
    first = await member.listed(limit=100)
    rest = await member.listed(limit=100, cursor=first["meta"]["next_cursor"])
    listed = first["data"] + rest["data"]
    return {one["post_id"]: one["tweet_details"]["posted_at"] for one in listed}


@pytest.mark.both
async def test_posts_without_a_time_get_one(alice: Member, bob: Member) -> None:
    ids = [TIMED, *map(str, range(1000, 1120))]
    await alice.save_all([make.post(post_id=one, posted_at="") for one in ids])
    await alice.save_all([make.post(post_id="9", posted_at="2026-01-01T00:00:00Z")])
    await bob.save_all([make.post()])
    before = await _times(alice)
    await _undate(alice, ids)
    assert set((await _times(alice)).values()) == {"", "2026-01-01T00:00:00Z"}
    jobs = reindex_jobs(alice.database, system_clock, turn_s=0)
    worker = working.worker(alice.database, jobs.kind.run, kinds=[jobs.kind])

    async def are_dated() -> bool:
        return "" not in (await _times(alice)).values()

    async with working.at_work(worker):
        await jobs.sweep()
        await waiting.until(are_dated)

    assert await _times(alice) == before
    assert before[TIMED] == TIME
    assert before["1000"] == with_offset(NOW)
    assert await alice.ids(posted_to=with_offset(NOW), sort_by="posted_at") == ["9", TIMED]
    checks = Checks(alice.database, fixes=False, is_deep=True)
    assert await checks.account(await alice.account(), lambda _: None) == []


async def _found(member: Member, *, fixes: bool = False) -> list[str]:
    checks = Checks(member.database, fixes=fixes, is_deep=True)
    return [one.what for one in await checks.account(await member.account(), lambda _: None)]


async def _stored(member: Member, post_ids: list[str]) -> dict[str, StoredPost]:
    place = place_values(await member.account())["place"]
    store = UpsertStore(member.database)
    return await store.posts(Readable(member.database, member.account_id), place, post_ids)


async def test_a_post_that_cannot_be_read_stays_as_it_is_and_is_reported(alice: Member) -> None:
    ids = [str(number) for number in range(1000, 1101)]
    await alice.save_all([make.post(post_id=one, posted_at="", text="Owl") for one in ids])
    await alice.save_all([make.post(post_id="5000", posted_at="")])
    await _undate(alice, [*ids, "5000"])
    broken = b'"attachments":[1]'
    await _change(alice, ids, lambda json: json.replace(b'"attachments":[]', broken))

    before = await _stored(alice, ids)

    await Reindexing(alice.database, system_clock).run(alice.account_id, no_report)

    assert await _stored(alice, ids) == before
    # More of them than the posts of a turn do not hold up the others.
    [dated] = (await _stored(alice, ["5000"])).values()
    assert b'"posted_at":"%b"' % with_offset(NOW).encode() in dated.rendering
    # Their words cannot be counted, which is reported too.
    assert (await _found(alice))[: len(ids)] == [f"content of post {one}" for one in ids]


@pytest.mark.both
async def test_a_post_whose_note_changes_before_gets_a_time(alice: Member) -> None:
    ids = ["1000", "1001"]
    await alice.save_all([make.post(post_id=one, posted_at="") for one in ids])
    await alice.save_all([make.post(post_id="9", posted_at="2026-01-01T00:00:00Z")])
    before = await _times(alice), await alice.ids(sort_by="posted_at")
    await _undate(alice, ids)
    for text in ("Mine", "Mine again"):
        for one in ids:
            await alice.client.patch(f"/v1/bookmarks/{one}", json={"note": text})

    await Reindexing(alice.database, system_clock).run(alice.account_id, no_report)

    assert (await _times(alice), await alice.ids(sort_by="posted_at")) == before
    assert sorted(await alice.ids(q="again")) == sorted(ids)
    assert await _found(alice) == []


@pytest.mark.both
async def test_a_post_that_is_too_deep_to_be_dated_keeps_its_content(alice: Member) -> None:
    """An earlier release imported it."""
    await alice.save_all([make.post(post_id=one, posted_at="") for one in ("1000", "5000")])
    # `bowerbird check` in the same process raises the limit.
    depth = 2 * sys.getrecursionlimit()
    deep = b'"article":{"x":%b1%b}' % (b"[" * depth, b"]" * depth)
    await _change(alice, ["1000"], lambda json: json.replace(b'"article":null', deep))
    await _undate(alice, ["1000", "5000"])
    [before] = (await _stored(alice, ["1000"])).values()

    await Reindexing(alice.database, system_clock).run(alice.account_id, no_report)

    after = await _stored(alice, ["1000", "5000"])
    assert after["1000"].rendering == before.rendering
    assert b'"posted_at":""' not in after["5000"].rendering


async def test_other_damage_of_a_post_without_a_time_is_reported(alice: Member) -> None:
    for post_id in ("1", "2", "3"):
        await alice.save_all([make.post(post_id=post_id, posted_at="")])
    await _undate(alice, ["1", "2", "3"])
    assert await _found(alice) == []

    await _run(alice, DAMAGE, ["2"])
    account = await alice.account()
    drop = alice.database.queries("upsert")["drop_words"]
    await _run(alice, drop, ["3"], number=3, **place_values(account))

    assert await _found(alice) == ["author_key of post 2", "words of post 3"]
    await _found(alice, fixes=True)
    assert await _found(alice) == []
    assert "" not in (await _times(alice)).values()


ARTICLE: Final = {"title": "How bowers are built", "plain_text": "Twigs first."}
QUOTED: Final = {"post_id": "77", "text": "My article", "article": ARTICLE}


async def _save_quotes(member: Member, post_ids: list[str]) -> None:
    """Saves posts as an earlier release did: without the article that they quote."""
    posts = [make.post(post_id=one, posted_at="", text="Read", quoted=QUOTED) for one in post_ids]
    await member.save_all(posts)
    await _change(member, post_ids, lambda json: ARTICLE_IN_JSON.sub(rb"\1null", json, count=1))
    sql = f"UPDATE bookmark SET media = {BITS['text']}, title_key = 'read'{OF_POST}"  # noqa: S608 - ours
    await _run(member, sql, post_ids)


async def test_posts_that_lack_the_article_they_quote_are_no_damage(alice: Member) -> None:
    await alice.save_all([make.post(text="Read")])
    await _save_quotes(alice, ["5", "6"])
    assert await alice.ids(media_type="article") == []

    assert await _found(alice) == []
    await _run(alice, DAMAGE, ["6"])
    assert await _found(alice) == ["author_key of post 6"]
    assert await alice.ids(media_type="article") == []
    assert await _found(alice, fixes=True) == ["author_key of post 6"]

    assert sorted(await alice.ids(media_type="article")) == ["5", "6"]
    details = (await alice.get("/v1/bookmarks/5")).json()["data"]["tweet_details"]
    assert details["article"] == ARTICLE
    assert await _found(alice) == []


async def test_a_post_that_gets_a_time_gets_the_article_that_it_quotes(alice: Member) -> None:
    await _save_quotes(alice, ["5"])
    await _undate(alice, ["5"])

    await Reindexing(alice.database, system_clock).run(alice.account_id, no_report)

    assert await alice.ids(media_type="article") == ["5"]
    assert await _found(alice) == []
