"""`bowerbird save` and `bowerbird fetch`."""

import pytest

from bowerbird.model.labels import NAME_RULE
from bowerbird.model.posts.networks import SENTENCES, Reason
from tests.cli.libraries import EMAIL, Library

X = "https://x.com/nestcam/status/1945000111222333444"
X_ID = "1945000111222333444"


@pytest.fixture
def library(empty: Library) -> Library:
    empty.run("account", "create", EMAIL, "--plan", "pro")
    return empty


def test_saves_links_and_prints_a_line_for_each(library: Library) -> None:
    bluesky = "https://bsky.app/profile/bsky.app/post/3kabcdefgh2x"

    ran = library.run("save", EMAIL, f"{X}?s=20", bluesky, "--label", "To read", "--label", "b")

    lines = ran.out.splitlines()
    assert ran.code == 0
    assert lines[0] == f"new {X_ID} {X}"
    assert lines[1].startswith("new ")
    assert lines[1].endswith(bluesky)
    assert library.value("SELECT total FROM library") == 2
    assert library.sql("SELECT name, bookmark_count FROM label ORDER BY name") == [
        ("To read", 2),
        ("b", 2),
    ]


def test_a_link_that_is_not_a_post_is_reported_and_the_others_are_saved(library: Library) -> None:
    other = "https://x.com/ada/status/20"
    library.run("save", EMAIL, other)

    ran = library.run("save", EMAIL, "https://example.com/a\x1b[31m", X, other)

    assert ran.code == 1
    assert ran.out == f"new {X_ID} {X}\nunchanged 20 {other}\n"
    assert "1 post saved, 1 known already, 1 is not a link to a post.\n" in ran.text
    assert (
        "'https://example.com/a\\x1b[31m' is not a link to a post. Supported are posts of"
        in ran.text
    )
    assert "\x1b" not in ran.text
    assert "links[" not in ran.text


def test_a_short_address_and_a_link_that_is_sent_twice_are_said(library: Library) -> None:
    ran = library.run("save", EMAIL, "https://fb.watch/aBc/", X, X)

    assert ran.code == 1
    advice = "is a short address; open it and save the address of the post."
    assert f"'https://fb.watch/aBc/' {advice}\n" in ran.text
    assert "1 post saved, 1 known already, 1 is not a link to a post.\n" in ran.text


def test_more_links_than_one_request_has_are_all_saved(library: Library) -> None:
    ran = library.run("save", EMAIL, *(f"https://x.com/a/status/{n}" for n in range(1, 251)))

    assert ran.code == 0
    assert len(ran.out.splitlines()) == 250
    assert library.value("SELECT total FROM library") == 250


def test_an_invalid_label_is_refused_before_anything_is_saved(library: Library) -> None:
    ran = library.run("save", EMAIL, X, "--label", " ")

    assert ran.code == 1
    assert ran.text == (f"Error: --label: ' ' is not a name for a label. A name has {NAME_RULE}.\n")
    assert library.value("SELECT total FROM library") == 0


def test_fetch_asks_nobody_if_nobody_can_be_asked_or_it_may_not(library: Library) -> None:
    ran = library.run("fetch", EMAIL)
    assert ran.code == 0
    lines = ["links 0", "read 0", "without a text 0", "waiting for their network 0"]
    assert ran.out.splitlines() == lines

    library.run("save", EMAIL, "https://www.instagram.com/p/Cabcdefghij/")
    ran = library.run("fetch", EMAIL)
    assert "without a text 1" in ran.out.splitlines()
    assert f"1 without a text: {SENTENCES[Reason.NO_SOURCE]}" in ran.text

    library.run("save", EMAIL, X)
    off = Library({**library.environment, "BOWERBIRD_FETCH_POSTS": "off"}).run("fetch", EMAIL)
    assert off.code == 1
    assert "BOWERBIRD_FETCH_POSTS is off" in off.text
