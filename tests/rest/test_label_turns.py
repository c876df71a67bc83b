"""Edits of labels on many posts: jobs in short transactions that the request waits for."""

import asyncio
import io
from typing import Any

import pytest

from bowerbird.library.access import turns
from bowerbird.library.bulk import changes
from bowerbird.library.bulk.changes import BulkChanges
from bowerbird.library.imports.file_imports import FileImports, ImportOptions
from bowerbird.requests import limits
from tests.rest.paging import items
from tests.support import make, writing
from tests.support.engines.watched_writes import WatchedWrites, interrupted
from tests.support.service import Member

pytestmark = pytest.mark.anyio

# A fifth of the real length, so that fewer posts are enough for several turns.
PER_TURN = 40
POSTS = 2 * PER_TURN + 20

# A post that moves from one label to another is five rows: two labels, its list of names, and what
# is kept of each label for the undo.
MOST_ROWS = 5 * PER_TURN + 20

# No test saves a post with an id this long.
UNKNOWN = "9" * 30


@pytest.fixture(autouse=True)
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several turns with few posts."""
    monkeypatch.setattr(turns, "POSTS_PER_TURN", PER_TURN)


async def fill(member: Member, count: int = POSTS, **fields: Any) -> list[str]:
    """Saves many posts with the label "wide"; returns their ids."""
    posts = [make.post(**{"tags": ["wide", "other"], **fields}) for _ in range(count)]
    for first in range(0, count, 200):
        await member.save_all(posts[first : first + 200])
    return [post["post_id"] for post in posts]


async def path_of(member: Member, name: str) -> str:
    return f"/v1/labels/{await writing.label_id(member, name)}"


async def all_tags(member: Member) -> set[tuple[str, ...]]:
    """Every combination of labels that a post has."""
    posts = await items(member, "/v1/bookmarks", limit=100)
    return {tuple(post["tags"] or ()) for post in posts}


# The size of a transaction


async def test_a_thousand_named_posts_are_labelled_in_one_transaction(alice: Member) -> None:
    post_ids = await fill(alice, 1_000, tags=[])
    watched = WatchedWrites(alice.database)

    added = (await writing.add(alice, "x", *post_ids[:999], UNKNOWN)).json()
    removed = (await writing.remove(alice, "x", *post_ids)).json()

    assert len(watched.rows) == 2
    assert added["meta"].pop("change")["changed"] == 999
    assert added["meta"] == {
        "message": "Labelled 999 posts.",
        "affected": 999,
        "not_found": [UNKNOWN],
    }
    assert [post["post_id"] for post in added["data"]] == post_ids[:999]
    assert {tuple(post["tags"]) for post in added["data"]} == {("x",)}
    assert removed["meta"]["affected"] == 999
    assert await writing.labels(alice) == {"x": 0}
    assert await writing.recount(alice) == []


async def fill_with_long_posts(member: Member, count: int) -> list[str]:
    # Not one of the texts that are searched, because indexing them takes long.
    article = {"title": "t", "html": "x" * (turns.BYTES_PER_TURN // 8)}
    return await fill(member, count, article=article)


async def test_long_posts_are_changed_a_few_at_a_time(alice: Member) -> None:
    post_ids = await fill_with_long_posts(alice, 20)
    watched = WatchedWrites(alice.database)
    await writing.add(alice, "x", *post_ids)

    watched.rows.clear()
    await writing.send(alice, "PATCH", await path_of(alice, "x"), {"label_name": "y"})
    assert len(watched.rows) >= 3

    watched.rows.clear()
    await writing.send(alice, "DELETE", await path_of(alice, "y"))
    assert len(watched.rows) >= 3
    assert await all_tags(alice) == {("other", "wide")}
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_a_job_labels_named_posts_that_are_very_long(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LABELLED_BYTES_MAX", turns.BYTES_PER_TURN)
    post_ids = await fill_with_long_posts(alice, 20)
    label_id = await writing.label_id(alice, "other")

    response = await writing.send(
        alice, "POST", "/v1/labels/remove", {"tweet_ids": post_ids, "label_id": label_id}
    )
    change = response.json()["meta"]["change"]
    assert (response.status_code, change["state"], change["count"]) == (202, "working", 20)
    done = await BulkChanges(alice.database, alice.clock).finish(
        await alice.account(), change["change_id"]
    )

    assert (done.changed, await all_tags(alice)) == (20, {("wide",)})
    assert await writing.recount(alice) == []


async def test_an_operation_with_very_long_posts_needs_a_request_of_its_own(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LABELLED_BYTES_MAX", turns.BYTES_PER_TURN)
    post_ids = await fill_with_long_posts(alice, 12)
    operations = [
        writing.operation("add", "a", *post_ids[:5]),
        writing.operation("add", "b", *post_ids),
        writing.operation("add", "c", *post_ids[:5]),
    ]

    response = await writing.batch(alice, *operations)

    results = response.json()["data"]["results"]
    assert [one["ok"] for one in results] == [True, False, True]
    assert results[1]["error"]["message"] == (
        "operations[1]: The posts of one batch can have 2 MiB. Send this operation as a request "
        "of its own."
    )
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_an_import_of_posts_with_many_labels_takes_short_transactions(alice: Member) -> None:
    names = [f"label {number}" for number in range(3_000)]
    records = [make.post(tags=names[n * 100 : n * 100 + 100]) for n in range(30)]
    file = io.BytesIO(b"\n".join(map(make.raw, records)))
    watched = WatchedWrites(alice.database)

    account = await alice.account()
    importing = FileImports(alice.database, alice.clock, account, ImportOptions())
    report = await importing.read(file, "posts.json", "test")

    # Per label of a chunk: the label, its count, and that the post has it.
    assert watched.most_rows <= 3 * 1_000 + 100
    assert (report.new, report.rows) == (30, [])
    assert await writing.labels(alice) == dict.fromkeys(sorted(names), 1)
    assert await writing.recount(alice) == []


async def test_others_write_while_a_label_is_deleted(alice: Member, bob: Member) -> None:
    await fill(alice)
    await bob.save(post_id="1")
    path = await path_of(alice, "wide")
    pause = WatchedWrites(alice.database).pause_after(1)
    deleting = asyncio.ensure_future(writing.send(alice, "DELETE", path))
    await pause.reached.wait()

    assert (await writing.add(bob, "x", "1")).status_code == 200
    pause.over.set()
    assert (await deleting).status_code == 200
    assert await writing.labels(bob) == {"x": 1}


# Interrupted edits


async def test_a_job_finishes_an_interrupted_deletion(alice: Member) -> None:
    await fill(alice)
    path = await path_of(alice, "wide")
    watched = WatchedWrites(alice.database)
    await interrupted(watched, 1, writing.send(alice, "DELETE", path))
    assert await writing.recount(alice) == []
    assert (await writing.labels(alice))["wide"] == POSTS - PER_TURN

    # It counts as deleted.
    assert (await writing.send(alice, "DELETE", path)).status_code == 404
    await work_off(alice)

    assert await writing.labels(alice) == {"other": POSTS}
    assert await all_tags(alice) == {("other",)}
    assert await writing.recount(alice) == []


async def test_a_change_that_takes_long_is_answered_with_its_progress(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "WAIT_S", 0)
    await fill(alice)
    path = await path_of(alice, "wide")

    response = await writing.send(alice, "PATCH", path, {"label_name": "new"}, key="k")
    again = await writing.send(alice, "PATCH", path, {"label_name": "new"}, key="k")

    change = response.json()["meta"]["change"]
    assert (response.status_code, again.content) == (202, response.content)
    assert (change["state"], change["count"], change["done"]) == ("working", POSTS, PER_TURN)
    assert response.json()["data"]["label_name"] == "new"
    followed = await alice.get(response.headers["location"])
    assert followed.json()["data"]["change_id"] == change["change_id"]
    await work_off(alice)
    assert await all_tags(alice) == {("new", "other")}


@pytest.mark.both
@pytest.mark.parametrize("count", [3, POSTS])
async def test_edits_of_a_label_take_short_transactions_and_can_be_undone(
    alice: Member, count: int
) -> None:
    await fill(alice, count)
    before = await all_tags(alice)
    watched = WatchedWrites(alice.database)
    for method, end, body in (
        ("PATCH", "", {"label_name": "new"}),
        ("POST", "/merge", {"into": await writing.label_id(alice, "other")}),
        ("DELETE", "", None),
    ):
        path = await path_of(alice, "wide")
        watched.rows.clear()
        response = await writing.send(alice, method, f"{path}{end}", body)
        assert response.json()["data"]["count"] == count
        assert watched.most_rows <= MOST_ROWS
        assert len(watched.rows) >= (3 if count == POSTS else 1)
        change = response.json()["meta"]["change"]
        assert (response.status_code, change["state"], change["changed"]) == (200, "done", count)
        assert await all_tags(alice) != before
        assert await writing.recount(alice) == []

        undo = f"/v1/bookmarks/changes/{change['change_id']}/undo"
        assert (await writing.send(alice, "POST", undo)).status_code in (200, 202)
        await work_off(alice)

        assert await all_tags(alice) == before
        assert await writing.labels(alice) == {"other": count, "wide": count}
        assert await writing.recount(alice) == []


async def test_a_label_that_was_renamed_again_keeps_its_name_when_the_first_is_undone(
    alice: Member,
) -> None:
    await fill(alice, 3)
    path = await path_of(alice, "wide")
    first = await writing.send(alice, "PATCH", path, {"label_name": "new"})
    await writing.send(alice, "PATCH", path, {"label_name": "newer"})

    change_id = first.json()["meta"]["change"]["change_id"]
    undone = await writing.send(alice, "POST", f"/v1/bookmarks/changes/{change_id}/undo")

    assert (undone.json()["data"]["state"], undone.json()["data"]["restored"]) == ("undone", 0)
    assert await all_tags(alice) == {("newer", "other")}


async def work_off(member: Member) -> None:
    """Does what the jobs would do."""
    rows = await member.database.rows(
        "SELECT change_id FROM bulk_change WHERE account_id = :account_id ORDER BY number",
        {"account_id": member.account_id},
    )
    for (change_id,) in rows:
        await BulkChanges(member.database, member.clock).finish(await member.account(), change_id)


async def test_an_interrupted_merge_can_be_repeated_with_its_key(alice: Member) -> None:
    await fill(alice)
    path, into = await path_of(alice, "wide"), await writing.label_id(alice, "other")
    watched = WatchedWrites(alice.database)
    merge = {"into": into}
    await interrupted(watched, 2, writing.send(alice, "POST", f"{path}/merge", merge, key="k"))
    assert await writing.recount(alice) == []

    reused = await writing.send(alice, "PATCH", path, {"metadata": {"a": 1}}, key="k")
    assert writing.refused(reused) == (422, "IDEMPOTENCY_KEY_REUSED")
    repeated = await writing.send(alice, "POST", f"{path}/merge", merge, key="k")
    replayed = await writing.send(alice, "POST", f"{path}/merge", merge, key="k")

    assert repeated.json()["data"]["count"] == POSTS
    assert "idempotency-replayed" not in repeated.headers
    assert replayed.headers["idempotency-replayed"] == "true"
    assert replayed.content == repeated.content
    assert await writing.labels(alice) == {"other": POSTS}
    assert await writing.recount(alice) == []


async def half_renamed(member: Member) -> list[str]:
    """Stops the renaming of "wide" to "new" half way; returns the ids of its posts."""
    post_ids = await fill(member)
    path = await path_of(member, "wide")
    watched = WatchedWrites(member.database)
    rename = writing.send(member, "PATCH", path, {"label_name": "new"}, key="k")
    await interrupted(watched, 1, rename)
    assert await all_tags(member) == {("new", "other"), ("other", "wide")}
    return post_ids


async def test_every_label_write_finishes_an_interrupted_rename_first(alice: Member) -> None:
    last = (await half_renamed(alice))[-1]

    # The name is free again, so this is another label.
    response = await writing.add(alice, "wide", last)

    assert response.json()["data"] == [{"post_id": last, "tags": ["new", "other", "wide"]}]
    assert await writing.labels(alice) == {"new": POSTS, "other": POSTS, "wide": 1}
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_an_import_finishes_an_interrupted_rename_first(alice: Member) -> None:
    last = (await half_renamed(alice))[-1]

    await alice.save(post_id=last, tags=["wide"])

    assert await writing.labels(alice) == {"new": POSTS - 1, "other": POSTS - 1, "wide": 1}
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_a_deleted_post_comes_back_with_the_new_name(alice: Member) -> None:
    last = (await half_renamed(alice))[-1]

    await writing.send(alice, "DELETE", f"/v1/bookmarks/{last}")
    await writing.send(alice, "POST", f"/v1/bookmarks/{last}/restore")

    assert await writing.tags(alice, last) == ["new", "other"]
    assert await writing.labels(alice) == {"new": POSTS, "other": POSTS}
    assert await writing.recount(alice) == []
