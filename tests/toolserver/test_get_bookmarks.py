"""`get_bookmarks` and `count_bookmarks`."""

import pytest

from tests.support import make
from tests.support.service import Member
from tests.support.toolcalls import call, refusal, result_of

pytestmark = pytest.mark.anyio


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
