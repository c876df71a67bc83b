"""POST /ingest/v1/events."""

import asyncio
import json
from typing import Any

import pytest

from bowerbird.model.instants import with_offset
from tests.sources.x import pages as shapes
from tests.support import ingesting, make, writing
from tests.support.in_turn import in_turn
from tests.support.ingesting import Sender, data, listed, post_id
from tests.support.service import Member

pytestmark = pytest.mark.anyio
EARLY, LATE = "2026-09-01T10:00:00Z", "2026-09-01T11:00:00Z"
# After everything that tests do on the first day.
NEXT_DAY = "2026-09-02T11:00:00Z"


def added(number: int, at: str = EARLY, **fields: Any) -> dict[str, Any]:
    return {"type": "added", "post_id": post_id(number), "at": at, **fields}


def removed(number: int, at: str = EARLY) -> dict[str, Any]:
    return {"type": "removed", "post_id": post_id(number), "at": at}


async def test_an_added_post_is_a_stub_until_a_page_comes(laptop: Sender, alice: Member) -> None:
    response = await laptop.post("/events", [added(1)])

    assert data(response) == {
        "received": 1,
        "inserted": 1,
        "updated": 0,
        "unchanged": 0,
        "removed": 0,
        "not_found": 0,
        "stale": 0,
        "unreadable": 0,
        "labels_left_out": [],
    }
    stub = await writing.bookmark(alice, post_id(1))
    assert stub["tweet_details"]["link"] == f"https://x.com/i/status/{post_id(1)}"
    assert stub["bookmarked_at"] == "2026-09-01T10:00:00.000000+00:00"
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([1]))
    assert (await writing.bookmark(alice, post_id(1)))["tweet_details"]["text"] == "Post 1."


async def test_an_added_post_with_its_payload_is_complete(laptop: Sender, alice: Member) -> None:
    tweet = {"data": {"tweetResult": {"result": shapes.tweet(post_id(1), "All of it.")}}}
    own = make.post(post_id=post_id(2), text="Our own.")

    response = await laptop.post("/events", [added(1, payload=tweet), added(2, payload=own)])

    assert data(response)["inserted"] == 2
    texts = [(await writing.bookmark(alice, post_id(n)))["tweet_details"]["text"] for n in (1, 2)]
    assert texts == ["All of it.", "Our own."]


@pytest.mark.parametrize("payload", [{"data": {}}, "{", 7, [], {"tweet_details": 7}])
async def test_an_unreadable_payload_is_a_stub(laptop: Sender, alice: Member, payload: Any) -> None:
    result = data(await laptop.post("/events", [added(1, payload=payload)]))

    assert (result["inserted"], result["unreadable"]) == (1, 1)
    assert await alice.ids() == [post_id(1)]


@pytest.mark.parametrize("text", [r"Half \ud83d", r"Half \u0000"])
async def test_characters_that_no_database_can_store_do_not_stop_the_events(
    laptop: Sender, alice: Member, text: str
) -> None:
    payload = {"data": {"tweetResult": {"result": shapes.tweet(post_id(1), "Half X")}}}
    body = json.dumps([added(1, payload=payload), added(2)]).replace("Half X", text)

    response = await laptop.client.post("/ingest/v1/events", content=body)

    assert response.status_code == 200, response.text
    assert (data(response)["inserted"], data(response)["unreadable"]) == (2, 0)
    saved = await writing.bookmark(alice, post_id(1))
    assert saved["tweet_details"]["text"].startswith("Half")


async def test_a_removed_post_that_the_library_does_not_have_is_not_found(
    laptop: Sender, alice: Member
) -> None:
    await laptop.post("/events", [added(1), added(2)])
    await writing.send(alice, "DELETE", f"/v1/bookmarks/{post_id(2)}")

    result = data(await laptop.post("/events", [removed(n, LATE) for n in (1, 2, 3)]))

    assert (result["removed"], result["not_found"], result["stale"]) == (1, 2, 0)


@pytest.mark.parametrize("is_early_first", [True, False])
async def test_the_last_event_wins_in_any_order(laptop: Sender, *, is_early_first: bool) -> None:
    events = [added(1, EARLY), removed(1, LATE)]

    for event in events if is_early_first else reversed(events):
        await laptop.post("/events", [event])

    assert await laptop.removed() == [post_id(1)]


async def test_the_last_event_of_one_request_wins(laptop: Sender, alice: Member) -> None:
    result = data(await laptop.post("/events", [removed(1, LATE), added(1, EARLY)]))

    assert (result["received"], result["not_found"], result["stale"]) == (2, 1, 1)
    assert await alice.ids() == []


async def test_a_post_saved_again_comes_back_with_content(laptop: Sender, alice: Member) -> None:
    await laptop.read_list("full", [1])
    await writing.send(alice, "DELETE", f"/v1/bookmarks/{post_id(1)}")
    laptop.clock.now += ingesting.DAY

    await laptop.post("/events", [added(1, NEXT_DAY)])

    assert (await writing.bookmark(alice, post_id(1)))["tweet_details"]["text"] == "Post 1."


async def test_the_time_of_an_event_counts_not_its_payload(laptop: Sender, alice: Member) -> None:
    own = make.post(post_id=post_id(1), bookmarked_at="2020-01-01T00:00:00Z")

    await laptop.post("/events", [added(1, LATE, payload=own)])

    post = await writing.bookmark(alice, post_id(1))
    assert post["bookmarked_at"] == "2026-09-01T11:00:00.000000+00:00"


async def test_an_event_takes_no_post_out_of_its_run(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([1], is_last=True))
    await laptop.finish(run_id)
    laptop.clock.now += ingesting.DAY
    tweet = {"data": {"tweetResult": {"result": shapes.tweet(post_id(1), "Another text.")}}}
    await laptop.post("/events", [added(1, NEXT_DAY, payload=tweet)])
    import_id = data(await laptop.get(f"/runs/{run_id}"))["import_id"]

    undone = await alice.client.post(f"/v1/imports/{import_id}/undo")

    assert data(undone)["removed"] == 1
    assert await alice.ids() == []


@pytest.mark.parametrize("is_early_first", [True, False])
async def test_events_from_the_future_keep_their_order(
    laptop: Sender, alice: Member, *, is_early_first: bool
) -> None:
    events = [
        removed(1, "2999-01-01T00:00:00Z"),
        added(3, "2999-01-01T00:00:01Z"),
        added(1, "2999-01-01T00:00:02Z"),
        added(2, "2999-01-01T00:00:03Z"),
    ]

    await laptop.post("/events", events if is_early_first else events[::-1])

    assert await laptop.removed() == []
    assert await alice.ids() == [post_id(2), post_id(1), post_id(3)]
    saved = await writing.bookmark(alice, post_id(2))
    assert saved["bookmarked_at"] == with_offset(ingesting.NOW)


async def test_copies_of_an_event_at_the_same_time_take_effect_once(laptop: Sender) -> None:
    await laptop.post("/events", [added(1, EARLY)])
    events = [added(2, LATE), removed(1, LATE)]

    answers = await asyncio.gather(*(laptop.post("/events", events) for _ in range(4)))

    results = [data(answer) for answer in answers]
    for name, expected in {"inserted": 1, "removed": 1, "unchanged": 0, "stale": 6}.items():
        assert sum(result[name] for result in results) == expected, name


async def test_events_of_many_megabytes_are_stored_in_parts(laptop: Sender, alice: Member) -> None:
    await laptop.post("/events", [added(99, EARLY)])
    events = [
        added(n, LATE, payload=make.post(post_id=post_id(n), text="word " * 20_000))
        for n in range(1, 41)
    ]

    result = data(await laptop.post("/events", [*events, removed(99, LATE)]))

    assert (result["inserted"], result["removed"], result["stale"]) == (40, 1, 0)
    assert len(await alice.crawl()) == 41


@in_turn(
    ("body", "named"),
    [
        ({}, "body: must be an array of events"),
        ({"events": [removed(1)]}, "body: must be an array of events"),
        ([], "events"),
        ([{}], "events[0]"),
        ([{"type": "added", "post_id": "1", "at": "soon"}], "events[0].at"),
        ([{"type": "moved", "post_id": "1", "at": EARLY}], "events[0].type"),
        ([{"type": "added", "post_id": "x", "at": EARLY}], "events[0].post_id"),
        ([{"type": "removed", "post_id": "1", "at": EARLY}] * 101, "events"),
    ],
)
async def test_invalid_events_are_refused_by_field(laptop: Sender, body: Any, named: str) -> None:
    response = await laptop.post("/events", body)

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    assert writing.sentence(response).startswith(named)


async def test_a_page_before_the_event_leaves_the_post_there(laptop: Sender, alice: Member) -> None:
    laptop.clock.now += ingesting.DAY
    at = "2026-09-01T12:30:00Z"
    await laptop.post("/events", [{"type": "added", "post_id": post_id(1), "at": at}])
    run_id = (await laptop.start())["run_id"]

    await laptop.send(run_id, 0, {**listed([2, 1]), "captured_at": "2026-09-01T12:20:00Z"})

    first = (await alice.listed())["data"][0]
    assert (first["post_id"], first["tweet_details"]["text"]) == (post_id(1), "Post 1.")
    assert first["bookmarked_at"] == "2026-09-01T12:30:00.000000+00:00"
    later = listed([2, 1])
    await laptop.send(run_id, 1, {**later, "captured_at": "2026-09-01T12:40:00Z"})
    assert (await alice.listed())["data"][0]["post_id"] == post_id(2)
