"""When digests are created: after the period, at the hour, in the account's time zone, once."""

import asyncio
from datetime import date
from typing import Any

import pytest

from bowerbird.library.digests.creation import DigestCreation
from bowerbird.model.accounts import Account
from bowerbird.model.instants import PeriodKind, period_containing
from bowerbird.storage.database import Database
from bowerbird.storage.upkeep.digests import NEVER, DigestStore
from tests.support import digesting, service, writing
from tests.support.digesting import MONDAY, instant
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def is_due(member: Member, at: str) -> bool:
    found = await DigestStore(member.database).due_accounts(0, instant(at), 100, job_kind="digest")
    return member.account_id in found


async def ids_after_sweep(member: Member, at: str) -> list[str]:
    """The account's digests after a job has run, if the sweep finds the account due."""
    if await is_due(member, at):
        await digesting.make(member, at)
    return await digesting.ids(member)


async def save(member: Member, *days: str) -> None:
    for day in days:
        await member.save(bookmarked_at=f"{day}T12:00:00+00:00")


async def test_a_weekly_digest_is_created_on_monday_at_eight(alice: Member) -> None:
    await save(alice, "2026-07-14")
    await ids_after_sweep(alice, "2026-07-18T12:00:00+00:00")

    assert await ids_after_sweep(alice, "2026-07-20T07:59:59+00:00") == []
    assert await ids_after_sweep(alice, MONDAY) == ["weekly-2026-07-13"]
    assert not await is_due(alice, MONDAY)
    assert not await is_due(alice, "2026-07-27T07:59:59+00:00")
    assert await is_due(alice, "2026-07-27T08:00:00+00:00")


async def test_after_downtime_only_the_latest_digest_is_created(alice: Member) -> None:
    await digesting.prefer(alice, "2026-07-01T00:00:00+00:00", frequency="daily")
    await save(alice, "2026-07-02", "2026-07-03", "2026-07-04")

    found = await ids_after_sweep(alice, "2026-07-10T12:00:00+00:00")

    assert found == ["daily-2026-07-09"]
    assert not await is_due(alice, "2026-07-11T07:59:00+00:00")


async def test_no_digest_is_created_for_a_period_before_the_account_existed(alice: Member) -> None:
    # The account was created on Saturday 18 July.
    await save(alice, "2026-07-08")

    assert await is_due(alice, "2026-07-18T09:00:00+00:00")
    assert await ids_after_sweep(alice, "2026-07-18T09:00:00+00:00") == []
    assert not await is_due(alice, "2026-07-20T07:00:00+00:00")
    assert await ids_after_sweep(alice, MONDAY) == ["weekly-2026-07-13"]


async def test_changed_preferences_apply_from_then_on(alice: Member) -> None:
    await save(alice, "2026-07-14")
    await digesting.prefer(alice, "2026-07-18T12:00:00+00:00", frequency="daily", hour=6)

    assert not await is_due(alice, "2026-07-19T05:59:00+00:00")
    assert await ids_after_sweep(alice, "2026-07-19T06:00:00+00:00") == ["daily-2026-07-18"]

    await digesting.prefer(alice, "2026-07-19T09:00:00+00:00", frequency="off")
    assert not await is_due(alice, "2036-01-01T00:00:00+00:00")

    await digesting.prefer(alice, "2026-07-22T09:00:00+00:00", frequency="weekly")
    assert not await is_due(alice, "2026-07-27T05:59:00+00:00")
    assert await is_due(alice, "2026-07-27T06:00:00+00:00")


async def test_changing_only_the_email_preference_skips_no_digest(alice: Member) -> None:
    await save(alice, "2026-07-14")
    await digesting.make(alice, "2026-07-18T12:00:00+00:00")

    await digesting.prefer(alice, "2026-07-20T08:00:30+00:00", mail=True)

    assert await ids_after_sweep(alice, "2026-07-20T08:01:00+00:00") == ["weekly-2026-07-13"]


async def test_no_digest_is_created_if_turned_off_while_it_is_prepared(alice: Member) -> None:
    await save(alice, "2026-07-14")

    class Changing(DigestCreation):
        async def _digest(self, *given: Any) -> Any:
            digest = await super()._digest(*given)
            await digesting.prefer(alice, MONDAY, frequency="off")
            return digest

    alice.clock.now = instant(MONDAY)
    await Changing(alice.database, alice.clock).create_due(alice.account_id)

    assert await digesting.ids(alice) == []
    assert not await is_due(alice, "2036-01-01T00:00:00+00:00")


async def test_an_empty_period_is_handled_once(alice: Member) -> None:
    assert await ids_after_sweep(alice, MONDAY) == []
    assert not await is_due(alice, "2026-07-27T07:59:00+00:00")


async def test_concurrent_workers_make_one_digest(opened_twice: tuple[Database, Database]) -> None:
    cast = await service.build(opened_twice[0])
    await save(cast.alice, "2026-07-14")
    cast.clock.now = instant(MONDAY)
    before = await writing.version(cast.alice)

    workers = [DigestCreation(database, cast.clock) for database in opened_twice * 2]
    await asyncio.gather(*(worker.create_due(cast.alice.account_id) for worker in workers))

    assert await digesting.ids(cast.alice) == ["weekly-2026-07-13"]
    # Only one worker wrote a digest.
    assert await writing.version(cast.alice) == before + 1


async def test_the_email_is_queued_if_someone_creates_the_digest_at_the_same_time(
    alice: Member,
) -> None:
    await digesting.prefer(alice, "2026-07-18T12:00:00+00:00", mail=True)
    # Older posts are unread, so their topics are read while the digest is being created.
    await save(alice, "2026-07-14", "2026-01-14")
    by_hand = digesting.making(alice)

    async def topics(account: Account, _: Any) -> dict[int, int]:
        assert await by_hand.create(
            account, period_containing(PeriodKind.WEEKLY, date(2026, 7, 14))
        )
        return {}

    await digesting.make(alice, can_mail=True, topics=topics)

    assert (await digesting.shown(alice, format="json"))["mail"]["state"] == "waiting"


async def test_a_deleted_account_gets_no_schedule(alice: Member) -> None:
    await digesting.making(alice).create_due(alice.account_id + 1)

    due = await DigestStore(alice.database).due_accounts(0, NEVER, 9, job_kind="digest")
    assert alice.account_id + 1 not in due


async def test_due_accounts_are_read_page_by_page(cast: service.Service) -> None:
    store = DigestStore(cast.database)
    members = sorted(member.account_id for member in (cast.alice, cast.bob, cast.free))

    first = await store.due_accounts(0, cast.clock(), 2, job_kind="digest")
    rest = await store.due_accounts(first[-1], cast.clock(), 2, job_kind="digest")

    assert first + rest == members


@pytest.mark.both
async def test_a_digest_has_the_highlight_of_its_day_only_if_that_is_wanted(alice: Member) -> None:
    texts = [f"Passage {n} about bowers" for n in range(6)]
    for text in texts:
        one = await alice.save(text=text, bookmarked_at="2026-07-14T08:00:00+00:00")
        path = f"/v1/bookmarks/{one['post_id']}/highlights"
        await writing.send(alice, "POST", path, {"quote": text})
    await digesting.prefer(alice, "2026-07-14T08:00:00+00:00", frequency="daily")
    await digesting.make(alice, "2026-07-15T08:00:00+00:00")
    shown = (await alice.get("/v1/digests/latest")).json()["data"]
    assert shown["highlight"] is None

    await digesting.prefer(alice, "2026-07-15T09:00:00+00:00", highlight=True)
    found = []
    for day in range(16, 22):
        await digesting.make(alice, f"2026-07-{day}T08:00:00+00:00")
        shown = (await alice.get("/v1/digests/latest")).json()["data"]
        assert shown["first_day"] == f"2026-07-{day - 1}"
        text = shown["highlight"]["text"]
        assert text in texts
        assert f"> {text}" in shown["markdown"]
        assert "From your highlights" in shown["html"]
        found.append(text)
    assert len(set(found)) > 1

    post_id = shown["highlight"]["post"]["post_id"]
    await writing.send(alice, "DELETE", f"/v1/bookmarks/{post_id}")
    assert (await alice.get("/v1/digests/latest")).json()["data"]["highlight"] is None
