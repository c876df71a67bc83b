"""What the contract says about reading bookmarks: one test per sentence."""

import re
from datetime import datetime
from typing import Any

import pytest

from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def _shown(member: Member, **fields: Any) -> dict[str, Any]:
    """Saves a post and returns it as the list shows it."""
    await member.save(**fields)
    (bookmark,) = (await member.listed())["data"]
    shown: dict[str, Any] = bookmark
    return shown


def _types(record: dict[str, Any]) -> dict[str, str]:
    return {name: type(value).__name__ for name, value in record.items()}


# Bookmark


async def test_every_field_of_a_bookmark_is_as_documented(alice: Member) -> None:
    text = "first\nsecond\r\n" + "long " * 5000
    meta = {"tweet_reply_to_tweet_id": "1", "tweet_reply_to_user_id": "2"}

    shown = await _shown(alice, text=text, tags=["x"], meta=meta)

    assert _types(shown).items() >= {
        ("post_id", "str"),
        ("tweet_details", "dict"),
        ("author_id", "str"),
        ("author_username", "str"),
        ("author_details", "dict"),
        ("tags", "list"),
        ("is_read", "bool"),
        ("is_archived", "bool"),
        ("imported_at", "str"),
        ("sort_index", "int"),
    }
    assert shown["post_id"].isdigit()
    assert _types(shown["author_details"]) == {
        "name": "str",
        "username": "str",
        "profile_image": "str",
    }
    # Fractional seconds, and no offset.
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}", shown["imported_at"])
    details = shown["tweet_details"]
    assert _types(details) == {
        "text": "str",
        "link": "str",
        "posted_at": "str",
        "attachments": "list",
        "article": "NoneType",
        "quoted_tweet": "NoneType",
        "meta": "dict",
    }
    assert (details["text"], details["attachments"]) == (text, [])
    assert datetime.fromisoformat(details["posted_at"]).utcoffset() is not None
    assert _types(details["meta"]) == {
        "tweet_reply_to_tweet_id": "str",
        "tweet_reply_to_user_id": "str",
        "tweet_conversation_id": "str",
        "tweet_is_thread": "bool",
        "is_sub_tweet_of_thread": "bool",
        "non_real_time_engagement_metrics": "dict",
    }
    names = ("quote_count", "reply_count", "retweet_count", "bookmark_count", "favorite_count")
    metrics = details["meta"]["non_real_time_engagement_metrics"]
    assert _types(metrics) == dict.fromkeys(names, "int")


async def test_what_a_post_lacks_is_null_and_what_it_has_is_unchanged(alice: Member) -> None:
    article = {"title": "T", "plain_text": "P", "cover_image": "https://example.com/c.png"}
    quoted = {"post_id": "5", "text": "quoted"}

    shown = await _shown(alice, tags=[], article=article, quoted=quoted)

    assert shown["tags"] is None
    details = shown["tweet_details"]
    assert (details["article"], details["quoted_tweet"]) == (article, quoted)
    assert details["meta"]["tweet_reply_to_tweet_id"] is None
    assert details["meta"]["tweet_reply_to_user_id"] is None


async def test_sort_index_is_a_large_integer_used_for_ordering(alice: Member) -> None:
    await alice.save(sort_index=1_900_000_000_000_000_001)
    await alice.save(sort_index=1_900_000_000_000_000_000)

    shown = (await alice.listed())["data"]

    assert [b["sort_index"] for b in shown] == [1900000000000000001, 1900000000000000000]


# GET /v1/bookmarks


async def test_the_list_returns_the_callers_bookmarks(alice: Member, bob: Member) -> None:
    await bob.save()
    mine = await alice.save()

    response = await alice.get("/v1/bookmarks")

    assert response.status_code == 200
    assert response.json()["status"] is True
    assert [b["post_id"] for b in response.json()["data"]] == [mine["post_id"]]


async def test_passing_next_cursor_as_cursor_returns_the_next_page(alice: Member) -> None:
    ids = [(await alice.save())["post_id"] for _ in range(3)]

    first = await alice.listed(limit=2)
    second = await alice.listed(limit=2, cursor=first["meta"]["next_cursor"])

    assert [b["post_id"] for b in first["data"] + second["data"]] == ids[::-1]


async def test_meta_limit_is_the_applied_page_size(alice: Member) -> None:
    assert (await alice.listed(limit=7))["meta"]["limit"] == 7
    assert (await alice.listed(limit=700))["meta"]["limit"] == 100


async def test_total_count_counts_all_matching_bookmarks(alice: Member) -> None:
    for _ in range(3):
        await alice.save(author="ada")
    await alice.save(author="eve")

    assert (await alice.listed(author="ada", limit=1))["meta"]["total_count"] == 3


async def test_only_unread_bookmarks_are_listed_by_default(alice: Member) -> None:
    await alice.save(is_read=True)

    assert await alice.ids() == await alice.ids(is_unread_only="true") == []
    assert len(await alice.ids(is_unread_only="false")) == 1


async def test_archived_bookmarks_are_hidden_by_default(alice: Member) -> None:
    await alice.save(is_archived=True)

    assert await alice.ids() == await alice.ids(hide_archived="true") == []
    assert len(await alice.ids(hide_archived="false")) == 1


async def test_media_type_filters_by_article_video_and_image(alice: Member) -> None:
    image = await alice.save(attachments=[{"type": "image"}])
    video = await alice.save(attachments=[{"type": "video"}])
    article = await alice.save(article={"title": "T"})

    for media_type, post in (("image", image), ("video", video), ("article", article)):
        assert await alice.ids(media_type=media_type) == [post["post_id"]]


async def test_author_filters_by_author_name(alice: Member) -> None:
    hers = await alice.save(author="ada", name="Ada Lovelace")
    await alice.save(author="eve", name="Eve")

    assert await alice.ids(author="Ada Lovelace") == await alice.ids(author="ada")
    assert await alice.ids(author="ada") == [hers["post_id"]]


async def test_tag_filters_by_tag(alice: Member) -> None:
    tagged = await alice.save(tags=["x"])
    await alice.save(tags=["y"])

    assert await alice.ids(tag="x") == [tagged["post_id"]]


async def test_posted_from_and_posted_to_exclude_the_given_time(alice: Member) -> None:
    post = await alice.save(posted_at="2026-01-01T12:00:00+02:00")

    assert await alice.ids(posted_from="2026-01-01T09:59:59Z") == [post["post_id"]]
    assert await alice.ids(posted_from="2026-01-01T10:00:00Z") == []
    assert await alice.ids(posted_to="2026-01-01T10:00:01Z") == [post["post_id"]]
    assert await alice.ids(posted_to="2026-01-01T10:00:00Z") == []


async def test_bookmarked_from_and_bookmarked_to_exclude_the_given_time(alice: Member) -> None:
    post = await alice.save(bookmarked_at="2026-01-01T10:00:00Z")

    assert await alice.ids(bookmarked_from="2026-01-01T09:59:59Z") == [post["post_id"]]
    assert await alice.ids(bookmarked_from="2026-01-01T10:00:00Z") == []
    assert await alice.ids(bookmarked_to="2026-01-01T10:00:01Z") == [post["post_id"]]
    assert await alice.ids(bookmarked_to="2026-01-01T10:00:00Z") == []


async def test_sort_by_accepts_created_at_and_title(alice: Member) -> None:
    b = await alice.save(text="b", bookmarked_at="2026-01-02T00:00:00Z")
    a = await alice.save(text="a", bookmarked_at="2026-01-01T00:00:00Z")

    assert await alice.ids(sort_by="created_at") == [b["post_id"], a["post_id"]]
    assert await alice.ids(sort_by="title") == [a["post_id"], b["post_id"]]


async def test_sort_cursor_is_the_sort_value_of_the_last_item(alice: Member) -> None:
    for day in (1, 2, 3):
        await alice.save(bookmarked_at=f"2026-01-0{day}T00:00:00Z")
    first = await alice.listed(sort_by="created_at", limit=2)

    rest = await alice.listed(sort_by="created_at", sort_cursor=first["data"][-1]["bookmarked_at"])

    assert [b["bookmarked_at"][:10] for b in rest["data"]] == ["2026-01-01"]


async def test_q_searches_title_and_content(alice: Member) -> None:
    titled = await alice.save(text="x", article={"title": "Katze"})
    texted = await alice.save(text="eine Katze")
    await alice.save(text="ein Hund")

    assert await alice.ids(q="katze") == [texted["post_id"], titled["post_id"]]


async def test_vector_search_term_needs_a_paid_plan_and_a_built_store(
    alice: Member, free: Member
) -> None:
    for member in (alice, free):
        await member.save()
        response = await member.get("/v1/bookmarks", vector_search_term="cats")
        assert response.status_code == 402
        assert response.json()["code"] == "VECTOR_SEARCH_NOT_ALLOWED"


async def test_vector_search_term_searches_by_meaning(alice: Member) -> None:
    cat = await alice.save(text="Our kitten sleeps all day.")
    await alice.save(text="Interest rates fell again.")
    await alice.embed()

    assert await alice.ids(vector_search_term="pets") == [cat["post_id"]]


# Other endpoints


async def test_the_count_confirms_that_a_key_works(alice: Member) -> None:
    response = await alice.get("/v1/bookmarks/count")

    assert response.status_code == 200
    assert response.json()["status"] is True


async def test_a_bookmark_is_found_by_its_id(alice: Member) -> None:
    post = await alice.save()

    response = await alice.get(f"/v1/bookmarks/{post['post_id']}")

    assert response.status_code == 200
    assert response.json()["data"]["post_id"] == post["post_id"]
