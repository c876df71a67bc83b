"""GET /v1/labels."""

import pytest

from bowerbird.library.bookmarks import cursors
from bowerbird.requests import limits
from tests.support import writing
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def test_an_account_without_labels_has_an_empty_list(alice: Member) -> None:
    body = (await alice.get("/v1/labels")).json()

    assert body == {"status": True, "data": [], "meta": {}}


async def test_a_label_has_id_name_metadata_and_count(alice: Member) -> None:
    await alice.save(post_id="1")
    await writing.add(alice, "To Read", "1")

    (label,) = (await alice.get("/v1/labels")).json()["data"]

    assert isinstance(label["id"], str)
    assert label == {
        "id": label["id"],
        "label_name": "To Read",
        "metadata": {},
        "count": 1,
        "color": None,
    }


async def test_pages_hold_every_label_once_in_order(free: Member) -> None:
    await free.save(tags=["b", "C", "a", "\u00c9", "Z", "_"])
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (await free.get("/v1/labels", limit=4, cursor=cursor)).json()
        seen += [label["label_name"] for label in page["data"]]
        assert page["meta"]["count"] == len(page["data"]) <= page["meta"]["limit"] == 4
        assert page["meta"]["total_count"] == 6
        cursor = page["meta"]["next_cursor"]

    assert seen == ["_", "a", "b", "C", "Z", "\u00c9"]


async def test_a_page_has_the_default_size_and_at_most_100_labels(alice: Member) -> None:
    await writing.create_labels(alice, 150)

    first = (await alice.get("/v1/labels", limit=1)).json()
    default = (await alice.get("/v1/labels", cursor=first["meta"]["next_cursor"])).json()
    largest = (await alice.get("/v1/labels", limit=1_000)).json()

    assert (len(default["data"]), default["meta"]["limit"]) == (20, 20)
    assert (len(largest["data"]), largest["meta"]["limit"]) == (100, 100)


async def test_a_new_label_does_not_disturb_paging(alice: Member) -> None:
    await alice.save(post_id="1", tags=["a", "c", "e"])
    first = (await alice.get("/v1/labels", limit=2)).json()
    await writing.add(alice, "b", "1")
    await writing.add(alice, "d", "1")

    rest = (await alice.get("/v1/labels", cursor=first["meta"]["next_cursor"])).json()

    assert [label["label_name"] for label in rest["data"]] == ["d", "e"]
    assert rest["meta"]["next_cursor"] is None


async def test_an_invalid_page_is_refused(alice: Member, bob: Member) -> None:
    for member in (alice, bob):
        await member.save(tags=["a", "b"])
    theirs = (await bob.get("/v1/labels", limit=1)).json()["meta"]["next_cursor"]
    place = cursors.query_of(alice.account_id, "labels")
    forged = cursors.write(cursors.Named("\x00"), place)
    other_kind = cursors.write(cursors.Keyset(1, 1), place)

    for cursor in (theirs, forged, other_kind, "x", "%ff"):
        response = await alice.get("/v1/labels", cursor=cursor)
        assert writing.refused(response) == (400, "INVALID_REQUEST"), cursor
        assert writing.sentence(response).startswith("cursor: ")
    for limit in ("0", "-1", "x", "1.5"):
        response = await alice.get("/v1/labels", limit=limit)
        assert writing.refused(response) == (400, "INVALID_REQUEST"), limit
        assert writing.sentence(response).startswith("limit: ")


async def test_an_account_beyond_the_bound_lists_all_its_labels(alice: Member) -> None:
    await writing.create_labels(alice, limits.LABELS_MAX + 5)

    whole = (await alice.get("/v1/labels")).json()
    page = (await alice.get("/v1/labels", limit=1)).json()

    names = [label["label_name"] for label in whole["data"]]
    assert len(set(names)) == limits.LABELS_MAX + 5
    assert names == sorted(names)
    assert page["meta"]["total_count"] == limits.LABELS_MAX + 5


async def test_if_none_match_star_is_304_only_for_successful_responses(alice: Member) -> None:
    anything = {"If-None-Match": "*"}

    assert (await alice.client.get("/v1/labels", headers=anything)).status_code == 304
    tag = (await alice.get("/v1/labels")).headers["etag"]
    await alice.save(tags=["x"])
    changed = await alice.client.get("/v1/labels", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert (await alice.client.get("/v1/bookmarks/1", headers=anything)).status_code == 404
    refused = await alice.client.get("/v1/bookmarks?limit=0", headers=anything)
    assert refused.status_code == 400
