"""GET /v1/bookmarks/trash and list_trash, and restoring what they find."""

from typing import Any

import pytest

from tests.rest.paging import items
from tests.support import make, writing
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service
from tests.support.toolcalls import call, refusal

pytestmark = pytest.mark.anyio
PATH = "/v1/bookmarks/trash"
DAY = 86_400 * 1_000_000


async def fill(member: Member) -> None:
    """Four posts in the trash: 1 and 3 by ada, 2 and 4 by mia; 3 and 4 a day later."""
    texts = ("Owls at night", "A loaf of sourdough bread", "Barn owls breed", "The oven is hot")
    await member.save_all(
        [
            make.post(post_id=str(n), text=text, author="ada" if n % 2 else "mia")
            for n, text in enumerate(texts, 1)
        ]
    )
    await send(member, "labels/add", tweet_ids=["1", "4"], label_name="Birds")
    await send(member, "bookmarks/delete", tweet_ids=["1", "2"])
    member.clock.now += DAY
    await send(member, "bookmarks/delete", tweet_ids=["3", "4"])


async def send(member: Member, path: str, **body: Any) -> dict[str, Any]:
    response = await writing.send(member, "POST", f"/v1/{path}", body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


FILTERS: list[tuple[dict[str, str], set[str]]] = [
    ({}, {"1", "2", "3", "4"}),
    ({"author": "@Ada"}, {"1", "3"}),
    ({"author": "ada,mia"}, {"1", "2", "3", "4"}),
    ({"label": "birds"}, {"1", "4"}),
    ({"q": "owl"}, {"1", "3"}),
    ({"q": "owls -breed"}, {"1"}),
    ({"q": "(oven OR loaf) author:mia"}, {"2", "4"}),
    ({"q": "birds"}, {"1", "4"}),
    ({"deleted_from": "today"}, {"3", "4"}),
    ({"deleted_to": "-3h"}, {"1", "2"}),
    ({"author": "mia", "deleted_from": "-3h"}, {"4"}),
    ({"author": "nobody"}, set()),
    ({"q": "?!"}, set()),
]


@pytest.mark.both
async def test_the_trash_is_listed_searched_and_restored_by_the_same_filters(
    alice: Member,
) -> None:
    await fill(alice)
    for filters, expected in FILTERS:
        answer = (await alice.client.get(PATH, params=filters)).json()
        found = {one["bookmark"]["post_id"] for one in answer["data"]}
        dry = await send(alice, "bookmarks/restore", filter=filters, dry_run=True)

        assert (found, answer["meta"]["total_count"]) == (expected, len(expected)), filters
        assert dry["data"]["count"] == len(expected), filters

    done = await send(alice, "bookmarks/restore", filter={"author": "ada"}, expected_count=2)
    assert done["data"]["changed"] == 2
    assert sorted(await alice.ids()) == ["1", "3"]


async def test_pages_of_a_search_in_the_trash_follow_each_other(alice: Member) -> None:
    await fill(alice)

    found = await items(alice, PATH, q="owl OR oven OR bread", limit=3)

    assert [one["bookmark"]["post_id"] for one in found] == ["4", "3", "2", "1"]


@pytest.mark.both
async def test_an_agent_restores_what_it_finds(alice: Member) -> None:
    await fill(alice)

    found = await call(alice, "list_trash", author="mia", query="bread")
    assert [(one["post_id"], "deleted_at" in one) for one in found["bookmarks"]] == [("2", True)]
    done = await call(
        alice, "restore_bookmarks", filter={"author": "mia", "query": "bread"}, expected_count=1
    )

    assert done["affected"] == 1
    said = await refusal(alice, "restore_bookmarks", filter={"unlabelled": True}, dry_run=True)
    assert "unlabelled has no meaning for posts in the trash" in said
    assert "deleted_from and deleted_to" in said


@in_turn(
    ("path", "body", "said"),
    [
        ("bookmarks/restore", {"filter": {"media_type": "image"}}, "media_type has no meaning"),
        ("bookmarks/delete", {"filter": {"deleted_from": "-1d"}}, "deleted_from has a meaning"),
        (
            "bookmarks/update",
            {"filter": {"deleted_to": "-1d"}, "is_read": True},
            "deleted_to has a meaning only for restore",
        ),
        ("bookmarks/changes", {"action": "restore", "view": "x"}, "view: has no meaning"),
        ("bookmarks/restore", {"filter": {"q": "has:image"}}, "has: cannot be searched"),
        ("bookmarks/restore", {"filter": {"deleted_from": "x"}}, "deleted_from:"),
    ],
)
async def test_a_filter_that_cannot_work_is_refused(
    alice: Member, path: str, body: dict[str, Any], said: str
) -> None:
    refused = await writing.send(alice, "POST", f"/v1/{path}", {**body, "dry_run": True})

    assert writing.refused(refused) == (400, "INVALID_REQUEST")
    assert said in writing.sentence(refused)


async def test_the_free_plan_lists_and_searches_words(cast: Service) -> None:
    listed = await cast.free.client.get(PATH, params={"q": "owl"})
    refused = await cast.free.client.get(PATH, params={"author": "ada"})
    in_query = await cast.free.client.get(PATH, params={"q": "from:ada"})
    body = {"filter": {"q": "label:birds"}, "dry_run": True}
    restoring = await writing.send(cast.free, "POST", "/v1/bookmarks/restore", body)
    assert [one.json()["code"] for one in (in_query, restoring)] == ["FILTER_NOT_ALLOWED"] * 2

    assert listed.status_code == 200
    assert writing.refused(refused) == (402, "FILTER_NOT_ALLOWED")
