"""Every wish of endurance/agent_trial, played as a model would that makes no mistake."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from endurance.agent_trial import library
from endurance.agent_trial.wishes import WISHES, Wish
from tests.support.programs.wishes import Spent
from tests.support.service import Member
from tests.support.toolcalls import call

pytestmark = pytest.mark.anyio

Play = Callable[[Spent], Awaitable[Any]]
ALL = {"is_unread_only": False, "hide_archived": False}


async def archive_by_date(spent: Spent) -> None:
    wish = {"filter": {"bookmarked_to": "2024-12-31"}, "is_archived": True}
    await _with_dry_run(spent, "update_bookmarks", wish)


async def merge_labels(spent: Spent) -> None:
    await spent.call("merge_labels", **{"from": "database", "into": "databases"})


async def duplicates(spent: Spent) -> None:
    listed = await spent.call("search_bookmarks", query="is:duplicate", sort_by="created_at")
    texts: dict[str, list[str]] = {}
    for post in listed["bookmarks"]:
        texts.setdefault(post["text"], []).append(post["post_id"])
    assert [len(pair) for pair in texts.values()] == [2, 2, 2]
    await spent.call("delete_bookmarks", post_ids=[pair[1] for pair in texts.values()])


async def gone_posts(spent: Spent) -> None:
    listed = await spent.call("search_bookmarks", query="is:gone")
    assert {post["post_id"] for post in listed["bookmarks"]} == set(
        map(library.post_id, library.GONE)
    )


async def undo_labels_by_ids(spent: Spent) -> None:
    [change] = (await call(spent.member, "list_changes"))["changes"]
    undone = await spent.call("undo_change", change_id=change["change_id"])
    assert undone["affected"] == 2


async def weeks_summary(spent: Spent) -> None:
    listed = await spent.call("list_bookmarks", bookmarked_from="-7d", limit=100, **ALL)
    assert listed["count"] == library.WEEK


async def question(spent: Spent) -> None:
    listed = await spent.call("search_bookmarks", query="sqlite OR postgresql OR p99", limit=50)
    assert listed["count"] == 50


async def what_is_new(spent: Spent) -> None:
    listed = await spent.call("list_bookmarks", limit=10)
    assert listed["count"] == 10


async def number_of_unread(spent: Spent) -> None:
    assert (await spent.call("count_bookmarks"))["count"] == 40


async def find_a_post(spent: Spent) -> None:
    listed = await spent.call("search_bookmarks", query="sourdough", limit=3)
    assert all("Sourdough" in post["text"] for post in listed["bookmarks"])


async def read_a_post(spent: Spent) -> None:
    found = await spent.call("search_bookmarks", query="bottle caps", limit=1)
    [post] = found["bookmarks"]
    await spent.call("get_bookmarks", post_ids=[post["post_id"]])


async def who_most(spent: Spent) -> None:
    assert (await spent.call("facet_bookmarks", by="author", limit=5))["count"] == 5


async def save_a_link(spent: Spent) -> None:
    await spent.call("save_bookmarks", links=["https://x.com/ada/status/20"], labels=["history"])


async def label_an_author(spent: Spent) -> None:
    await _with_dry_run(spent, "add_label", {"filter": {"author": "benfromdb"}, "label": "ben"})


async def label_what_has_none(spent: Spent) -> None:
    listed = await spent.call("list_bookmarks", unlabelled=True, limit=5, **ALL)
    ids = [post["post_id"] for post in listed["bookmarks"]]
    operations = [
        {"op": "add", "post_ids": ids[:2], "label": "nature"},
        {"op": "add", "post_ids": ids[2:], "label": "technology"},
    ]
    assert (await spent.call("batch_label", operations=operations))["succeeded"] == 2


async def rename_a_label(spent: Spent) -> None:
    await spent.call("update_label", label="to try", new_name="experiments")


async def create_a_view(spent: Spent) -> None:
    query = {"query": "sqlite", "is_unread_only": True}
    view = await spent.call("create_view", name="SQLite", base_query=query)
    assert view["slug"] == "sqlite"


async def export(spent: Spent) -> None:
    started = await spent.call("create_export", format="csv", label="databases")
    await spent.call("get_export", job_id=started["job_id"])


async def delete_an_author(spent: Spent) -> None:
    await _with_dry_run(spent, "delete_bookmarks", {"filter": {"author": "simonetta_v"}})


async def restore(spent: Spent) -> None:
    await _with_dry_run(spent, "restore_bookmarks", {"filter": {"author": "simonetta_v"}})


async def write_a_note(spent: Spent) -> None:
    found = await spent.call("search_bookmarks", query="postgresql", limit=1)
    [post] = found["bookmarks"]
    await spent.call("update_note", post_id=post["post_id"], note="Try this on Monday.")


async def most_liked(spent: Spent) -> None:
    liked = {"sort_by": "favorite_count", "limit": 3}
    listed = await spent.call("list_bookmarks", **liked, **ALL)
    assert listed["bookmarks"][0]["favorite_count"] == 9_000


async def _with_dry_run(spent: Spent, tool: str, wish: dict[str, Any]) -> None:
    dry = await spent.call(tool, **wish, dry_run=True)
    done = await spent.call(tool, **wish, expected_count=dry["count"])
    assert done["affected"] == dry["count"] > 0


PLAYS: dict[str, Play] = {
    "archive by date": archive_by_date,
    "merge labels": merge_labels,
    "duplicates": duplicates,
    "gone posts": gone_posts,
    "undo labels by ids": undo_labels_by_ids,
    "week's summary": weeks_summary,
    "question over 50 posts": question,
    "what is new": what_is_new,
    "number of unread posts": number_of_unread,
    "find a post": find_a_post,
    "read a post": read_a_post,
    "who most": who_most,
    "save a link": save_a_link,
    "label an author": label_an_author,
    "label what has no label": label_what_has_none,
    "rename a label": rename_a_label,
    "create a view": create_a_view,
    "export": export,
    "delete an author": delete_an_author,
    "restore": restore,
    "write a note": write_a_note,
    "most liked": most_liked,
}


def test_every_wish_is_played() -> None:
    assert [wish.name for wish in WISHES] == list(PLAYS)
    assert len(WISHES) == 22


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.name)
async def test_a_wish_stays_in_its_budget(alice: Member, wish: Wish) -> None:
    now = datetime.fromtimestamp(alice.clock.now / 1e6, UTC)
    await alice.save_all(library.records(now))
    for tool, arguments in wish.before:
        await call(alice, tool, **arguments)
    spent = Spent(alice)

    await PLAYS[wish.name](spent)

    assert spent.calls <= wish.calls
    assert spent.tokens <= wish.tokens, f"{spent.calls} calls"
    if wish.then is not None:
        tool, arguments, fields = wish.then
        answer = await call(alice, tool, **arguments)
        assert {name: answer[name] for name in fields} == fields
