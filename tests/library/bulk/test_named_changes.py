"""Changes of posts that a request names: each has an id, and can be undone like any other."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from bowerbird.library.bookmarks.writing import kept_changes
from bowerbird.requests import limits
from tests.library.bulk.test_undo_of_changes import IDS, NUMBERED, fill, state
from tests.support import writing
from tests.support.imports import dump
from tests.support.posts.bulk import change, changes, finish
from tests.support.service import Member

pytestmark = pytest.mark.anyio

Request = Callable[[Member], Awaitable[httpx.Response]]


def sending(method: str, path: str, **body: Any) -> Request:
    return lambda member: writing.send(member, method, f"/v1/{path}", body or None)


BATCH = [
    writing.operation("add", "new", *IDS[:4]),
    writing.operation("remove", "Birds", *IDS),
    writing.operation("add", "Blue", *IDS[2:6]),
    writing.operation("remove", "new", IDS[0]),
    writing.operation("add", "unused", IDS[1]),
    writing.operation("remove", "unused", IDS[1]),
]
FLAGS = {"is_read": True, "is_archived": True}
REQUESTS = {
    "marking posts": sending("POST", "bookmarks/update", tweet_ids=IDS[:5], **FLAGS),
    "marking a post": sending("PATCH", f"bookmarks/{IDS[1]}", **FLAGS),
    "adding a label": sending("POST", "labels/add", tweet_ids=IDS[:5], label_name="Blue"),
    "adding a new label": sending("POST", "labels/add", tweet_ids=IDS[:5], label_name="new"),
    "removing a label": sending("POST", "labels/remove", tweet_ids=IDS[:5], label_name="birds"),
    "a batch": sending("POST", "labels/batch", operations=BATCH),
}


def change_of(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()["meta"]["change"]
    return found


async def undo(member: Member, change_id: str) -> dict[str, Any]:
    path = f"/v1/bookmarks/changes/{change_id}/undo"
    response = await writing.send(member, "POST", path)
    assert response.status_code == 200, response.text
    data: dict[str, Any] = response.json()["data"]
    return data


@pytest.mark.parametrize("name", REQUESTS)
async def test_an_undo_leaves_the_library_as_it_was(alice: Member, name: str) -> None:
    await fill(alice)
    before = await dump(alice)

    done = change_of(await REQUESTS[name](alice))
    assert (done["state"], done["done"]) == ("done", done["count"])
    assert await dump(alice) != before
    shown = (await alice.get(f"/v1/bookmarks/changes/{done['change_id']}")).json()["data"]
    undone = await undo(alice, done["change_id"])

    assert shown == done
    assert undone["restored"] == done["changed"] > 0
    assert await dump(alice) == before
    assert await writing.recount(alice) == []


async def test_deleting_a_post_and_restoring_it_can_be_undone(alice: Member) -> None:
    await fill(alice)
    before, shown = await dump(alice), await state(alice)

    deleted = change_of(await writing.send(alice, "DELETE", f"/v1/bookmarks/{IDS[0]}"))
    restored = change_of(await writing.send(alice, "POST", f"/v1/bookmarks/{IDS[0]}/restore"))
    assert await state(alice) == shown
    assert (await undo(alice, restored["change_id"]))["restored"] == 1
    assert IDS[0] not in await state(alice)
    assert (await undo(alice, deleted["change_id"]))["restored"] == 1

    assert await state(alice) == shown
    after = await dump(alice)
    for name in set(before) - set(NUMBERED):
        assert after[name] == before[name], name


@pytest.mark.parametrize("name", [name for name in REQUESTS if name != "a batch"])
async def test_a_request_that_changes_nothing_is_no_change(alice: Member, name: str) -> None:
    await fill(alice)
    await REQUESTS[name](alice)

    again = await REQUESTS[name](alice)

    assert again.status_code == 200
    assert "change" not in again.json()["meta"]


@pytest.mark.both
async def test_posts_in_the_trash_get_back_what_a_batch_took(alice: Member) -> None:
    await fill(alice)
    before = await state(alice)
    done = change_of(await REQUESTS["a batch"](alice))
    for one in IDS[:6]:
        await writing.send(alice, "DELETE", f"/v1/bookmarks/{one}")

    assert (await undo(alice, done["change_id"]))["restored"] == done["changed"]
    for one in IDS[:6]:
        await writing.send(alice, "POST", f"/v1/bookmarks/{one}/restore")

    assert await state(alice) == before
    assert await writing.labels(alice) == {"Birds": 8, "Blue": 4}
    assert await writing.recount(alice) == []


async def rows(member: Member, table: str) -> int:
    sql = f"SELECT count(*) FROM {table} WHERE account_id = :id"  # noqa: S608 - a constant
    return int((await member.database.rows(sql, {"id": member.account_id}))[0][0])


@pytest.mark.both
async def test_the_oldest_changes_are_forgotten_beyond_the_bound(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "KEPT_CHANGES_MAX", 3)
    monkeypatch.setattr(kept_changes, "_SMALL_CHANGES", 2)
    await fill(alice)

    made = [change_of(await writing.add(alice, f"label {n}", IDS[0])) for n in range(12)]

    assert await rows(alice, "bulk_change") <= 5
    assert await rows(alice, "bulk_post") <= 5
    path = f"/v1/bookmarks/changes/{made[0]['change_id']}/undo"
    assert writing.refused(await writing.send(alice, "POST", path)) == (404, "NOT_FOUND")
    assert (await undo(alice, made[-1]["change_id"]))["restored"] == 1


@pytest.mark.both
async def test_an_earlier_change_leaves_what_a_forgotten_one_has_set(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large change is open for long, so changes after it may be forgotten before it."""
    monkeypatch.setattr(limits, "KEPT_CHANGES_MAX", 1)
    monkeypatch.setattr(kept_changes, "_SMALL_CHANGES", 1)
    monkeypatch.setattr("bowerbird.library.access.turns.POSTS_PER_TURN", 4)
    await fill(alice)
    large = await change(alice, "archive", IDS)
    assert not large.is_finished
    await writing.send(alice, "PATCH", f"/v1/bookmarks/{IDS[1]}", {"is_archived": False})
    await writing.send(alice, "PATCH", f"/v1/bookmarks/{IDS[1]}", {"is_archived": True})
    for n in range(6):
        await writing.add(alice, f"label {n}", IDS[2])
    large = await finish(alice, large)

    undone = await changes(alice).run_undo(await alice.account(), large.change_id)
    undone = undone if undone.is_finished else await finish(alice, undone)

    assert undone.restored == large.changed - 1
    assert (await state(alice))[IDS[1]][1]
