"""Where an incremental run stops."""

from typing import Any

import pytest

from tests.sources.x import pages as shapes
from tests.support import ingesting
from tests.support.ingesting import Sender, captured, listed, post_id
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("kind", ["incremental", "visit"])
async def test_a_run_stops_at_a_page_that_is_known_completely(laptop: Sender, kind: str) -> None:
    await laptop.read_list("full", [4, 3], [2, 1])
    run_id = (await laptop.start(kind))["run_id"]

    first = await laptop.send(run_id, 0, listed([6, 5]))
    second = await laptop.send(run_id, 1, listed([4, 3], 1))

    assert (first["stop"], first["inserted"]) == (False, 2)
    assert (second["stop"], second["stop_reason"]) == (True, "caught_up")


async def test_one_known_post_is_no_reason_to_stop(laptop: Sender) -> None:
    await laptop.read_list("full", [4, 3], [2, 1])
    run_id = (await laptop.start("incremental"))["run_id"]

    page = await laptop.send(run_id, 0, listed([5, 4]))

    assert not page["stop"]


async def test_known_posts_above_the_head_are_no_reason_to_stop(laptop: Sender) -> None:
    await laptop.read_list("full", [4, 3], [2, 1])
    run_id = (await laptop.start("incremental"))["run_id"]
    # At the places of two new posts.
    again = [
        shapes.entry(shapes.tweet(post_id(number), f"Post {number}."), ingesting.sort_index(place))
        for number, place in ((2, 9), (1, 8))
    ]

    page = await laptop.send(run_id, 0, captured(shapes.page_of(*again)))

    assert (page["inserted"], page["stop"]) == (0, False)


async def test_after_an_interrupted_run_the_next_one_goes_on_to_where_it_was(
    laptop: Sender, alice: Member
) -> None:
    await laptop.read_list("full", [2, 1])
    broken = (await laptop.start("incremental"))["run_id"]
    await laptop.send(broken, 0, listed([8, 7]))
    await laptop.finish(broken, "interrupted")

    started = await laptop.start("incremental")
    run_id = started["run_id"]
    pages = [
        await laptop.send(run_id, 0, listed([10, 9])),
        await laptop.send(run_id, 1, listed([8, 7], 1)),
        await laptop.send(run_id, 2, listed([6, 5], 2)),
        await laptop.send(run_id, 3, listed([4, 3], 3)),
        await laptop.send(run_id, 4, listed([2, 1], 4)),
    ]

    assert started["stop_below_sort_index"] == str(ingesting.sort_index(2))
    assert [page["stop"] for page in pages] == [False, False, False, False, True]
    assert len(await alice.ids()) == 10


async def test_after_a_first_run_that_was_interrupted_the_next_one_reads_to_the_end(
    laptop: Sender,
) -> None:
    broken = (await laptop.start("full"))["run_id"]
    await laptop.send(broken, 0, listed([4, 3]))

    started = await laptop.start("incremental")
    known = await laptop.send(started["run_id"], 0, listed([4, 3]))
    last = await laptop.send(started["run_id"], 1, listed([2, 1], 1, is_last=True))

    assert started["stop_below_sort_index"] is None
    assert not known["stop"]
    assert last["stop_reason"] == "end"


async def test_a_page_of_a_search_stops_nothing(laptop: Sender) -> None:
    await laptop.read_list("full", [2, 1])
    run_id = (await laptop.start("incremental"))["run_id"]
    page = listed([2, 1], is_last=True)
    timeline = page["payload"]["data"].pop("bookmark_timeline_v2")
    page["payload"]["data"] = {"search_by_raw_query": {"bookmarks_search_timeline": timeline}}

    result = await laptop.send(
        run_id, 0, {**page, "request_url": ingesting.url("BookmarkSearchTimeline")}
    )

    assert (result["unchanged"], result["stop"]) == (2, False)


async def test_posts_that_no_list_had_do_not_stop_a_run_too_early(
    laptop: Sender, alice: Member
) -> None:
    await laptop.read_list("full", [2, 1])
    for number in (8, 7):
        await alice.save(post_id=ingesting.post_id(number), sort_index=ingesting.sort_index(number))

    started = await laptop.start("incremental")
    pages = [
        await laptop.send(started["run_id"], 0, listed([8, 7])),
        await laptop.send(started["run_id"], 1, listed([6, 5], 1)),
        await laptop.send(started["run_id"], 2, listed([2, 1], 2)),
    ]

    assert started["stop_below_sort_index"] == str(ingesting.sort_index(2))
    assert [page["stop"] for page in pages] == [False, False, True]


async def test_without_a_complete_run_of_the_user_the_whole_list_is_read(laptop: Sender) -> None:
    await laptop.read_list("full", [2, 1], source_user_id="111")

    other = await laptop.start("incremental", source_user_id="222", confirm_source_user=True)
    same = await laptop.start("incremental", source_user_id="111", confirm_source_user=True)

    assert other["stop_below_sort_index"] is None
    assert same["stop_below_sort_index"] == str(ingesting.sort_index(2))


@pytest.mark.both
async def test_a_post_of_which_only_the_link_is_known_is_no_reason_to_stop(laptop: Sender) -> None:
    await laptop.read_list("full", [5, 1])
    event = {"type": "added", "post_id": ingesting.post_id(3), "at": "2026-09-01T10:00:00Z"}
    await laptop.post("/events", [event])
    run_id = (await laptop.start("incremental"))["run_id"]

    page = await laptop.send(run_id, 0, listed([3, 1]))

    assert (page["updated"], page["stop"]) == (1, False)


@pytest.mark.both
async def test_the_last_complete_run_counts_after_a_sweep(laptop: Sender, cast: Service) -> None:
    await laptop.read_list("full", [2, 1])
    laptop.clock.now += 10 * ingesting.DAY
    await cast.app.sweeping.sweep()

    started = await laptop.start("incremental")

    assert started["stop_below_sort_index"] == str(ingesting.sort_index(2))


async def test_an_interrupted_run_is_not_forgotten_after_a_page_of_no_list(laptop: Sender) -> None:
    broken = (await laptop.start("full"))["run_id"]
    await laptop.send(broken, 0, listed([8, 7]))
    await laptop.finish(broken, "interrupted")
    other = (await laptop.start("incremental"))["run_id"]
    await laptop.send(other, 0, {**listed([8]), "payload": "{", "request_url": ""})
    await laptop.finish(other, "end")

    started = await laptop.start("incremental")

    assert started["resume"]["run_id"] == broken
    assert started["stop_below_sort_index"] is None


@pytest.mark.parametrize("reason", ["end", "caught_up"])
async def test_a_run_is_complete_only_if_its_pages_say_so(laptop: Sender, reason: str) -> None:
    await laptop.read_list("full", [2, 1])
    short = (await laptop.start("incremental"))["run_id"]
    await laptop.send(short, 0, listed([8, 7]))
    await laptop.finish(short, reason)

    started = await laptop.start("incremental")

    assert started["stop_below_sort_index"] == str(ingesting.sort_index(2))


async def test_a_run_that_caught_up_is_where_the_next_one_stops(laptop: Sender) -> None:
    await laptop.read_list("full", [2, 1])
    run_id = (await laptop.start("incremental"))["run_id"]
    await laptop.send(run_id, 0, listed([4, 3]))
    last = await laptop.send(run_id, 1, listed([2, 1], 1))

    # The client stopped working before it could end the run.
    started = await laptop.start("incremental")

    assert last["stop_reason"] == "caught_up"
    assert started["stop_below_sort_index"] == str(ingesting.sort_index(4))
    assert started["resume"] is None


def of_api(numbers: list[int], seq: int = 0, *, is_last: bool = False) -> dict[str, Any]:
    """A page of version 2 of X's API, after `seq` others."""
    token = f"&pagination_token=t{seq}" if seq else ""
    meta = {"result_count": len(numbers)} | ({} if is_last else {"next_token": f"t{seq + 1}"})
    posts = [{"id": ingesting.post_id(n), "text": f"Post {n}."} for n in numbers]
    return {
        "format": "x.api2",
        "payload": {"data": posts, "meta": meta},
        "request_url": f"https://api.x.com/2/users/1/bookmarks?max_results=90{token}",
    }


async def read_api(laptop: Sender, kind: str, *numbered: list[int]) -> list[Any]:
    laptop.member.clock.now += ingesting.MINUTE
    run_id = (await laptop.start(kind))["run_id"]
    reasons = []
    for seq, numbers in enumerate(numbered):
        page = of_api(numbers, seq, is_last=seq == len(numbered) - 1)
        reasons.append((await laptop.send(run_id, seq, page))["stop_reason"])
        if reasons[-1]:
            break
    await laptop.finish(run_id, reasons[-1] or "interrupted")
    return reasons


async def test_a_run_over_the_api_stops_at_a_page_that_is_known_completely(laptop: Sender) -> None:
    await read_api(laptop, "full", [6, 5], [4, 3], [2, 1])
    again = await read_api(laptop, "incremental", [6, 5], [4, 3], [2, 1])
    later = await read_api(laptop, "incremental", [8, 7], [6, 5], [4, 3], [2, 1])
    last = await read_api(laptop, "incremental", [9, 8], [7, 6], [5, 4], [3, 2], [1])

    assert again == ["caught_up"]
    assert later == [None, "caught_up"]
    assert last == [None, "caught_up"]


async def test_the_first_run_over_the_api_reads_everything(laptop: Sender, alice: Member) -> None:
    for number in range(1, 5):
        await alice.save(post_id=ingesting.post_id(number))

    assert await read_api(laptop, "incremental", [4, 3], [2, 1]) == [None, "end"]


@pytest.mark.both
async def test_after_an_interrupted_run_over_the_api_the_next_one_reads_what_it_left_out(
    laptop: Sender, alice: Member
) -> None:
    await read_api(laptop, "full", [2, 1])
    broken = (await laptop.start("incremental"))["run_id"]
    await laptop.send(broken, 0, of_api([8, 7]))
    await laptop.finish(broken, "interrupted")

    reasons = await read_api(laptop, "incremental", [8, 7], [6, 5], [4, 3], [2, 1], [0])

    assert reasons == [None, None, None, "caught_up"]
    assert len(await alice.ids()) == 8


async def test_known_posts_in_another_order_do_not_stop_a_run_over_the_api(laptop: Sender) -> None:
    await read_api(laptop, "full", [4, 3], [2, 1])

    # The posts 1 and 3 were saved again.
    reasons = await read_api(laptop, "incremental", [1, 3], [5, 4], [2], [0])

    assert reasons == [None, None, "caught_up"]


async def test_posts_that_no_list_had_do_not_stop_the_api(laptop: Sender, alice: Member) -> None:
    await read_api(laptop, "full", [2, 1])
    for number in (7, 8):
        await alice.save(post_id=ingesting.post_id(number), sort_index=2**62 + number)

    reasons = await read_api(laptop, "incremental", [8, 7], [6, 5], [2, 1], [0])

    assert reasons == [None, None, "caught_up"]
