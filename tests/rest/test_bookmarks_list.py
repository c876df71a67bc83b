"""GET /v1/bookmarks: shape, order, page size, sort_cursor, ids and fields."""

from collections.abc import Callable
from random import Random
from typing import Any, Final
from urllib.parse import quote

import pytest

from bowerbird import app
from bowerbird.model.posts.filters import SORT_FIELDS
from bowerbird.settings import Settings
from tests.support import make, writing
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service

pytestmark = pytest.mark.anyio


async def test_posts_with_equal_sort_index_are_ordered_by_last_saved_first(alice: Member) -> None:
    saved = [await alice.save(sort_index=7) for _ in range(3)]

    assert await alice.ids() == [record["post_id"] for record in reversed(saved)]


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


async def _saved(member: Member, posts: list[dict[str, Any]]) -> list[str]:
    records = [make.post(**fields) for fields in posts]
    await member.save_all(records)
    return [record["post_id"] for record in records]


# Values in rising order, which is not the order of their texts.
RISING: list[tuple[str, list[dict[str, Any]]]] = [
    (
        "created_at",
        [
            {"bookmarked_at": moment}
            for moment in (
                "2026-03-01T00:00:00Z",
                "2026-03-03T01:00:00+02:00",
                "2026-03-03T00:00:00Z",
            )
        ],
    ),
    (
        "posted_at",
        [{"posted_at": f"2026-01-01T{time}"} for time in ("10:00:00Z", "08:00:00-05:00")],
    ),
    ("sort_index", [{"sort_index": value} for value in (-(2**63), 2**62, 2**62 + 1)]),
    ("author", [{"author": "amy", "name": "Zoe"}, {"author": "Zed", "name": "Aaron"}]),
    (
        "favorite_count",
        [{"metrics": {"favorite_count": value}} for value in (2, 10, 2**53 + 1)],
    ),
]


# tests/storage/test_list_orders.py sorts by every field.
@pytest.mark.both
@in_turn(("field", "posts"), RISING)
async def test_posts_are_sorted_by_values_and_not_by_their_texts(
    alice: Member, field: str, posts: list[dict[str, Any]]
) -> None:
    saved = await _saved(alice, [posts[-1], *posts[:-1]])
    rising = await alice.ids(sort_by=field, sort_order="asc")
    falling = await alice.ids(sort_by=field, sort_order="desc")
    default = await alice.ids(sort_by=field)
    for post_id in saved:
        await alice.remove(post_id)

    assert rising == [*saved[1:], saved[0]]
    assert falling == rising[::-1]
    assert default == (rising if field == "author" else falling)


async def test_title_is_the_article_title_or_the_first_line(alice: Member) -> None:
    titled, lined, blank = await _saved(
        alice,
        [
            {"text": "zzz", "article": {"title": "Banana"}},
            {"text": "\n\n  apple\nzzz"},
            {"text": "cherry", "article": {"title": ""}},
        ],
    )

    assert await alice.ids(sort_by="title") == [lined, titled, blank]
    assert await alice.ids(sort_by="title", sort_order="desc") == [blank, titled, lined]


@pytest.mark.both
async def test_text_sorts_case_folded_and_bytewise_on_both_databases(alice: Member) -> None:
    texts = (
        *("a b", "A-b", "ab", "B", "_", "É", "zebra", "\uffee", "\U0001f600", "straße", "STRASSF"),
    )
    ids = dict(zip(texts, await _saved(alice, [{"text": text} for text in texts]), strict=True))

    expected = ["_", "a b", "A-b", "ab", "B", "straße", "STRASSF", "zebra", "É"]
    expected += ["\uffee", "\U0001f600"]
    assert await alice.ids(sort_by="title") == [ids[text] for text in expected]


async def test_only_the_first_128_characters_affect_the_order(alice: Member) -> None:
    first, second = await _saved(alice, [{"text": "x" * 128 + "b"}, {"text": "x" * 128 + "a"}])

    assert await alice.ids(sort_by="title") == [first, second]


async def test_an_unknown_sort_is_refused_and_the_valid_ones_listed(alice: Member) -> None:
    for text in ("likes", "Title", "created_at,title", "-title", "b.number"):
        response = await alice.get("/v1/bookmarks", sort_by=text)

        assert response.status_code == 400
        error = response.json()["error"]
        assert error.startswith("sort_by: must be one of sort_index, created_at, posted_at, ")
        assert all(field in error for field in (*SORT_FIELDS, "relevance"))


async def test_an_unknown_sort_order_is_refused(alice: Member) -> None:
    for asked in ({}, {"sort_by": "title"}, {"q": "a", "sort_by": "relevance"}):
        response = await alice.get("/v1/bookmarks", sort_order="up", **asked)
        assert response.status_code == 400
        assert response.json()["error"] == "sort_order: must be asc or desc, got 'up'."


async def test_relevance_needs_a_search(alice: Member) -> None:
    response = await alice.get("/v1/bookmarks", sort_by="relevance")

    assert response.status_code == 400
    assert response.json()["error"] == "sort_by: relevance needs a search."


Bookmark = dict[str, Any]

METRICS: Final = (
    *("favorite_count", "retweet_count", "reply_count", "quote_count", "bookmark_count"),
)


def _count(name: str) -> Callable[[Bookmark], str]:
    path = "non_real_time_engagement_metrics"
    return lambda one: str(one["tweet_details"]["meta"][path][name])


# What a client sees of each sort field.
SHOWN: Final[dict[str, Callable[[Bookmark], str]]] = {
    "sort_index": lambda one: str(one["sort_index"]),
    "created_at": lambda one: one["bookmarked_at"],
    "posted_at": lambda one: one["tweet_details"]["posted_at"],
    "imported_at": lambda one: one["imported_at"],
    "title": lambda one: one["tweet_details"]["text"].split("\n")[0],
    "author": lambda one: one["author_username"],
    **{name: _count(name) for name in METRICS},
}


def _post(value: int, **fields: Any) -> Bookmark:
    """A post whose sort fields all have this value."""
    return make.post(
        sort_index=value,
        text=f"Katze {value:02}\n{fields}",
        author=f"user{value:02}",
        posted_at=f"2026-01-{value + 1:02}T00:00:00Z",
        imported_at=f"2026-02-{value + 1:02}T00:00:00",
        bookmarked_at=f"2026-03-{value + 1:02}T00:00:00Z",
        metrics=dict.fromkeys(METRICS, value),
        **fields,
    )


async def _crawl(member: Member, field: str, **params: Any) -> list[str]:
    """The ids of a list, read page by page with the value of the last post."""
    seen: list[str] = []
    place: dict[str, str] = {}
    while True:
        answer = await member.listed(sort_by=field, **params, **place)
        seen += [bookmark["post_id"] for bookmark in answer["data"]]
        if answer["meta"]["next_cursor"] is None:
            return seen
        place = {"sort_cursor": SHOWN[field](answer["data"][-1])}


@pytest.mark.both
async def test_a_crawl_by_sort_cursor_alone_returns_each_post_once(alice: Member) -> None:
    random = Random(1)  # noqa: S311 - test data
    values = [value for value in range(20) for _ in range(random.randint(0, 5))]
    random.shuffle(values)
    await alice.save_all([_post(value, is_read=random.random() < 0.3) for value in values])

    assert set(SHOWN) == set(SORT_FIELDS)
    for field in SORT_FIELDS:
        for asked in ({}, {"q": "katze"}, {"is_unread_only": "false", "sort_order": "asc"}):
            whole = await alice.ids(sort_by=field, limit=100, **asked)
            for limit in (6, 13):
                assert await _crawl(alice, field, limit=limit, **asked) == whole


@pytest.mark.both
async def test_a_sort_cursor_where_no_page_ends_continues_after_the_value(alice: Member) -> None:
    await alice.save_all([_post(value) for value in (0, 1, 1, 1, 2, 2)])
    whole = await alice.ids(sort_by="title")

    # A page of four ends among those with the value 1 no more than a page of one hundred does.
    for limit in (4, 100):
        assert await alice.ids(sort_by="title", sort_cursor="Katze 01", limit=limit) == whole[4:]
    assert await alice.ids(sort_by="title", sort_cursor="Katze 01", limit=3) == whole[3:]


async def test_more_equal_values_than_fit_on_a_page_are_named_in_a_hint(alice: Member) -> None:
    await alice.save_all([_post(value) for value in (0, 1, 1, 1, 1, 1, 1, 2)])
    whole = await alice.ids(sort_by="title")
    asked = {"sort_by": "title", "limit": 2}

    first = await alice.listed(**asked)
    second = await alice.listed(**asked, sort_cursor="Katze 01")

    assert "hint" not in first["meta"]
    # Several pages end with this value, so nobody can say which of them was the last.
    assert [one["post_id"] for one in second["data"]] == whole[6:]
    assert second["meta"]["hint"] == (
        "6 posts have this value of title, more than a page. To read them all, send next_cursor as "
        "cursor, with or without sort_cursor."
    )
    assert await alice.crawl(**asked) == whole


@pytest.mark.both
async def test_the_last_page_says_so_if_its_sort_cursor_would_repeat_it(alice: Member) -> None:
    await alice.save_all([_post(value) for value in (0, 1, 1)])
    asked = {"sort_by": "title", "sort_order": "asc", "limit": 2}
    whole = await alice.ids(**{**asked, "limit": 100})

    first = await alice.listed(**asked)
    last = await alice.listed(**asked, sort_cursor="Katze 01")

    assert [one["post_id"] for one in first["data"] + last["data"]] == whole
    assert "hint" not in first["meta"]
    assert last["meta"]["next_cursor"] is None
    assert last["meta"]["hint"] == "This is the end of the list: next_cursor is null."
    # The value does not say that its page was the last one.
    assert await alice.listed(**asked, sort_cursor="Katze 01") == last

    await alice.save_all([_post(2)])
    assert "hint" not in (await alice.listed(**asked, sort_cursor="Katze 01"))["meta"]
    after = await alice.listed(**asked, sort_cursor="Katze 02")
    assert (after["data"], "hint" in after["meta"]) == ([], False)


async def test_named_posts_are_listed_whatever_their_flags_are(cast: Service) -> None:
    posts = [make.post(post_id=str(n), is_read=n % 2 == 0) for n in range(1, 131)]
    await cast.alice.save_all(posts)
    await cast.bob.save(post_id="999")
    asked = [*map(str, range(100, 3, -1)), "999", "x", "3"]

    answer = await cast.alice.listed(ids=",".join(asked))

    assert [one["post_id"] for one in answer["data"]] == [*asked[:97], "3"]
    assert answer["meta"]["not_found"] == ["999", "x"]
    assert (answer["meta"]["count"], answer["meta"]["next_cursor"]) == (98, None)
    unread = await cast.alice.listed(ids="2,3,7,7", is_unread_only="true")
    assert [one["post_id"] for one in unread["data"]] == ["7", "3"]
    assert unread["meta"]["not_found"] == []
    assert await cast.alice.crawl(ids="2,3,4", limit=2, sort_by="posted_at") == ["4", "3", "2"]
    count = await cast.alice.get("/v1/bookmarks/count", ids="1,2,999")
    assert count.json()["data"]["count"] == 2
    assert "not_found" not in (await cast.alice.listed())["meta"]
    assert (await cast.bob.listed(ids="1"))["meta"]["not_found"] == ["1"]


async def test_ids_are_bounded_and_need_a_paid_plan(cast: Service) -> None:
    for sent in (",".join(map(str, range(101))), ",", " , "):
        answer = await cast.alice.get("/v1/bookmarks", ids=sent)
        assert writing.refused(answer) == (400, "INVALID_REQUEST")
        assert "1 to 100 ids" in writing.sentence(answer)
    answer = await cast.free.get("/v1/bookmarks", ids="1")
    assert writing.refused(answer) == (402, "FILTER_NOT_ALLOWED")


@pytest.mark.both
async def test_only_the_selected_fields_are_listed(alice: Member) -> None:
    await alice.save(post_id="1", text='"hé"', tags=["a"], note="mine", metrics={"reply_count": 3})
    await alice.save(post_id="2")

    answer = await alice.listed(fields="tweet_details.text, post_id,note,updated_at,tags")

    [second, first] = answer["data"]
    assert first == {
        "post_id": "1",
        "note": "mine",
        "updated_at": first["updated_at"],
        "tags": ["a"],
        "tweet_details": {"text": '"hé"'},
    }
    assert second.keys() == first.keys() - {"note"}
    whole = (await alice.listed())["data"][1]
    counts = "tweet_details.meta.non_real_time_engagement_metrics"
    asked = f"{counts}.reply_count,tweet_details.meta,author_details.name"
    [_, deep] = (await alice.listed(fields=asked))["data"]
    assert deep == {
        "tweet_details": {"meta": whole["tweet_details"]["meta"]},
        "author_details": {"name": "Ada L."},
    }
    [found] = (await alice.listed(fields="post_id,highlight", q="mine", highlight="true"))["data"]
    assert found.keys() == {"post_id", "highlight"}
    assert (await alice.listed(fields=""))["data"] == (await alice.listed())["data"]


async def test_an_unknown_field_is_refused_with_the_names_of_all(alice: Member) -> None:
    for sent in ("id", "tweet_details.attachments.url", "post_id,,tweet_details.", "a" * 2_000):
        answer = await alice.get("/v1/bookmarks", fields=sent)
        assert writing.refused(answer) == (400, "INVALID_REQUEST"), sent
        assert "tweet_details.text" in writing.sentence(answer)
    answer = await alice.get("/v1/bookmarks", fields=",".join(["post_id"] * 51))
    assert writing.refused(answer) == (400, "INVALID_REQUEST")


async def test_the_free_plan_can_select_fields(free: Member) -> None:
    await free.save(post_id="1")

    assert (await free.listed(fields="post_id"))["data"] == [{"post_id": "1"}]
