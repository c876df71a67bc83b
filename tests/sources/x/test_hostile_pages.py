"""Damaged and forged pages: readers never raise, never invent posts and keep the intact ones."""

import copy
import io
import json
import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.sources import own_json
from bowerbird.sources.found import Found, FoundPost
from bowerbird.sources.x import api2, graphql
from bowerbird.sources.x.pages import Operation, PageRequest
from bowerbird.sources.x.web_exporter import read_csv, read_database, read_json
from tests.sources.x.pages import (
    NOW,
    SORT_INDEX,
    Json,
    add_entries,
    cursor,
    document,
    entry,
    found_ids,
    item,
    read,
    tweet,
)

_MEDIUM = {
    "type": "video",
    "url": "https://t.co/m",
    "media_url_https": "https://images.example.com/m.jpg",
    "original_info": {"width": 4, "height": 3},
    "video_info": {
        "duration_millis": 5,
        "variants": [{"content_type": "video/mp4", "bitrate": 1, "url": "https://v.example.com"}],
    },
}
_CARD = {
    "legacy": {
        "name": "summary",
        "binding_values": [
            {"key": "title", "value": {"string_value": "T"}},
            {"key": "card_url", "value": {"string_value": "https://t.co/l"}},
        ],
    }
}
_ARTICLE = {
    "article_results": {
        "result": {
            "rest_id": "5",
            "title": "T",
            "content_state": {"blocks": [{"type": "unstyled", "text": "B"}]},
            "metadata": {"first_published_at_secs": 1_788_000_000},
        }
    }
}


def _rich(number: str) -> Json:
    post = tweet(
        number,
        text="Text https://t.co/l &amp; https://t.co/q https://t.co/m",
        entities={"urls": [{"url": "https://t.co/l", "expanded_url": "https://l.example.com"}]},
        extended_entities={"media": [_MEDIUM]},
        quoted_status_permalink={"url": "https://t.co/q", "expanded": "https://x.com/b/status/9"},
        quoted_status_id_str="9",
        favorite_count=3,
    )
    quoted = {**tweet("9"), "article": _ARTICLE}
    note = {"note_tweet_results": {"result": {"text": "Long", "entity_set": {"urls": []}}}}
    return {
        **post,
        "card": _CARD,
        "note_tweet": note,
        "quoted_status_result": {"result": quoted},
        "edit_control": {"edit_tweet_ids": [number, "3"]},
    }


def _entries() -> list[Json]:
    ids = [str(2_094_000_000_000_000_000 + n) for n in range(6)]
    inner = tweet(ids[3])
    results = [
        _rich(ids[0]),
        {"__typename": "TweetWithVisibilityResults", "tweet": tweet(ids[1])},
        tweet(ids[2]),
        tweet("2095000000000000000", retweeted_status_result={"result": inner}),
    ]
    listed = [
        entry(result, SORT_INDEX - place, number=ids[place]) for place, result in enumerate(results)
    ]
    module = {
        "entryId": "module-1",
        "sortIndex": str(SORT_INDEX - 10),
        "content": {
            "items": [
                {"entryId": f"module-1-tweet-{n}", "item": {"itemContent": item(tweet(n))}}
                for n in ids[4:]
            ]
        },
    }
    return [*listed, module]


_ENTRIES = _entries()
_IDS_BY_ENTRY = [found_ids(read(document(add_entries(each)))) for each in _ENTRIES]
_JUNK: list[Any] = [
    None,
    True,
    -1,
    1.5,
    10**400,
    2**63,
    "",
    "x",
    "https://t.co/l",
    "\u0000\ud800",
    [],
    {},
    [[]],
    [None, 5, "x", {}],
    {"result": {"result": {"result": {"result": {"result": {}}}}}},
    {"tweet": {"tweet": {"tweet": {"tweet": {"tweet": {"rest_id": "1"}}}}}},
    {"text": {"text": []}},
]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every pair of a container and one of its keys."""
    if isinstance(value, dict):
        inner = [place for child in value.values() for place in _places(child)]
        return [(value, key) for key in value] + inner
    if isinstance(value, list):
        inner = [place for child in value for place in _places(child)]
        return [(value, number) for number in range(len(value))] + inner
    return []


def _damage(value: Json, choose: random.Random) -> None:
    places = _places(value)
    if not places:
        return
    container, key = choose.choice(places)
    if choose.random() < 0.3:
        del container[key]
    else:
        container[key] = copy.deepcopy(choose.choice(_JUNK))


def _check(found: tuple[Found, ...] | list[Found], source: bytes) -> None:
    for each in found:
        assert each.line >= 1
        if isinstance(each, FoundPost):
            assert each.record.post_id.encode() in source
            own_json.read(msgspec.json.encode(each.record))
            assert each.record.tweet_details.posted_at[-6:] in ("", "+00:00")
        else:
            assert each.sentence.endswith(".")


@given(st.integers(0, len(_ENTRIES) - 1), st.integers(1, 4), st.randoms(use_true_random=False))
def test_a_damaged_entry_does_not_cost_another(
    number: int, damages: int, choose: random.Random
) -> None:
    entries = copy.deepcopy(_ENTRIES)
    for _ in range(damages):
        _damage(entries[number], choose)
    payload = json.dumps(document(add_entries(*entries, cursor()))).encode()

    page = graphql.read_page(PageRequest(operation=Operation.BOOKMARKS), payload, NOW)

    _check(page.posts, payload)
    intact = {
        post_id for place, ids in enumerate(_IDS_BY_ENTRY) if place != number for post_id in ids
    }
    assert intact <= set(found_ids(page))


@given(st.integers(1, 5), st.sampled_from(list(Operation)), st.randoms(use_true_random=False))
def test_a_page_damaged_anywhere_is_read(
    damages: int, operation: Operation, choose: random.Random
) -> None:
    page: Any = document(add_entries(*copy.deepcopy(_ENTRIES), cursor()))
    timeline = page["data"]["bookmark_timeline_v2"]
    page["data"] |= {
        "bookmark_collection_timeline": timeline,
        "search_by_raw_query": {"bookmarks_search_timeline": timeline},
        "threaded_conversation": timeline["timeline"],
        "tweetResult": {"result": tweet()},
        "viewer": {"bookmark_collections_slice": {"items": [{"id": "7", "name": "Nests"}]}},
    }
    for _ in range(damages):
        _damage(page, choose)
    payload = json.dumps(page).encode()
    request = PageRequest(operation=operation, post_id="20")

    _check(graphql.read_page(request, payload, NOW).posts, payload)
    graphql.read_folders(payload)


_WHOLE = json.dumps(document(add_entries(*_ENTRIES, cursor()))).encode()


@given(st.integers(0, len(_WHOLE) - 1))
def test_a_truncated_page_is_an_error_without_posts(length: int) -> None:
    page = graphql.read_page(PageRequest(operation=Operation.BOOKMARKS), _WHOLE[:length], NOW)

    assert page.errors == ("The document is not complete, valid JSON.",)
    assert (page.posts, page.proves_end) == ((), False)


@given(st.permutations(_ENTRIES), st.integers(0, len(_ENTRIES)))
def test_the_order_and_the_grouping_of_entries_do_not_matter(
    entries: list[Json], border: int
) -> None:
    expected = read(document(add_entries(*_ENTRIES, cursor())))

    page = read(document(add_entries(*entries[:border], cursor()), add_entries(*entries[border:])))

    assert page == expected
    assert len(page.posts) == 6


@pytest.mark.parametrize("damage", [b"\\ud83d", b"\\u0000", b"\xff\xfe", b"\xed\xa0\x80", b"\x01"])
def test_unstorable_characters_in_one_text_do_not_cost_the_page(damage: bytes) -> None:
    payload = _WHOLE.replace(b"A post.", b"A " + damage + b"post.", 1)

    page = graphql.read_page(PageRequest(operation=Operation.BOOKMARKS), payload, NOW)

    assert len(found_ids(page)) == 6
    _check(page.posts, payload)


@pytest.mark.parametrize("number", [b"1e999", b"9" * 5000, b"-" + b"9" * 5000, b"NaN"])
def test_a_number_that_nobody_can_store_does_not_cost_the_page(number: bytes) -> None:
    payload = _WHOLE.replace(b'"favorite_count": 3', b'"favorite_count": ' + number)

    page = graphql.read_page(PageRequest(operation=Operation.BOOKMARKS), payload, NOW)

    assert len(found_ids(page)) == 6


_NAMES = (
    "data", "includes", "users", "tweets", "posts", "media", "polls", "meta", "id", "text",
    "entities", "urls", "url", "referenced_tweets", "type", "attachments", "media_keys", "article",
    "metadata", "full_text", "tableName", "rows", "retweeted_status", "next_token", "errors",
    "note_tweet", "variants",
)  # fmt: skip
_JSON = st.recursive(
    st.sampled_from(_JUNK) | st.text(max_size=8) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(_NAMES),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@pytest.mark.parametrize(
    "read_bytes",
    [
        lambda raw: api2.read_page(raw).posts,
        lambda raw: list(read_json(io.BytesIO(raw))),
        lambda raw: list(read_csv(io.BytesIO(raw))),
        lambda raw: list(read_database(io.BytesIO(raw), NOW)),
    ],
)
@given(value=_JSON)
def test_other_readers_accept_any_json(
    read_bytes: Callable[[bytes], list[Found]], value: Any
) -> None:
    source = json.dumps(value).encode()

    _check(read_bytes(source), source)


@given(st.binary(max_size=200))
def test_readers_accept_any_bytes(raw: bytes) -> None:
    for operation in Operation:
        graphql.read_page(PageRequest(operation=operation), raw, NOW)
    assert not any(isinstance(each, FoundPost) for each in api2.read_page(raw).posts)
    list(read_json(io.BytesIO(raw)))
    list(read_csv(io.BytesIO(b"id\n" + raw)))
    list(read_database(io.BytesIO(raw), NOW))


@given(st.integers(1, 4), st.randoms(use_true_random=False))
def test_a_damaged_record_of_the_api_does_not_cost_another(
    damages: int, choose: random.Random
) -> None:
    links = [{"url": "https://t.co/a", "expanded_url": "https://a.example.com", "title": "T"}]
    posts = [
        {
            "id": str(2_094_000_000_000_000_000 + n),
            "author_id": "4",
            "text": "Text https://t.co/a",
            "entities": {"urls": copy.deepcopy(links)},
            "attachments": {"media_keys": ["3_1"], "poll_ids": ["1"]},
            "referenced_tweets": [{"type": "quoted", "id": "9"}],
            "public_metrics": {"like_count": 1},
            "article": {"title": "T", "cover_media": "3_1"},
        }
        for n in range(3)
    ]
    includes = {
        "tweets": [{"id": "9", "text": "Q", "author_id": "4"}],
        "users": [{"id": "4", "username": "ada_b"}],
        "media": [{"media_key": "3_1", "type": "photo", "url": "https://i.example.com"}],
        "polls": [{"id": "1", "options": [{"label": "Yes", "votes": 1}]}],
    }
    for _ in range(damages):
        _damage({"post": posts[0], "includes": includes}, choose)
    page = {"data": posts, "includes": includes, "meta": {"result_count": 3}}
    payload = json.dumps(page).encode()

    found = api2.read_page(payload)

    _check(found.posts, payload)
    assert set(found_ids(found)) >= {posts[1]["id"], posts[2]["id"]}
