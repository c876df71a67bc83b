"""Posts that a page of X lists and does not show any more."""

from typing import Any

import pytest

from bowerbird.model.arrival import Completeness, OrderSource
from tests.sources.x import pages as shapes
from tests.support import ingesting
from tests.support.imports import found, take
from tests.support.ingesting import Sender, captured, data, listed, post_id, sort_index, url
from tests.support.service import Member

pytestmark = pytest.mark.anyio

DELETED = "This Post is from an account that no longer exists"
NOTHING = {
    "tombstone": {"__typename": "TweetTombstone", "tombstone": {"text": {"text": f"{DELETED}."}}},
    "unavailable": {"__typename": "TweetUnavailable", "reason": DELETED},
    "empty": None,
}


def gone(number: int, result: Any = NOTHING["tombstone"], **fields: Any) -> dict[str, Any]:
    """A page of the list whose only post is not shown."""
    entry = shapes.entry(result, sort_index(number), post_id(number))
    return captured(shapes.document(shapes.add_entries(entry)), **fields)


async def send(laptop: Sender, body: dict[str, Any]) -> dict[str, Any]:
    """Sends one page in a run of its own."""
    return await laptop.send((await laptop.start())["run_id"], 0, body)


async def bookmark(member: Member, number: int) -> dict[str, Any]:
    response = await member.get(f"/v1/bookmarks/{post_id(number)}")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = data(response)
    # Each event is an update, also one that is undone later.
    del found["updated_at"]
    return found


@pytest.mark.parametrize("kind", NOTHING)
async def test_a_stored_post_that_is_not_shown_any_more_keeps_its_content(
    laptop: Sender, alice: Member, kind: str
) -> None:
    await laptop.read_list("full", [1])
    before = await bookmark(alice, 1)
    laptop.clock.now += ingesting.DAY

    result = await send(laptop, gone(1, NOTHING[kind]))

    after = await bookmark(alice, 1)
    assert "gone_at" not in before
    assert after.pop("gone_at") == "2026-09-02T12:00:00.000002+00:00"
    assert after.pop("gone_reason", None) == (None if kind == "empty" else DELETED)
    assert after == before
    assert [one["state"] for one in result["skipped"]] == ["unavailable"]
    assert (result["received"], result["updated"], result["unchanged"]) == (1, 0, 0)


@pytest.mark.both
async def test_the_first_sight_of_a_gone_post_stays(laptop: Sender, alice: Member) -> None:
    await laptop.read_list("full", [1])
    await send(laptop, gone(1))
    first = await alice.get("/v1/bookmarks")
    laptop.clock.now += ingesting.DAY

    await send(laptop, gone(1, NOTHING["unavailable"]))

    again = await alice.get("/v1/bookmarks")
    assert again.content == first.content
    assert again.headers["ETag"] == first.headers["ETag"]


async def test_a_post_that_is_shown_again_is_not_gone_any_more(
    laptop: Sender, alice: Member
) -> None:
    await laptop.read_list("full", [1])
    before = await bookmark(alice, 1)
    laptop.clock.now += ingesting.DAY
    await send(laptop, gone(1))
    laptop.clock.now += ingesting.DAY

    await send(laptop, listed([1]))

    assert await bookmark(alice, 1) == before


async def test_an_older_page_does_not_change_what_is_gone(laptop: Sender, alice: Member) -> None:
    await laptop.read_list("full", [2, 1])
    laptop.clock.now += ingesting.DAY
    await send(laptop, gone(1))

    await send(laptop, {**listed([1]), "captured_at": "2026-09-01T13:00:00Z"})
    await send(laptop, gone(2, captured_at="2026-09-01T11:00:00Z"))

    assert "gone_at" in await bookmark(alice, 1)
    assert "gone_at" not in await bookmark(alice, 2)


async def test_a_file_does_not_say_that_a_post_is_back_again(laptop: Sender, alice: Member) -> None:
    await laptop.read_list("full", [1])
    await send(laptop, gone(1))

    await take(alice, found(post_id=post_id(1), text="Post 1, from a file."))

    assert "gone_at" in await bookmark(alice, 1)


async def test_the_page_of_one_post_says_that_it_is_gone(laptop: Sender, alice: Member) -> None:
    await laptop.read_list("full", [1])
    address = url("TweetResultByRestId", tweetId=post_id(1))
    payload = {"data": {"tweetResult": {"result": NOTHING["unavailable"]}}}

    await send(laptop, captured(payload, request_url=address))

    assert (await bookmark(alice, 1))["gone_reason"] == DELETED


async def test_a_gone_post_that_is_not_stored_is_hidden(laptop: Sender, alice: Member) -> None:
    result = await send(laptop, gone(1))

    assert [one["post_id"] for one in result["skipped"]] == [post_id(1)]
    assert await alice.ids() == []
    assert (await alice.get(f"/v1/bookmarks/{post_id(1)}")).status_code == 404
    counts = data(await alice.get("/v1/bookmarks/count"))
    assert (counts["total"], counts["unread"]) == (0, 0)


async def test_a_hidden_post_gets_its_place_and_state_when_a_file_has_it(
    laptop: Sender, alice: Member
) -> None:
    await send(laptop, gone(1))

    await take(alice, found(post_id=post_id(1), text="Still in my file.", order=None))

    stored = await bookmark(alice, 1)
    assert stored["tweet_details"]["text"] == "Still in my file."
    assert stored["sort_index"] == sort_index(1)
    assert stored["bookmarked_at"] == "2026-08-31T18:13:21.123000+00:00"
    assert stored["gone_reason"] == DELETED


@pytest.mark.both
async def test_a_hidden_post_that_is_shown_again_is_an_ordinary_post(
    laptop: Sender, alice: Member
) -> None:
    await send(laptop, gone(1))
    laptop.clock.now += ingesting.DAY

    await send(laptop, listed([1]))
    await alice.client.delete(f"/v1/bookmarks/{post_id(1)}")
    await take(
        alice, found(Completeness.FULL, post_id=post_id(1), order=OrderSource.X), is_saving=True
    )

    assert "gone_at" not in await bookmark(alice, 1)


async def test_a_gone_post_that_its_owner_deleted_stays_deleted(
    laptop: Sender, alice: Member
) -> None:
    await laptop.read_list("full", [1])
    await alice.client.delete(f"/v1/bookmarks/{post_id(1)}")
    laptop.clock.now += ingesting.DAY

    await send(laptop, gone(1))

    assert await alice.ids() == []


async def test_a_hidden_post_keeps_its_place_on_old_pages(laptop: Sender, alice: Member) -> None:
    await send(laptop, gone(1))
    entry = shapes.entry(shapes.tweet(post_id(1), "Post 1."), sort_index(-5))
    page = captured(shapes.document(shapes.add_entries(entry)))

    await send(laptop, {**page, "captured_at": "2026-09-01T11:00:00Z"})

    stored = await bookmark(alice, 1)
    assert stored["sort_index"] == sort_index(1)
    assert stored["gone_reason"] == DELETED
