"""A run of an import can be undone: the library is as it was before."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from bowerbird.errors import Refusal
from bowerbird.library.bookmarks.writing import kept_changes
from bowerbird.library.imports import runs as runs_module
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.imports.undoing import UndoOutcome
from bowerbird.library.upkeep.sweeping import Sweeping
from bowerbird.model.arrival import Completeness, OrderSource, RunState
from bowerbird.requests import limits
from bowerbird.sources.found import FoundPost
from bowerbird.sources.own_json import read
from tests.support import make, writing
from tests.support.imports import dump, found, run, take
from tests.support.service import NOW, Member

pytestmark = pytest.mark.anyio

INDEX = (NOW // 1000) << 20
THREAD = {"tweet_conversation_id": "1"}
STATE = {
    "gone_at": "2026-07-01T00:00:00.000000+00:00",
    "gone_reason": "Deleted",
    "removed_at": "2026-07-02T00:00:00.000000+00:00",
    "note": "Mine.",
    "highlights": [{"id": "h", "quote": "t"}],
}
NO_STATE = dict.fromkeys(STATE)
REPLY = {"tweet_conversation_id": "1", "is_sub_tweet_of_thread": True}


async def undo(member: Member, run_id: str) -> UndoOutcome:
    runs = ImportRuns(member.database, member.clock)
    return await runs.undo(await member.account(), run_id)


def own(**fields: Any) -> FoundPost:
    incoming = read(make.raw(make.post(**fields))).incoming
    return FoundPost(record=incoming.record, line=1, order_source=OrderSource.X, own=incoming)


async def counted(member: Member, table: str) -> int:
    rows = await member.database.rows(f"SELECT count(*) FROM {table}", {})  # noqa: S608 - constants
    return int(rows[0][0])


CHANGES: dict[str, Callable[[], list[FoundPost]]] = {
    "new posts": lambda: [found(post_id=str(n), tags=["new"]) for n in range(10, 15)],
    "a richer text": lambda: [found(text="other words, and more of them")],
    "new counts": lambda: [found(metrics={"favorite_count": 12})],
    "a label": lambda: [found(tags=["new", "old"])],
    "a place": lambda: [found(order=OrderSource.X, sort_index=INDEX)],
    "a reply": lambda: [found(post_id="20", meta=REPLY)],
    "a completed stub": lambda: [found(post_id="2", text="the text", author="ada")],
    "a record of the API": lambda: [
        own(post_id="1", text="replaced", tags=["other"], is_read=True, is_archived=True),
        own(post_id="2", tags=[], bookmarked_at="2020-01-01T00:00:00Z"),
        own(post_id="3", is_read=False),
    ],
    "a state and a note": lambda: [own(post_id="1", **STATE), own(post_id="5", **NO_STATE)],
    "a deleted post": lambda: [found(post_id="4", order=OrderSource.X, sort_index=INDEX + 9)],
}


async def fill(member: Member) -> None:
    order: dict[str, Any] = {"order": OrderSource.X, "sort_index": INDEX >> 1}
    await take(member, found(tags=["old", "mine"], meta=THREAD, metrics={"favorite_count": 1}))
    await take(member, found(Completeness.STUB, post_id="2", text="", author="", tags=["old"]))
    await take(member, found(post_id="3", is_read=True, **order), found(post_id="4", **order))
    await take(member, own(post_id="5", **STATE))
    await writing.send(member, "DELETE", "/v1/bookmarks/4")


@pytest.mark.both
@pytest.mark.parametrize("case", CHANGES)
async def test_undoing_a_run_restores_the_library(alice: Member, case: str) -> None:
    await fill(alice)
    before = await dump(alice)
    run_id = await run(alice, *CHANGES[case]())
    assert await dump(alice) != before

    outcome = await undo(alice, run_id)

    assert await dump(alice) == before
    assert outcome.state is RunState.UNDONE
    assert (outcome.removed + outcome.restored > 0, outcome.kept) == (True, 0)
    assert await counted(alice, "import_change") == await counted(alice, "import_label") == 0
    assert await writing.recount(alice) == []


async def test_a_post_that_was_removed_at_its_source_since_stays_marked(alice: Member) -> None:
    await fill(alice)
    before = (await writing.bookmark(alice, "1"))["tweet_details"]["text"]
    run_id = await run(alice, found(text="an edited text, with more words"))
    removed_at = "2026-08-01T00:00:00.000000+00:00"
    record = msgspec.structs.replace(found().record, removed_at=removed_at)
    mark = FoundPost(record=record, line=0, completeness=Completeness.STUB, is_mark=True)
    await take(alice, mark)

    await undo(alice, run_id)

    post = await writing.bookmark(alice, "1")
    assert (post["tweet_details"]["text"], post["removed_at"]) == (before, removed_at)


@pytest.mark.both
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_what_the_source_says_meanwhile_stays(alice: Member, order: tuple[int, ...]) -> None:
    await fill(alice)
    first = await run(alice, own(post_id="1", **STATE))
    removed_at = "2026-08-01T00:00:00.000000+00:00"
    record = msgspec.structs.replace(found().record, removed_at=removed_at)
    is_saved = msgspec.structs.replace(found(), is_saved=True)
    mark = FoundPost(record=record, line=0, completeness=Completeness.STUB, is_mark=True)
    await take(alice, is_saved)
    await take(alice, mark)
    run_ids = [first, await run(alice, found(text="an edited text"))]

    for which in order:
        await undo(alice, run_ids[which])

    assert (await writing.bookmark(alice, "1"))["removed_at"] == removed_at


async def test_new_posts_that_their_owner_changed_stay(alice: Member) -> None:
    run_id = await run(alice, *(found(post_id=str(n), tags=["run"]) for n in range(1, 6)))
    await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"is_read": True})
    await writing.send(alice, "PATCH", "/v1/bookmarks/2", {"is_archived": True})
    await writing.add(alice, "mine", "3")
    await writing.send(alice, "DELETE", "/v1/bookmarks/4")

    outcome = await undo(alice, run_id)

    assert (outcome.removed, outcome.kept) == (1, 3)
    statuses = [(await alice.get(f"/v1/bookmarks/{n}")).status_code for n in range(1, 6)]
    assert statuses == [200, 200, 200, 404, 404]
    assert await writing.labels(alice) == {"mine": 1, "run": 3}
    assert await writing.recount(alice) == []


async def test_edits_of_changed_posts_stay(alice: Member) -> None:
    await take(alice, found(text="before", tags=["old"]))
    run_id = await run(alice, found(text="after", tags=["run"]))
    await writing.send(alice, "PATCH", "/v1/bookmarks/1", {"is_read": True})
    await writing.add(alice, "mine", "1")

    assert (await undo(alice, run_id)).restored == 1

    post = await writing.bookmark(alice, "1")
    assert (post["tweet_details"]["text"], post["is_read"]) == ("before", True)
    assert post["tags"] == ["mine", "old"]
    assert await writing.labels(alice) == {"mine": 1, "old": 1}


async def test_a_post_that_its_owner_saved_since_stays(alice: Member) -> None:
    run_id = await run(alice, found(), found(post_id="2"))
    await take(alice, found(), is_saving=True)

    await undo(alice, run_id)

    assert await alice.ids() == ["1"]


@pytest.mark.both
async def test_a_label_that_its_owner_renamed_stays(alice: Member) -> None:
    run_id = await run(alice, found(tags=["run"]))
    path = f"/v1/labels/{await writing.label_id(alice, 'run')}"
    await writing.send(alice, "PATCH", path, {"label_name": "mine"})

    await undo(alice, run_id)

    assert await writing.labels(alice) == {"mine": 0}
    assert await alice.ids() == []


@pytest.mark.both
async def test_a_large_run_is_undone_in_turns(alice: Member) -> None:
    before = await dump(alice)
    posts = [found(post_id=str(n), text=f"post {n}", tags=[f"t{n % 7}"]) for n in range(1, 451)]
    run_id = await run(alice, *posts)
    version = (await alice.account()).version

    assert (await undo(alice, run_id)).removed == 450

    assert await dump(alice) == before
    # Three turns for the posts, and one for the labels.
    assert (await alice.account()).version == version + 4


async def test_a_run_that_is_undone_takes_no_more_posts(alice: Member) -> None:
    runs, account = ImportRuns(alice.database, alice.clock), await alice.account()
    started = await runs.start(account, source="x", kind="full", client="test")
    await take(alice, found(), run_id=started.run_id)
    await undo(alice, started.run_id)

    with pytest.raises(Refusal, match="takes no more posts"):
        await take(alice, found(), run_id=started.run_id)
    assert await alice.ids() == []


@pytest.mark.both
async def test_a_run_cannot_be_undone_after_30_days(alice: Member) -> None:
    old = await run(alice, found(tags=["x"]))
    alice.clock.now += 30 * writing.DAY
    new = await run(alice, found(post_id="2"))
    alice.clock.now += 1

    with pytest.raises(Refusal, match="can no longer be undone"):
        await undo(alice, old)
    await Sweeping(alice.database, alice.clock, pause_s=0).sweep()

    assert await counted(alice, "import_change") == 1
    assert await counted(alice, "import_label") == 0
    assert (await undo(alice, new)).removed == 1
    assert await alice.ids() == ["1"]


async def test_a_sweep_removes_logs_in_slices(alice: Member) -> None:
    await run(alice, *(found(post_id=str(n)) for n in range(1, 251)))
    await run(alice, found(post_id="999"))
    alice.clock.now += 31 * writing.DAY

    # Each removal counts one more than it removes.
    await Sweeping(alice.database, alice.clock, pause_s=0).sweep()

    assert await counted(alice, "import_change") == 0
    assert len(await alice.crawl()) == 251


@pytest.mark.both
async def test_the_oldest_log_goes_when_all_are_too_large(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await run(alice, *(found(post_id=str(n)) for n in range(1, 11)))
    second = await run(alice, found(post_id="20"))
    monkeypatch.setattr(kept_changes, "LOG_BYTES_MAX", 400)

    third = await run(alice, found(post_id="30"))

    with pytest.raises(Refusal, match="can no longer be undone"):
        await undo(alice, first)
    assert (await undo(alice, second)).removed == 1
    assert (await undo(alice, third)).removed == 1
    assert len(await alice.ids()) == 10


async def test_a_run_that_is_too_large_alone_is_imported_and_cannot_be_undone(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_changes, "LOG_BYTES_MAX", 400)

    run_id = await run(alice, *(found(post_id=str(n)) for n in range(1, 501)))

    assert len(await alice.crawl()) == 500
    assert await counted(alice, "import_change") == 0
    with pytest.raises(Refusal, match="can no longer be undone"):
        await undo(alice, run_id)


async def test_only_the_newest_runs_are_listed(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_module, "RUNS_MAX", 3)
    run_ids = [await run(alice, found(post_id=str(n), tags=[str(n)])) for n in range(1, 6)]

    page = await ImportRuns(alice.database, alice.clock).list(await alice.account(), 2, None)

    assert [one.run_id for one in page.runs] == [run_ids[4], run_ids[3]]
    assert page.total_count == 3
    assert await counted(alice, "import_change") == await counted(alice, "import_label") == 3
    with pytest.raises(Refusal, match="No import"):
        await undo(alice, run_ids[0])


async def started(member: Member) -> str:
    account = await member.account()
    runs = ImportRuns(member.database, member.clock)
    return (await runs.start(account, source="x", kind="full", client="test")).run_id


async def test_edits_between_two_sights_of_a_run_stay(alice: Member) -> None:
    await take(alice, found(post_id="1", text="before", tags=["old"]))
    run_id = await started(alice)
    await take(alice, *(found(post_id=n, text="after", tags=["run"]) for n in "12"), run_id=run_id)
    for post_id in "12":
        await writing.send(alice, "PATCH", f"/v1/bookmarks/{post_id}", {"is_read": True})
        await writing.add(alice, "mine", post_id)
    again = (found(post_id=n, metrics={"favorite_count": 5}, text="after") for n in "12")
    await take(alice, *again, run_id=run_id)

    outcome = await undo(alice, run_id)

    assert (outcome.removed, outcome.restored, outcome.kept) == (0, 1, 1)
    first, second = await writing.bookmark(alice, "1"), await writing.bookmark(alice, "2")
    assert (first["tweet_details"]["text"], first["is_read"]) == ("before", True)
    assert first["tags"] == ["mine", "old"]
    assert (second["is_read"], second["tags"]) == (True, ["mine", "run"])
    assert await writing.recount(alice) == []


async def test_the_changes_of_a_run_without_a_log_stay_when_an_earlier_run_is_undone(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    await take(alice, found(Completeness.STUB, text=""))
    earlier = await started(alice)
    with monkeypatch.context() as small:
        small.setattr(kept_changes, "LOG_BYTES_MAX", 1)
        later = await started(alice)
        await take(alice, found(post_id="7"), run_id=later)
    await take(alice, found(Completeness.STUB, text="", tags=["earlier"]), run_id=earlier)
    await take(alice, found(text="the whole text", tags=["later"]), run_id=later)

    await undo(alice, earlier)

    post = await writing.bookmark(alice, "1")
    assert (post["tweet_details"]["text"], post["tags"]) == (
        "the whole text",
        ["earlier", "later"],
    )


async def test_what_an_event_added_to_a_changed_post_stays(alice: Member) -> None:
    await take(alice, found(Completeness.STUB, text=""))
    run_id = await run(alice, found(Completeness.STUB, text="", tags=["run"]))
    await take(alice, found(text="the whole text"))

    outcome = await undo(alice, run_id)

    assert outcome.kept == 1
    assert (await writing.bookmark(alice, "1"))["tweet_details"]["text"] == "the whole text"


async def test_a_post_that_the_owner_deleted_since_stays_deleted(alice: Member) -> None:
    await take(alice, found(text="before"))
    run_id = await run(alice, found(text="after"), found(post_id="2"))
    for post_id in "12":
        await writing.send(alice, "DELETE", f"/v1/bookmarks/{post_id}")
    before = await dump(alice)

    outcome = await undo(alice, run_id)

    assert (outcome.removed, outcome.restored, outcome.kept) == (0, 0, 0)
    assert await dump(alice) == before


async def test_a_post_that_was_deleted_and_restored_since_keeps_its_content(alice: Member) -> None:
    run_id = await run(alice, found(post_id="2", text="of the run"))
    await writing.send(alice, "DELETE", "/v1/bookmarks/2")
    await writing.send(alice, "POST", "/v1/bookmarks/2/restore")

    await undo(alice, run_id)

    assert await alice.ids() == ["2"]


@pytest.mark.both
async def test_two_undos_at_the_same_time_undo_a_run_once(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bowerbird.library.imports.undoing.POSTS_PER_TURN", 2)
    await take(alice, found(post_id="1", text="before"))
    before = await dump(alice)
    run_id = await run(alice, *(found(post_id=str(n), text="after") for n in range(1, 10)))

    outcomes = await asyncio.gather(undo(alice, run_id), undo(alice, run_id))

    assert {(one.removed, one.restored, one.kept) for one in outcomes} == {(8, 1, 0)}
    assert await dump(alice) == before


async def test_labels_that_come_back_may_exceed_the_limit_of_a_post(alice: Member) -> None:
    mine = [f"mine {n}" for n in range(limits.POST_LABELS_MAX)]
    await take(alice, found(tags=mine))
    run_id = await run(alice, own(post_id="1", tags=["other"]))
    later = [f"later {n}" for n in range(limits.POST_LABELS_MAX - 1)]
    for name in later[:3]:
        await writing.add(alice, name, "1")

    await undo(alice, run_id)

    assert sorted((await writing.bookmark(alice, "1"))["tags"]) == sorted([*mine, *later[:3]])
    assert await writing.recount(alice) == []
