"""Saved answers of Mastodon's API."""

import json
from typing import Any

import pytest
from msgspec import UNSET

from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.sources.parsing.html_text import plain_text
from bowerbird.sources.post_links import post_id_of
from tests.support.posts.source_files import report


def status(**changes: Any) -> dict[str, Any]:
    return {
        "id": "1032",
        "created_at": "2024-01-31T12:34:56.789Z",
        "in_reply_to_id": None,
        "in_reply_to_account_id": None,
        "spoiler_text": "",
        "uri": "https://example.social/users/ada/statuses/1032",
        "url": "https://example.social/@ada/1032",
        "replies_count": 1,
        "reblogs_count": 2,
        "favourites_count": 3,
        "content": "<p>Hello &lt;b&gt;</p><p>Second<br>line</p>",
        "reblog": None,
        "account": {
            "id": "7",
            "acct": "ada",
            "display_name": "Ada L.",
            "url": "https://example.social/@ada",
            "avatar": "https://files.example/a.png",
        },
        "media_attachments": [],
        "card": None,
        "poll": None,
        **changes,
    }


def test_a_status_becomes_a_full_post() -> None:
    found = report(json.dumps([status()]))

    assert found.name == "Mastodon JSON"
    post, record = found.post, found.post.record
    assert (post.source, post.source_id) == ("mastodon", "example.social/1032")
    assert record.post_id == post_id_of("mastodon", "example.social/1032")
    assert post.completeness is Completeness.FULL
    assert post.order_source is OrderSource.FILE_POSITION
    assert record.author_username == "ada@example.social"
    assert record.author_details.name == "Ada L."
    assert record.author_details.profile_image == "https://files.example/a.png"
    details = record.tweet_details
    assert details.text == "Hello <b>\n\nSecond\nline"
    assert details.link == "https://example.social/@ada/1032"
    assert details.posted_at == "2024-01-31T12:34:56.789000+00:00"
    metrics = details.meta.non_real_time_engagement_metrics
    assert (metrics.reply_count, metrics.retweet_count, metrics.favorite_count) == (1, 2, 3)
    assert record.tags is UNSET


def test_the_csv_export_and_the_api_give_a_post_the_same_id() -> None:
    by_csv = report("https://example.social/users/ada/statuses/1032\n").ids

    assert report(json.dumps([status()])).ids == by_csv


def test_a_boost_is_the_post_that_was_boosted() -> None:
    boost = status(uri="https://other.example/users/bob/statuses/5/activity", content="")
    found = report(json.dumps([{**boost, "reblog": status()}]))

    assert found.post.source_id == "example.social/1032"
    assert found.post.record.author_username == "ada@example.social"


def test_a_content_warning_comes_before_the_text() -> None:
    found = report(json.dumps([status(spoiler_text="Food", content="<p>Soup</p>")]))

    assert found.post.record.tweet_details.text == "Food\n\nSoup"


def test_media_polls_and_pages_are_attachments() -> None:
    media = {
        "type": "gifv",
        "url": "https://files.example/1.mp4",
        "preview_url": "https://files.example/1.png",
        "description": "A cat",
        "meta": {"original": {"width": 640, "height": 480}},
    }
    poll = {"expires_at": "2024-02-01T00:00:00Z", "options": [{"title": "Yes", "votes_count": 4}]}
    card = {"url": "https://example.org/", "title": "A page", "description": "", "image": None}
    found = report(
        json.dumps([status(media_attachments=[media, {"type": "image"}], card=card, poll=poll)])
    )

    gif, link, votes = found.post.record.tweet_details.attachments
    assert gif == {
        "type": "gif",
        "url": "https://files.example/1.mp4",
        "preview_image": "https://files.example/1.png",
        "width": 640,
        "height": 480,
        "alt_text": "A cat",
    }
    assert (link["type"], link["title"]) == ("link", "A page")
    assert votes["choices"] == [{"label": "Yes", "count": 4}]
    assert votes["ends_at"] == "2024-02-01T00:00:00+00:00"


def test_a_quoted_post_is_kept_with_its_author() -> None:
    quoted = status(
        uri="https://example.social/users/bob/statuses/5", url="https://example.social/@bob/5"
    )
    found = report(json.dumps([status(quote={"state": "accepted", "quoted_status": quoted})]))

    quote = found.post.record.tweet_details.quoted_tweet
    assert quote is not None
    assert quote["post_id"] == post_id_of("mastodon", "example.social/5")


def test_reply_ids_are_kept_only_where_they_belong_to_the_server() -> None:
    local = status(in_reply_to_id="1000", in_reply_to_account_id="7")
    remote = status(id="999", in_reply_to_id="1000", in_reply_to_account_id="8")
    one, two = report(json.dumps([local, remote])).posts

    meta = one.record.tweet_details.meta
    assert meta.tweet_reply_to_tweet_id == post_id_of("mastodon", "example.social/1000")
    assert meta.tweet_is_thread
    assert two.record.tweet_details.meta.tweet_reply_to_tweet_id is None


def test_a_server_with_other_addresses_is_known_by_its_uri() -> None:
    found = report(json.dumps([status(uri="https://lemmy.example/c/x/post/AbC", url=None)]))

    assert found.post.source_id == "https://lemmy.example/c/x/post/AbC"


_SHORTENED = (
    '<a href="https://example.org/long/path"><span class="invisible">https://</span>'
    '<span class="ellipsis">example.org/lo</span><span class="invisible">ng/path</span></a>'
)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("no tags", "no tags"),
        ("<p>a</p>\n\n<p>b</p>", "a\n\nb"),
        ("a<script>alert(1)</script>b<style>x{}</style>", "ab"),
        ("<ul><li>one</li><li>two</li></ul>", "- one\n\n- two"),
        (
            _SHORTENED,
            "https://example.org/long/path",
        ),
        (
            '<a href="https://x.example/@bob" class="u-url mention">@<span>bob</span></a> hi',
            "@bob hi",
        ),
        ('<a href="https://example.org/tags/a" class="mention hashtag">#a</a>', "#a"),
        ('<a href="https://example.org/">words</a>', "words"),
        ('<a href="javascript:alert(1)">x</a>', "x"),
        ("1 < 2 <3 &amp; &#" + "9" * 5000 + ";", "1 < 2 <3 &amp; &#" + "9" * 5000 + ";"),
        ("<p", "<p"),
        ("<!-- c -->x", "x"),
    ],
)
def test_html_becomes_plain_text(html: str, text: str) -> None:
    assert plain_text(html) == text
