"""GET /v1/bookmarks/{post_id}."""

from urllib.parse import quote

import pytest

from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def test_shows_the_bookmark_as_the_list_does(alice: Member) -> None:
    record = await alice.save(text="näh\n👩‍👩‍👧", tags=["b", "a"], sort_index=2**62 + 1)
    (listed,) = (await alice.listed())["data"]

    response = await alice.get(f"/v1/bookmarks/{record['post_id']}")

    assert response.json() == {"status": True, "data": listed, "meta": {}}


async def test_read_and_archived_bookmarks_are_shown_too(alice: Member) -> None:
    record = await alice.save(is_read=True, is_archived=True)

    data = (await alice.get(f"/v1/bookmarks/{record['post_id']}")).json()["data"]

    assert (data["is_read"], data["is_archived"]) == (True, True)


async def test_a_change_is_visible_on_the_next_request(alice: Member) -> None:
    record = await alice.save()
    path = f"/v1/bookmarks/{record['post_id']}"
    assert (await alice.get(path)).json()["data"]["tags"] is None

    await alice.change(record, tags=["x"], is_read=True)

    data = (await alice.get(path)).json()["data"]
    assert (data["tags"], data["is_read"]) == (["x"], True)


async def test_an_id_with_leading_zeros_is_a_different_id(alice: Member) -> None:
    await alice.save(post_id="42")
    await alice.save(post_id="042")

    for post_id in ("42", "042"):
        data = (await alice.get(f"/v1/bookmarks/{post_id}")).json()["data"]
        assert data["post_id"] == post_id


async def test_an_id_of_forty_digits_is_valid(alice: Member) -> None:
    post_id = "9" * 40
    await alice.save(post_id=post_id)

    assert (await alice.get(f"/v1/bookmarks/{post_id}")).status_code == 200


async def test_any_unknown_id_returns_404_and_never_400(alice: Member) -> None:
    await alice.save(post_id="42")
    texts = ("43", "042", "42 ", "42\n", "-42", "4.2e1", "abc", "\x00", "42\x00", "%", "½", "٤٢")
    raw = (
        "%ff",
        "%ed%a0%80",
        "9" * 20_000,
        "42%2F",
        "null",
        "..%2F42",
        "%2e%2e",
        "42;x",
        "count%00",
    )

    for text in (*map(quote, texts), *raw):
        response = await alice.client.get(f"/v1/bookmarks/{text}")
        assert response.status_code == 404, text
        assert response.json()["code"] == "NOT_FOUND"
        assert len(response.json()["error"]) < 400


async def test_the_error_message_names_the_id(alice: Member) -> None:
    response = await alice.get("/v1/bookmarks/4711")

    assert response.json()["error"] == "No post '4711' on this account."


async def test_parameters_are_ignored(alice: Member, free: Member) -> None:
    for member in (alice, free):
        await member.save(post_id="42")
        query = "limit=0&author=x&cursor=y&vector_search_term=z&q=%00"
        response = await member.client.get(f"/v1/bookmarks/42?{query}")
        assert response.status_code == 200


async def test_a_removed_bookmark_is_not_found(alice: Member) -> None:
    record = await alice.save()
    path = f"/v1/bookmarks/{record['post_id']}"
    assert (await alice.get(path)).status_code == 200

    await alice.remove(record["post_id"])

    assert (await alice.get(path)).status_code == 404


async def test_the_free_plan_can_read_single_bookmarks(free: Member) -> None:
    record = await free.save()

    assert (await free.get(f"/v1/bookmarks/{record['post_id']}")).status_code == 200


async def test_never_shows_another_account(alice: Member, bob: Member) -> None:
    await bob.save(post_id="42", text="theirs")
    unknown = (await alice.get("/v1/bookmarks/42")).json()

    assert unknown["code"] == "NOT_FOUND"

    await alice.save(post_id="42", text="mine")
    data = (await alice.get("/v1/bookmarks/42")).json()["data"]
    assert data["tweet_details"]["text"] == "mine"
