"""Titles of pages with a post: what they say about its text and its author."""

import pytest

from bowerbird.sources.file_posts import text_and_name
from bowerbird.sources.post_links import parse

X = "https://x.com/ada/status/20"
MASTODON = "https://example.social/@ada/103270115826048975"
BLUESKY = "https://bsky.app/profile/ada.example/post/3k2a"
REDDIT = "https://www.reddit.com/r/birds/comments/abc123/nests/"


def read(title: str, address: str = X) -> tuple[str, str]:
    link = parse(address)
    assert link is not None
    return text_and_name(title, address, link)


@pytest.mark.parametrize(
    ("title", "text", "name"),
    [
        ('Ada on X: "Hello" / X', "Hello", "Ada"),
        ('(3) Ada on X: "Hello" / X', "Hello", "Ada"),
        ('(99+) Ada on X: "Hello" / X', "Hello", "Ada"),
        ("Ada on X: “Hello” / X", "Hello", "Ada"),
        ('Ada on Twitter: "Hello" / Twitter', "Hello", "Ada"),
        ('Ada on Twitter: "Hello"', "Hello", "Ada"),
        ('Ada on X: "Two\n\nlines" / X', "Two\n\nlines", "Ada"),
        ('Ada on X: "She said "no" to it" / X', 'She said "no" to it', "Ada"),
        ('Ada on X: "Bo on X: "Hi"" / X', 'Bo on X: "Hi"', "Ada"),
        ('Ada on X: "A / X" / X', "A / X", "Ada"),
    ],
)
def test_the_text_between_the_quotes_is_the_text(title: str, text: str, name: str) -> None:
    assert read(title) == (text, name)


@pytest.mark.parametrize(
    "title",
    [
        'Ada on X: "The beginning of a long… / X',
        'Ada on X: "The beginning of a long…" / X',
        'Ada on X: "The beginning of a long… https://t.co/Ab12" / X',
        'Ada on X: "The beginning of a long',
        'Ada on X: "The beginning" and more',
        'Ada on X: "',
        'Ada on X: "" / X',
    ],
)
def test_a_text_that_is_cut_is_not_taken(title: str) -> None:
    assert read(title) == ("", "Ada")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("ada on X", ""),
        ("Ada on Twitter", ""),
        ("(2) Ada on X", ""),
        ("Ada L. 🐦 on X", ""),
        ("Ada L. (@ada) / X", "Ada L."),
        ("(1) Ada L. (@ada) / X", "Ada L."),
        ("Ada L. (@ada) on X", "Ada L."),
        ("Ada L. (@ada)", "Ada L."),
        ("Post / X", ""),
        ("X", ""),
        ("Twitter", ""),
        ("ada", ""),
        ("@Ada", ""),
        ("", ""),
        (X, ""),
    ],
)
def test_a_title_without_the_text_gives_none(title: str, name: str) -> None:
    assert read(title) == ("", name)


@pytest.mark.parametrize(
    ("title", "address", "found"),
    [
        ('Ada: "Hello" - Mastodon', MASTODON, ("Hello", "Ada")),
        ('Ada: "The beginning of a…" - example.social', MASTODON, ("", "Ada")),
        ("Ada (@ada@example.social)", MASTODON, ("", "Ada")),
        ('Ada (@ada.example): "Hello" — Bluesky', BLUESKY, ("Hello", "Ada")),
        ("Ada (@ada.example) — Bluesky", BLUESKY, ("", "Ada")),
    ],
)
def test_other_networks_have_other_titles(title: str, address: str, found: tuple[str, str]) -> None:
    assert read(title, address) == found


@pytest.mark.parametrize(
    "title", ["A thread about nests", "A note: see X", "On X: nests", "Xylophone"]
)
@pytest.mark.parametrize("address", [X, MASTODON, BLUESKY, REDDIT])
def test_any_other_title_is_the_text(title: str, address: str) -> None:
    assert read(f" {title} ", address) == (title, "")


@pytest.mark.parametrize(
    ("name", "handle"),
    [("Ada Lovelace", "ada_lovelace"), ("Ada Lovelace", "AdaLovelace"), ("Ada_L", "ada_l")],
)
def test_a_title_that_only_names_the_author_gives_none(name: str, handle: str) -> None:
    assert read(f"{name} on X", f"https://x.com/{handle}/status/20") == ("", "")


@pytest.mark.parametrize("title", ["My notes on X", "(2) More on X", "Canada on Twitter", "! on X"])
@pytest.mark.parametrize("address", [X, "https://x.com/i/status/20"])
def test_a_title_about_x_that_does_not_name_the_author_is_the_text(
    title: str, address: str
) -> None:
    assert read(title, address) == (title, "")


def test_a_title_of_another_network_is_the_text() -> None:
    assert read('Ada on X: "Hello" / X', REDDIT) == ('Ada on X: "Hello" / X', "")
    assert read("jack on X", MASTODON) == ("jack on X", "")
