"""X changes its answers: nothing is marked as gone or removed, and nothing is lost."""

import json
from typing import Any

import pytest

from bowerbird.library.ingest import page_reading
from bowerbird.library.ingest.kept_pages import KeptPages, ReadAgain
from bowerbird.library.ingest.page_reading import CapturedPage, ReadPage
from tests.ingest.test_gone_posts import bookmark, gone
from tests.ingest.test_kept_pages import kept
from tests.sources.x import pages as shapes
from tests.sources.x.test_changed_pages import CHANGES, renamed
from tests.support import ingesting
from tests.support.ingesting import Sender, captured, data, listed, post_id, sort_index, url
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

POSTS = [5, 4, 3, 2, 1]
FOLDER = url("BookmarkFolderTimeline", bookmark_collection_id="77")


def changed(page: dict[str, Any], change: str) -> dict[str, Any]:
    """The page, as X sends it after it has given other names to some fields."""
    return {**page, "payload": renamed(page["payload"], CHANGES[change])}


async def after_upgrade(
    service: Service, member: Member, monkeypatch: pytest.MonkeyPatch, change: str
) -> ReadAgain:
    """Reads the kept pages with a server that knows the new names."""
    known = page_reading._read  # noqa: SLF001 - a newer reader
    back = [(new, old) for old, new in reversed(CHANGES[change])]

    def newer(page: CapturedPage, now: int, folder_name: str) -> ReadPage:
        payload = json.dumps(renamed(json.loads(page.payload), back)).encode()
        newer = CapturedPage(
            format=page.format,
            payload=payload,
            op=page.op,
            request_url=page.request_url,
            captured_at=page.captured_at,
        )
        return known(newer, now, folder_name)

    monkeypatch.setattr(page_reading, "_read", newer)
    return await KeptPages(service.database, service.clock).read_again(await member.account())


async def assert_as_before(member: Member, laptop: Sender, before: list[dict[str, Any]]) -> None:
    assert data(await member.get("/v1/bookmarks?limit=100")) == before
    assert await laptop.removed() == []


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["full", "incremental"])
async def test_a_list_in_an_unknown_form_changes_nothing_and_is_read_after_an_upgrade(
    laptop: Sender,
    cast: Service,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    change: str,
) -> None:
    await laptop.read_list("full", POSTS)
    before = data(await cast.alice.get("/v1/bookmarks?limit=100"))
    laptop.clock.now += ingesting.DAY

    run_id = (await laptop.start(kind))["run_id"]
    page = listed([7, 6, *POSTS[1:]], is_last=True)
    result = await laptop.send(run_id, 0, changed(page, change))
    finished = await laptop.finish(run_id)

    assert (result["is_unknown_form"], result["is_kept"]) == (True, True)
    assert (result["stop"], result["stop_reason"], result["inserted"]) == (False, None, 0)
    assert result["unreadable"] >= 1
    assert "unavailable" not in [one["state"] for one in result["skipped"]]
    assert (finished["proved_end"], finished["removed_candidates"]) == (False, 0)
    await assert_as_before(cast.alice, laptop, before)

    read = await after_upgrade(cast, cast.alice, monkeypatch, change)

    assert (read.pages, read.read, read.new) == (1, 1, 2)
    assert await cast.alice.ids() == [post_id(n) for n in (7, 6, *POSTS)]
    assert await kept(laptop) == 0
    assert await laptop.removed() == []


async def test_a_run_with_an_unknown_page_removes_nothing_and_is_not_where_the_next_one_stops(
    laptop: Sender,
) -> None:
    first = await laptop.read_list("full", POSTS)
    stop_below = (await laptop.start())["stop_below_sort_index"]
    laptop.clock.now += ingesting.DAY

    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed([9, 8], 0))
    await laptop.send(run_id, 1, changed(listed(POSTS[:3], 1), "tweet_results"))
    # The post 2 is not saved any more, but the list is not known.
    result = await laptop.send(run_id, 2, listed([1], 2, is_last=True))
    finished = await laptop.finish(run_id)

    assert first["proved_end"]
    assert result["stop_reason"] == "end"
    assert (finished["proved_end"], finished["removed"]) == (False, 0)
    assert await laptop.removed() == []
    assert (await laptop.start())["stop_below_sort_index"] == stop_below


async def test_a_page_that_is_sent_again_in_a_known_form_completes_its_run(laptop: Sender) -> None:
    run_id = (await laptop.start())["run_id"]
    page = listed(POSTS, is_last=True)

    await laptop.send(run_id, 0, changed(page, "tweet_results"))
    await laptop.send(run_id, 1, page)

    assert (await laptop.finish(run_id))["proved_end"]


EMPTY = shapes.document(
    shapes.add_entries(shapes.cursor("t", "Top"), shapes.cursor(stopOnEmptyResponse=True))
)
ERROR = {"errors": [{"message": "Over capacity"}]}


@pytest.mark.parametrize(
    ("payload", "is_kept"),
    [
        # No reader will ever find a post in these.
        ({**ERROR, "data": {}}, False),
        (ERROR, False),
        ({**ERROR, "data": {"bookmark_timeline_v2": {"timeline": None}}}, False),
        ({**ERROR, **shapes.document()}, False),
        ({**ERROR, **EMPTY}, False),
        (EMPTY, False),
        # There may be posts in these.
        ({**ERROR, "data": {"saved_posts": {"rows": [{"id": "1"}]}}}, True),
        ("<!doctype html><title>X</title>", True),
        (shapes.document(), True),
    ],
)
async def test_an_answer_without_posts_proves_nothing_about_a_list_that_had_some(
    laptop: Sender, alice: Member, payload: Any, *, is_kept: bool
) -> None:
    await laptop.read_list("full", POSTS)
    before = data(await alice.get("/v1/bookmarks?limit=100"))
    laptop.clock.now += ingesting.DAY
    run_id = (await laptop.start())["run_id"]

    result = await laptop.send(run_id, 0, captured(payload))
    finished = await laptop.finish(run_id)

    assert (result["stop"], result["is_kept"], len(result["errors"])) == (False, is_kept, 1)
    assert result["is_unknown_form"] == (payload == shapes.document())
    assert (finished["proved_end"], finished["removed_candidates"]) == (False, 0)
    assert (await laptop.start())["stop_below_sort_index"] == str(sort_index(5))
    await assert_as_before(alice, laptop, before)


async def test_a_list_that_never_had_a_post_may_be_empty(laptop: Sender) -> None:
    run_id = (await laptop.start())["run_id"]
    empty = shapes.document(shapes.add_entries(shapes.cursor(stopOnEmptyResponse=True)))

    result = await laptop.send(run_id, 0, captured(empty))

    assert (result["stop_reason"], result["errors"], result["is_kept"]) == ("end", [], False)


async def test_one_deleted_post_at_the_end_does_no_harm(laptop: Sender, alice: Member) -> None:
    await laptop.read_list("full", POSTS)
    run_id = (await laptop.start())["run_id"]
    await laptop.send(run_id, 0, listed(POSTS[:-1]))

    result = await laptop.send(run_id, 1, gone(1, None, request_url=url(cursor="c1")))

    assert (result["is_unknown_form"], result["stop_reason"]) == (False, "end")
    assert (await laptop.finish(run_id))["proved_end"]
    assert "gone_at" in await bookmark(alice, 1)
