"""Texts lose shortened links and escapes, and nothing else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.sources.x.content import MAX_ADDED_CHARACTERS, readable, unescape
from tests.sources.x.pages import Json, read_post, tweet


def _link(short: str, target: str) -> Json:
    return {"url": short, "expanded_url": target, "indices": [0, 0]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://t.co/a1", "https://one.example.com/?a=1&copy=2"),
        (
            "👩‍👩‍👧 مرحبا https://t.co/a1 שלום",
            "👩‍👩‍👧 مرحبا https://one.example.com/?a=1&copy=2 שלום",
        ),
        ("読む https://t.co/b2。", "読む https://two.example.com。"),
        ("a &amp; b &lt;c&gt; https://t.co/b2", "a & b <c> https://two.example.com"),
        ("unknown https://t.co/zzz", "unknown https://t.co/zzz"),
        ("&amp;lt;", "&lt;"),
        ("R&D says &lt;", "R&D says &lt;"),
    ],
)
def test_links_are_expanded_and_escapes_resolved(text: str, expected: str) -> None:
    links = [
        _link("https://t.co/a1", "https://one.example.com/?a=1&copy=2"),
        _link("https://t.co/b2", "https://two.example.com"),
    ]

    found = read_post(tweet(text=text, entities={"urls": links})).record

    assert found.tweet_details.text == expected


def test_links_to_the_post_s_own_media_and_quote_are_removed_from_the_end() -> None:
    medium = {
        "type": "photo",
        "url": "https://t.co/m",
        "expanded_url": "https://x.com/ada_b/status/1/photo/1",
        "media_url_https": "https://images.example.com/1.jpg",
    }
    post = tweet(
        text="See https://t.co/m here  https://t.co/q https://t.co/m",
        quoted_status_id_str="9",
        quoted_status_permalink={"url": "https://t.co/q", "expanded": "https://x.com/b/status/9"},
        extended_entities={"media": [medium]},
    )

    text = read_post(post).record.tweet_details.text

    assert text == "See https://x.com/ada_b/status/1/photo/1 here"


def test_one_link_repeated_very_often_does_not_fill_the_memory() -> None:
    text = "https://t.co/a " * 100_000
    target = "https://e.example.com/" + "x" * 9_000

    grown = readable(text, {"https://t.co/a": target}, ())

    assert len(grown) <= len(text) + MAX_ADDED_CHARACTERS


@pytest.mark.parametrize("text", ["https://t.co/a " * 200_000, " " * 2_000_000, "http" * 500_000])
def test_the_time_for_a_text_grows_with_its_length_only(text: str) -> None:
    started = time.thread_time()

    readable(text, {"https://t.co/b": "https://e.example.com"}, {"https://t.co/a"})

    assert time.thread_time() - started < 2


@given(st.text(st.characters(exclude_characters="&"), max_size=60))
def test_a_text_without_links_and_escapes_stays_as_it_is(text: str) -> None:
    if "t.co" not in text:
        assert (
            readable(text, {"https://t.co/a": "https://b.example.com"}, {"https://t.co/a"}) == text
        )


@given(st.text("&<>a;ltgmp", max_size=30))
def test_unescaping_reverses_escaping(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    assert unescape(escaped) == text
