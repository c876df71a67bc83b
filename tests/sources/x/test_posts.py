"""Each field of a saved post, from each place where X writes it."""

from typing import Any

import msgspec
import pytest

from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.sources.x.pages import Operation
from tests.sources.x.pages import (
    AUTHOR_ID,
    POST_ID,
    SORT_INDEX,
    Json,
    entry,
    page_of,
    read,
    read_post,
    tweet,
    user,
)

_OLD_USER = {
    "rest_id": AUTHOR_ID,
    "legacy": {
        "screen_name": "ada_b",
        "name": "Ada B.",
        "profile_image_url_https": "https://images.example.com/ada_normal.jpg",
    },
}


def _with_user(results: Json) -> Json:
    return {**tweet(), "core": results}


@pytest.mark.parametrize(
    "core",
    [
        {"user_results": {"result": user()}},
        {"user_results": {"result": _OLD_USER}},
        {"user_results": {"result": {"result": user()}}},
        {"user_result": {"result": user()}},
    ],
)
def test_the_author_is_read_from_every_shape_of_a_user(core: Json) -> None:
    record = read_post(_with_user(core)).record

    assert (record.author_id, record.author_username) == (AUTHOR_ID, "ada_b")
    assert record.author_details.name == "Ada B."
    assert record.author_details.username == "ada_b"
    assert record.author_details.profile_image == "https://images.example.com/ada.jpg"
    assert record.tweet_details.link == f"https://x.com/ada_b/status/{POST_ID}"


@pytest.mark.parametrize(
    "core", [None, {}, {"user_results": {}}, {"user_results": {"result": {"reason": "Suspended"}}}]
)
def test_a_post_without_its_user_keeps_the_id_of_its_author(core: Any) -> None:
    record = read_post(_with_user(core)).record

    assert (record.author_id, record.author_username) == (AUTHOR_ID, "")
    assert record.tweet_details.link == f"https://x.com/i/status/{POST_ID}"


def test_a_username_that_is_none_does_not_get_into_the_link() -> None:
    core = {"user_results": {"result": user(core={"screen_name": "../a b"})}}

    assert read_post(_with_user(core)).record.tweet_details.link.startswith("https://x.com/i/")


@pytest.mark.parametrize("missing", ["rest_id", "id_str", "both"])
def test_the_id_is_read_from_the_post_its_legacy_part_or_the_entry(missing: str) -> None:
    post = tweet()
    if missing in ("rest_id", "both"):
        del post["rest_id"]
    if missing in ("id_str", "both"):
        del post["legacy"]["id_str"]

    assert read_post(post, number=POST_ID).record.post_id == POST_ID


@pytest.mark.parametrize("created_at", [None, 5, "", "yesterday", "Sun Foo 30 09:51:19 +0000 2026"])
def test_without_a_readable_date_the_id_has_it(created_at: Any) -> None:
    post = read_post(tweet(created_at=created_at))

    assert post.record.tweet_details.posted_at == "2026-08-30T09:51:19+00:00"


def test_an_id_from_before_2010_has_no_date() -> None:
    assert read_post(tweet("20", created_at=None)).record.tweet_details.posted_at == ""


@pytest.mark.parametrize("operation", [Operation.BOOKMARKS, Operation.FOLDER])
def test_the_index_of_a_list_is_the_moment_of_saving(operation: Operation) -> None:
    head = {Operation.FOLDER: "bookmark_collection_timeline"}.get(operation, "bookmark_timeline")
    page = page_of(entry(tweet()))
    page["data"] = {head: page["data"]["bookmark_timeline_v2"]}

    (found,) = read(page, operation).posts

    assert found.record.sort_index == SORT_INDEX  # type: ignore[union-attr]
    assert found.record.bookmarked_at == "2026-08-31T18:13:20.123000+00:00"  # type: ignore[union-attr]
    assert found.order_source is OrderSource.X  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "sort_index",
    [
        POST_ID,
        # Before the post, and six minutes after now.
        1_700_000_000_000 << 20,
        1_788_264_360_000 << 20,
        0,
        "x",
        2**63,
        -5,
    ],
)
def test_an_index_that_is_no_moment_of_saving_only_gives_the_order(sort_index: Any) -> None:
    post = read_post(tweet(), sort_index=sort_index)

    assert post.record.sort_index is msgspec.UNSET
    assert post.record.bookmarked_at is msgspec.UNSET
    assert post.order_source is OrderSource.FILE_POSITION


def test_a_long_text_comes_from_the_note() -> None:
    post = tweet(text="The beginning… https://t.co/note")
    post["note_tweet"] = {
        "is_expandable": True,
        "note_tweet_results": {
            "result": {
                "text": "The beginning and the end: https://t.co/abc",
                "entity_set": {
                    "urls": [{"url": "https://t.co/abc", "expanded_url": "https://end.example.com"}]
                },
            }
        },
    }

    found = read_post(post)

    assert found.record.tweet_details.text == "The beginning and the end: https://end.example.com"
    assert found.completeness is Completeness.FULL


def test_a_long_text_without_its_note_is_a_preview() -> None:
    post = {**tweet(text="The beginning…"), "note_tweet": {"is_expandable": True}}

    assert read_post(post).completeness is Completeness.PREVIEW


def test_a_text_that_ends_with_a_link_to_the_rest_is_a_preview() -> None:
    assert read_post(tweet(text="Cut… https://t.co/rest1")).completeness is Completeness.PREVIEW
    assert read_post(tweet(text="The author's dots…")).completeness is Completeness.FULL


def test_metrics_are_numbers_even_if_x_writes_something_else() -> None:
    post = tweet(
        quote_count=1, reply_count="2", retweet_count=None, bookmark_count=-4, favorite_count=10**30
    )

    metrics = read_post(post).record.tweet_details.meta.non_real_time_engagement_metrics

    assert (metrics.quote_count, metrics.reply_count) == (1, 2)
    assert (metrics.retweet_count, metrics.bookmark_count, metrics.favorite_count) == (0, 0, 0)


def test_a_reply_has_the_ids_of_its_parent() -> None:
    post = tweet(
        in_reply_to_status_id_str="7", in_reply_to_user_id_str="8", conversation_id_str="6"
    )

    meta = read_post(post).record.tweet_details.meta

    assert (meta.tweet_reply_to_tweet_id, meta.tweet_reply_to_user_id) == ("7", "8")
    assert meta.tweet_conversation_id == "6"
    assert not meta.tweet_is_thread
    assert not meta.is_sub_tweet_of_thread


def test_a_reply_to_oneself_is_part_of_a_thread() -> None:
    post = tweet(in_reply_to_user_id_str=AUTHOR_ID, conversation_id_str="6")

    meta = read_post(post).record.tweet_details.meta

    assert meta.tweet_is_thread
    assert meta.is_sub_tweet_of_thread


@pytest.mark.parametrize(
    ("post", "item"),
    [
        (tweet(), {"tweetDisplayType": "SelfThread"}),
        (tweet(self_thread={"id_str": "1"}), {}),
        ({**tweet(), "self_thread": {"id_str": "1"}}, {}),
    ],
)
def test_the_first_post_of_a_thread_is_recognised(post: Json, item: Json) -> None:
    meta = read_post(post, **item).record.tweet_details.meta

    assert meta.tweet_is_thread
    assert not meta.is_sub_tweet_of_thread


def test_the_versions_of_an_edited_post_are_kept() -> None:
    single = {**tweet(), "edit_control": {"edit_tweet_ids": [POST_ID]}}
    edited = {
        **tweet(),
        "edit_control": {"edit_control_initial": {"edit_tweet_ids": ["5", POST_ID]}},
    }

    assert read_post(single).versions == ()
    assert read_post(edited).versions == ("5", POST_ID)
