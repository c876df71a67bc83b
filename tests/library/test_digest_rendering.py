"""Markdown, plain text and HTML of a digest: text of others is never markup."""

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bowerbird.library.digests.responses import (
    DigestPost,
    DigestResponse,
    MailResponse,
    PostsPart,
    SavedPart,
    one_line,
    title_of,
    to_response,
    web_address,
)
from bowerbird.library.digests.wording import html, markdown, plain_text
from bowerbird.model.digests import AuthorCount, Contents, Digest, LabelCount, MailState, period_of

EMPTY = PostsPart(0, [])
# Characters that are special in Markdown or HTML, and sometimes any other character.
SPECIAL = "\\`*_{}[]()<>#+-=.!|~&;:/@ ab1\u00e9\u9ce5\u0627\"'"
characters = st.text(st.sampled_from(SPECIAL) | st.characters(), max_size=60)
texts = characters | st.sampled_from(
    [
        "<script>alert(1)</script>",
        "![x](https://evil.example/p.png)",
        "[click](javascript:alert(1))",
        "</td></tr></table><img src=x onerror=alert(1)>",
        "&lt;b&gt; &amp; &#60;",
        "# not a heading",
        "a_b_c __init__ *x* **y** ~~z~~ `code` | table |",
        "\u202egnp.exe \u2066 \x07bell",
        "- not\n- a list\n\n---\n\n> quote",
    ]
)
links = st.sampled_from(
    [
        *("https://x.com/ada/status/1", "javascript:alert(1)", "data:text/html,<script>"),
        *('https://x.com/"onmouseover="alert(1)', "https://x.com/a>b <c>(d)[e]", "//x.com/1"),
        *("HTTPS://x.com/A", "http://", "https://[", ""),
    ]
)


def author_counts(name: str, handle: str) -> list[AuthorCount]:
    """The authors of a digest's response."""
    contents = Contents(by_author=[AuthorCount(handle, name, 1)])
    period = period_of("weekly-2026-07-13")
    assert period
    record = Digest(period.kind, period.first_day, "UTC", 0, contents)
    return to_response(record, {}).saved.by_author


def post(text: str = "", author: str = "Ada", title: str = "", link: str = "") -> DigestPost:
    return DigestPost(
        post_id="1",
        author_username="ada",
        author_name=one_line(author, 120),
        title=one_line(title, 120),
        text=one_line(text, 280),
        link=web_address(link),
        bookmarked_at="2026-07-14T12:00:00.000000+00:00",
        tags=None,
        is_read=False,
    )


def digest(
    *posts: DigestPost,
    label: str = "birds",
    introduction: str | None = None,
    author: str = "Ada",
    handle: str = "ada",
) -> DigestResponse:
    return DigestResponse(
        digest_id="weekly-2026-07-13",
        kind="weekly",
        title="13 to 19 July 2026",
        first_day="2026-07-13",
        last_day="2026-07-19",
        time_zone="UTC",
        made_at="2026-07-20T08:00:00.000000+00:00",
        saved_count=len(posts),
        mail=MailResponse(MailState.NONE, None, None),
        introduction=introduction,
        saved=SavedPart(
            len(posts), [LabelCount(label, 1)], author_counts(author, handle), list(posts)
        ),
        unread=EMPTY,
        a_year_ago=EMPTY,
        forgotten=None,
    )


class ParsedPage(HTMLParser):
    """The tags, links, attribute names and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]

    def handle_data(self, data: str) -> None:
        self.text += data


KNOWN_TAGS = {
    *("html", "head", "meta", "title", "style", "body", "table", "tr", "td"),
    *("p", "h1", "h2", "div", "span", "bdi", "a"),
}


@given(texts, texts, texts, links)
def test_html_has_the_text_but_no_markup(text: str, author: str, title: str, link: str) -> None:
    response = digest(
        post(text, author, title, link),
        label=one_line(text, 80) or "x",
        author=author,
        handle=title,
    )

    page = ParsedPage(html(response))

    assert set(page.tags) <= KNOWN_TAGS
    assert not {name for name in page.attributes if name.startswith("on")}
    assert {urlsplit(found).scheme for found in page.links} <= {"http", "https"}
    for part in (text, author, title):
        assert one_line(part, 80).removesuffix("…") in page.text


@given(texts, texts, texts, links)
def test_markdown_contains_the_text_and_no_markup_of_others(
    text: str, author: str, title: str, link: str
) -> None:
    response = digest(
        post(text, author, title, link),
        label=one_line(text, 80) or "x",
        author=author,
        handle=title,
    )
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])

    tokens = reader.parse(markdown(response))

    inline = [token for token in tokens if token.type == "inline"]
    inner = [child for token in inline for child in token.children or []]
    assert [token.type for token in tokens] == BLOCKS
    assert {child.type for child in inner} <= INLINE
    addresses = [str(child.attrGet("href")) for child in inner if child.type == "link_open"]
    assert {urlsplit(address).scheme for address in addresses} <= {"http", "https"}
    assert addresses == ([web_address(link)] if web_address(link) else [])
    rendered = "".join(child.content for child in inner)
    for part in (text, author, title):
        assert one_line(part, 80).removesuffix("…") in rendered


BLOCKS = [
    *("heading_open", "inline", "heading_close"),
    # Days, opening, labels, authors.
    *(("paragraph_open", "inline", "paragraph_close") * 4),
    *("heading_open", "inline", "heading_close", "bullet_list_open", "list_item_open"),
    *("paragraph_open", "inline", "paragraph_close", "list_item_close", "bullet_list_close"),
]
INLINE = {
    *("text", "strong_open", "strong_close", "em_open", "em_close", "link_open", "link_close"),
    "text_special",
}


@given(texts | st.sampled_from(["1. x", "12) x", "- x", "+ x", "= x", "===", "---", "## x", "*"]))
def test_an_introduction_is_escaped_too(text: str) -> None:
    introduction = one_line(text, 600) or "x"

    page = ParsedPage(html(digest(post("a"), introduction=introduction)))
    tokens = MarkdownIt("commonmark").parse(markdown(digest(post("a"), introduction=introduction)))

    usual = MarkdownIt("commonmark").parse(markdown(digest(post("a"), introduction="Plain.")))
    assert set(page.tags) <= KNOWN_TAGS
    assert page.links == []
    assert [token.type for token in tokens] == [token.type for token in usual]
    rendered = "".join(child.content for child in tokens[7].children or [])
    assert rendered == introduction


@given(texts, st.integers(1, 300))
def test_one_line_limits_the_length_and_removes_control_characters(
    text: str, max_length: int
) -> None:
    line = one_line(text, max_length)

    assert len(line) <= max_length + 1
    assert not re.search(r"[\x00-\x1f\u2028-\u202e\u2066-\u2069]", line)


@pytest.mark.parametrize(
    ("given_link", "safe"),
    [
        ("https://x.com/ada/status/1?s=20#top", "https://x.com/ada/status/1?s=20#top"),
        ("http://münchen.example/ö", "http://m%C3%BCnchen.example/%C3%B6"),
        ("https://x.com/a%20b", "https://x.com/a%20b"),
        ("ftp://x.com", ""),
        ("https:///path", ""),
        ("x.com/1", ""),
    ],
)
def test_only_http_and_https_addresses_become_links(given_link: str, safe: str) -> None:
    assert web_address(given_link) == safe


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("daily-2026-07-18", "18 July 2026"),
        ("weekly-2026-07-13", "13 to 19 July 2026"),
        ("weekly-2026-06-29", "29 June to 5 July 2026"),
        ("weekly-2026-12-28", "28 December 2026 to 3 January 2027"),
    ],
)
def test_a_title_spells_out_the_period(name: str, title: str) -> None:
    period = period_of(name)
    assert period

    assert title_of(period) == title


def test_the_day_of_a_post_is_in_the_time_zone_of_the_digest() -> None:
    late = msgspec.structs.replace(post("x"), bookmarked_at="2026-07-14T23:30:00+00:00")
    response = msgspec.structs.replace(digest(late), time_zone="Europe/Berlin")

    assert "15 July" in markdown(response)
    assert "15 July" in html(response)
    assert "15 July" in plain_text(response)


def test_a_page_loads_nothing() -> None:
    page = html(digest(post("x", link="https://x.com/1")), "https://example.com/unsubscribe/1")

    assert not re.search(r"(?i)\bsrc=|url\(|@import|<link|<script", page)
    assert ParsedPage(page).links == ["https://x.com/1", "https://example.com/unsubscribe/1"]


def test_sections_without_posts_are_left_out() -> None:
    response = digest(post("x"))

    for text in (markdown(response), html(response), plain_text(response)):
        assert "Worth reading" not in text
        assert "Forgotten?" not in text


def test_plain_text_has_the_introduction_and_says_how_many_posts_are_left_out() -> None:
    whole = digest(post("a heron"), introduction="A week of birds.")
    # Seven are shown.
    saved = msgspec.structs.replace(whole.saved, count=18)

    lines = plain_text(msgspec.structs.replace(whole, saved=saved)).splitlines()

    assert lines[2] == "A week of birds."
    assert "And 11 more." in lines
