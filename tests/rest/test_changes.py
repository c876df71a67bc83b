"""GET /v1/changes: what happened to the library, in order."""

import asyncio
from typing import Any

import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.bookmarks.trash import TrashList
from bowerbird.library.imports.intake import Intake
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.model.arrival import OrderSource
from bowerbird.requests import limits
from bowerbird.storage.changes.events import EventStore
from bowerbird.storage.database import Database, Readable, Transaction, Writable
from tests.rest.paging import items
from tests.support import make, writing
from tests.support.imports import found, run, take
from tests.support.service import NOW, Member, Service

pytestmark = pytest.mark.anyio

DAY = 86_400 * MICROSECONDS


class Follower:
    """A program that keeps a copy of a library."""

    def __init__(self, member: Member, limit: int = 100) -> None:
        self._member, self.limit = member, limit
        self.cursor = ""
        self.copy: dict[str, Any] = {}
        self.seen: list[dict[str, Any]] = []

    async def page(self) -> bool:
        answer = await self._member.get("/v1/changes", cursor=self.cursor, limit=self.limit)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        for event in body["data"]:
            self.seen.append(event)
            if "post_id" not in event:
                continue
            self.copy.pop(event["post_id"], None)
            if event["bookmark"]:
                self.copy[event["post_id"]] = event["bookmark"]
        self.cursor = body["meta"]["next_cursor"]
        return bool(body["meta"]["has_more"])

    async def catch_up(self) -> "Follower":
        while await self.page():
            pass
        return self


async def since_now(member: Member) -> Follower:
    follower = Follower(member)
    answer = await member.get("/v1/changes", cursor="now")
    assert answer.json()["data"] == []
    follower.cursor = answer.json()["meta"]["next_cursor"]
    return follower


async def library(member: Member) -> dict[str, Any]:
    everything = {"is_unread_only": "false", "hide_archived": "false", "limit": 100}
    posts = await items(member, "/v1/bookmarks", **everything)
    return {post["post_id"]: post for post in posts}


def short(event: dict[str, Any]) -> tuple[Any, ...]:
    label = event.get("label", {}).get("label_name")
    rest = (event.get("post_id"), label, event.get("view_slug"), event.get("fields"))
    return (event["type"], *(value for value in rest if value is not None))


@pytest.mark.both
async def test_changes_of_a_post_are_in_order(alice: Member) -> None:
    follower = await since_now(alice)
    post = await alice.save(post_id="1", text="first", tags=["art"])
    await alice.change(post, tweet_details={**post["tweet_details"], "text": "second"})
    await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"is_read": True, "note": "mine"})
    await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"is_read": False})
    await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"is_archived": True})
    await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"is_archived": False})
    await writing.add(alice, "new", "1")
    await writing.remove(alice, "art", "1")
    await writing.send(alice, "DELETE", "/v1/bookmarks/1")
    await writing.send(alice, "POST", "/v1/bookmarks/1/restore")

    await follower.catch_up()

    assert [short(event) for event in follower.seen] == [
        ("label.created", "art"),
        ("post.created", "1"),
        ("post.changed", "1", ["tweet_details.text"]),
        ("post.changed", "1", ["note"]),
        ("post.read", "1"),
        ("post.unread", "1"),
        ("post.archived", "1"),
        ("post.unarchived", "1"),
        ("label.created", "new"),
        ("post.labelled", "1", "new"),
        ("post.unlabelled", "1", "art"),
        ("post.deleted", "1"),
        ("post.restored", "1"),
    ]
    numbers = [int(event["id"]) for event in follower.seen]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert {event["at"] for event in follower.seen} == {"2026-07-18T08:21:13.841838+00:00"}
    assert follower.copy == await library(alice)


@pytest.mark.both
async def test_changes_of_labels_and_views_are_in_order(alice: Member) -> None:
    await alice.save(post_id="1", tags=["a", "b"])
    follower = await since_now(alice)
    a, b = await writing.label_id(alice, "a"), await writing.label_id(alice, "b")
    await writing.send(alice, "PATCH", f"/v1/labels/{a}", {"color": "moss"})
    await writing.send(alice, "PATCH", f"/v1/labels/{a}", {"label_name": "c"})
    await writing.send(alice, "POST", f"/v1/labels/{a}/merge", {"into": b})
    await writing.send(alice, "DELETE", f"/v1/labels/{b}")
    first, second = await writing.view(alice, "One"), await writing.view(alice, "Two")
    await writing.send(alice, "PATCH", second, {"description": "x"})
    await writing.send(alice, "DELETE", first)

    await follower.catch_up()

    assert [short(event) for event in follower.seen] == [
        ("label.changed", "a", ["color"]),
        ("post.changed", "1", ["tags"]),
        ("label.renamed", "c"),
        ("post.unlabelled", "1", "c"),
        ("label.merged", "c"),
        ("post.unlabelled", "1", "b"),
        ("label.deleted", "b"),
        ("view.created", "one"),
        ("view.created", "two"),
        ("view.changed", "two", ["description"]),
        ("view.deleted", "one"),
        ("view.changed", "two", ["position"]),
    ]
    renamed, merged = follower.seen[2], follower.seen[4]
    assert (renamed["label"]["id"], renamed["former_name"]) == (a, "a")
    assert merged["into"] == {"id": b, "label_name": "b"}
    assert follower.copy == await library(alice)


async def test_without_a_cursor_all_posts_come_first(alice: Member) -> None:
    await alice.save_all([make.post(post_id=str(n)) for n in range(1, 8)])
    await writing.send(alice, "PATCH", "/v1/bookmarks/3", {"is_read": True})
    follower = Follower(alice, limit=3)

    assert await follower.page()
    # These happen while the posts are listed: after their place in the list, and before it.
    await writing.send(alice, "DELETE", "/v1/bookmarks/1")
    await writing.send(alice, "DELETE", "/v1/bookmarks/5")
    await alice.save(post_id="9", tags=["late"])
    await follower.catch_up()

    kinds = [event["type"] for event in follower.seen]
    assert kinds[:6] == ["post.listed"] * 6
    assert kinds[-4:] == ["post.deleted", "post.deleted", "label.created", "post.created"]
    assert follower.copy == await library(alice)
    assert not await follower.page()


async def test_a_value_of_ids_only_that_is_no_flag_is_refused(alice: Member) -> None:
    refused = await alice.get("/v1/changes", ids_only="AAA")

    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_REQUEST")
    assert refused.json()["error"].startswith("ids_only")


async def test_ids_only_leaves_the_bookmarks_out(alice: Member) -> None:
    await alice.save(post_id="1")

    listed = (await alice.get("/v1/changes", ids_only="true")).json()["data"]

    assert [set(event) for event in listed] == [{"type", "at", "post_id"}]


async def test_a_change_of_many_posts_is_paged_exactly(alice: Member) -> None:
    ids = [str(n) for n in range(1, 26)]
    follower = await since_now(alice)
    follower.limit = 7
    await alice.save_all([make.post(post_id=one) for one in ids])
    await writing.add(alice, "x", *ids)

    await follower.catch_up()

    assert [event["post_id"] for event in follower.seen if "post_id" in event] == ids * 2
    assert len(follower.seen) == 51


@pytest.mark.both
async def test_concurrent_writes_are_all_seen_once(alice: Member) -> None:
    await alice.save_all([make.post(post_id=str(n)) for n in range(1, 21)])
    follower = await since_now(alice)
    follower.limit = 3

    async def write(one: int) -> None:
        await writing.send(alice, "PATCH", f"/v1/bookmarks/{one}", {"is_read": True})
        await writing.add(alice, f"label {one % 4}", str(one))
        if one % 5 == 0:
            await writing.send(alice, "DELETE", f"/v1/bookmarks/{one}")

    writes = asyncio.gather(*(write(one) for one in range(1, 21)))
    while not writes.done():
        await follower.page()
        # SQLite reads without waiting, which would leave no turn to the writes.
        await asyncio.sleep(0.001)
    await writes
    await follower.catch_up()

    numbers = [int(event["id"]) for event in follower.seen]
    assert numbers == list(range(numbers[0], numbers[0] + 20 + 4 + 20 + 4))
    assert [event["type"] for event in follower.seen].count("post.read") == 20
    assert follower.copy == await library(alice)


@pytest.mark.both
async def test_what_is_deleted_for_good_is_purged(cast: Service) -> None:
    alice = cast.alice
    await alice.save_all([make.post(post_id=str(n)) for n in range(1, 4)])
    for one in range(1, 4):
        await writing.send(alice, "DELETE", f"/v1/bookmarks/{one}")
    follower, trash = await since_now(alice), TrashList(cast.database, cast.clock)
    account = await alice.account()

    await trash.delete(account, ["1", "9"])
    cast.clock.now += 31 * DAY
    await Sweeping(cast.database, cast.clock, pause_s=0).sweep()
    await follower.catch_up()

    assert sorted(map(short, follower.seen)) == [("post.purged", str(n)) for n in range(1, 4)]


@pytest.mark.both
async def test_the_undo_of_an_import_is_followed(cast: Service) -> None:
    alice, account = cast.alice, await cast.alice.account()
    runs, intake = ImportRuns(cast.database, cast.clock), Intake(cast.database, cast.clock)
    await alice.save(post_id="1", text="before")
    follower = await Follower(alice).catch_up()
    run = (await runs.start(account, source="x", kind="full", client="")).run_id
    posts = [found(post_id="1", text="before and after"), found(post_id="2", tags=["new"])]
    await intake.take(account, posts, run_id=run)
    await follower.catch_up()
    assert follower.copy == await library(alice)

    await runs.undo(account, run)
    await follower.catch_up()

    assert follower.copy == await library(alice)
    kinds = [event["type"] for event in follower.seen]
    assert kinds[-3:] == ["post.changed", "post.purged", "label.deleted"]


async def test_the_undo_of_an_import_says_that_places_are_as_before(alice: Member) -> None:
    await take(alice, found())
    run_id = await run(alice, found(order=OrderSource.X, sort_index=NOW << 10))
    follower = await since_now(alice)

    await ImportRuns(alice.database, alice.clock).undo(await alice.account(), run_id)

    await follower.catch_up()
    [told] = follower.seen
    assert (told["type"], told["fields"]) == ("post.changed", ["sort_index"])
    assert told["bookmark"] == await writing.bookmark(alice, "1")


async def test_a_cursor_is_refused_once_what_follows_is_not_kept(cast: Service) -> None:
    alice = cast.alice
    await alice.save(post_id="1")
    late, early = await since_now(alice), await since_now(alice)
    await alice.save(post_id="2")
    cast.clock.now += limits.EVENT_DAYS * DAY
    await late.catch_up()
    await Sweeping(cast.database, cast.clock, pause_s=0).sweep()
    assert [event["post_id"] for event in (await early.catch_up()).seen] == ["2"]
    early.cursor = (await alice.get("/v1/changes", cursor="now")).json()["meta"]["next_cursor"]
    cast.clock.now += 1
    await Sweeping(cast.database, cast.clock, pause_s=0).sweep()

    # Nothing has happened after these, so they are not too old.
    assert not await late.page()
    assert not await early.page()
    first = (await alice.get("/v1/changes", limit=1)).json()["meta"]["next_cursor"]
    await alice.save(post_id="3")
    cast.clock.now += limits.EVENT_DAYS * DAY + 1
    await Sweeping(cast.database, cast.clock, pause_s=0).sweep()
    answer = await alice.get("/v1/changes", cursor=late.cursor)

    assert (answer.status_code, answer.json()["code"]) == (410, "CURSOR_EXPIRED")
    assert "Call without a cursor" in answer.json()["error"]
    # A listing goes on, and its end says it.
    assert (await alice.get("/v1/changes", cursor=first)).status_code == 200


async def test_only_so_many_events_are_kept(database: Database, alice: Member) -> None:
    store = EventStore(database)
    for one in range(1, 6):
        await alice.save(post_id=str(one))

    async def sweep(transaction: Transaction) -> int:
        return await store.sweep(Writable(transaction, alice.account_id), before=0, kept=2, most=10)

    assert await database.write(sweep) == 3
    assert await store.kept(Readable(database, alice.account_id)) == (5, 3)
    assert await store.kept(Readable(database, 1)) is None


@pytest.mark.both
async def test_a_restored_library_refuses_its_cursors(database: Database, alice: Member) -> None:
    follower = await since_now(alice)

    async def restore(transaction: Transaction) -> None:
        sql = database.queries("accounts")["renew_epochs"]
        await transaction.run(sql, {})

    await database.write(restore)

    answer = await alice.get("/v1/changes", cursor=follower.cursor)
    assert (answer.status_code, answer.json()["code"]) == (410, "CURSOR_EXPIRED")


async def test_a_cursor_belongs_to_its_account_and_list(
    alice: Member, bob: Member, free: Member
) -> None:
    await alice.save_all([make.post(post_id=str(n)) for n in range(1, 4)])
    follower = await since_now(alice)
    of_list = (await alice.listed(limit=1))["meta"]["next_cursor"]

    assert writing.refused(await bob.get("/v1/changes", cursor=follower.cursor))[0] == 400
    assert writing.refused(await alice.get("/v1/changes", cursor=of_list))[0] == 400
    assert (await bob.get("/v1/changes")).json()["data"] == []
    assert writing.refused(await free.get("/v1/changes", cursor="now")) == (
        402,
        "PAGINATION_NOT_ALLOWED",
    )
