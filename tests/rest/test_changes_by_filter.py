"""POST /v1/bookmarks/update, /delete and /restore, /v1/labels/add and /remove: with a filter."""

from typing import Any

import httpx
import pytest

from tests.support import make, writing
from tests.support.in_turn import in_turn
from tests.support.service import Member

pytestmark = pytest.mark.anyio


ADA = {"author": "ada"}
ALL = {"is_unread_only": "false", "hide_archived": "false"}


async def send(member: Member, path: str, **body: Any) -> httpx.Response:
    return await writing.send(member, "POST", f"/v1/{path}", body)


async def meta(member: Member, path: str, **body: Any) -> dict[str, Any]:
    response = await send(member, path, **body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    assert answer["data"] == []
    found: dict[str, Any] = answer["meta"]
    return found


async def fill(member: Member, count: int = 6) -> None:
    await member.save_all(
        [make.post(post_id=str(n), author="ada" if n % 2 else "mia") for n in range(1, count + 1)]
    )


@pytest.mark.both
async def test_all_that_match_are_marked_and_given_back(alice: Member) -> None:
    await fill(alice)

    dry = await meta(alice, "bookmarks/update", filter=ADA, is_read=True, dry_run=True)
    done = await meta(
        alice, "bookmarks/update", filter=ADA, is_read=True, is_archived=True, expected_count=3
    )

    assert (dry["affected"], dry["change"]["count"], len(dry["change"]["examples"])) == (0, 3, 3)
    assert (done["affected"], done["message"]) == (3, "Changed 3 bookmarks.")
    assert sorted(await alice.ids()) == ["2", "4", "6"]
    path = f"bookmarks/changes/{done['change']['change_id']}/undo"
    assert (await send(alice, path)).json()["data"]["restored"] == 3
    assert len(await alice.ids()) == 6


@pytest.mark.both
async def test_all_that_match_are_labelled_and_unlabelled(alice: Member) -> None:
    await fill(alice)

    added = await meta(alice, "labels/add", filter=ADA, label_name="Birds", expected_count=3)
    removed = await meta(
        alice, "labels/remove", filter={"tag": "birds"}, label_name="Birds", expected_count=3
    )

    assert (added["affected"], removed["affected"]) == (3, 3)
    assert (added["change"]["action"], removed["message"]) == ("add_label", "Unlabelled 3 posts.")


@pytest.mark.both
@in_turn("label", ["", " ", ",", " , ", [], [""], [" ", ""]])
async def test_a_label_without_a_name_is_refused_instead_of_changing_every_post(
    alice: Member, label: str | list[str]
) -> None:
    await fill(alice)

    refused = await send(alice, "bookmarks/delete", filter={"label": label})

    assert refused.status_code == 400
    assert "leave it out if it should not filter" in refused.text
    assert len(await alice.ids(**ALL)) == 6


@pytest.mark.both
async def test_all_that_match_are_deleted_and_restored(alice: Member) -> None:
    await fill(alice)

    deleted = await send(alice, "bookmarks/delete", filter=ADA, expected_count=3)
    assert (deleted.status_code, deleted.json()["data"]["changed"]) == (200, 3)
    assert len(await alice.ids(**ALL)) == 3
    some = await send(alice, "bookmarks/restore", tweet_ids=["1", "404"])
    rest = await send(alice, "bookmarks/restore", filter={}, expected_count=2)

    assert (some.json()["data"]["changed"], rest.json()["data"]["changed"]) == (1, 2)
    assert len(await alice.ids(**ALL)) == 6


@in_turn(
    ("path", "body", "sentence"),
    [
        ("bookmarks/update", {"is_read": True}, "tweet_ids: either tweet_ids or filter is"),
        ("bookmarks/update", {"is_read": True, "filter": {}, "tweet_ids": ["1"]}, "tweet_ids: eit"),
        ("bookmarks/update", {"is_read": True, "tweet_ids": ["1"], "dry_run": True}, "dry_run: ne"),
        ("bookmarks/delete", {"filter": ADA}, "expected_count: is required with filter"),
        ("bookmarks/delete", {"filter": {"label_match": "all"}}, "filter.label_match: needs label"),
        (
            "labels/add",
            {"filter": ADA, "label_id": "1", "dry_run": True},
            "label_name: is required with filter",
        ),
        (
            "bookmarks/update",
            {"is_read": True, "filter": ADA, "expected_count": 2},
            "expected_coun",
        ),
    ],
)
async def test_an_invalid_request_changes_nothing(
    alice: Member, path: str, body: dict[str, Any], sentence: str
) -> None:
    await fill(alice)

    refused = await send(alice, path, **body)

    assert writing.refused(refused) == (400, "INVALID_REQUEST")
    assert writing.sentence(refused).startswith(sentence)
    assert len(await alice.ids()) == 6
