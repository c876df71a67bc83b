"""POST /ingest/v1/runs/{run_id}/pages."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from bowerbird.requests import limits
from tests.ingest.test_folders import folder, names
from tests.sources.x import pages as shapes
from tests.support import ingesting, make, writing
from tests.support.engines.watched_writes import WatchedWrites, interrupted
from tests.support.ingesting import Sender, captured, data, listed, post_id
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def test_the_posts_of_a_page_are_in_the_library(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]

    result = await laptop.send(run_id, 0, listed([3, 2, 1]))

    assert result == {
        "received": 3,
        "inserted": 3,
        "updated": 0,
        "unchanged": 0,
        "ignored_deleted": 0,
        "skipped": [],
        "cursor_out": "c1",
        "stop": False,
        "stop_reason": None,
        "unreadable": 0,
        "errors": [],
        "is_kept": False,
        "is_unknown_form": False,
    }
    assert await alice.ids() == [post_id(3), post_id(2), post_id(1)]
    saved = await writing.bookmark(alice, post_id(2))
    assert saved["tweet_details"]["text"] == "Post 2."
    assert saved["sort_index"] == ingesting.sort_index(2)


async def test_a_repeated_page_gets_the_stored_answer(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    body = {"seq": 0, **listed([3, 2, 1])}
    first = await laptop.post(f"/runs/{run_id}/pages", body)
    version = await writing.version(alice)

    headers = {"Idempotency-Key": f"{run_id}:0"}
    second = await laptop.post(f"/runs/{run_id}/pages", body, headers=headers)

    assert second.content == first.content
    assert second.headers["idempotency-replayed"] == "true"
    assert await writing.version(alice) == version


async def test_another_page_with_the_same_number_is_refused(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([3]))

    response = await laptop.post(f"/runs/{run_id}/pages", {"seq": 0, **listed([2])})

    assert writing.refused(response) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert await alice.ids() == [post_id(3)]


async def test_a_finished_run_accepts_no_page_but_repeats_its_answers(laptop: Sender) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([3]))
    await laptop.finish(run_id, "gave_up")

    refused = await laptop.post(f"/runs/{run_id}/pages", {"seq": 1, **listed([2], 1)})
    again = await laptop.post(f"/runs/{run_id}/pages", {"seq": 0, **listed([3])})

    assert writing.refused(refused) == (409, "RUN_FINISHED")
    assert again.status_code == 200


@pytest.mark.parametrize(
    ("earlier", "expected"),
    [("Another text.", "The edited text."), ("The edited text. And more.",) * 2],
)
async def test_a_page_that_was_captured_earlier_does_not_bring_an_old_text_back(
    laptop: Sender, alice: Member, earlier: str, expected: str
) -> None:
    run_id = (await laptop.start())["run_id"]
    sights = [("The edited text.", "2026-09-01T11:00:00Z"), (earlier, "2026-09-01T10:00:00Z")]

    for seq, (text, at) in enumerate(sights):
        page = shapes.page_of(shapes.entry(shapes.tweet(post_id(1), text)))
        await laptop.send(run_id, seq, captured(page, captured_at=at))

    assert (await writing.bookmark(alice, post_id(1)))["tweet_details"]["text"] == expected


async def test_a_page_may_be_a_text_with_the_answer_in_it(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    page = listed([3])

    await laptop.send(run_id, 0, {**page, "payload": json.dumps(page["payload"])})

    assert await alice.ids() == [post_id(3)]


async def test_pages_of_the_api_and_own_bookmarks_are_read(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start("api"))["run_id"]
    api2 = {"data": [{"id": post_id(1), "text": "From the API."}], "meta": {"result_count": 1}}
    request_url = "https://api.x.com/2/users/1/bookmarks?max_results=90"

    first = await laptop.send(
        run_id, 0, {"format": "x.api2", "payload": api2, "request_url": request_url}
    )
    own = [make.post(post_id="77", text="Our own.")]
    second = await laptop.send(run_id, 1, {"format": "bookmark", "payload": own})

    assert (first["inserted"], first["stop_reason"]) == (1, "end")
    assert (second["inserted"], second["stop"]) == (1, False)
    assert sorted(await alice.ids()) == sorted([post_id(1), "77"])


async def test_an_invalid_record_of_a_bookmark_page_is_named_by_its_number(laptop: Sender) -> None:
    run_id = (await laptop.start())["run_id"]
    payload = [make.post(post_id="5"), {"post_id": 6}, {"post_id": "7"}]

    result = await laptop.send(run_id, 0, {"format": "bookmark", "payload": payload})

    assert [(one["post_id"], one["reason"]) for one in result["skipped"]] == [
        ("", "Record 2: post_id: must be a string, got a number."),
        ("", "Record 3: tweet_details: is required."),
    ]


async def test_the_page_of_a_post_updates_it_and_no_other(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([1]))
    posts = [shapes.entry(shapes.tweet(post_id(n), "A longer text now.")) for n in (1, 2)]
    page = shapes.document(
        shapes.add_entries(*posts), head="threaded_conversation_with_injections_v2"
    )
    request_url = ingesting.url("TweetDetail", focalTweetId=post_id(1))

    result = await laptop.send(run_id, 1, captured(page, request_url=request_url))

    assert (result["received"], result["updated"], result["stop"]) == (1, 1, False)
    assert await alice.ids() == [post_id(1)]


@pytest.mark.parametrize("is_folder_first", [True, False])
async def test_a_folder_becomes_a_label_in_any_order(
    laptop: Sender, alice: Member, *, is_folder_first: bool
) -> None:
    run_id = (await laptop.start())["run_id"]
    sent = [names("555"), folder("555", 1)]

    for seq, page in enumerate(sent if is_folder_first else reversed(sent)):
        await laptop.send(run_id, seq, page)

    assert await writing.tags(alice, post_id(1)) == ["Folder 555"]
    assert data(await laptop.get("/status"))["totals"]["kept_pages"] == 0


def large() -> dict[str, Any]:
    """A page whose 20 posts take more than one transaction."""
    posts = [
        (shapes.tweet(post_id(n), "word " * 30_000), ingesting.sort_index(n)) for n in range(20)
    ]
    entries = [shapes.entry(*post) for post in posts]
    return captured(shapes.document(shapes.add_entries(*entries)))


@pytest.mark.parametrize("writes", range(1, 6))
async def test_a_large_page_is_stored_completely_or_not_at_all_if_its_run_is_finished_meanwhile(
    laptop: Sender, alice: Member, writes: int
) -> None:
    run_id = (await laptop.start())["run_id"]
    body = {"seq": 0, **large()}
    pause = WatchedWrites(alice.database).pause_after(writes)
    sending = asyncio.create_task(laptop.post(f"/runs/{run_id}/pages", body))
    reached = asyncio.create_task(pause.reached.wait())
    await asyncio.wait([sending, reached], return_when=asyncio.FIRST_COMPLETED)

    finishing = asyncio.create_task(laptop.finish(run_id))
    # It may wait for the page.
    await asyncio.wait([finishing], timeout=0.3)
    pause.over.set()
    response, finished = await sending, await finishing
    reached.cancel()

    assert finished["state"] == "finished"
    stored = len(await alice.crawl())
    assert (response.status_code, stored) in {(200, 20), (409, 0)}
    assert finished["proved_end"] == (response.status_code == 200)
    run = data(await laptop.get(f"/runs/{run_id}"))
    assert run["pages"] == (response.status_code == 200)


async def test_a_large_page_sent_twice_at_the_same_time_is_stored_once(laptop: Sender) -> None:
    run_id = (await laptop.start())["run_id"]
    body = {"seq": 0, **large()}

    async def send() -> httpx.Response:
        # Two of them wait for the first, which a busy machine may refuse for now.
        while (answer := await laptop.post(f"/runs/{run_id}/pages", body)).status_code == 503:
            continue
        return answer

    answers = await asyncio.gather(*(send() for _ in range(3)))

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert data(answers[0])["inserted"] == 20


async def test_a_large_page_that_was_cancelled_can_return(laptop: Sender, alice: Member) -> None:
    run_id = (await laptop.start())["run_id"]
    body = {"seq": 0, **large()}
    request = laptop.post(f"/runs/{run_id}/pages", body)
    await interrupted(WatchedWrites(alice.database), 3, request)

    assert data(await laptop.post(f"/runs/{run_id}/pages", body))["received"] == 20


@pytest.mark.parametrize("count", [101, 1_001])
@pytest.mark.parametrize("format", ["x.graphql", "x.api2", "bookmark"])
async def test_a_page_with_more_than_100_posts_is_refused_and_not_kept(
    laptop: Sender, alice: Member, format: str, count: int
) -> None:
    run_id = (await laptop.start())["run_id"]
    numbers = range(1, count + 1)
    payload = {
        "x.graphql": listed(list(numbers))["payload"],
        "x.api2": {"data": [{"id": post_id(number), "text": "a"} for number in numbers]},
        "bookmark": [make.post(post_id=str(number)) for number in numbers],
    }[format]

    page = {"seq": 0, "format": format, "payload": payload, "request_url": ingesting.url()}
    response = await laptop.post(f"/runs/{run_id}/pages", page)

    assert writing.refused(response) == (400, "INVALID_REQUEST")
    sent = "101" if count == 101 else "more than 1,000"
    assert writing.sentence(response) == f"payload: has {sent} entries; a page can have 100."
    assert await alice.ids() == []
    assert data(await laptop.get("/status"))["totals"]["kept_pages"] == 0


async def test_a_device_sends_300_requests_per_minute(cast: Service, alice: Member) -> None:
    laptop, phone = await ingesting.device(cast, alice), await ingesting.device(cast, alice)
    await laptop.start()
    for _ in range(limits.INGEST_PAGES_PER_MINUTE - 1):
        await laptop.post("/runs/none/finish", {"reason": "end"})

    refused = await laptop.post("/runs", {"source": "x", "kind": "full"})

    assert writing.refused(refused) == (429, "RATE_LIMITED")
    assert 0 < int(refused.headers["retry-after"]) <= 60
    await phone.start()
    cast.clock.now += int(refused.headers["retry-after"]) * 1_000_000
    await laptop.start()


async def test_a_record_of_a_device_only_adds_to_a_post(laptop: Sender, alice: Member) -> None:
    await alice.save(
        post_id=post_id(1), tags=["mine"], is_read=True, sort_index=2**60, text="Mine."
    )
    own = make.post(post_id=post_id(1), tags=["theirs"], is_read=False, sort_index=5, text="")
    run_id = (await laptop.start())["run_id"]

    await laptop.send(run_id, 0, {"format": "bookmark", "payload": [own]})

    post = await writing.bookmark(alice, post_id(1))
    assert (post["tweet_details"]["text"], post["is_read"]) == ("Mine.", True)
    assert sorted(post["tags"]) == ["mine", "theirs"]
    assert post["sort_index"] == 2**60
