"""Posts that are removed at their source: what the bookmark says, and what the account chose."""

from typing import Any

import pytest

from bowerbird.library.ingest.removals import RemovedPosts
from bowerbird.model.accounts import RemovedPostsChoice
from bowerbird.model.arrival import SourceUser
from bowerbird.model.instants import parse
from bowerbird.storage.accounts.accounts import AccountStore
from tests.ingest.test_gone_posts import bookmark
from tests.sources.x import pages as shapes
from tests.support import ingesting
from tests.support.ingesting import Sender, captured, data, listed, post_id, sort_index
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio

REMOVED_AT = "2026-09-01T12:30:00.000000+00:00"


async def choose(cast: Service, member: Member, choice: str) -> None:
    store = AccountStore(cast.database)
    await store.set_removed_posts(member.account_id, RemovedPostsChoice(choice))


def event(number: int, kind: str = "removed", at: str = REMOVED_AT) -> dict[str, Any]:
    return {"type": kind, "post_id": post_id(number), "at": at}


async def with_posts(cast: Service, member: Member) -> Sender:
    laptop = await ingesting.device(cast, member)
    await laptop.read_list("full", [3, 2, 1])
    cast.clock.now += ingesting.DAY
    return laptop


async def test_an_event_says_when_the_post_was_removed(cast: Service, alice: Member) -> None:
    laptop = await with_posts(cast, alice)
    before = await bookmark(alice, 2)

    for _ in range(2):
        await laptop.post("/events", [event(2), event(99)])

    assert await bookmark(alice, 2) == {**before, "removed_at": REMOVED_AT}
    assert "removed_at" not in await bookmark(alice, 1)


async def test_an_older_page_does_not_bring_the_post_back(cast: Service, alice: Member) -> None:
    laptop = await with_posts(cast, alice)
    await laptop.post("/events", [event(2)])
    run_id = (await laptop.start())["run_id"]

    await laptop.send(run_id, 0, {**listed([2]), "captured_at": "2026-09-01T12:20:00Z"})

    assert (await bookmark(alice, 2))["removed_at"] == REMOVED_AT


async def test_a_post_that_another_x_account_has_saved_is_not_removed(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    phone = await ingesting.device(cast, alice, "phone")
    await laptop.read_list("full", [2, 1], source_user_id="111")
    await phone.read_list("full", [2, 1], source_user_id="222")
    laptop.clock.now += ingesting.DAY

    await laptop.post("/events", [event(2)])

    assert "removed_at" not in await bookmark(alice, 2)
    await phone.post("/events", [event(2)])
    assert (await bookmark(alice, 2))["removed_at"] == REMOVED_AT


async def test_removed_posts_are_archived_if_hidden_here(cast: Service, alice: Member) -> None:
    laptop = await with_posts(cast, alice)
    await choose(cast, alice, "hide")

    await laptop.post("/events", [event(2)])

    assert await alice.ids() == [post_id(3), post_id(1)]
    assert (await bookmark(alice, 2))["is_archived"]
    assert data(await alice.get("/v1/bookmarks/count"))["archived"] == 1


async def test_a_hidden_post_taken_back_stays_in_the_list(cast: Service, alice: Member) -> None:
    laptop = await with_posts(cast, alice)
    await choose(cast, alice, "hide")
    await laptop.post("/events", [event(2)])
    await alice.client.patch(f"/v1/bookmarks/{post_id(2)}", json={"is_archived": False})

    await laptop.post("/events", [event(2, at="2026-09-01T12:40:00Z")])

    assert not (await bookmark(alice, 2))["is_archived"]


async def test_a_hidden_post_that_is_saved_again_is_in_the_list_again(
    cast: Service, alice: Member
) -> None:
    laptop = await with_posts(cast, alice)
    await choose(cast, alice, "hide")
    await laptop.post("/events", [event(2)])

    await laptop.post("/events", [event(2, "added", "2026-09-01T13:00:00Z")])

    assert post_id(2) in await alice.ids()
    assert "removed_at" not in await bookmark(alice, 2)


@pytest.mark.both
async def test_removed_posts_are_deleted_if_that_is_wanted(cast: Service, alice: Member) -> None:
    laptop = await with_posts(cast, alice)
    await choose(cast, alice, "trash")

    await laptop.read_list("full", [3, 1])
    await laptop.post("/events", [event(2)])

    assert await alice.ids() == [post_id(3), post_id(1)]
    restored = data(await alice.client.post(f"/v1/bookmarks/{post_id(2)}/restore"))
    assert restored["removed_at"] == "2026-09-02T12:00:00.000002+00:00"


async def test_the_status_shows_removals_that_wait_for_a_confirmation(
    laptop: Sender, cast: Service, alice: Member, bob: Member
) -> None:
    await laptop.read_list("full", list(range(60, 0, -1)))
    laptop.clock.now += ingesting.DAY
    run_id = (await laptop.read_list("full", [60, 1]))["run_id"]

    held = data(await laptop.get("/status"))["held_removals"]

    assert held == [{"run_id": run_id, "posts": 58}]
    others = await ingesting.device(cast, bob)
    assert data(await others.get("/status"))["held_removals"] == []
    await laptop.finish(run_id, confirm_removals=True)
    assert data(await laptop.get("/status"))["held_removals"] == []
    assert "removed_at" in await bookmark(alice, 30)


async def test_nothing_is_held_after_a_confirmation_though_some_posts_came_back(
    laptop: Sender, alice: Member
) -> None:
    await laptop.read_list("full", list(range(60, 0, -1)))
    laptop.clock.now += ingesting.DAY
    run_id = (await laptop.read_list("full", [60, 1]))["run_id"]
    await laptop.post("/events", [event(30, "added", "2026-09-02T12:00:00Z")])

    confirmed = await laptop.finish(run_id, confirm_removals=True)

    assert (confirmed["removed"], confirmed["is_held"]) == (57, False)
    assert "removed_at" not in await bookmark(alice, 30)


@pytest.mark.both
async def test_undoing_an_import_forgets_no_removal(cast: Service, alice: Member) -> None:
    laptop = await with_posts(cast, alice)
    before = await bookmark(alice, 2)
    run_id = (await laptop.start())["run_id"]
    changed = shapes.entry(shapes.tweet(post_id(2), "Another text."), sort_index(2))
    await laptop.send(run_id, 0, captured(shapes.page_of(changed)))
    await laptop.finish(run_id, "gave_up")
    cast.clock.now += ingesting.DAY
    at = "2026-09-03T00:00:00.000000+00:00"
    await laptop.post("/events", [event(2, at=at)])
    import_id = data(await laptop.get(f"/runs/{run_id}"))["import_id"]

    undone = data(await alice.client.post(f"/v1/imports/{import_id}/undo"))

    assert undone["restored"] == 1
    assert await bookmark(alice, 2) == {**before, "removed_at": at}


async def test_posts_that_go_to_the_trash_count_as_removed(cast: Service, alice: Member) -> None:
    laptop = await with_posts(cast, alice)
    await choose(cast, alice, "trash")

    result = data(await laptop.post("/events", [event(2), event(99)]))

    assert (result["removed"], result["not_found"]) == (1, 1)


@pytest.mark.parametrize("choice", RemovedPostsChoice)
async def test_a_page_that_arrives_after_the_removal_of_its_post(
    cast: Service, alice: Member, choice: str
) -> None:
    laptop = await with_posts(cast, alice)
    await choose(cast, alice, choice)
    await laptop.post("/events", [event(7)])
    run_id = (await laptop.start())["run_id"]

    await laptop.send(run_id, 0, {**listed([7]), "captured_at": "2026-09-01T12:20:00Z"})

    if choice == "trash":
        assert (await alice.get(f"/v1/bookmarks/{post_id(7)}")).status_code == 404
    else:
        late = await bookmark(alice, 7)
        assert (late["removed_at"], late["is_archived"]) == (REMOVED_AT, choice == "hide")


async def test_an_old_page_does_not_delete_a_post_again(cast: Service, alice: Member) -> None:
    laptop = await with_posts(cast, alice)
    await choose(cast, alice, "trash")
    await laptop.post("/events", [event(2)])
    await alice.client.post(f"/v1/bookmarks/{post_id(2)}/restore")
    run_id = (await laptop.start())["run_id"]

    await laptop.send(run_id, 0, {**listed([2]), "captured_at": "2026-09-01T12:20:00Z"})

    assert (await bookmark(alice, 2))["removed_at"] == REMOVED_AT


async def test_a_deleted_post_that_was_saved_again_before_the_events_arrived_comes_back(
    cast: Service, alice: Member
) -> None:
    laptop = await with_posts(cast, alice)
    await choose(cast, alice, "trash")
    await laptop.post("/events", [event(2)])

    result = data(await laptop.post("/events", [event(2, "added", "2026-09-01T13:00:00Z")]))

    assert result["inserted"] == 1
    assert "removed_at" not in await bookmark(alice, 2)


async def test_a_removal_older_than_a_page_changes_nothing(cast: Service, alice: Member) -> None:
    laptop = await with_posts(cast, alice)
    await choose(cast, alice, "trash")
    await laptop.read_list("incremental", [3, 2])
    moment = parse(REMOVED_AT)
    assert moment is not None

    # As if the page had been stored while the event was being read.
    marks = RemovedPosts(cast.database, cast.clock)
    await marks.mark(await alice.account(), SourceUser("x", ""), {post_id(2): moment})

    assert "removed_at" not in await bookmark(alice, 2)


async def test_the_last_of_two_accounts_decides_when_a_post_was_removed(
    laptop: Sender, cast: Service, alice: Member
) -> None:
    phone = await ingesting.device(cast, alice, "phone")
    await laptop.read_list("full", [2, 1], source_user_id="111")
    await phone.read_list("full", [2, 1], source_user_id="222")
    laptop.clock.now += ingesting.DAY

    await phone.post("/events", [event(2)])
    await laptop.post("/events", [event(2, at="2026-09-01T12:20:00Z")])

    assert (await bookmark(alice, 2))["removed_at"] == REMOVED_AT


@pytest.mark.parametrize(("listing", "removing"), [("111", ""), ("", "111")])
async def test_a_client_need_not_say_whose_list_it_reads(
    laptop: Sender, cast: Service, alice: Member, listing: str, removing: str
) -> None:
    phone = await ingesting.device(cast, alice, "phone")
    await laptop.read_list("full", [2, 1], source_user_id=listing)
    await phone.start(source_user_id=removing)
    laptop.clock.now += ingesting.DAY

    await phone.post("/events", [event(2)])

    assert (await bookmark(alice, 2))["removed_at"] == REMOVED_AT


async def test_a_post_that_its_owner_archived_stays_archived_when_it_is_saved_again(
    cast: Service, alice: Member
) -> None:
    laptop = await with_posts(cast, alice)
    await alice.client.patch(f"/v1/bookmarks/{post_id(2)}", json={"is_archived": True})
    await laptop.post("/events", [event(2)])

    await laptop.read_list("full", [3, 2, 1])

    again = await bookmark(alice, 2)
    assert (again["is_archived"], "removed_at" in again) == (True, False)
