"""Pages of saved posts that the service asks Mastodon and Bluesky for."""

import json

import pytest

from bowerbird.library.ingest import page_reading
from bowerbird.sources.found import FoundPost
from bowerbird.sources.x.pages import MAX_ENTRIES, TOO_MANY, Page
from tests.support.hosts.networks import record, status

NOW = 1_784_362_873_841_838


def read(name: str, value: object) -> Page:
    payload = value if isinstance(value, bytes) else json.dumps(value).encode()
    return page_reading.list_page(name, payload, NOW)


def test_a_page_has_posts_and_the_place_of_the_next_page() -> None:
    page = read(page_reading.MASTODON, {"bookmarks": [status(2), status(1)], "cursor": "17"})

    assert [one.source for one in page.posts if isinstance(one, FoundPost)] == ["mastodon"] * 2
    assert (page.cursor_out, page.proves_end, page.errors) == ("17", False, ())


@pytest.mark.parametrize("end", [{}, {"cursor": ""}, {"cursor": None}])
def test_a_page_without_a_next_one_proves_the_end(end: dict[str, object]) -> None:
    page = read(page_reading.BLUESKY, {"bookmarks": [record(1)], **end})

    assert (len(page.posts), page.cursor_out, page.proves_end) == (1, "", True)
    assert read(page_reading.BLUESKY, {"bookmarks": []}).proves_end


@pytest.mark.parametrize(
    "value",
    [b"", b"null", b"[]", b"{}", {"bookmarks": 5}, {"bookmarks": [], "cursor": 5}, b"[" * 100_000],
)
def test_what_is_no_list_proves_nothing(value: object) -> None:
    page = read(page_reading.BLUESKY, value)

    assert (page.posts, page.proves_end, page.cursor_out) == ((), False, "")
    assert page.errors


def test_a_page_with_far_too_many_posts_is_not_read() -> None:
    page = read(page_reading.BLUESKY, {"bookmarks": [{}] * (MAX_ENTRIES + 1)})

    assert page.errors == (TOO_MANY,)


@pytest.mark.parametrize("cursor", ["a\nb", "x" * 100_000])
def test_a_cursor_that_cannot_be_sent_is_no_end(cursor: str) -> None:
    page = read(page_reading.BLUESKY, {"bookmarks": [], "cursor": cursor})

    assert (page.cursor_out, page.proves_end) == ("", False)
