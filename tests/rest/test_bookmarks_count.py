"""GET /v1/bookmarks/count."""

from typing import Any

import pytest

from tests.support import make
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def _counts(member: Member, **params: Any) -> dict[str, int]:
    response = await member.get("/v1/bookmarks/count", **params)
    assert response.status_code == 200, response.text
    data: dict[str, int] = response.json()["data"]
    return data


async def _fill(member: Member) -> None:
    await member.save_all(
        [
            make.post(author="ada", text="katze", tags=["x"]),
            make.post(author="eve", text="katze", is_read=True),
            make.post(author="eve", text="hund", is_archived=True, posted_at="2020-01-01"),
            make.post(author="eve", text="hund", is_read=True, is_archived=True),
        ]
    )


async def test_counts_the_default_list_and_the_whole_library(alice: Member) -> None:
    await _fill(alice)

    assert await _counts(alice) == {"count": 1, "total": 4, "unread": 2, "archived": 2}


async def test_an_empty_library_has_zero_counts(alice: Member) -> None:
    assert await _counts(alice) == {"count": 0, "total": 0, "unread": 0, "archived": 0}


async def test_the_envelope_matches_the_contract(alice: Member) -> None:
    answer = (await alice.get("/v1/bookmarks/count")).json()

    assert answer["status"] is True
    assert answer["meta"] == {}


FILTERS: tuple[dict[str, str], ...] = (
    {},
    {"is_unread_only": "false"},
    {"hide_archived": "0"},
    {"is_unread_only": "false", "hide_archived": "false"},
    {"author": "@Eve", "is_unread_only": "false"},
    {"tag": "X"},
    {"media_type": "text", "hide_archived": "false"},
    {"posted_from": "2020-01-01", "is_unread_only": "0"},
    {"posted_to": "2020-01-02", "hide_archived": "0"},
    {"bookmarked_from": "2020-01-01"},
    {"bookmarked_to": "2020-01-01"},
    {"q": "katze", "is_unread_only": "false"},
    {"q": "-katze", "is_unread_only": "false", "hide_archived": "false"},
    {"q": "katze", "author": "eve", "is_unread_only": "false"},
)


async def test_the_count_equals_the_list_with_the_same_filters(alice: Member) -> None:
    await _fill(alice)

    for asked in FILTERS:
        listed = await alice.listed(**asked)
        counts = await _counts(alice, **asked)
        assert counts["count"] == listed["meta"]["total_count"] == len(listed["data"])
        assert counts["total"] == 4


async def test_the_counters_follow_every_change(alice: Member) -> None:
    record = await alice.save()
    assert await _counts(alice) == {"count": 1, "total": 1, "unread": 1, "archived": 0}
    record = await alice.change(record, is_read=True)
    assert await _counts(alice) == {"count": 0, "total": 1, "unread": 0, "archived": 0}
    record = await alice.change(record, is_archived=True)
    assert await _counts(alice) == {"count": 0, "total": 1, "unread": 0, "archived": 1}
    await alice.change(record, is_read=False, is_archived=False)
    assert await _counts(alice) == {"count": 1, "total": 1, "unread": 1, "archived": 0}
    await alice.remove(record["post_id"])
    assert await _counts(alice) == {"count": 0, "total": 0, "unread": 0, "archived": 0}


async def test_an_invalid_filter_is_refused_and_named(alice: Member) -> None:
    for name in ("is_unread_only", "media_type", "posted_from", "bookmarked_to"):
        response = await alice.get("/v1/bookmarks/count", **{name: "nonsense"})
        assert response.status_code == 400
        assert response.json()["error"].startswith(f"{name}: ")


async def test_parameters_that_only_the_list_has_are_ignored(alice: Member) -> None:
    response = await alice.get("/v1/bookmarks/count", limit=0, cursor="x", sort_by="nonsense")

    assert response.status_code == 200


async def test_a_filter_given_twice_is_refused(alice: Member) -> None:
    response = await alice.client.get("/v1/bookmarks/count?author=a&author=b")

    assert response.status_code == 400


async def test_the_free_plan_cannot_count_with_filters(free: Member) -> None:
    for name in ("author", "tag", "media_type", "posted_from", "bookmarked_to"):
        response = await free.get("/v1/bookmarks/count", **{name: "nonsense"})
        assert response.status_code == 402
        assert response.json()["code"] == "FILTER_NOT_ALLOWED"


async def test_the_free_plan_can_count_by_flags_and_words(free: Member) -> None:
    await _fill(free)

    assert (await _counts(free))["count"] == 1
    assert (await _counts(free, q="katze", is_unread_only="false"))["count"] == 2


async def test_search_by_meaning_is_refused_until_the_vectors_are_built(
    alice: Member, free: Member
) -> None:
    for member in (alice, free):
        await member.save()
        response = await member.get("/v1/bookmarks/count", vector_search_term="cats")
        assert response.status_code == 402
        assert response.json()["code"] == "VECTOR_SEARCH_NOT_ALLOWED"


async def test_never_shows_another_account(alice: Member, bob: Member) -> None:
    await _fill(bob)

    nothing = {"count": 0, "total": 0, "unread": 0, "archived": 0}
    assert await _counts(alice) == nothing
    assert await _counts(alice, q="katze", is_unread_only="false") == nothing
    assert await _counts(alice, tag="x", author="ada") == nothing
