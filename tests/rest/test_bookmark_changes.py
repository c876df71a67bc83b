"""POST /v1/bookmarks/changes: one action for all bookmarks that match."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from bowerbird.library.bulk.selection import BulkSelection, Chosen
from bowerbird.requests import limits
from tests.support import make, writing
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service
from tests.support.working import until_idle

pytestmark = pytest.mark.anyio

PATH = "/v1/bookmarks/changes"
ALL = {"is_unread_only": False, "hide_archived": False}


async def change(member: Member, action: str, **body: Any) -> httpx.Response:
    return await writing.send(member, "POST", PATH, {"action": action, **body})


async def changed(member: Member, action: str, **body: Any) -> dict[str, Any]:
    response = await change(member, action, **body)
    assert response.status_code == 200, response.text
    data: dict[str, Any] = response.json()["data"]
    return data


async def undo(member: Member, change_id: str) -> dict[str, Any]:
    response = await writing.send(member, "POST", f"{PATH}/{change_id}/undo")
    assert response.status_code == 200, response.text
    data: dict[str, Any] = response.json()["data"]
    return data


async def fill(member: Member, count: int = 6) -> None:
    await member.save_all(
        [
            make.post(post_id=str(n), text=f"post {n}", author="ada" if n % 2 else "mia")
            for n in range(1, count + 1)
        ]
    )


async def test_a_dry_run_counts_and_shows_five_examples(alice: Member) -> None:
    await fill(alice)
    before = await writing.version(alice)

    data = await changed(alice, "trash", filters={}, dry_run=True)

    assert (data["state"], data["change_id"], data["count"]) == ("dry_run", None, 6)
    example = {"tweet_id": "1", "author_username": "ada", "text": "post 1", "why": None}
    assert data["examples"][0] == example
    assert len(data["examples"]) == 5
    assert await writing.version(alice) == before


async def mark_read(member: Member, post_id: str) -> None:
    await writing.send(member, "PATCH", f"/v1/bookmarks/{post_id}", {"is_read": True})


class Interrupted:
    """Lets another client write between the read of the posts and the transaction."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, write: Callable[[int], Awaitable[Any]], most: int = 1
    ) -> None:
        choose, self.reads = BulkSelection.choose, 0

        async def interrupted(own: BulkSelection, *arguments: Any) -> Chosen:
            self.reads += 1
            chosen = await choose(own, *arguments)
            if self.reads <= most:
                await write(self.reads)
            return chosen

        monkeypatch.setattr(BulkSelection, "choose", interrupted)


async def test_the_count_is_compared_when_the_change_is_made(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(alice)
    others = Interrupted(monkeypatch, lambda _: mark_read(alice, "1"))

    refused = await change(alice, "archive", filters={}, expected_count=6)

    assert writing.refused(refused) == (409, "COUNT_MISMATCH")
    assert "5 posts match" in writing.sentence(refused)
    assert others.reads == 2
    assert len(await alice.ids()) == 5


async def test_the_posts_that_match_when_the_change_is_made_are_changed(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(alice)

    async def others_write(_: int) -> None:
        await mark_read(alice, "1")
        await alice.save(post_id="900")

    Interrupted(monkeypatch, others_write)
    headers = {"Idempotency-Key": "k1"}
    body = {"action": "archive", "filters": {}, "expected_count": 6}

    first = await alice.client.post(PATH, json=body, headers=headers)
    again = await alice.client.post(PATH, json=body, headers=headers)

    assert first.status_code == 200
    assert first.json()["data"]["changed"] == 6
    assert again.json() == first.json()
    assert sorted(await alice.ids(is_archived_only=True, is_unread_only=False)) == [
        *("2", "3", "4", "5", "6", "900"),
    ]


async def test_a_library_that_changes_all_the_time_cannot_be_counted(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(alice)
    others = Interrupted(monkeypatch, lambda n: alice.save(post_id=str(900 + n)), most=100)

    refused = await change(alice, "archive", filters={"author": "mia"}, expected_count=3)

    assert writing.refused(refused) == (409, "COUNT_MISMATCH")
    assert "again and again" in writing.sentence(refused)
    assert others.reads == 5


async def test_two_equal_changes_are_not_both_accepted(alice: Member) -> None:
    await fill(alice, 60)

    answers = await asyncio.gather(
        *(change(alice, "trash", filters={}, expected_count=60) for _ in range(4))
    )

    assert sorted(one.status_code for one in answers) == [202, 409, 409, 409]


async def test_posts_by_their_ids_are_changed_whatever_their_state(alice: Member) -> None:
    await fill(alice)
    await changed(alice, "read", tweet_ids=["1", "2"])

    data = await changed(alice, "archive", tweet_ids=["1", "2", "2", "404", "no-id"])

    assert (data["count"], data["changed"]) == (2, 2)


async def test_a_view_selects_the_posts_of_a_change(alice: Member) -> None:
    await fill(alice)
    bucket = {"name": "Third", "query": {"q": "3"}}
    path = await writing.view(alice, base_query={"author": "ada"}, triage_buckets=[bucket])
    slug = path.rpartition("/")[2]

    part = await changed(alice, "add_label", view=slug, bucket="third", label_name="Birds")
    whole = await changed(alice, "read", view=slug)

    assert (part["count"], part["label_name"], whole["count"]) == (1, "Birds", 3)
    assert await writing.tags(alice, "3") == ["Birds"]


@in_turn(
    ("body", "named"),
    [
        ({"action": "read"}, "tweet_ids"),
        ({"action": "read", "tweet_ids": ["1"], "filters": {}}, "tweet_ids"),
        ({"action": "add_label", "filters": {}}, "label_name"),
        ({"action": "read", "filters": {}, "label_name": "x"}, "label_name"),
        ({"action": "read", "filters": {"media_type": "sound"}}, "media_type"),
        ({"action": "read", "filters": {}, "bucket": "x"}, "bucket"),
        ({"action": "restore", "filters": {"network": "x"}}, "filters"),
    ],
)
async def test_a_refusal_names_the_field(alice: Member, body: dict[str, Any], named: str) -> None:
    refused = await writing.send(alice, "POST", PATH, body)

    assert writing.refused(refused) == (400, "INVALID_REQUEST")
    assert named in writing.sentence(refused)


async def test_unknown_labels_views_and_changes_are_not_found(alice: Member) -> None:
    await fill(alice)
    for refused in (
        await change(alice, "remove_label", filters={}, label_name="none"),
        await change(alice, "read", view="none"),
        await change(alice, "archive", tweet_ids=["404", "405"]),
        await change(alice, "read", tweet_ids=["404"], dry_run=True),
        await change(alice, "restore", tweet_ids=["1"]),
        await writing.send(alice, "POST", "/v1/bookmarks/delete", {"tweet_ids": ["404"]}),
        await alice.get(f"{PATH}/none"),
        await writing.send(alice, "POST", f"{PATH}/none/undo"),
    ):
        assert writing.refused(refused) == (404, "NOT_FOUND")


async def test_the_free_plan_changes_flags_but_has_no_filters_or_labels(free: Member) -> None:
    await fill(free)

    data = await changed(free, "archive", filters={})
    filtered = await change(free, "read", filters={"author": "ada"})
    labelled = await change(free, "add_label", filters={}, label_name="x")

    assert data["changed"] == 6
    assert writing.refused(filtered) == (402, "FILTER_NOT_ALLOWED")
    assert writing.refused(labelled) == (402, "SUBSCRIPTION_REQUIRED")
    assert (await undo(free, data["change_id"]))["restored"] == 6


async def test_a_change_can_be_undone_for_an_hour(alice: Member) -> None:
    await fill(alice)
    data = await changed(alice, "read", filters={})
    alice.clock.now += 3_599_000_000
    assert (await alice.get(f"{PATH}/{data['change_id']}")).status_code == 200
    alice.clock.now += 2_000_000

    refused = await writing.send(alice, "POST", f"{PATH}/{data['change_id']}/undo")

    assert writing.refused(refused) == (404, "NOT_FOUND")
    assert "can be undone" in writing.sentence(refused)
    assert await alice.ids() == []


async def test_a_job_does_the_rest_of_a_large_change(cast: Service) -> None:
    alice = cast.alice
    await fill(alice, 450)

    started = await change(alice, "archive", filters={})
    assert started.status_code == 202
    data, path = started.json()["data"], started.headers["location"]
    assert (data["state"], data["count"], data["done"]) == ("working", 450, 200)
    waiting = await alice.get(path)
    assert waiting.headers["retry-after"] == "1"
    await until_idle(cast.app.worker, alice.database, alice.account_id)

    data = (await alice.get(path)).json()["data"]
    assert (data["state"], data["done"], data["changed"]) == ("done", 450, 450)
    undoing = await writing.send(alice, "POST", f"{path}/undo")
    assert undoing.status_code == 202
    await until_idle(cast.app.worker, alice.database, alice.account_id)
    assert (await alice.get(path)).json()["data"]["restored"] == 450
    assert (await alice.listed())["meta"]["total_count"] == 450


@pytest.mark.parametrize(("action", "most"), [("read", 200), ("trash", 50)])
async def test_a_change_within_one_turn_needs_no_job(alice: Member, action: str, most: int) -> None:
    await fill(alice, most + 1)

    one_more = await change(alice, action, filters={}, dry_run=True)
    within = await change(alice, action, tweet_ids=[str(n) for n in range(1, most + 1)])
    assert (one_more.json()["data"]["count"], within.status_code) == (most + 1, 200)
    await undo(alice, within.json()["data"]["change_id"])
    beyond = await change(alice, action, filters={})

    assert (beyond.status_code, beyond.json()["data"]["done"]) == (202, most)


async def test_too_many_unfinished_changes_are_refused(cast: Service) -> None:
    alice = cast.alice
    await fill(alice, 201)
    for _ in range(limits.UNFINISHED_CHANGES_MAX):
        assert (await change(alice, "archive", filters=ALL)).status_code == 202

    refused = await change(alice, "read", filters=ALL)

    assert writing.refused(refused) == (429, "RATE_LIMITED")
    await until_idle(cast.app.worker, alice.database, alice.account_id)
    assert (await change(alice, "read", tweet_ids=["1"])).status_code == 200


async def test_a_change_has_a_maximum_of_posts(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHANGE_POSTS_MAX", 5)
    await fill(alice)

    refused = await change(alice, "read", filters={})

    assert writing.refused(refused) == (400, "INVALID_REQUEST")
    assert "6 match" in writing.sentence(refused)


async def kept(member: Member) -> tuple[int, int]:
    """How many changes and posts are kept."""
    sql = "SELECT (SELECT count(*) FROM bulk_change), (SELECT count(*) FROM bulk_post)"
    changes, posts = (await member.database.rows(sql, {}))[0]
    return changes, posts


@pytest.mark.parametrize("bound", [("KEPT_CHANGES_MAX", 2), ("KEPT_CHANGED_POSTS_MAX", 12)])
async def test_an_undo_makes_no_room_at_its_own_cost(
    alice: Member, monkeypatch: pytest.MonkeyPatch, bound: tuple[str, int]
) -> None:
    monkeypatch.setattr(limits, *bound)
    await fill(alice)
    made = [await changed(alice, action, filters=ALL) for action in ("read", "archive", "trash")]
    assert await kept(alice) == (3, 18)
    await undo(alice, made[2]["change_id"])

    first = await undo(alice, made[0]["change_id"])

    assert (first["state"], first["restored"]) == ("undone", 6)
    assert len(await alice.ids(is_unread_only="true", hide_archived="false")) == 6
