"""Saved answers of Bluesky's API, in both shapes of a bookmark."""

import json
from typing import Any

import pytest

from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.sources.found import Reason
from bowerbird.sources.post_links import post_id_of
from tests.support.posts.source_files import report

URI = "at://did:plc:ada/app.bsky.feed.post/3kx"
POST_ID = post_id_of("bluesky", URI)
AUTHOR = {
    "did": "did:plc:ada",
    "handle": "ada.example",
    "displayName": "Ada",
    "avatar": "https://a.example/a.jpg",
}


def view(**changes: Any) -> dict[str, Any]:
    return {
        "$type": "app.bsky.feed.defs#postView",
        "uri": URI,
        "cid": "bafy",
        "author": AUTHOR,
        "record": {
            "$type": "app.bsky.feed.post",
            "createdAt": "2024-01-31T12:34:56.789Z",
            "text": "Grüße: example.org/a...",
        },
        "replyCount": 1,
        "likeCount": 2,
        "indexedAt": "2024-02-01T00:00:00.000Z",
        **changes,
    }


def bookmark(item: dict[str, Any]) -> dict[str, Any]:
    return {
        "subject": {"uri": URI, "cid": "bafy"},
        "createdAt": "2024-05-06T07:08:09.000Z",
        "item": item,
    }


def answer(*bookmarks: dict[str, Any]) -> str:
    return json.dumps({"cursor": "abc", "bookmarks": bookmarks})


def test_the_current_shape_has_the_date_of_saving() -> None:
    found = report(answer(bookmark(view())))

    assert found.name == "Bluesky JSON"
    post, record = found.post, found.post.record
    assert (post.source, post.source_id, record.post_id) == ("bluesky", URI, POST_ID)
    assert post.order_source is OrderSource.SAVED_DATE
    assert record.bookmarked_at == "2024-05-06T07:08:09+00:00"
    assert record.tweet_details.posted_at == "2024-01-31T12:34:56.789000+00:00"
    assert record.tweet_details.link == "https://bsky.app/profile/ada.example/post/3kx"
    assert (record.author_id, record.author_username) == ("did:plc:ada", "ada.example")
    assert record.author_details.name == "Ada"
    assert post.completeness is Completeness.FULL


def test_the_older_shape_is_the_post_itself() -> None:
    found = report(answer(view()))

    assert found.ids == [POST_ID]
    assert found.post.order_source is OrderSource.FILE_POSITION


def test_a_shortened_address_is_written_out() -> None:
    text = "Grüße: example.org/a... und Wort"
    facets = [
        {
            "index": {"byteStart": 9, "byteEnd": 25},
            "features": [{"uri": "https://example.org/a/long/path"}],
        },
        # Words that link somewhere stay words.
        {"index": {"byteStart": 30, "byteEnd": 34}, "features": [{"uri": "https://example.org"}]},
    ]
    record = {"text": text, "facets": facets}
    found = report(answer(view(record=record)))

    assert found.post.record.tweet_details.text == "Grüße: https://example.org/a/long/path und Wort"


@pytest.mark.parametrize(
    "index",
    [
        None,
        {},
        {"byteStart": -1, "byteEnd": 3},
        {"byteStart": 0, "byteEnd": 10**9},
        {"byteStart": "0", "byteEnd": 3},
        {"byteStart": 3, "byteEnd": 4},
    ],
)
def test_a_broken_facet_leaves_the_text_alone(index: Any) -> None:
    facets = [{"index": index, "features": [{"uri": "https://x.example/"}]}]
    found = report(answer(view(record={"text": "Grüße", "facets": facets})))

    assert found.post.record.tweet_details.text == "Grüße"


def test_embeds_are_attachments_and_the_quoted_post() -> None:
    images = {
        "images": [
            {
                "fullsize": "https://cdn.example/1.jpg",
                "thumb": "https://cdn.example/t.jpg",
                "alt": "A cat",
                "aspectRatio": {"width": 4, "height": 3},
            }
        ]
    }
    quoted = {
        "uri": "at://did:plc:bob/app.bsky.feed.post/3ky",
        "author": {"did": "did:plc:bob", "handle": "bob.example", "displayName": "Bob"},
        "value": {"text": "Quoted", "createdAt": "2024-01-01T00:00:00Z"},
        "embeds": [
            {"playlist": "https://video.example/p.m3u8", "thumbnail": "https://v.example/t"}
        ],
    }
    both = {"media": images, "record": {"record": quoted}}
    details = report(answer(view(embed=both))).post.record.tweet_details

    assert details.attachments == [
        {
            "type": "image",
            "url": "https://cdn.example/1.jpg",
            "preview_image": "https://cdn.example/t.jpg",
            "alt_text": "A cat",
            "width": 4,
            "height": 3,
        }
    ]
    quote = details.quoted_tweet
    assert quote is not None
    assert (quote["text"], quote["author_username"]) == ("Quoted", "bob.example")
    assert quote["attachments"][0]["type"] == "video"


def test_a_page_below_a_post_is_an_attachment() -> None:
    page = {"external": {"uri": "https://example.org/", "title": "T", "description": "D"}}
    details = report(answer(view(embed=page))).post.record.tweet_details

    assert [(item["type"], item["url"]) for item in details.attachments] == [
        ("link", "https://example.org/")
    ]


@pytest.mark.parametrize(
    "item",
    [
        {"$type": "app.bsky.feed.defs#notFoundPost", "uri": URI, "notFound": True},
        {"$type": "app.bsky.feed.defs#blockedPost", "uri": URI, "blocked": True},
        {"uri": URI, "notFound": True},
    ],
)
def test_a_post_that_is_gone_or_blocked_is_left_out_with_its_id(item: dict[str, Any]) -> None:
    found = report(answer(bookmark(item), bookmark(view())))

    assert found.ids == [POST_ID]
    (left_out,) = found.left_out
    assert (left_out.reason, left_out.post_id) == (Reason.UNAVAILABLE, POST_ID)


def test_several_pages_in_one_file_are_read() -> None:
    assert report(answer(view()) + "\n" + answer(view())).ids == [POST_ID, POST_ID]


def test_a_reply_names_its_parent_and_its_thread() -> None:
    reply = {"parent": {"uri": URI}, "root": {"uri": URI}}
    own = view(uri=URI[:-1] + "z", record={"text": "", "reply": reply})
    meta = report(answer(own)).post.record.tweet_details.meta

    assert meta.tweet_reply_to_tweet_id == meta.tweet_conversation_id == POST_ID
    assert meta.is_sub_tweet_of_thread
