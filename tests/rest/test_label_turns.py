"""Label edits of many posts: short transactions, and what is left if one is interrupted."""

import asyncio
import io
from typing import Any

import pytest

from bowerbird.library.access import turns
from bowerbird.library.imports.file_imports import FileImports, ImportOptions
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.requests import limits
from tests.support import make, writing
from tests.support.service import Member
from tests.support.watched_writes import Pause, WatchedWrites, interrupted

pytestmark = [pytest.mark.anyio, pytest.mark.both]

# A fifth of the real length, so that fewer posts are enough for several turns.
PER_TURN = 40
POSTS = 2 * PER_TURN + 20
# A post that moves from one label to another is three rows: two labels and its list of names.
MOST_ROWS = 3 * PER_TURN + 20

# No test saves a post with an id this long.
UNKNOWN = "9" * 30


@pytest.fixture(autouse=True)
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several turns with few posts."""
    monkeypatch.setattr(turns, "POSTS_PER_TURN", PER_TURN)
    monkeypatch.setattr(turns, "POSTS_ALONE", PER_TURN)


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
    found: set[tuple[str, ...]] = set()
    cursor: str | None = ""
    while cursor is not None:
        page = await member.listed(limit=100, cursor=cursor)
        found |= {tuple(post["tags"] or ()) for post in page["data"]}
        cursor = page["meta"]["next_cursor"]
    return found


# The size of a transaction


async def test_deleting_a_label_of_many_posts_takes_short_transactions(alice: Member) -> None:
    await fill(alice)
    path = await path_of(alice, "wide")
    watched = WatchedWrites(alice.database)

    response = await writing.send(alice, "DELETE", path)

    assert response.json()["data"]["count"] == POSTS
    assert watched.most_rows <= MOST_ROWS
    assert len(watched.rows) >= 3
    assert await writing.labels(alice) == {"other": POSTS}
    assert await all_tags(alice) == {("other",)}
    assert await writing.recount(alice) == []


async def test_merging_a_label_of_many_posts_takes_short_transactions(alice: Member) -> None:
    await fill(alice)
    await alice.save(post_id="1", tags=["third"])
    path, into = await path_of(alice, "wide"), await writing.label_id(alice, "third")
    watched = WatchedWrites(alice.database)

    response = await writing.send(alice, "POST", f"{path}/merge", {"into": into})

    assert response.json()["data"]["count"] == POSTS + 1
    assert watched.most_rows <= MOST_ROWS
    assert await writing.labels(alice) == {"other": POSTS, "third": POSTS + 1}
    assert await writing.recount(alice) == []


async def test_renaming_a_label_of_many_posts_takes_short_transactions(alice: Member) -> None:
    await fill(alice)
    path = await path_of(alice, "wide")
    watched = WatchedWrites(alice.database)

    response = await writing.send(alice, "PATCH", path, {"label_name": "a"})

    assert response.json()["data"]["count"] == POSTS
    assert watched.most_rows <= MOST_ROWS
    assert await all_tags(alice) == {("a", "other")}
    assert await writing.recount(alice) == []


async def test_labelling_a_thousand_posts_takes_short_transactions(alice: Member) -> None:
    post_ids = await fill(alice, 1_000, tags=[])
    watched = WatchedWrites(alice.database)

    added = (await writing.add(alice, "x", *post_ids[:999], UNKNOWN)).json()
    removed = (await writing.remove(alice, "x", *post_ids)).json()

    assert watched.most_rows <= MOST_ROWS
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


async def test_a_batch_with_many_posts_takes_short_transactions(alice: Member) -> None:
    post_ids = await fill(alice, POSTS, tags=[])
    operations = [writing.operation("add", f"l{n}", *post_ids) for n in range(3)]
    operations += [writing.operation("remove", "l0", *post_ids)]
    watched = WatchedWrites(alice.database)

    response = await writing.batch(alice, *operations, writing.operation("add", "", "1"))

    assert watched.most_rows <= MOST_ROWS
    assert [one["ok"] for one in response.json()["data"]["results"]] == [True] * 4 + [False]
    assert [one.get("affected") for one in response.json()["data"]["results"]] == [POSTS] * 4 + [
        None
    ]
    assert await writing.labels(alice) == {"l0": 0, "l1": POSTS, "l2": POSTS}
    assert await writing.recount(alice) == []


async def test_long_posts_are_changed_a_few_at_a_time(alice: Member) -> None:
    # Not one of the texts that are searched, because indexing them takes long.
    article = {"title": "t", "html": "x" * (turns.BYTES_PER_TURN // 8)}
    post_ids = await fill(alice, 20, article=article)
    watched = WatchedWrites(alice.database)

    await writing.add(alice, "x", *post_ids)
    assert len(watched.rows) >= 3

    watched.rows.clear()
    await writing.send(alice, "PATCH", await path_of(alice, "x"), {"label_name": "y"})
    assert len(watched.rows) >= 3

    watched.rows.clear()
    await writing.send(alice, "DELETE", await path_of(alice, "y"))
    assert len(watched.rows) >= 3
    assert await all_tags(alice) == {("other", "wide")}
    assert await writing.recount(alice) == []


async def test_deleting_a_post_costs_the_same_with_many_labels(alice: Member) -> None:
    await alice.save(post_id="1", tags=["a", "b"])
    await alice.save(post_id="2", tags=[f"label {n}" for n in range(100)])
    watched = WatchedWrites(alice.database)

    for post_id in ("1", "2"):
        await writing.send(alice, "DELETE", f"/v1/bookmarks/{post_id}")

    assert watched.rows[0] == watched.rows[1]
    assert set((await writing.labels(alice)).values()) == {0}
    assert await writing.recount(alice) == []


async def test_an_import_of_posts_with_many_labels_takes_short_transactions(
    alice: Member,
) -> None:
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


async def test_a_rename_between_two_turns_of_another_edit_is_finished_first(
    alice: Member,
) -> None:
    post_ids = await fill(alice)
    path = await path_of(alice, "wide")
    watched = WatchedWrites(alice.database)
    pause = watched.pause_after(1)
    adding = asyncio.ensure_future(writing.add(alice, "wide", *post_ids))
    await pause.reached.wait()
    await interrupted(watched, 1, writing.send(alice, "PATCH", path, {"label_name": "new"}))
    pause.over.set()

    response = await adding

    assert response.json()["meta"]["affected"] == 0
    assert await all_tags(alice) == {("new", "other")}
    assert await writing.recount(alice) == []


# Changes of other requests between two turns


async def paused_after_the_first_turn(
    member: Member, request: Any
) -> tuple["asyncio.Future[Any]", Pause]:
    pause = WatchedWrites(member.database).pause_after(1)
    editing = asyncio.ensure_future(request)
    await pause.reached.wait()
    return editing, pause


async def test_a_label_deleted_meanwhile_counts_as_removed(alice: Member) -> None:
    post_ids = await fill(alice, 60)
    removal = writing.remove(alice, "wide", *post_ids)
    removing, pause = await paused_after_the_first_turn(alice, removal)
    await writing.send(alice, "DELETE", await path_of(alice, "wide"))
    pause.over.set()

    response = await removing

    assert response.status_code == 200
    assert response.json()["meta"]["affected"] == PER_TURN
    assert [post["post_id"] for post in response.json()["data"]] == post_ids
    assert {tuple(post["tags"]) for post in response.json()["data"]} == {("other",)}
    assert "not_changed" not in response.json()["meta"]
    assert await writing.recount(alice) == []


async def test_posts_are_named_that_did_not_get_a_label_deleted_meanwhile(alice: Member) -> None:
    post_ids = await fill(alice, 60, tags=[])
    adding, pause = await paused_after_the_first_turn(alice, writing.add(alice, "x", *post_ids))
    await writing.send(alice, "DELETE", await path_of(alice, "x"))
    pause.over.set()

    response = await adding

    assert response.status_code == 200
    meta = response.json()["meta"]
    assert meta["affected"] == PER_TURN
    assert meta["not_changed"] == post_ids[PER_TURN:]
    assert len(response.json()["data"]) == PER_TURN
    assert await writing.labels(alice) == {}
    assert await writing.recount(alice) == []


async def test_posts_are_named_that_became_full_meanwhile(alice: Member) -> None:
    post_ids = await fill(alice, 60, tags=[])
    full = post_ids[-1]
    operations = [writing.operation("add", "x", *post_ids), writing.operation("add", "y", full)]
    adding, pause = await paused_after_the_first_turn(alice, writing.batch(alice, *operations))
    await alice.save(post_id=full, tags=[f"label {n}" for n in range(limits.POST_LABELS_MAX)])
    pause.over.set()

    response = await adding

    first, second = response.json()["data"]["results"]
    assert (first["ok"], first["affected"], first["not_changed"]) == (True, 59, [full])
    assert not second["ok"]
    assert (await writing.labels(alice))["x"] == 59
    assert await writing.recount(alice) == []


# Interrupted edits


async def test_an_interrupted_deletion_can_be_repeated(alice: Member) -> None:
    await fill(alice)
    path = await path_of(alice, "wide")
    watched = WatchedWrites(alice.database)
    await interrupted(watched, 1, writing.send(alice, "DELETE", path))
    assert await writing.recount(alice) == []
    assert (await writing.labels(alice))["wide"] == POSTS - PER_TURN

    assert (await writing.send(alice, "DELETE", path)).status_code == 200

    assert await writing.labels(alice) == {"other": POSTS}
    assert await all_tags(alice) == {("other",)}
    assert await writing.recount(alice) == []


async def test_a_key_of_another_request_changes_nothing(alice: Member) -> None:
    await fill(alice)
    path, into = await path_of(alice, "wide"), await writing.label_id(alice, "other")
    await writing.send(alice, "PATCH", path, {"metadata": {"a": 1}}, key="k")

    response = await writing.send(alice, "POST", f"{path}/merge", {"into": into}, key="k")

    assert writing.refused(response) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert (await writing.labels(alice))["wide"] == POSTS


async def test_an_interrupted_merge_can_be_repeated_with_its_key(alice: Member) -> None:
    await fill(alice)
    path, into = await path_of(alice, "wide"), await writing.label_id(alice, "other")
    watched = WatchedWrites(alice.database)
    merge = {"into": into}
    await interrupted(watched, 2, writing.send(alice, "POST", f"{path}/merge", merge, key="k"))
    assert await writing.recount(alice) == []

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


async def test_an_interrupted_rename_can_be_repeated_with_its_key(alice: Member) -> None:
    await half_renamed(alice)
    path = await path_of(alice, "new")

    response = await writing.send(alice, "PATCH", path, {"label_name": "new"}, key="k")

    assert response.json()["data"]["label_name"] == "new"
    assert await all_tags(alice) == {("new", "other")}
    assert await writing.recount(alice) == []


async def test_the_sweep_finishes_an_interrupted_rename(alice: Member) -> None:
    await half_renamed(alice)

    await Sweeping(alice.database, alice.clock, pause_s=0).sweep()

    assert await all_tags(alice) == {("new", "other")}
    assert await writing.recount(alice) == []


async def test_every_label_write_finishes_an_interrupted_rename_first(alice: Member) -> None:
    last = (await half_renamed(alice))[-1]

    # The name is free again, so this is another label.
    response = await writing.add(alice, "wide", last)

    assert response.json()["data"] == [{"post_id": last, "tags": ["new", "other", "wide"]}]
    assert await writing.labels(alice) == {"new": POSTS, "other": POSTS, "wide": 1}
    assert await writing.recount(alice) == []


async def test_an_import_finishes_an_interrupted_rename_first(alice: Member) -> None:
    last = (await half_renamed(alice))[-1]

    await alice.save(post_id=last, tags=["wide"])

    assert await writing.labels(alice) == {"new": POSTS - 1, "other": POSTS - 1, "wide": 1}
    assert await writing.recount(alice) == []


async def test_a_deleted_post_comes_back_with_the_new_name(alice: Member) -> None:
    last = (await half_renamed(alice))[-1]

    await writing.send(alice, "DELETE", f"/v1/bookmarks/{last}")
    await writing.send(alice, "POST", f"/v1/bookmarks/{last}/restore")

    assert await writing.tags(alice, last) == ["new", "other"]
    assert await writing.labels(alice) == {"new": POSTS, "other": POSTS}
    assert await writing.recount(alice) == []
