"""The Markdown of notes becomes markup that cannot do anything."""

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bowerbird.web.notes.markdown import rendered

ALLOWED = {
    *("p", "br", "strong", "em", "s", "code", "pre", "a", "ul", "ol", "li", "blockquote", "hr"),
    *("h3", "h4", "h5", "h6"),
}
ATTRIBUTES = {"dir", "href", "rel", "start", "tabindex"}
SIGNS = st.text("*_~`[]()<>!#>-+ \n\t\\1.a\"'&:/", max_size=120)
LINKS = st.sampled_from(
    ["https://a.example/b", "javascript:alert(1)", "data:text/html,x", "//evil", "<script>"]
)


class _Parsed(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def check(html: str) -> _Parsed:
    parsed = _Parsed(html)
    assert parsed.open == []
    assert parsed.tags <= ALLOWED
    assert parsed.attributes <= ATTRIBUTES
    assert all(re.match(r"https?://[^/]", link, re.IGNORECASE) for link in parsed.links)
    return parsed


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain", '<p dir="auto">plain</p>'),
        ("a\nb\n\nc", '<p dir="auto">a<br>\nb</p><p dir="auto">c</p>'),
        ("# T", '<h3 dir="auto">T</h3>'),
        ("###### T ##", '<h6 dir="auto">T</h6>'),
        ("**b** *i* __b__ _i_ ~~s~~", None),
        ("snake_case_name and 2*3*4", None),
        ("`<b>`", '<p dir="auto"><code>&lt;b&gt;</code></p>'),
        (
            "```\n<b>\n  x\n```",
            '<pre tabindex="0"><code dir="auto">&lt;b&gt;\n  x\n</code></pre>\n',
        ),
        ("> a\n> b", '<blockquote><p dir="auto">a<br>\nb</p></blockquote>'),
        ("- a\n- b", '<ul><li dir="auto">a</li><li dir="auto">b</li></ul>'),
        ("3. a\n4. b", '<ol start="3"><li dir="auto">a</li><li dir="auto">b</li></ol>'),
        ("- a\n  - b", '<ul><li dir="auto">a<ul><li dir="auto">b</li></ul></li></ul>'),
        ("---", "<hr>"),
        ("\\*a\\*", '<p dir="auto">*a*</p>'),
        (
            "[a](https://b.example)",
            '<p dir="auto"><a href="https://b.example" rel="noreferrer">a</a></p>',
        ),
        ("[a](javascript:alert(1))", '<p dir="auto">[a](javascript:alert(1))</p>'),
        ("[a](data:text/html,x)", '<p dir="auto">[a](data:text/html,x)</p>'),
        (
            "![cat](https://b.example/c.png)",
            '<p dir="auto"><a href="https://b.example/c.png" rel="noreferrer">cat</a></p>',
        ),
        (
            "https://b.example/c).",
            '<p dir="auto"><a href="https://b.example/c" rel="noreferrer">b.example/c</a>).</p>',
        ),
        ("<script>alert(1)</script>", '<p dir="auto">&lt;script&gt;alert(1)&lt;/script&gt;</p>'),
        ('<a href="x" onclick=y>', None),
        ("", ""),
    ],
)
def test_markdown_becomes_safe_markup(text: str, html: str | None) -> None:
    shown = rendered(text)

    check(shown)
    if html is not None:
        assert shown == html


def test_emphasis_is_shown_and_names_are_not_changed() -> None:
    assert rendered("**b** *i* ~~s~~") == (
        '<p dir="auto"><strong>b</strong> <em>i</em> <s>s</s></p>'
    )
    assert "<em>" not in rendered("snake_case_name and 2 * 3 * 4")


@given(text=st.lists(st.one_of(SIGNS, LINKS, st.text(max_size=20)), max_size=8).map("".join))
def test_no_text_becomes_other_markup(text: str) -> None:
    check(rendered(text))


@given(text=st.text(st.characters(categories=["L", "N"], include_characters=" \n"), max_size=80))
def test_plain_words_are_kept(text: str) -> None:
    assert "".join(check(rendered(text)).text.split()) == "".join(text.split())


@pytest.mark.parametrize(
    "part",
    [
        "*",
        "**a",
        "_a",
        "[",
        "![*",
        "[a](",
        "`",
        "> ",
        "- ",
        "  " * 9 + "- a\n",
        "```\n",
        "\\",
        "1. ",
    ],
)
def test_a_long_hostile_note_takes_no_time(part: str) -> None:
    started = time.process_time()

    check(rendered(part * (20_000 // len(part))))

    assert time.process_time() - started < 4
