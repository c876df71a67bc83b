"""POST /ingest/v1/runs/{run_id}/finish: which posts count as removed at their source."""

from typing import Any

import anyio
import pytest

from bowerbird.library.imports import runs as import_runs
from tests.support import ingesting, make, writing
from tests.support.ingesting import Sender, data, listed, post_id
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def test_a_post_that_is_missing_from_the_whole_list_is_recorded_as_removed(
    laptop: Sender, alice: Member
) -> None:
    await laptop.read_list("full", [5, 4], [3, 2, 1])
    laptop.clock.now += ingesting.DAY

    finished = await laptop.read_list("full", [5, 4], [2, 1])

    assert (finished["removed_candidates"], finished["removed"]) == (1, 1)
    assert finished["proved_end"]
    assert await laptop.removed() == [post_id(3)]
    assert len(await alice.ids()) == 5


async def test_a_removed_post_that_is_listed_again_is_not_removed_any_more(laptop: Sender) -> None:
    for numbers in ([3, 2, 1], [3, 1], [3, 2, 1]):
        await laptop.read_list("full", numbers)
        laptop.clock.now += ingesting.DAY

    assert await laptop.removed() == []


@pytest.mark.parametrize("reason", ["caught_up", "gave_up", "end"])
async def test_nothing_is_removed_without_proof_of_the_end(laptop: Sender, reason: str) -> None:
    await laptop.read_list("full", [5, 4, 3, 2, 1])
    laptop.clock.now += ingesting.DAY
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([5, 1]))

    finished = await laptop.finish(run_id, reason)

    assert (finished["proved_end"], finished["removed_candidates"]) == (False, 0)
    assert await laptop.removed() == []


async def test_nothing_is_removed_if_a_page_is_missing(laptop: Sender) -> None:
    await laptop.read_list("full", [5, 4], [3, 2], [1])
    laptop.clock.now += ingesting.DAY
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([5, 4]))
    await laptop.send(run_id, 1, listed([1], 2, is_last=True))

    assert not (await laptop.finish(run_id))["proved_end"]
    assert await laptop.removed() == []


def with_unreadable_entry(page: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    timeline = page["payload"]["data"]["bookmark_timeline_v2"]["timeline"]
    timeline["instructions"][0]["entries"].insert(0, entry)
    return page


@pytest.mark.both
@pytest.mark.parametrize(
    ("entry", "is_proven"),
    [
        ({"entryId": f"tweet-{post_id(3)}", "content": {"itemContent": 7}}, True),
        # Only its place is known, and which post is there.
        ({"entryId": "new-3", "sortIndex": str(ingesting.sort_index(3))}, True),
        ({"entryId": "new-3", "sortIndex": "soon"}, False),
    ],
)
async def test_a_post_whose_entry_cannot_be_read_is_not_missing(
    laptop: Sender, entry: dict[str, Any], *, is_proven: bool
) -> None:
    await laptop.read_list("full", [5, 4], [3, 2, 1])
    laptop.clock.now += ingesting.DAY
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([5, 4]))
    entry.setdefault("content", {"itemContent": 7})
    unreadable = with_unreadable_entry(listed([1], 1, is_last=True), entry)
    page = await laptop.send(run_id, 1, unreadable)

    finished = await laptop.finish(run_id)

    assert (page["unreadable"], page["is_kept"]) == (1, True)
    assert finished["proved_end"] == is_proven
    # A sixth post was removed, and its entry is not on the page.
    assert await laptop.removed() == ([post_id(2)] if is_proven else [])


async def test_the_order_of_the_pages_does_not_matter(laptop: Sender) -> None:
    await laptop.read_list("full", [5, 4], [3, 2], [1])
    laptop.clock.now += ingesting.DAY
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 2, listed([1], 2, is_last=True))
    await laptop.send(run_id, 0, listed([5, 4]))
    await laptop.send(run_id, 1, listed([2], 1))

    assert (await laptop.finish(run_id))["removed"] == 1
    assert await laptop.removed() == [post_id(3)]


async def test_an_incremental_run_removes_nothing(laptop: Sender) -> None:
    await laptop.read_list("full", [3, 2, 1])
    laptop.clock.now += ingesting.DAY

    finished = await laptop.read_list("incremental", [3, 1])

    assert finished["removed_candidates"] == 0
    assert await laptop.removed() == []


async def test_a_post_that_no_list_ever_had_is_not_removed(laptop: Sender, alice: Member) -> None:
    await laptop.read_list("full", [5, 1])
    await alice.save(post_id="42", sort_index=ingesting.sort_index(3))
    own = make.post(post_id="43", sort_index=ingesting.sort_index(2))
    run_id = (await laptop.start("incremental"))["run_id"]
    await laptop.send(run_id, 0, {"format": "bookmark", "payload": [own]})
    event = {"type": "added", "post_id": post_id(4), "at": "2026-08-30T12:00:00Z"}
    await laptop.post("/events", [event])
    await alice.save(post_id=post_id(4), sort_index=ingesting.sort_index(4))
    laptop.clock.now += ingesting.DAY

    finished = await laptop.read_list("full", [5, 1])

    assert finished["removed_candidates"] == 0


async def test_many_removals_are_held_until_they_are_confirmed(laptop: Sender) -> None:
    everything = list(range(60, 0, -1))
    await laptop.read_list("full", everything)
    laptop.clock.now += ingesting.DAY
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([60, 1], is_last=True))

    held = await laptop.finish(run_id)
    again = await laptop.finish(run_id)

    assert (held["removed_candidates"], held["removed"], held["is_held"]) == (58, 0, True)
    assert again == held
    assert await laptop.removed() == []
    confirmed = await laptop.finish(run_id, confirm_removals=True)
    assert (confirmed["removed"], confirmed["is_held"]) == (58, False)
    assert len(await laptop.removed()) == 58


async def test_a_run_that_is_continued_stays_one_import(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([3, 2]))
    await laptop.finish(run_id, "interrupted")
    [stopped] = data(await alice.client.get("/v1/imports"))

    await laptop.send(run_id, 1, listed([1], 1, is_last=True))

    [running] = data(await alice.client.get("/v1/imports"))
    assert (await laptop.finish(run_id))["proved_end"]
    [ended] = data(await alice.client.get("/v1/imports"))
    assert [one["state"] for one in (stopped, running, ended)] == [
        "interrupted",
        "running",
        "finished",
    ]
    assert (ended["reason"], ended["counts"]["new"]) == ("end", 3)
    assert data(await laptop.get(f"/runs/{run_id}"))["import_id"] == ended["run_id"]
    await alice.client.post(f"/v1/imports/{ended['run_id']}/undo")
    assert await alice.ids() == []


@pytest.mark.both
async def test_a_run_that_a_sweep_has_interrupted_stays_one_import(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([3, 2]))
    laptop.clock.now += 2 * ingesting.DAY
    await cast.app.sweeping.sweep()

    await laptop.send(run_id, 1, listed([1], 1, is_last=True))
    await laptop.finish(run_id)

    [one] = data(await alice.client.get("/v1/imports"))
    assert (one["state"], one["counts"]["new"]) == ("finished", 3)


async def test_an_interrupted_run_that_ends_without_another_page_is_a_finished_import(
    laptop: Sender, alice: Member
) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([1], is_last=True))
    await laptop.finish(run_id, "interrupted")

    await laptop.finish(run_id, "end")

    [one] = data(await alice.client.get("/v1/imports"))
    assert (one["state"], one["reason"]) == ("finished", "end")


@pytest.mark.both
async def test_a_run_that_is_continued_after_its_undo_gets_another_import(
    laptop: Sender, alice: Member
) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([3, 2]))
    await laptop.finish(run_id, "interrupted")
    first = data(await laptop.get(f"/runs/{run_id}"))["import_id"]
    await alice.client.post(f"/v1/imports/{first}/undo")

    await laptop.send(run_id, 1, listed([1], 1, is_last=True))

    assert data(await laptop.get(f"/runs/{run_id}"))["import_id"] != first
    assert await alice.ids() == [post_id(1)]
    assert data(await alice.client.get(f"/v1/imports/{first}"))["state"] == "undone"


@pytest.mark.both
async def test_a_run_ends_even_if_its_import_is_not_listed_any_more(
    laptop: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_runs, "RUNS_MAX", 1)
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([2], is_last=True))
    await laptop.read_list("full", [4, 3])

    assert (await laptop.finish(run_id))["state"] == "finished"


@pytest.mark.both
async def test_a_run_of_one_x_account_removes_no_posts_of_another(laptop: Sender) -> None:
    await laptop.read_list("full", [4, 3, 2], source_user_id="111")
    laptop.clock.now += ingesting.DAY

    finished = await laptop.read_list(
        "full", [5, 1], source_user_id="222", confirm_source_user=True
    )

    assert finished["removed_candidates"] == 0
    assert await laptop.removed() == []


async def test_a_run_that_changes_nothing_is_no_import(laptop: Sender, alice: Member) -> None:
    await laptop.read_list("full", [2, 1])
    await laptop.read_list("full", [2, 1])
    await laptop.read_list("incremental", [2, 1])

    assert len(data(await alice.client.get("/v1/imports"))) == 1


async def test_pages_sent_while_a_run_ends_are_stored_before_it_or_refused(laptop: Sender) -> None:
    for _ in range(3):
        run_id = (await laptop.start())["run_id"]
        await laptop.send(run_id, 0, listed([50]))
        responses: list[Any] = []

        async def page(seq: int, run_id: str = run_id, to: list[Any] = responses) -> None:
            body = {"seq": seq, **listed([seq], seq)}
            to.append(await laptop.post(f"/runs/{run_id}/pages", body))

        async with anyio.create_task_group() as group:
            for seq in (1, 2):
                group.start_soon(page, seq)
            group.start_soon(laptop.finish, run_id)
            for seq in (3,):
                group.start_soon(page, seq)

        answers = {writing.refused(one) for one in responses if one.status_code != 200}
        assert answers <= {(409, "RUN_FINISHED")}
        run = data(await laptop.get(f"/runs/{run_id}"))
        assert run["state"] == "finished"
        assert run["pages"] == 1 + sum(one.status_code == 200 for one in responses)
