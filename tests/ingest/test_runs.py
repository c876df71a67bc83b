"""POST /ingest/v1/runs and GET /ingest/v1/runs/{run_id}."""

import pytest

from tests.support import ingesting, make, writing
from tests.support.in_turn import in_turn
from tests.support.ingesting import Sender, data
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def test_a_run_starts_at_page_0_of_an_empty_library(laptop: Sender) -> None:
    response = await laptop.post("/runs", {"source": "x", "kind": "full", "client": "test 1.0"})

    assert response.status_code == 201
    run = data(response)
    assert run == {
        "run_id": run["run_id"],
        "next_seq": 0,
        "known_head": [],
        "stop_below_sort_index": None,
        "resume": None,
    }
    assert response.headers["location"] == f"/ingest/v1/runs/{run['run_id']}"


async def test_the_head_has_the_50_newest_posts_as_texts(laptop: Sender, alice: Member) -> None:
    await alice.save_all([make.post(post_id=str(n), sort_index=2**62 + n) for n in range(1, 61)])

    run = await laptop.start("incremental")

    assert len(run["known_head"]) == 50
    assert run["known_head"][0] == {"post_id": "60", "sort_index": str(2**62 + 60)}
    assert run["stop_below_sort_index"] is None


@in_turn(
    ("body", "named"),
    [
        ({}, "source"),
        ({"source": "y", "kind": "full"}, "source"),
        ({"source": "x", "kind": "half"}, "kind"),
        ({"source": "x", "kind": "full", "source_user_id": "a b"}, "source_user_id"),
        ({"source": "x", "kind": "full", "client": "c" * 201}, "client"),
        ({"source": "x", "kind": "full", "client": "\x00"}, "client"),
    ],
)
async def test_an_invalid_run_is_refused_by_field(laptop: Sender, body: object, named: str) -> None:
    response = await laptop.post("/runs", body)

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response).startswith(f"{named}:")


async def test_another_x_account_is_refused_until_it_is_confirmed(laptop: Sender) -> None:
    await laptop.start(source_user_id="111")

    refused = await laptop.post("/runs", {"source": "x", "kind": "full", "source_user_id": "222"})
    assert writing.refused(refused) == (409, "SOURCE_USER_MISMATCH")
    await laptop.start(source_user_id="222", confirm_source_user=True)
    await laptop.start(source_user_id="222")

    again = await laptop.post("/runs", {"source": "x", "kind": "full", "source_user_id": "111"})
    assert again.status_code == 409
    assert data(await laptop.get("/status"))["source_user_id"] == "222"


async def test_a_retried_start_with_a_key_starts_one_run(laptop: Sender) -> None:
    body = {"source": "x", "kind": "full"}

    first = await laptop.post("/runs", body, headers={"Idempotency-Key": "one"})
    second = await laptop.post("/runs", body, headers={"Idempotency-Key": "one"})

    assert second.headers["idempotency-replayed"] == "true"
    assert second.content == first.content


async def test_an_interrupted_run_can_be_continued(laptop: Sender) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, ingesting.listed([9, 8]))
    await laptop.send(run_id, 1, ingesting.listed([7, 6], 1))
    await laptop.finish(run_id, "interrupted")

    resume = (await laptop.start())["resume"]

    assert resume == {"run_id": run_id, "cursor": "c2", "next_seq": 2}
    last = await laptop.send(run_id, 2, ingesting.listed([5], 2, is_last=True))
    assert last["stop_reason"] == "end"
    assert data(await laptop.get(f"/runs/{run_id}"))["state"] == "running"
    assert (await laptop.finish(run_id))["proved_end"]
    assert (await laptop.start())["resume"] is None


async def test_a_run_goes_on_after_many_that_listed_nothing(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, ingesting.listed([9, 8]))
    for _ in range(51):
        alice.clock.now += ingesting.DAY // 20
        await laptop.finish((await laptop.start("incremental"))["run_id"], "gave_up")

    assert (await laptop.start())["resume"] == {"run_id": run_id, "cursor": "c1", "next_seq": 1}
    alice.clock.now += 7 * ingesting.DAY
    assert (await laptop.start())["resume"] is None


async def test_a_run_of_another_x_account_is_not_continued(laptop: Sender) -> None:
    run_id = (await laptop.start(source_user_id="111"))["run_id"]
    await laptop.send(run_id, 0, ingesting.listed([9, 8]))

    started = await laptop.start(source_user_id="222", confirm_source_user=True)

    assert started["resume"] is None


async def test_the_state_of_a_run_is_shown(laptop: Sender) -> None:
    run_id = (await laptop.start(client="test 1.0"))["run_id"]
    await laptop.send(run_id, 0, ingesting.listed([9, 8]))

    run = data(await laptop.get(f"/runs/{run_id}"))

    assert (run["pages"], run["next_seq"], run["cursor"]) == (1, 1, "c1")
    assert (run["state"], run["client"], run["kind"]) == ("running", "test 1.0", "full")


@in_turn("run_id", ["0" * 32, "%00", "x" * 100, "ä"])
async def test_an_unknown_run_is_not_found(laptop: Sender, run_id: str) -> None:
    assert writing.refused(await laptop.get(f"/runs/{run_id}")) == (404, "NOT_FOUND")
