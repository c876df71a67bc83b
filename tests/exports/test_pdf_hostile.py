"""A document prints every post as plain text, however hostile its content."""

from pathlib import Path

import pytest

from bowerbird.exports.pdf_document import MAX_CHARACTERS, clean, paragraphs
from bowerbird.exports.plain_text import safe_url
from tests.exports.documents import Document
from tests.exports.files import bookmark, export

MARKUP = (
    '*b* _i_ #heading(1)[x] $x^2$ <label> @ref [#link("https://evil.example")] `raw` // no /* no */'
)
IMPORT = '#import "@preview/cetz:0.3.0"'
READ = '#read("/etc/passwd") #json("document.json")'


def test_markup_is_printed_as_text_in_every_field(tmp_path: Path) -> None:
    post = bookmark(
        text=f"{MARKUP}\n= No heading\n{IMPORT}\n{READ}",
        name=MARKUP,
        author="*a*",
        tags=["#eval", "$"],
        article={"title": "= T #x", "plain_text": READ},
        quoted={"text": IMPORT, "author_details": {"name": "@q"}},
        attachments=[
            {"type": "image", "alt_text": "#pagebreak()"},
            {"type": "poll", "choices": ["#c"]},
        ],
    )

    found = Document(export("pdf", tmp_path, [post]).path)

    for words in (
        "*b* _i_ #heading(1)[x] $x^2$ <label> @ref",
        IMPORT,
        READ,
        "= No heading",
        "= T #x",
    ):
        assert words in found.flat
    for words in ("#pagebreak()", "#eval", "@*a*", "#c"):
        assert words in found.flat


def test_only_web_addresses_become_links(tmp_path: Path) -> None:
    post = bookmark(
        text="https://good.example/a, javascript:alert(1) file:///etc/passwd http://also.example.",
        attachments=[
            {"type": "image", "url": "javascript:alert(1)"},
            {"type": "video", "url": "ftp://f"},
        ],
        article={"title": "t", "url": "data:text/html,x"},
        quoted={"text": "q", "link": "vbscript:x"},
    )

    found = Document(export("pdf", tmp_path, [post]).path).links()

    own = post["tweet_details"]["link"]
    assert sorted(set(found)) == sorted({"https://good.example/a", "http://also.example", own})


@pytest.mark.parametrize(
    "text",
    [
        "javascript:x",
        "https://a b",
        "https://a\n",
        "https://é.example",
        "HTTPS://A",
        "https://" + "a" * 2_000,
    ],
)
def test_other_addresses_do_not_become_links(text: str) -> None:
    assert safe_url(text) == ""


def test_direction_overrides_are_removed() -> None:
    assert clean("abc\u202edef\u202c \u2066x\u2069") == "abcdef x"


def test_unprintable_characters_are_removed_and_stacked_marks_are_limited() -> None:
    assert clean("a\x00b\x07c\x1b[0m\ufffe\r\nd\u2028e") == "abc[0m\nd\ne"
    assert clean("z" + "\u0301" * 500) == "z" + "\u0301" * 4
    assert clean("e\u0301\u0302") == "e\u0301\u0302"


def test_each_line_has_its_own_direction() -> None:
    found = paragraphs("123 مرحبا\nhello مرحبا\n\n😀 שלום")

    assert [line.get("r", False) for line in found] == [True, False, True]


def test_a_very_long_text_is_cut_with_a_note() -> None:
    found = clean("x" * (MAX_CHARACTERS + 5))

    assert found.startswith("x" * MAX_CHARACTERS + "\n\n[")
    assert found.endswith("the JSON export has the full text.]")


def test_every_hostile_text_is_printed_to_its_end(tmp_path: Path) -> None:
    texts = {
        "controls": "".join(map(chr, range(1, 32))) + "end-of-controls",
        "zalgo": "".join(letter + "\u0301\u0316" * 40 for letter in "zalgo") + " end-of-zalgo",
        "emoji": "😀👨‍👩‍👧🏳️‍🌈" * 1_500 + " end-of-emoji",
        "bidi": "\u202e\u2067 abc \u200f" * 200 + " end-of-bidi",
        "private": "\ue000\uf8ff\U000f0000\U0010fffd end-of-private",
        "joiners": "\u200d" * 3_000 + "\ufe0f" * 3_000 + " end-of-joiners",
        "address": "https://e.example/" + "a" * 9_000 + " end-of-address",
        "blank": " \u3000\u200b\n" * 500 + "end-of-blank",
    }
    posts = [bookmark(text=text, name=text[:200], tags=[text[:100]]) for text in texts.values()]

    found = Document(export("pdf", tmp_path, posts).path)

    for name in texts:
        assert f"end-of-{name}" in found.flat


def test_a_text_of_a_megabyte_continues_over_many_pages(tmp_path: Path) -> None:
    word = "unbreakable" * 3_000
    text = (
        f"{word} "
        + "lorem ipsum dolor sit amet " * 14_000
        + "\n"
        + "עברית ועוד " * 1_000
        + "\nend-of-text"
    )

    found = Document(export("pdf", tmp_path, [bookmark(text=text)]).path)

    assert len(found.pages) > 80
    assert "end-of-text" in found.flat
    assert "unbreakable" * 3 in found.flat


def test_no_part_of_a_post_is_cut_off_at_the_end_of_a_page(tmp_path: Path) -> None:
    words = "many words " * 900
    posts = [
        bookmark(text="short", attachments=[{"type": "image", "alt_text": words + "last_alt"}]),
        bookmark(text="short", tags=[f"label {number}" for number in range(800)] + ["last_tags"]),
        bookmark(text="short", tags=["書" * 90 + "last_label"]),
        bookmark(text="short", name=words + "last_name"),
        bookmark(
            text="short",
            attachments=[{"type": "poll", "choices": [*map(str, range(300)), "last_choices"]}],
        ),
        bookmark(text="line\n" * 300 + "last_lines"),
    ]

    found = Document(export("pdf", tmp_path, posts).path).flat

    for part in ("alt", "tags", "label", "name", "choices", "lines"):
        assert f"last_{part}" in found
