"""The short form of posts, and the tools that list and read them."""

import json
from itertools import cycle, islice
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from bowerbird.model import instants
from bowerbird.toolserver.tools.results import posts
from tests.support import make
from tests.support.service import Member
from tests.support.toolcalls import call, ids, refusal, result_of

pytestmark = pytest.mark.anyio


# Written for this test, in the length and manner of posts that people save.
TEXTS: Final = (
    (
        "A pattern we keep coming back to: make the slow path explicit. If a query can take a "
        "second, give it its own endpoint, its own timeout and its own name. People stop calling "
        "it by accident, and the dashboards finally make sense. https://example.com/slow-paths-explicit"
    ),
    (
        "SQLite in production, year three. What we learned: one writer is enough, WAL checkpoints "
        "need a budget, backups are boring (good), and the only outage we had was a full disk. "
        "Thread with numbers, configs and the two things I would do differently 🧵"
    ),
    (
        "the best code review comment I ever got was “what would have to be true for this to be "
        "wrong?” — I have stolen it and use it every week"
    ),
    (
        "New post: how we cut p99 of our search service from 900 ms to 120 ms without new "
        "hardware. Most of it was deleting things. Profiles, flame graphs and the embarrassing N+1 "
        "that had been there since 2019 are all in there: https://example.com/blog/p99"
    ),
    (
        "Sourdough notes after 200 loaves: hydration matters less than you think, fermentation "
        "temperature matters more, and a cheap thermometer beats every gadget I bought. Recipe "
        "card below, no starter discard wasted."
    ),
)

AUTHORS: Final = (
    ("marta_codes", "Marta Kowalczyk"),
    ("benfromdb", "Ben Okafor | databases"),
    ("simonetta_v", "Simonetta Vitale 🍞"),
    ("the_latency_guy", "Latency Guy"),
)


def saved_posts(number: int) -> list[dict[str, Any]]:
    image = {"type": "image", "url": "https://pbs.example.com/media/GZk3.jpg"}
    texts, authors = cycle(TEXTS), cycle(AUTHORS)
    posts = []
    for n, (text, (handle, name)) in enumerate(islice(zip(texts, authors, strict=False), number)):
        post_id = str(1_846_987_139_428_634_876 + n * 7_919_000_003)
        post = make.post(
            post_id=post_id,
            author=handle,
            name=name,
            text=text,
            posted_at=f"2026-06-{n + 1:02d}T17:20:{n:02d}+00:00",
            bookmarked_at=f"2026-06-{n + 2:02d}T08:21:13.841838+00:00",
            attachments=[image] if n % 3 == 0 else [],
            tags=["databases", "to try"][: n % 3],
        )
        post["tweet_details"]["link"] = f"https://x.com/{handle}/status/{post_id}"
        posts.append(post)
    return posts


async def test_20_posts_take_less_than_2000_tokens(alice: Member) -> None:
    posts = saved_posts(20)
    assert 210 < sum(len(post["tweet_details"]["text"]) for post in posts) / 20 < 260
    await alice.save_all(posts)

    result = await result_of(alice, "list_bookmarks", limit=20)

    assert result["structuredContent"]["count"] == 20
    assert len(result["content"][0]["text"]) / 4 < 2_000


async def test_ids_alone_take_few_tokens(alice: Member) -> None:
    posts = saved_posts(25)
    for number, post in enumerate(posts):
        # Copies would be one result.
        post["tweet_details"]["text"] += f" {number}"
    await alice.save_all(posts)

    for tool, arguments in (("list_bookmarks", {}), ("search_bookmarks", {"query": "a OR the"})):
        result = await result_of(alice, tool, limit=25, response_format="ids", **arguments)
        answer = result["structuredContent"]
        assert set(answer["post_ids"]) == {post["post_id"] for post in posts}
        assert "bookmarks" not in answer
        assert len(result["content"][0]["text"]) / 4 < 250
    await call(alice, "create_view", name="All")
    answer = await call(alice, "get_view_bookmarks", slug="all", response_format="ids", limit=3)
    assert len(answer["post_ids"]) == 3
    assert answer["next_cursor"]


async def test_a_link_that_does_not_follow_from_the_id_is_shown(alice: Member) -> None:
    usual = make.post()
    other = make.post()
    other["tweet_details"]["link"] = "https://mastodon.example/@ada/1"
    await alice.save_all([usual, other])

    shown = (await call(alice, "list_bookmarks"))["bookmarks"]

    assert [post.get("link") for post in shown] == ["https://mastodon.example/@ada/1", None]


async def test_the_short_form_names_media_and_flags_that_are_set(alice: Member) -> None:
    attachments = [{"type": kind, "url": "https://example.com/a"} for kind in ("photo", "video")]
    await alice.save(attachments=attachments, meta={"tweet_is_thread": True}, is_read=True)
    await alice.save(is_archived=True)

    everything = {"is_unread_only": False, "hide_archived": False}
    archived, read = (await call(alice, "list_bookmarks", **everything))["bookmarks"]

    assert read["media"] == ["image", "video", "thread"]
    assert (read["is_read"], archived["is_archived"]) == (True, True)
    assert {"media", "is_read", "labels"}.isdisjoint(archived)
    assert "is_archived" not in read
    assert "T" not in json.dumps([read["posted_at"], read["bookmarked_at"]])


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland", "America/Los_Angeles"])
def test_days_are_those_of_the_time_zone(zone: str) -> None:
    texts = [
        *("2026-07-18T23:59:59.999999+00:00", "2026-07-18T00:00:00+00:00", "2026-07-18"),
        *("2026-07-18T23:30:00-02:00", "2026-07-18T00:30:00+02:00", "2026-07-18T12:00:00Z"),
        *("2026-07-18 23:00 00:00", "2026-07-18T23:00:00", "0001-01-01T00:00:00+00:00"),
        *("2026-13-45T00:00:00+00:00", "yesterday+00:00", ""),
    ]
    flags = {"tags": None, "is_read": False, "is_archived": False, "bookmarked_at": ""}
    stored = json.dumps([make.post(posted_at=text, **flags) for text in texts]).encode()

    shown = posts.concise(stored, ZoneInfo(zone))

    assert [post.get("posted_at", "") for post in shown] == [_day(text, zone) for text in texts]


@pytest.mark.parametrize("depth", [10, 200, 900, 5_000])
@pytest.mark.parametrize("field", ["type", "alt_text"])
def test_a_post_of_any_depth_has_a_short_form(field: str, depth: int) -> None:
    flags = {"tags": None, "is_read": False, "is_archived": False, "bookmarked_at": ""}
    post = make.post(attachments=[{"type": "image"}, {field: "DEEP"}], **flags)
    nested = b"[" * depth + b"]" * depth
    stored = json.dumps([post]).encode().replace(b'"DEEP"', nested)

    [shown] = posts.concise(stored, ZoneInfo("UTC"))

    assert shown["media"] == ["image"]
    assert shown["post_id"] == post["post_id"]


def _day(text: str, zone: str) -> str:
    instant = instants.parse(text)
    return text if instant is None else str(instants.local_day(instant, ZoneInfo(zone)))


async def test_a_page_of_many_posts_has_shorter_texts(alice: Member) -> None:
    await alice.save_all([make.post(text="bird " * 100) for _ in range(21)])

    few = (await call(alice, "list_bookmarks", limit=20))["bookmarks"][0]
    many = (await call(alice, "list_bookmarks", limit=21))["bookmarks"][0]

    assert (len(few["text"]), len(many["text"])) == (280, 120)
    assert few["text_length"] == 500
    assert many["text"].endswith("…")
    assert "text_length" not in many


async def test_a_page_of_many_posts_shows_the_words_that_were_found(alice: Member) -> None:
    text = f"{'bird ' * 60}and then an owl {'bird ' * 20}"
    # Each with a number: copies would be one result.
    await alice.save_all([make.post(text=f"{text} {number}") for number in range(21)])

    found = await call(alice, "search_bookmarks", query="owl", mode="keyword", limit=21)

    assert "an owl" in found["bookmarks"][0]["snippet"]
    assert len(found["bookmarks"][0]["text"]) == 40


async def test_it_returns_posts_in_full_in_the_requested_order(alice: Member) -> None:
    first = await alice.save(text="one " * 200)
    second = await alice.save(text="two", is_read=True, is_archived=True)
    wanted = [second["post_id"], "404", first["post_id"], second["post_id"]]

    answer = await call(alice, "get_bookmarks", post_ids=wanted)

    assert [p["post_id"] for p in answer["bookmarks"]] == [second["post_id"], first["post_id"]]
    assert answer["bookmarks"][1]["tweet_details"]["text"] == "one " * 200
    assert answer["not_found"] == ["404"]
    assert answer["left_out"] == []
    assert answer["truncated"] is False


async def test_max_chars_truncates_texts(alice: Member) -> None:
    saved = await alice.save(text="x" * 900)

    answer = await call(alice, "get_bookmarks", post_ids=[saved["post_id"]], max_chars=300)

    (post,) = answer["bookmarks"]
    assert len(post["tweet_details"]["text"]) == 300
    assert (post["truncated"], post["text_length"], post["next_offset"]) == (True, 900, 300)
    assert answer["truncated"] is True


async def test_a_long_article_is_read_to_its_end_by_offset(alice: Member) -> None:
    body = "".join(f"{number:05d} " for number in range(2_000))
    saved = await alice.save(text="short", article={"title": "T", "plain_text": body})
    read = ""
    offset: int | None = 0

    while offset is not None:
        answer = await call(alice, "get_bookmarks", post_ids=[saved["post_id"]], offset=offset)
        (post,) = answer["bookmarks"]
        read += post["tweet_details"]["article"]["plain_text"]
        assert post["text_length"] == 12_000
        assert answer["truncated"] is post["truncated"] is ("next_offset" in post)
        assert ("next_offset as offset" in answer.get("advice", "")) is post["truncated"]
        offset = post.get("next_offset")

    assert read == body
    assert "text" not in post["tweet_details"], "texts that ended before are not repeated"


async def test_reading_on_skips_nothing_if_a_text_does_not_fit(alice: Member) -> None:
    body = "".join(f"{number:05d}語" for number in range(4_000))
    saved = await alice.save(text=body)
    read = ""
    offset: int | None = 0

    while offset is not None:
        result = await result_of(
            alice, "get_bookmarks", post_ids=[saved["post_id"]], max_chars=20_000, offset=offset
        )
        assert len(result["content"][0]["text"].encode()) <= 26_000
        (post,) = result["structuredContent"]["bookmarks"]
        read += post["tweet_details"]["text"]
        offset = post.get("next_offset")

    assert read == body


async def test_an_offset_after_the_end_says_so(alice: Member) -> None:
    saved = await alice.save(text="short")

    answer = await call(alice, "get_bookmarks", post_ids=[saved["post_id"]], offset=9_000)

    assert answer["advice"] == "offset is past the end: the longest text has 32 characters."
    assert answer["truncated"] is False


async def test_ids_that_do_not_fit_can_be_requested_in_the_next_call(alice: Member) -> None:
    saved = [make.post(text="long " * 700) for _ in range(20)]
    await alice.save_all(saved)
    wanted = [post["post_id"] for post in saved]
    seen: list[str] = []

    while wanted:
        result = await result_of(alice, "get_bookmarks", post_ids=wanted)
        answer = result["structuredContent"]
        assert len(result["content"][0]["text"].encode()) <= 26_000
        seen += [post["post_id"] for post in answer["bookmarks"]]
        assert answer["truncated"] is bool(answer["left_out"])
        wanted = answer["left_out"]

    assert seen == [post["post_id"] for post in saved]


async def test_count_bookmarks_uses_the_filters_and_defaults_of_the_list(alice: Member) -> None:
    await alice.save_all([make.post(author="bea"), make.post(is_read=True), make.post()])

    assert await call(alice, "count_bookmarks") == {
        "count": 2,
        "total": 3,
        "unread": 2,
        "archived": 0,
        "filters": {"is_unread_only": True, "hide_archived": True},
        "advice": (
            "1 read or archived post is left out. Send is_unread_only false and hide_archived "
            "false to include it."
        ),
    }
    narrowed = await call(alice, "count_bookmarks", author="bea")
    assert narrowed["count"] == 1
    assert narrowed["filters"]["author"] == "bea"
    message = await refusal(alice, "count_bookmarks", limit=5)
    assert message.startswith("INVALID_REQUEST: Unknown field 'limit'. Allowed fields: is_unread_")


async def test_the_short_form_says_that_a_post_is_gone_or_removed(alice: Member) -> None:
    state = {
        "gone_at": "2026-07-01T00:00:00.000000+00:00",
        "removed_at": "2026-07-02T00:00:00.000000+00:00",
    }
    await alice.save(**state)

    (post,) = (await call(alice, "list_bookmarks"))["bookmarks"]

    assert (post["gone_at"], post["removed_at"]) == ("2026-07-01", "2026-07-02")


async def crawled(member: Member, **arguments: Any) -> list[str]:
    seen: list[str] = []
    cursor: str | None = None
    while True:
        answer = await call(member, "list_bookmarks", **arguments, cursor=cursor)
        seen += [post["post_id"] for post in answer["bookmarks"]]
        cursor = answer["next_cursor"]
        if cursor is None:
            return seen


async def test_new_posts_are_listed_in_a_short_form(alice: Member) -> None:
    saved = await alice.save(text="first light", author="ada", tags=["sky"])

    answer = await call(alice, "list_bookmarks")

    assert answer["bookmarks"] == [
        {
            "post_id": saved["post_id"],
            "author": "ada",
            "text": "first light",
            "posted_at": "2026-01-01",
            "bookmarked_at": "2026-07-18",
            "labels": ["sky"],
        }
    ]
    assert answer["count"] == answer["total_count"] == 1
    assert answer["next_cursor"] is None
    assert answer["truncated"] is False
    assert answer["filters"] == {"is_unread_only": True, "hide_archived": True}


async def test_a_long_post_takes_few_bytes_in_the_list(alice: Member) -> None:
    await alice.save(text="word " * 2_000, article={"title": "A title", "plain_text": "x" * 9_000})

    (post,) = (await call(alice, "list_bookmarks"))["bookmarks"]

    assert len(post["text"]) <= 280
    assert post["text"].endswith("word…")
    assert post["title"] == "A title"
    assert len(json.dumps(post)) < 700


async def test_detailed_returns_all_fields(alice: Member) -> None:
    await alice.save(text="whole", article={"title": "T", "plain_text": "y" * 3_000})

    answer = await call(alice, "list_bookmarks", response_format="detailed")

    shown = answer["bookmarks"][0]
    (whole,) = (await alice.listed())["data"]
    article = shown["tweet_details"].pop("article")
    assert len(article["plain_text"]) == 2_000
    assert article["title"] == "T"
    whole["tweet_details"].pop("article")
    assert (shown.pop("truncated"), shown.pop("text_length")) == (True, 3_000)
    assert shown == whole
    assert answer["truncated"] is True
    assert "get_bookmarks returns a post in full." in answer["advice"]


async def test_the_days_of_posts_are_those_of_the_filters(alice: Member) -> None:
    await call(alice, "update_digest_preferences", time_zone="Pacific/Auckland")
    await alice.save(
        bookmarked_at="2026-06-30T13:00:00+00:00", posted_at="2026-06-29T13:00:00+00:00"
    )
    await call(alice, "create_view", name="All")
    days = {"bookmarked_from": "2026-07-01", "bookmarked_to": "2026-07-01"}

    (listed,) = (await call(alice, "list_bookmarks", **days))["bookmarks"]
    (in_view,) = (await call(alice, "get_view_bookmarks", slug="all"))["bookmarks"]

    assert (listed["bookmarked_at"], listed["posted_at"]) == ("2026-07-01", "2026-06-30")
    assert in_view == listed


async def test_a_result_stays_within_its_size_and_its_cursor_skips_nothing(alice: Member) -> None:
    saved = [make.post(text="long " * 100, tags=["x" * 90, "y" * 90]) for _ in range(100)]
    await alice.save_all(saved)

    result = await result_of(alice, "list_bookmarks", limit=100)

    answer = result["structuredContent"]
    assert answer["truncated"] is True
    assert 20 < answer["count"] < 60
    assert f"Only {answer['count']} of 100 posts fit" in answer["advice"]
    assert len(result["content"][0]["text"].encode()) <= 26_000
    assert await crawled(alice, limit=100) == [post["post_id"] for post in saved[::-1]]


async def test_numbers_and_flags_sent_as_strings_are_accepted(alice: Member) -> None:
    await alice.save_all([make.post() for _ in range(3)])

    assert len(await ids(alice, "list_bookmarks", limit="2", is_unread_only="true")) == 2
    assert len(await ids(alice, "list_bookmarks", limit=1.0)) == 1
    assert len(await ids(alice, "list_bookmarks", author=None, label=None)) == 3
