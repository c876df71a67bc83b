"""Posts that an earlier release stored without a time get one in the background."""

from typing import Any, Final

import pytest

from bowerbird.clock import system_clock
from bowerbird.jobs.reindexing import ReindexJobs
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.instants import UNKNOWN, with_offset
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Transaction
from bowerbird.storage.libraries import LibraryStore
from tests.support import make, waiting, working
from tests.support.service import NOW, Member

pytestmark = pytest.mark.anyio

TIMED: Final = "1945678901234567890"
TIME: Final = "2025-07-17T02:56:13.677000+00:00"


async def _undate(member: Member, post_ids: list[str]) -> None:
    """Stores posts as an earlier release did."""
    store, libraries = UpsertStore(member.database), LibraryStore(member.database)

    async def work(transaction: Transaction) -> None:
        library = await libraries.lock(transaction, member.account_id)
        assert library
        posts = await store.posts(transaction, library.account_id, library.place, post_ids)
        for stored in posts.values():
            row: dict[str, Any] = {"number": stored.existing.number, "words": None}
            row["content_hash"] = stored.existing.content_hash
            start, _, rest = stored.rendering.partition(b'"posted_at":"')
            row["rendering"] = start + b'"posted_at":"' + rest[rest.index(b'"') :]
            await store.rewrite(transaction, library, row, {})
        await transaction.run(
            "UPDATE bookmark SET posted_at = :unknown WHERE account_id = :account_id"
            " AND post_id <> :dated",
            {"unknown": UNKNOWN, "account_id": member.account_id, "dated": "9"},
        )
        await libraries.touch(transaction, member.account_id)

    await member.database.write(work)


async def _times(member: Member) -> dict[str, str]:
    first = await member.listed(limit=100)
    rest = await member.listed(limit=100, cursor=first["meta"]["next_cursor"])
    listed = first["data"] + rest["data"]
    return {one["post_id"]: one["tweet_details"]["posted_at"] for one in listed}


async def test_posts_without_a_time_get_one(alice: Member, bob: Member) -> None:
    ids = [TIMED, *map(str, range(1000, 1120))]
    await alice.save_all([make.post(post_id=one, posted_at="") for one in ids])
    await alice.save_all([make.post(post_id="9", posted_at="2026-01-01T00:00:00Z")])
    await bob.save_all([make.post()])
    before = await _times(alice)
    await _undate(alice, ids)
    assert set((await _times(alice)).values()) == {"", "2026-01-01T00:00:00Z"}
    jobs = ReindexJobs(alice.database, system_clock, turn_s=0)
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
