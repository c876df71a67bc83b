"""Labels that a person chooses while the extension tells that a post was saved."""

from typing import Any

import pytest

from bowerbird.requests import limits
from tests.ingest.test_events import EARLY, LATE, added, removed
from tests.sources.x import pages as shapes
from tests.support import ingesting, writing
from tests.support.in_turn import in_turn
from tests.support.ingesting import Sender, data, listed, post_id
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def tags(member: Member, number: int) -> Any:
    return (await writing.bookmark(member, post_id(number)))["tags"]


@pytest.mark.both
async def test_an_added_post_gets_its_labels(laptop: Sender, alice: Member) -> None:
    tweet = {"data": {"tweetResult": {"result": shapes.tweet(post_id(2), "All of it.")}}}

    answer = await laptop.post(
        "/events",
        [
            added(1, labels=["Birds", " to   read ", "Birds"]),
            added(2, labels=["birds"], payload=tweet),
            added(3, labels=[]),
            added(4, labels=None),
        ],
    )

    assert data(answer)["inserted"] == 4
    assert data(answer)["labels_left_out"] == []
    assert await tags(alice, 1) == ["Birds", "to read"]
    assert await tags(alice, 2) == ["Birds"]
    assert await tags(alice, 3) is None
    assert await writing.labels(alice) == {"Birds": 2, "to read": 1}
    assert await writing.recount(alice) == []


@pytest.mark.both
async def test_labels_are_added_to_those_of_the_post(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([1]))
    await writing.add(alice, "mine", post_id(1))
    laptop.clock.now += ingesting.DAY

    later = "2026-12-01T10:00:00Z"
    answer = await laptop.post("/events", [added(1, later, labels=["theirs"])])

    assert data(answer)["stale"] == 0, answer.text
    assert await tags(alice, 1) == ["mine", "theirs"]
    assert (await writing.bookmark(alice, post_id(1)))["tweet_details"]["text"] == "Post 1."


async def test_on_the_free_plan_the_post_is_stored_and_the_answer_says_why(cast: Service) -> None:
    laptop = await ingesting.device(cast, cast.free)

    answer = await laptop.post("/events", [added(1, labels=["birds"]), added(2)])

    assert answer.status_code == 200
    assert data(answer)["inserted"] == 2
    assert data(answer)["labels_left_out"] == [
        {
            "post_id": post_id(1),
            "labels": ["birds"],
            "error": {
                "code": "SUBSCRIPTION_REQUIRED",
                "message": "Writing labels and Smart Views needs a paid plan.",
            },
        }
    ]
    assert await tags(cast.free, 1) is None


async def test_labels_beyond_a_bound_are_named(
    laptop: Sender, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LABELS_MAX", 1)

    answer = await laptop.post("/events", [added(1, labels=["a", "b"])])

    [left_out] = data(answer)["labels_left_out"]
    assert left_out["labels"] == ["b"]
    assert left_out["error"]["code"] == "INVALID_REQUEST"
    assert await tags(alice, 1) == ["a"]


async def test_a_stale_event_adds_no_labels(laptop: Sender, alice: Member) -> None:
    await laptop.post("/events", [added(1, LATE)])

    answer = await laptop.post("/events", [added(1, EARLY, labels=["birds"])])

    assert data(answer)["stale"] == 1
    assert await tags(alice, 1) is None


@in_turn(
    "labels",
    [["x" * (limits.LABEL_NAME_MAX + 1)], [""], ["a\u0000b"], [7], "birds", ["a"] * 11],
)
async def test_impossible_labels_are_refused(laptop: Sender, alice: Member, labels: Any) -> None:
    answer = await laptop.post("/events", [added(1), added(2, labels=labels)])

    assert writing.refused(answer) == (400, "INVALID_REQUEST")
    assert "labels" in writing.sentence(answer)
    assert await alice.ids() == []


async def test_a_removed_post_takes_no_labels(laptop: Sender) -> None:
    answer = await laptop.post("/events", [{**removed(1), "labels": ["birds"]}])

    assert writing.refused(answer) == (400, "INVALID_REQUEST")
