"""GET /v1/bookmarks: shape, order, page size and flags of the list."""

import json
from urllib.parse import quote

import pytest

from bowerbird import app
from bowerbird.settings import Settings
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def test_posts_with_equal_sort_index_are_ordered_by_last_saved_first(alice: Member) -> None:
    saved = [await alice.save(sort_index=7) for _ in range(3)]

    assert await alice.ids() == [record["post_id"] for record in reversed(saved)]


async def test_a_bookmark_is_returned_exactly_as_saved(alice: Member) -> None:
    record = await alice.save(
        text='two\nlines\r\n\t👩‍👩‍👧 \u202eאבג\u202c \u2028 e\u0301 \\ " \x7f',
        sort_index=2**63 - 1,
        posted_at="2026-01-01T09:30:00+05:30",
        imported_at="2026-02-03T04:05:06.000007",
        bookmarked_at="2026-02-03T04:05:06.000007+00:00",
        tags=["Zoo", "apple"],
        meta={"tweet_conversation_id": "9", "tweet_is_thread": True},
        metrics={"favorite_count": 5},
    )

    (shown,) = (await alice.listed())["data"]

    assert shown["tweet_details"]["text"] == record["tweet_details"]["text"]
    assert shown["tweet_details"]["posted_at"] == "2026-01-01T09:30:00+05:30"
    assert shown["sort_index"] == 2**63 - 1
    assert shown["imported_at"] == "2026-02-03T04:05:06.000007"
    assert shown["bookmarked_at"] == "2026-02-03T04:05:06.000007+00:00"
    assert shown["tags"] == ["apple", "Zoo"]
    assert (shown["is_read"], shown["is_archived"]) == (False, False)
    metrics = shown["tweet_details"]["meta"]["non_real_time_engagement_metrics"]
    assert (metrics["favorite_count"], metrics["quote_count"]) == (5, 0)


async def test_fields_missing_from_the_source_are_empty_and_never_null(alice: Member) -> None:
    await alice.save_all([{"post_id": "4711", "tweet_details": {}}])

    (shown,) = (await alice.listed())["data"]

    assert shown["author_id"] == shown["author_username"] == ""
    assert shown["author_details"] == {"name": "", "username": "", "profile_image": ""}
    assert shown["tweet_details"]["text"] == ""
    # A time is never empty.
    assert shown["tweet_details"]["posted_at"] == shown["bookmarked_at"]
    assert shown["tags"] is None
    # The time of the first insert, without an offset, with six fractional digits.
    assert shown["imported_at"] == "2026-07-18T08:21:13.841838"
    assert shown["bookmarked_at"] == "2026-07-18T08:21:13.841838+00:00"


async def test_an_empty_library_returns_an_empty_last_page(alice: Member) -> None:
    answer = await alice.listed()

    assert answer["data"] == []
    assert answer["meta"] == {"next_cursor": None, "limit": 20, "total_count": 0, "count": 0}


async def test_limit_is_clamped_to_100(alice: Member) -> None:
    applied = {
        "1": 1,
        "007": 7,
        "100": 100,
        "101": 100,
        "%2B5": 5,
        "+5": 5,
        str(2**63): 100,
        "9" * 5000: 100,
        "": 20,
    }

    for text, limit in applied.items():
        response = await alice.client.get(f"/v1/bookmarks?limit={text}")
        assert response.json()["meta"]["limit"] == limit


async def test_a_limit_that_is_not_a_positive_whole_number_is_refused(alice: Member) -> None:
    ascii_texts = ("0", "-1", "000", "1.5", "1e2", "ten", "0x10", "1_0", "1 2", " ", "--1", "+")

    for text in (*ascii_texts, "\u0663", "\uff12", "\u00b2"):
        response = await alice.get("/v1/bookmarks", limit=text)
        assert response.status_code == 400, text
        assert response.json()["code"] == "INVALID_REQUEST"
        assert response.json()["error"].startswith("limit: ")


FLAGS = [("is_unread_only", "is_read"), ("hide_archived", "is_archived")]


@in_turn(("name", "flag"), FLAGS)
async def test_booleans_are_words_in_any_case_or_digits(
    alice: Member, name: str, flag: str
) -> None:
    saved = await alice.save(**{flag: True})

    for text in ("true", "TRUE", "1", ""):
        assert await alice.ids(**{name: text}) == []
    for text in ("false", "False", "0"):
        assert await alice.ids(**{name: text}) == [saved["post_id"]]


async def test_a_list_emptied_by_the_defaults_includes_a_hint(alice: Member) -> None:
    await alice.save(is_read=True, author="eve", text="katze")

    for asked in ({}, {"author": "eve"}, {"q": "katze"}, {"q": "katze", "sort_by": "relevance"}):
        meta = (await alice.listed(**asked))["meta"]
        assert meta["total_count"] == 0
        assert meta["hint"].startswith("1 read or archived post matches"), asked


async def test_there_is_no_hint_when_nothing_is_hidden(alice: Member) -> None:
    await alice.save(is_read=True, author="eve")

    assert "hint" not in (await alice.listed(author="nobody"))["meta"]
    assert "hint" not in (await alice.listed(is_unread_only=0))["meta"]


async def test_an_error_quotes_the_value_truncated_and_escaped(alice: Member) -> None:
    value = "x" * 500 + "\u202e<script>"

    error = (await alice.client.get(f"/v1/bookmarks?sort_by={quote(value)}")).json()["error"]

    assert "'" + "x" * 80 in error
    assert len(error) < 400
    assert "<script>" not in error


async def test_the_same_request_returns_the_same_bytes(cast: Service, alice: Member) -> None:
    for number in range(5):
        await alice.save(text=f"katze {number % 2}", tags=["b", "a"], author=f"u{number % 3}")
    fresh = alice.on(app.build(Settings(answer_cache_mb=0), cast.database, cast.clock))
    queries = ("", "?limit=2&sort_by=title", "?q=katze&sort_by=relevance&limit=2", "?tag=a")

    for query in queries:
        first = await alice.client.get(f"/v1/bookmarks{query}")
        again = await alice.client.get(f"/v1/bookmarks{query}")
        elsewhere = await fresh.client.get(f"/v1/bookmarks{query}")
        assert first.content == again.content == elsewhere.content
        assert first.headers["etag"] == elsewhere.headers["etag"]


async def test_the_fields_are_in_the_order_of_the_contract(alice: Member) -> None:
    await alice.save()

    answer = json.loads((await alice.get("/v1/bookmarks")).content)

    assert list(answer) == ["status", "data", "meta"]
    assert list(answer["data"][0])[:5] == [
        *("post_id", "tweet_details", "author_id", "author_username", "author_details"),
    ]


GATED = (
    ("sort_cursor=1", "PAGINATION_NOT_ALLOWED"),
    # The plan is checked before the parameters are parsed.
    ("author=%00", "FILTER_NOT_ALLOWED"),
    ("limit=0&posted_from=nonsense", "FILTER_NOT_ALLOWED"),
    ("tag=a&tag=b", "FILTER_NOT_ALLOWED"),
    ("limit=5&limit=5&cursor=x", "PAGINATION_NOT_ALLOWED"),
)


async def test_the_free_plan_can_neither_filter_nor_page(free: Member) -> None:
    for query, code in GATED:
        response = await free.client.get(f"/v1/bookmarks?{query}")
        assert response.status_code == 402
        assert response.json()["code"] == code
        assert response.json()["upgrade_url"] == "http://localhost:8080/upgrade"
