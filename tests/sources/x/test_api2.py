"""Pages of X's API, in both spellings."""

import json
from typing import Any

import pytest
from msgspec import UNSET

from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.sources.found import FoundPost, LeftOut, Reason
from bowerbird.sources.x import api2
from bowerbird.sources.x.pages import Page
from tests.sources.x.pages import Json, found_ids

_ID = "2094000000000000000"


def _post(number: str = _ID, **fields: Any) -> Json:
    return {
        "id": number,
        "author_id": "4242",
        "text": "A post.",
        "created_at": "2026-08-30T09:51:19.000Z",
        **fields,
    }


def _read(*posts: Any, includes: Any = None, max_results: int = 90, **meta: Any) -> Page:
    user = {
        "id": "4242",
        "username": "ada_b",
        "name": "Ada B.",
        "profile_image_url": "https://images.example.com/ada_normal.jpg",
    }
    page = {
        "data": list(posts),
        "includes": {"users": [user], **(includes or {})},
        "meta": {"result_count": len(posts), **meta},
    }
    return api2.read_page(json.dumps(page).encode(), max_results)


def _only(*posts: Any, **includes: Any) -> FoundPost:
    (found,) = _read(*posts, includes=includes).posts
    assert isinstance(found, FoundPost)
    return found


def test_a_post_has_its_author_date_and_position() -> None:
    found = _only(_post())

    record = found.record
    assert (record.post_id, record.author_id, record.author_username) == (_ID, "4242", "ada_b")
    assert record.author_details.name == "Ada B."
    assert record.author_details.profile_image == "https://images.example.com/ada.jpg"
    assert record.tweet_details.posted_at == "2026-08-30T09:51:19+00:00"
    assert record.tweet_details.link == f"https://x.com/ada_b/status/{_ID}"
    assert (found.order_source, record.sort_index) == (OrderSource.FILE_POSITION, UNSET)


def test_the_order_of_the_page_is_kept() -> None:
    page = _read(_post("3"), _post("1"), _post("3"), _post("2"))

    assert found_ids(page) == ["3", "1", "2"]
    assert [found.line for found in page.posts] == [1, 2, 4]


@pytest.mark.parametrize("note", ["note_tweet", "note_post"])
def test_a_long_text_and_its_links_are_read(note: str) -> None:
    links = [{"url": "https://t.co/a", "expanded_url": "https://a.example.com"}]
    long = {"text": "All of it &amp; https://t.co/a", "entities": {"urls": links}}

    found = _only({**_post(text="All…"), note: long})

    assert found.record.tweet_details.text == "All of it & https://a.example.com"


@pytest.mark.parametrize(
    ("references", "posts"), [("referenced_tweets", "tweets"), ("referenced_posts", "posts")]
)
def test_quoted_posts_are_included(references: str, posts: str) -> None:
    links = [
        {"url": "https://t.co/q", "expanded_url": "https://twitter.com/ada_b/status/9"},
        {
            "url": "https://t.co/m",
            "expanded_url": f"https://x.com/ada_b/status/{_ID}/photo/1",
            "media_key": "3_1",
        },
    ]
    post = _post(
        text="Look https://t.co/q https://t.co/m",
        entities={"urls": links},
        attachments={"media_keys": ["3_1", "3_1", "3_2"]},
    )
    post[references] = [{"type": "quoted", "id": "9"}, {"type": "replied_to", "id": "8"}]
    medium = {
        "media_key": "3_1",
        "type": "photo",
        "url": "https://images.example.com/1.jpg",
        "width": 4,
        "height": 3,
        "alt_text": "A bird",
    }

    found = _only(post, **{posts: [_post("9", text="Quoted")], "media": [medium]})

    details = found.record.tweet_details
    assert details.text == "Look"
    assert details.quoted_tweet is not None
    assert (details.quoted_tweet["post_id"], details.quoted_tweet["text"]) == ("9", "Quoted")
    assert details.attachments == [
        {
            "type": "image",
            "url": "https://images.example.com/1.jpg",
            "width": 4,
            "height": 3,
            "alt_text": "A bird",
            "media_key": "3_1",
        }
    ]
    assert details.meta.tweet_reply_to_tweet_id == "8"


def test_a_quoted_post_that_is_not_included_is_unavailable() -> None:
    found = _only(_post(referenced_tweets=[{"type": "quoted", "id": "9"}]))

    assert found.record.tweet_details.quoted_tweet == {
        "post_id": "9",
        "link": "https://x.com/i/status/9",
        "unavailable": True,
    }


@pytest.mark.parametrize("kind", ["retweeted", "reposted"])
def test_a_repost_is_stored_as_the_post_itself(kind: str) -> None:
    post = _post(text="RT @ada_b: The…", referenced_tweets=[{"type": kind, "id": "9"}])

    found = _only(post, tweets=[_post("9", text="The whole text")])

    assert (found.record.post_id, found.via_repost) == ("9", _ID)
    assert found.record.tweet_details.text == "The whole text"


def test_videos_polls_and_links_are_attachments() -> None:
    variants = [
        {"content_type": "application/x-mpegURL", "url": "https://video.example.com/l.m3u8"},
        {"content_type": "video/mp4", "bit_rate": 9, "url": "https://video.example.com/9.mp4"},
        {"content_type": "video/mp4", "bit_rate": 5, "url": "https://video.example.com/5.mp4"},
    ]
    medium = {
        "media_key": "7_1",
        "type": "video",
        "variants": variants,
        "preview_image_url": "https://images.example.com/p.jpg",
        "duration_ms": 900,
    }
    poll = {
        "id": "55",
        "options": [{"position": 1, "label": "Yes", "votes": 3}],
        "end_datetime": "2026-09-02T10:00:00.000Z",
    }
    link = {
        "url": "https://t.co/a",
        "expanded_url": "https://www.a.example.com/x",
        "title": "A page",
        "images": [{"url": "https://images.example.com/a.png"}],
    }
    post = _post(attachments={"media_keys": ["7_1"], "poll_ids": ["55"]}, entities={"urls": [link]})

    assert _only(post, media=[medium], polls=[poll]).record.tweet_details.attachments == [
        {
            "type": "video",
            "url": "https://video.example.com/9.mp4",
            "preview_image": "https://images.example.com/p.jpg",
            "duration_ms": 900,
            "media_key": "7_1",
        },
        {
            "type": "poll",
            "choices": [{"label": "Yes", "count": 3}],
            "ends_at": "2026-09-02T10:00:00+00:00",
        },
        {
            "type": "link",
            "url": "https://www.a.example.com/x",
            "title": "A page",
            "domain": "a.example.com",
            "preview_image": "https://images.example.com/a.png",
        },
    ]


@pytest.mark.parametrize("reposts", ["retweet_count", "repost_count"])
def test_metrics_and_thread_are_read(reposts: str) -> None:
    counts = {reposts: 1, "like_count": 2, "reply_count": 3, "quote_count": 4, "bookmark_count": 5}

    meta = _only(
        _post(public_metrics=counts, in_reply_to_user_id="4242", conversation_id="7")
    ).record.tweet_details.meta

    metrics = meta.non_real_time_engagement_metrics
    assert (metrics.retweet_count, metrics.favorite_count, metrics.reply_count) == (1, 2, 3)
    assert (metrics.quote_count, metrics.bookmark_count) == (4, 5)
    assert meta.tweet_is_thread
    assert meta.is_sub_tweet_of_thread


def test_an_article_is_read() -> None:
    article = {"title": "On bowers", "plain_text": "All.", "cover_media": "3_1"}
    cover = {"media_key": "3_1", "type": "photo", "url": "https://images.example.com/c.jpg"}

    assert _only(_post(article=article), media=[cover]).record.tweet_details.article == {
        "title": "On bowers",
        "plain_text": "All.",
        "cover_image": "https://images.example.com/c.jpg",
        "is_preview": False,
    }


@pytest.mark.parametrize(
    ("max_results", "meta", "token", "proves_end"),
    [
        (90, {"next_token": "n"}, "n", False),
        (90, {}, "", True),
        # X ends some lists of pages of 100 too early.
        (100, {}, "", False),
        (90, {"next_token": 5}, "", False),
    ],
)
def test_only_small_pages_without_a_token_prove_the_end(
    max_results: int,
    meta: Json,
    token: str,
    proves_end: bool,  # noqa: FBT001
) -> None:
    page = _read(_post(), max_results=max_results, **meta)

    assert (page.cursor_out, page.proves_end) == (token, proves_end)


def test_an_empty_page_is_valid_and_an_error_is_not_empty() -> None:
    empty = api2.read_page(b'{"meta":{"result_count":0}}')
    error = api2.read_page(b'{"title":"Unauthorized","errors":[{"message":"Bad token"}]}')
    broken = api2.read_page(b"{")

    assert (empty.posts, empty.errors, empty.proves_end) == ((), (), True)
    assert (error.errors, error.proves_end) == (("X reports an error: Bad token.",), False)
    assert broken.errors == ("The document is not complete, valid JSON.",)


def test_a_broken_record_is_reported_and_the_others_survive() -> None:
    page = _read(_post("1"), 5, {"id": "x"}, _post("2", entities=5, attachments=[], article=7))

    assert found_ids(page) == ["1", "2"]
    broken = [each for each in page.posts if isinstance(each, LeftOut)]
    assert [(each.line, each.reason) for each in broken] == [
        (2, Reason.INVALID),
        (3, Reason.INVALID),
    ]


def test_a_page_with_too_many_records_is_an_error() -> None:
    page = _read(*[_post(str(n + 1)) for n in range(1_001)])

    assert page.errors == ("The page has more than 1,000 entries.",)
    assert (page.posts, page.proves_end) == ((), False)


def test_one_included_text_cannot_fill_every_post() -> None:
    quoting = [_post(str(n), referenced_tweets=[{"type": "quoted", "id": "9"}]) for n in (1, 2)]

    page = _read(*quoting, includes={"tweets": [_post("9", text="x" * 5_000_000)]})

    for found in page.posts:
        assert isinstance(found, FoundPost)
        assert found.record.tweet_details.quoted_tweet is not None
        assert len(found.record.tweet_details.quoted_tweet["text"]) == 100_000


@pytest.mark.parametrize("end", ["…", "… https://t.co/AbC123", "…https://t.co/AbC123\n"])
def test_a_cut_text_without_its_note_is_a_preview(end: str) -> None:
    urls = [
        {
            "url": "https://t.co/AbC123",
            "expanded_url": f"https://twitter.com/i/web/status/{_ID}",
        }
    ]
    cut = _post(text=f"The first words{end}", entities={"urls": urls})

    assert _only(cut).completeness is Completeness.PREVIEW
    assert _only({**cut, "note_tweet": {"text": "All…"}}).completeness is Completeness.FULL
    assert _only(_post(text="A link https://t.co/AbC123")).completeness is Completeness.FULL
