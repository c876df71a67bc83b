"""Every write has a change, which gives back what it replaced, unless that was replaced again."""

from typing import Any

import httpx
import pytest

from bowerbird.library.upkeep.sweeping import Sweeping
from tests.support import make, saving, writing
from tests.support.posts import bulk
from tests.support.service import Member

pytestmark = [pytest.mark.anyio, pytest.mark.both]

TEXT = "one two three four"
LINK = {"links": ["https://x.com/mara/status/77"], "labels": ["new"]}


async def fill(member: Member) -> dict[str, str]:
    """A post with a note and a highlight, a label, a view and a deleted post; what paths need."""
    await member.save_all(
        [make.post(post_id=one, text=TEXT, tags=["a"], note="Before") for one in ("1", "9")]
    )
    marked = await highlight(member, "two", "Why")
    await writing.send(member, "DELETE", "/v1/bookmarks/9")
    await writing.view(member, "Mine")
    label = await writing.label_id(member, "a")
    return {"label": label, "highlight": marked.json()["data"]["id"]}


async def highlight(member: Member, quote: str, comment: str = "") -> httpx.Response:
    body = {"quote": quote, "comment": comment}
    return await writing.send(member, "POST", "/v1/bookmarks/1/highlights", body)


async def state(member: Member) -> Any:
    """All that these writes can change."""
    everything = {"is_unread_only": "false", "hide_archived": "false"}
    posts = (await member.listed(**everything))["data"]
    labels = (await member.get("/v1/labels")).json()["data"]
    views = (await member.get("/v1/views")).json()["data"]
    trash = (await member.get("/v1/bookmarks/trash")).json()["data"]
    # When something was changed last is not given back.
    for one in (*posts, *views):
        del one["updated_at"]
    for one in views:
        del one["count_state"], one["count"]
    return posts, labels, views, [one["bookmark"]["post_id"] for one in trash]


def change_of(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code < 300, answer.text
    found = answer.json()
    change: dict[str, Any] = found["meta"].get("change") or found["data"]
    return change


async def undo(member: Member, change: dict[str, Any]) -> dict[str, Any]:
    path = f"/v1/bookmarks/changes/{change['change_id']}/undo"
    answer = await writing.send(member, "POST", path)
    assert answer.status_code == 200, answer.text
    undone: dict[str, Any] = answer.json()["data"]
    assert undone["state"] == "undone"
    return undone


async def latest(member: Member) -> dict[str, Any]:
    listed: dict[str, Any] = (await member.get("/v1/bookmarks/changes")).json()["data"][0]
    return listed


PASSAGE = "/v1/bookmarks/1/highlights"
WRITES: dict[str, tuple[str, str, Any, str]] = {
    "a note": ("PATCH", "/v1/bookmarks/1", {"note": "After"}, "Changed the note of 1 post."),
    "no note": ("PATCH", "/v1/bookmarks/1", {"note": ""}, "Changed the note of 1 post."),
    "a note and a flag": (
        *("PATCH", "/v1/bookmarks/1", {"note": "After", "is_read": True}),
        "Marked 1 post read.",
    ),
    "a highlight": ("POST", PASSAGE, {"quote": "four"}, "Marked a passage of 1 post."),
    "another comment": (
        *("PATCH", f"{PASSAGE}/{{highlight}}", {"comment": "So"}),
        "Changed the comment on a passage of 1 post.",
    ),
    "a comment by marking again": (
        *("POST", PASSAGE, {"quote": "two", "comment": "So"}),
        "Marked a passage of 1 post.",
    ),
    "no highlight": (
        "DELETE",
        f"{PASSAGE}/{{highlight}}",
        None,
        "Removed a highlight from 1 post.",
    ),
    "a colour": (
        *("PATCH", "/v1/labels/{label}", {"color": "moss", "metadata": {"x": 1}}),
        "Changed the colour or metadata of the label “a”.",
    ),
    "a name and a colour": (
        *("PATCH", "/v1/labels/{label}", {"color": "moss", "label_name": "b"}),
        "Renamed the label “a”, which 1 post had.",
    ),
    "a new view": ("POST", "/v1/views", {"name": "Two"}, "Created the Smart View “Two”."),
    "a changed view": (
        *("PATCH", "/v1/views/mine", {"name": "Ours", "base_query": {"q": "x"}}),
        "Changed the Smart View “Ours”.",
    ),
    "a moved view": (
        "PATCH",
        "/v1/views/mine",
        {"is_pinned": False},
        "Changed the Smart View “Mine”.",
    ),
    "no view": ("DELETE", "/v1/views/mine", None, "Deleted the Smart View “Mine”. Its posts stay."),
    "a deletion": ("DELETE", "/v1/bookmarks/1", None, "Moved 1 post to the trash."),
    "a deletion by ids": (
        *("POST", "/v1/bookmarks/delete", {"tweet_ids": ["1"]}),
        "Moved 1 post to the trash.",
    ),
    "a restored post": ("POST", "/v1/bookmarks/9/restore", None, "Restored 1 post."),
    "a post restored by ids": (
        *("POST", "/v1/bookmarks/restore", {"tweet_ids": ["9"]}),
        "Restored 1 post.",
    ),
    "a flag": (
        *("POST", "/v1/bookmarks/changes", {"action": "read", "tweet_ids": ["1"]}),
        "Marked 1 post read.",
    ),
    "no label": ("DELETE", "/v1/labels/{label}", None, "Deleted the label “a”, which 1 post had."),
    "a saved link": ("POST", "/v1/bookmarks", LINK, "Saved 1 post."),
    "a label on a saved post": (
        *("POST", "/v1/bookmarks", {"links": ["https://x.com/i/status/1"], "labels": ["new"]}),
        "Saved 1 post.",
    ),
    "a deleted post saved again": (
        *("POST", "/v1/bookmarks", {"links": ["https://x.com/i/status/9"]}),
        "Saved 1 post.",
    ),
}


@pytest.mark.parametrize("what", WRITES)
async def test_the_undo_of_a_write_gives_back_what_there_was(alice: Member, what: str) -> None:
    ids = await fill(alice)
    before = await state(alice)
    method, path, body, words = WRITES[what]
    answer = await writing.send(alice, method, path.format(**ids), body)

    change = change_of(answer)
    assert (change["state"], change["count"], change["changed"]) == ("done", 1, 1)
    listed = await latest(alice)
    assert (listed["change_id"], listed["summary"]) == (change["change_id"], words)
    assert (listed["made_by"], listed["undo_until"]) == ("key", change["undo_until"])
    undone = await undo(alice, change)
    after = await state(alice)
    if body is LINK:
        # What was saved is in the trash.
        after[3].remove("77")
    assert after == before
    assert undone["restored"] == 1
    assert await undo(alice, change) == undone
    assert await state(alice)
    assert (await latest(alice))["summary"].partition(" Undone")[1] == " Undone"
    assert await writing.recount(alice) == []


NEWER: dict[str, tuple[tuple[str, str, Any], tuple[str, str, Any]]] = {
    "note": (
        ("PATCH", "/v1/bookmarks/1", {"note": "After"}),
        ("PATCH", "/v1/bookmarks/1", {"note": "Later"}),
    ),
    "highlight": (
        ("PATCH", f"{PASSAGE}/{{highlight}}", {"comment": "So"}),
        ("PATCH", f"{PASSAGE}/{{highlight}}", {"comment": "Later"}),
    ),
    "label": (
        ("PATCH", "/v1/labels/{label}", {"color": "moss"}),
        ("PATCH", "/v1/labels/{label}", {"color": "plum"}),
    ),
    "view": (
        ("PATCH", "/v1/views/mine", {"name": "Ours"}),
        ("PATCH", "/v1/views/mine", {"name": "Later"}),
    ),
    "deleted view": (("DELETE", "/v1/views/mine", None), ("POST", "/v1/views", {"name": "Mine"})),
}


@pytest.mark.parametrize("what", NEWER)
async def test_what_is_newer_stays_until_it_is_undone_itself(alice: Member, what: str) -> None:
    ids = await fill(alice)
    before = await state(alice)
    changes = []
    for method, path, body in NEWER[what]:
        changes.append(change_of(await writing.send(alice, method, path.format(**ids), body)))
    newer = await state(alice)

    first = await undo(alice, changes[0])
    assert (first["restored"], await state(alice)) == (0, newer)
    summary = next(
        one["summary"]
        for one in (await alice.get("/v1/bookmarks/changes")).json()["data"]
        if one["change_id"] == changes[0]["change_id"]
    )
    assert summary.endswith("Nothing was undone: it has been changed since.")
    await undo(alice, changes[1])
    # That of the first of both was given up.
    assert await state(alice) != before


async def test_changes_that_are_undone_in_reverse_give_the_state_before(alice: Member) -> None:
    ids = await fill(alice)
    before = await state(alice)
    changes = [
        change_of(await writing.send(alice, method, path.format(**ids), body))
        for pair in NEWER.values()
        for method, path, body in pair
    ]
    for change in reversed(changes):
        assert (await undo(alice, change))["restored"] == 1
    assert await state(alice) == before
    assert await writing.recount(alice) == []


async def test_a_note_and_a_highlight_come_back_in_the_trash(alice: Member) -> None:
    ids = await fill(alice)
    note = change_of(await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"note": "After"}))
    unmarked = change_of(await writing.send(alice, "DELETE", f"{PASSAGE}/{ids['highlight']}"))
    await writing.send(alice, "DELETE", "/v1/bookmarks/1")
    assert (await undo(alice, unmarked))["restored"] == 1
    assert (await undo(alice, note))["restored"] == 1
    await writing.send(alice, "POST", "/v1/bookmarks/1/restore")
    post = await writing.bookmark(alice, "1")
    assert (post["note"], [one["comment"] for one in post["highlights"]]) == ("Before", ["Why"])


async def test_an_import_that_replaces_a_note_keeps_it(alice: Member) -> None:
    await fill(alice)
    note = change_of(await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"note": "After"}))
    await alice.save(post_id="1", text=TEXT, note="Imported")
    assert (await undo(alice, note))["restored"] == 0
    assert (await writing.bookmark(alice, "1"))["note"] == "Imported"


@pytest.mark.parametrize("way", ["saved again", "imported"])
async def test_no_undo_gives_a_post_that_is_here_again_what_it_had(alice: Member, way: str) -> None:
    ids = await fill(alice)
    note = change_of(await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"note": "After"}))
    unmarked = change_of(await writing.send(alice, "DELETE", f"{PASSAGE}/{ids['highlight']}"))
    await writing.send(alice, "DELETE", "/v1/bookmarks/1")
    record = make.post(post_id="1", text=TEXT, note="Mine")
    if way == "imported":
        await alice.save_all([record])
    else:
        await saving.save(alice, posts=[record])
    for change in (unmarked, note):
        assert (await undo(alice, change))["restored"] == 0
    post = await writing.bookmark(alice, "1")
    assert (post["note"], "highlights" in post) == ("Mine", False)


async def test_a_deletion_is_undone_after_the_undo_of_a_save_that_came_later(alice: Member) -> None:
    await alice.save(post_id="1", text=TEXT)
    deleted = change_of(await writing.send(alice, "DELETE", "/v1/bookmarks/1"))
    saved = change_of(await saving.save(alice, links=["https://x.com/i/status/1"]))
    assert (await undo(alice, saved))["restored"] == 1
    assert await alice.ids() == []
    assert (await undo(alice, deleted))["restored"] == 1
    assert (await writing.bookmark(alice, "1"))["tweet_details"]["text"] == TEXT


async def test_many_labels_that_were_created_go_in_turns(alice: Member) -> None:
    posts = [
        make.post(post_id=str(post), tags=[f"{post} {label}" for label in range(100)])
        for post in range(100, 103)
    ]
    change = change_of(await saving.save(alice, posts=posts))
    path = f"/v1/bookmarks/changes/{change['change_id']}/undo"
    begun = await writing.send(alice, "POST", path)
    assert (begun.status_code, begun.json()["data"]["state"]) == (202, "undoing")
    assert len(await writing.labels(alice)) == 100
    changes = bulk.changes(alice)
    row = await changes.finish(await alice.account(), change["change_id"])
    assert (row.state, row.restored) == ("undone", 3)
    assert await writing.labels(alice) == {}


async def test_a_label_that_was_created_goes_unless_it_is_used(alice: Member) -> None:
    await fill(alice)
    links = ["https://x.com/i/status/1"]
    unused, used = [
        change_of(await saving.save(alice, links=links, labels=[name]))
        for name in ("unused", "used")
    ]
    await alice.save(post_id="2", tags=["used"])
    for change in (unused, used):
        await undo(alice, change)
    assert await writing.labels(alice) == {"a": 1, "used": 1}


async def test_what_changes_nothing_has_no_change(alice: Member) -> None:
    ids = await fill(alice)
    label = f"/v1/labels/{ids['label']}"
    before, version = await latest(alice), await writing.version(alice)
    unchanged: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", "/v1/bookmarks/1", {"note": "Before"}),
        ("PATCH", f"{PASSAGE}/{ids['highlight']}", {"comment": "Why"}),
        ("PATCH", label, {}),
        ("PATCH", label, {"label_name": " a ", "metadata": {}}),
        ("PATCH", label, {"color": None}),
        ("PATCH", "/v1/views/mine", {}),
        ("PATCH", "/v1/views/mine", {"name": "Mine"}),
        ("PATCH", "/v1/views/mine", {"base_query": {}, "default_sort": None}),
        ("POST", "/v1/bookmarks", {"links": ["https://x.com/i/status/1"]}),
    ]
    for method, path, body in unchanged:
        answer = await writing.send(alice, method, path, body)
        assert answer.status_code == 200, answer.text
        assert "change" not in answer.json()["meta"], path
    assert (await latest(alice), await writing.version(alice)) == (before, version)


async def test_a_free_account_undoes_what_it_may_write(free: Member) -> None:
    await free.save(post_id="1", text=TEXT, note="Before")
    note = change_of(await writing.send(free, "PATCH", "/v1/bookmarks/1", {"note": "After"}))
    marked = change_of(await highlight(free, "two"))
    saved = change_of(await saving.save(free, links=["https://x.com/i/status/2"]))
    for change in (note, marked, saved):
        assert (await undo(free, change))["restored"] == 1
    post = await writing.bookmark(free, "1")
    assert (post["note"], "highlights" in post) == ("Before", False)
    assert (await free.get("/v1/bookmarks/2")).status_code == 404


async def test_what_is_kept_goes_with_the_change_after_thirty_days(alice: Member) -> None:
    await fill(alice)
    change = change_of(await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"note": "After"}))
    path = f"/v1/bookmarks/changes/{change['change_id']}"
    alice.clock.now += 30 * 24 * writing.HOUR
    await Sweeping(alice.database, alice.clock, pause_s=0).sweep()
    assert (await alice.get(path)).status_code == 200
    assert await alice.database.rows("SELECT 1 FROM bulk_post", {}) != []
    alice.clock.now += 1
    gone = await writing.send(alice, "POST", f"{path}/undo")
    assert gone.status_code == 404
    await Sweeping(alice.database, alice.clock, pause_s=0).sweep()
    assert await alice.database.rows("SELECT 1 FROM bulk_post", {}) == []
