"""Media, cards, polls, articles and quoted posts."""

import json
from typing import Any

import pytest

from bowerbird.model.arrival import Completeness
from tests.sources.x.pages import POSTED_AT, Json, read_post, tweet

_PHOTO = {
    "type": "photo",
    "media_key": "3_1",
    "url": "https://t.co/m",
    "media_url_https": "https://images.example.com/1.jpg",
    "expanded_url": "https://x.com/ada_b/status/1/photo/1",
    "ext_alt_text": "A bird",
    "original_info": {"width": 640, "height": 480},
    "ext_media_availability": {"status": "Available"},
}
_VIDEO = {
    "type": "video",
    "media_url_https": "https://images.example.com/2.jpg",
    "video_info": {
        "duration_millis": 9000,
        "variants": [
            {"content_type": "application/x-mpegURL", "url": "https://video.example.com/list.m3u8"},
            {"content_type": "video/mp4", "bitrate": 256, "url": "https://video.example.com/s.mp4"},
            {"content_type": "video/mp4", "bitrate": 999, "url": "https://video.example.com/l.mp4"},
            {"content_type": "video/mp4", "url": "https://video.example.com/x.mp4"},
        ],
    },
    "ext_media_availability": {"status": "Unavailable", "reason": "Dmcaed"},
}


def _attachments(post: Json) -> list[Json]:
    return read_post(post).record.tweet_details.attachments


def _with_card(card: Any, *links: Json) -> Json:
    return {**tweet(entities={"urls": list(links)}), "card": card}


def test_an_image_has_its_size_and_text() -> None:
    assert _attachments(tweet(entities={"media": [_PHOTO]})) == [
        {
            "type": "image",
            "url": "https://images.example.com/1.jpg",
            "width": 640,
            "height": 480,
            "alt_text": "A bird",
            "media_key": "3_1",
            "expanded_url": "https://x.com/ada_b/status/1/photo/1",
            "available": True,
        }
    ]


def test_a_video_is_its_best_file_and_not_its_playlist() -> None:
    (video,) = _attachments(tweet(extended_entities={"media": [_VIDEO]}))

    assert (video["type"], video["url"]) == ("video", "https://video.example.com/l.mp4")
    assert video["preview_image"] == "https://images.example.com/2.jpg"
    assert (video["duration_ms"], video["available"]) == (9000, False)


def test_an_animation_without_bit_rate_is_found() -> None:
    variants = [{"content_type": "video/mp4", "bitrate": 0, "url": "https://video.example.com/a"}]
    medium = {"type": "animated_gif", "video_info": {"variants": variants}}

    (gif,) = _attachments(tweet(extended_entities={"media": [medium]}))

    assert gif == {"type": "gif", "url": "https://video.example.com/a"}


def test_all_media_come_from_the_extended_entities() -> None:
    post = tweet(entities={"media": [_PHOTO]}, extended_entities={"media": [_PHOTO, _VIDEO]})

    assert [each["type"] for each in _attachments(post)] == ["image", "video"]


@pytest.mark.parametrize("medium", [5, {}, {"type": "photo"}, {"type": "hologram"}, None])
def test_a_medium_that_cannot_be_read_does_not_cost_the_others(medium: Any) -> None:
    attachments = _attachments(tweet(extended_entities={"media": [medium, _PHOTO]}))

    assert [each["type"] for each in attachments] == ["image"]


def test_an_address_that_could_run_a_script_is_left_out() -> None:
    medium = {**_PHOTO, "media_url_https": "javascript:alert(1)"}

    assert _attachments(tweet(extended_entities={"media": [medium]})) == []


def test_a_poll_has_its_choices_and_votes() -> None:
    values = {
        "choice1_label": "Yes",
        "choice1_count": "12",
        "choice2_label": "No",
        "end_datetime_utc": "2026-09-02T10:00:00Z",
    }
    bindings = [
        {"key": key, "value": {"string_value": value, "type": "STRING"}}
        for key, value in values.items()
    ]
    card = {"legacy": {"name": "poll2choice_text_only", "binding_values": bindings}}

    assert _attachments(_with_card(card)) == [
        {
            "type": "poll",
            "choices": [{"label": "Yes", "count": 12}, {"label": "No"}],
            "ends_at": "2026-09-02T10:00:00+00:00",
        }
    ]


@pytest.mark.parametrize("is_list", [True, False])
def test_a_link_card_has_its_title_and_target(is_list: bool) -> None:  # noqa: FBT001
    image = {"image_value": {"url": "https://images.example.com/big.png"}, "type": "IMAGE"}
    values: Json = {
        "title": {"string_value": "Nests"},
        "description": {"string_value": "All about nests"},
        "vanity_url": {"string_value": "nests.example.com"},
        "card_url": {"string_value": "https://t.co/c"},
        "thumbnail_image_original": image,
    }
    bindings = [{"key": key, "value": value} for key, value in values.items()]
    card = {"legacy": {"name": "summary", "binding_values": bindings if is_list else values}}
    link = {"url": "https://t.co/c", "expanded_url": "https://www.nests.example.com/all"}

    assert _attachments(_with_card(card, link)) == [
        {
            "type": "link",
            "url": "https://www.nests.example.com/all",
            "title": "Nests",
            "description": "All about nests",
            "domain": "nests.example.com",
            "preview_image": "https://images.example.com/big.png",
        }
    ]


def test_a_card_without_values_is_resolved_by_the_links_of_the_post() -> None:
    link = {"url": "https://t.co/c", "expanded_url": "https://www.nests.example.com/all"}

    assert _attachments(_with_card({"rest_id": "https://t.co/c"}, link)) == [
        {"type": "link", "url": "https://www.nests.example.com/all", "domain": "nests.example.com"}
    ]


def test_a_card_of_the_post_s_own_media_is_not_repeated() -> None:
    post = {**tweet(entities={"media": [_PHOTO]}), "card": {"rest_id": "https://t.co/m"}}

    assert [each["type"] for each in _attachments(post)] == ["image"]


def test_a_card_that_is_json_in_a_text_is_read() -> None:
    inner = {
        "component_objects": {"details_1": {"data": {"title": {"content": "Nests"}}}},
        "destination_objects": {
            "browser_1": {"data": {"url_data": {"url": "https://n.example.com", "vanity": "n"}}}
        },
        "media_entities": {"1": {"media_url_https": "https://images.example.com/n.png"}},
    }
    binding = {"key": "unified_card", "value": {"string_value": json.dumps(inner)}}
    card = {"legacy": {"name": "unified_card", "binding_values": [binding]}}

    assert _attachments(_with_card(card)) == [
        {
            "type": "link",
            "url": "https://n.example.com",
            "title": "Nests",
            "domain": "n",
            "preview_image": "https://images.example.com/n.png",
        }
    ]


@pytest.mark.parametrize("card", [5, {}, {"rest_id": "card://1"}, {"legacy": {"name": "poll2"}}])
def test_a_card_that_says_nothing_is_left_out(card: Any) -> None:
    assert _attachments(_with_card(card)) == []


def _article(**fields: Any) -> Json:
    result = {
        "rest_id": "70",
        "title": "On bowers",
        "preview_text": "A bower is",
        "cover_media": {"media_info": {"original_img_url": "https://images.example.com/c.jpg"}},
        "metadata": {"first_published_at_secs": 1_788_000_000},
        "lifecycle_state": {"modified_at_secs": 1_788_000_060},
        **fields,
    }
    return {"article_results": {"result": result}}


def test_a_list_has_the_preview_of_an_article() -> None:
    found = read_post({**tweet(), "article": _article()})

    assert found.record.tweet_details.article == {
        "id": "70",
        "title": "On bowers",
        "preview_text": "A bower is",
        "cover_image": "https://images.example.com/c.jpg",
        "url": "https://x.com/i/article/70",
        "published_at": "2026-08-29T10:40:00+00:00",
        "modified_at": "2026-08-29T10:41:00+00:00",
        "is_preview": True,
    }
    assert found.completeness is Completeness.PREVIEW


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"plain_text": "A bower is not a nest."}, "A bower is not a nest."),
        (
            {
                "content_state": {
                    "blocks": [
                        {"type": "unstyled", "text": "A bower"},
                        {"type": "atomic", "text": " "},
                        {"type": "unordered-list-item", "text": "is"},
                        {"type": "unordered-list-item", "text": "not"},
                        {"type": "unstyled", "text": "a nest."},
                    ]
                }
            },
            "A bower\n\nis\nnot\n\na nest.",
        ),
    ],
)
def test_the_page_of_an_article_has_its_body(body: Json, text: str) -> None:
    found = read_post({**tweet(), "article": _article(**body)})

    article = found.record.tweet_details.article
    assert article is not None
    assert (article["plain_text"], article["is_preview"]) == (text, False)
    assert found.completeness is Completeness.FULL


def _quoting(result: Any, **legacy: Any) -> Json:
    permalink = {"url": "https://t.co/q", "expanded": "https://x.com/b/status/9"}
    post = tweet(
        text="Look https://t.co/q",
        quoted_status_id_str="9",
        quoted_status_permalink=permalink,
        **legacy,
    )
    return post if result is None else {**post, "quoted_status_result": {"result": result}}


def test_a_quoted_post_is_complete_but_its_own_quote_is_only_a_link() -> None:
    quoted = _quoting(tweet("5"), extended_entities={"media": [_PHOTO]})
    quoted["rest_id"] = "9"

    details = read_post(_quoting(quoted)).record.tweet_details

    assert details.text == "Look"
    assert details.quoted_tweet is not None
    assert details.quoted_tweet.pop("attachments")[0]["type"] == "image"
    assert details.quoted_tweet == {
        "post_id": "9",
        "text": "Look https://x.com/b/status/9",
        "link": "https://x.com/ada_b/status/9",
        "posted_at": POSTED_AT,
        "author_id": "4242",
        "author_username": "ada_b",
        "author_details": {
            "name": "Ada B.",
            "username": "ada_b",
            "profile_image": "https://images.example.com/ada.jpg",
        },
        "article": None,
    }


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (None, {}),
        ({}, {}),
        ({"__typename": "TweetUnavailable", "reason": "Protected"}, {"reason": "Protected"}),
        (
            {"__typename": "TweetTombstone", "tombstone": {"text": {"text": "Deleted."}}},
            {"reason": "Deleted."},
        ),
    ],
)
def test_a_quoted_post_that_is_gone_keeps_its_id_and_link(result: Any, reason: Json) -> None:
    details = read_post(_quoting(result)).record.tweet_details

    assert details.quoted_tweet == {
        "post_id": "9",
        "link": "https://x.com/b/status/9",
        "unavailable": True,
        **reason,
    }
    assert details.text == "Look"


def test_the_article_of_a_quoted_post_is_that_of_the_quoting_post() -> None:
    quoted = {**tweet("9"), "article": _article(plain_text="All of it.")}

    details = read_post(_quoting(quoted)).record.tweet_details

    assert details.article is not None
    assert details.article["plain_text"] == "All of it."
