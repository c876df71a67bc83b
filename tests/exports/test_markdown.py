"""Markdown files and a file of bookmarks."""

import io
import re
import unicodedata
import zipfile
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import UNSET

from bowerbird.exports import texts
from bowerbird.exports.markdown_note import Note, note_of
from bowerbird.exports.tasks import FORMATS, FormatName, Picture
from bowerbird.exports.texts import printable
from bowerbird.model.posts.bookmarks import Bookmark
from tests.exports.files import bookmark, export
from tests.support.posts.source_files import report

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)

RISKY = st.text("\\`*_{}[]()<>#+-.!|~=:;$%^&@\"'/ \n\t1aä\u2028\x00", max_size=40)

HOSTILE = (
    *("---\ntitle: mine\n---", "# heading", "- item", "1. one", "1) one", "+ x", "* x", "> q"),
    *("a\n===", "a\n---", "```\ncode\n```", "~~~\nx", "    code", "\tcode", "a | b\n-|-\nc | d"),
    *("<script>alert(1)</script>", "<img src=x onerror=y>", "<!-- x", "&lt;b&gt;", "<?php ?>"),
    *(
        "[x](javascript:alert(1))",
        "![x](https://a.example)",
        "[a]: https://a.example\n[a]",
        "[[p]]",
    ),
    *("{{< figure >}}", "{{% x %}}", "{{embed ((a))}}", "<% tp.x %>", "%%hidden%%", "==mark=="),
    *("$x$", "#tag", "key:: value", "((ref))", "^block", "a\n: definition", "{.class}", "__init__"),
    *(
        "\\`a`",
        "\\",
        "a\\\nb",
        "_a_",
        "2 * 3 * 4",
        "<https://x.example/<b>",
        "https://a.example/%%b",
    ),
)

# Signs that Obsidian, Logseq or Hugo would act upon, each without a backslash before it.
RUN_BY_OTHERS = re.compile(r"(?<!\\)(?:\{\{|%%|==|\(\(|\[\[|::|[$#^]|<(?!https?://))")


def note(**fields: Any) -> Note:
    return note_of(msgspec.convert(bookmark(**fields), Bookmark), {})


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    _, head, body = text.split("---\n", 2)
    return yaml.safe_load(head), body


def tokens(text: str) -> list[Token]:
    read = MarkdownIt("js-default", {"html": True}).parse(text)
    return [inner for token in read for inner in (token, *(token.children or ()))]


def shown(text: str) -> list[str]:
    """The lines that a reader of Markdown shows."""
    lines = "".join(
        {"softbreak": "\n", "hardbreak": "\n", "paragraph_close": "\n"}.get(
            token.type, token.content if token.type == "text" else ""
        )
        for token in tokens(text)
    )
    return words_of(lines)


def words_of(text: str) -> list[str]:
    # Doubled percent signs of an address are written as it is encoded.
    whole = printable(text).replace("%25%25", "%%")
    lines = (" ".join(line.split()) for line in whole.split("\n"))
    return [line for line in lines if line]


@given(TEXTS | RISKY | st.sampled_from(HOSTILE))
@example("1\n- 2")
@example("-\x0b-")
@example("|\n:-")
def test_a_text_is_shown_as_it_is_and_is_never_markup(text: str) -> None:
    written = texts.lines(text)

    kinds = {token.type for token in tokens(written)}
    assert kinds <= {
        *("paragraph_open", "inline", "text", "hardbreak", "softbreak", "paragraph_close"),
        *("link_open", "link_close"),
    }
    assert shown(written) == words_of(text)
    addresses = [token.attrs["href"] for token in tokens(written) if token.type == "link_open"]
    assert all(str(address).startswith(("http://", "https://")) for address in addresses)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_a_post_is_run_by_a_program_that_reads_the_file(text: str) -> None:
    written = note(
        text=text,
        name=text,
        author=text,
        tags=[text],
        article={"title": text, "plain_text": text},
        quoted={"text": text, "author_username": text, "link": text},
        attachments=[{"type": "image", "url": text, "alt_text": text}, {"title": text}],
        highlights=[{"id": "a", "quote": text, "comment": text}],
        gone_reason=text,
    )

    front, body = front_matter(written.text)
    assert front["labels"] == [" ".join(printable(text).split())]
    own = re.sub(r"(?m)^(?:> )?#{2,3} (?=\S)|\]\(<https?:[^>]*>\)|<https?:[^>]*>", "", body)
    assert RUN_BY_OTHERS.findall(own) == []
    assert not {"html_block", "html_inline", "fence", "code_block", "image", "hr"} & {
        token.type for token in tokens(body)
    }


@given(TEXTS | RISKY | st.sampled_from(HOSTILE))
@example("\x85\ufeff\u2028 - x: y # z")
def test_front_matter_is_yaml_that_gives_every_text_back(text: str) -> None:
    one_line = " ".join(printable(text).split())
    written = note(text="", name=text or "a", tags=[text, "b"], article={"title": text})

    front, _ = front_matter(written.text)

    assert front.get("author", "") == one_line or not text
    assert front["labels"] == [one_line, "b"]
    assert front["post_id"].isdigit()
    assert isinstance(front["title"], str)


def test_front_matter_has_what_other_programs_sort_and_search_by() -> None:
    front, _ = front_matter(
        note(
            post_id="20",
            text="Good morning, https://e.example/a everybody",
            tags=["Machine learning", "2026", "a/b", "हिन्दी", "☕"],
            is_read=True,
            gone_at="2026-11-02T00:00:00+00:00",
        ).text
    )

    link = front.pop("link")
    assert link.startswith("https://x.com/ada/status/")
    assert front == {
        "post_id": "20",
        "title": "Good morning, everybody",
        "author": "Ada L.",
        "handle": "ada",
        "network": "x",
        "posted": datetime(2026, 1, 1, tzinfo=UTC),
        "saved": datetime(2026, 10, 31, 12, tzinfo=UTC),
        "date": datetime(2026, 10, 31, 12, tzinfo=UTC),
        "tags": ["Machine-learning", "_2026", "a/b", "हिन्दी"],
        "labels": ["Machine learning", "2026", "a/b", "हिन्दी", "☕"],
        "is_read": True,
        "is_archived": False,
        "gone": datetime(2026, 11, 2, tzinfo=UTC),
    }


def test_a_file_has_the_whole_post() -> None:
    _, body = front_matter(
        note(
            text="first\n\nsecond https://e.example/a_(b)_c.",
            quoted={"author_username": "bob", "text": "quoted\n\nmore"},
            article={"title": "T", "plain_text": "long", "url": "https://e.example/t"},
            attachments=[{"type": "poll", "choices": ["yes", {"label": "no", "votes": 3}]}],
            highlights=[{"id": "a", "quote": "first", "comment": "nice"}],
            note="**mine**\n\n```\nnot closed",
        ).text
    )

    for part in (
        "first\n\nsecond <https://e.example/a_(b)_c>.",
        "- yes\n- no (3)",
        "> @bob\n>\n> quoted\n>\n> more",
        "## T\n\nlong\n\n[The article](<https://e.example/t>)",
        "## Highlights\n\n> first\n\nnice\n\n## Note\n\n**mine**\n\n```\nnot closed\n",
    ):
        assert part in body


@pytest.mark.parametrize(
    "text",
    [
        *("<b>x</b>", "[x](javascript:alert(1))", "[x](JAVASCRIPT&colon;alert(1))", "{{< x >}}"),
        *("![x](file:///etc/passwd)", "<%* x %>", "[a]\n\n[a]: data:text/html,x", "<!-- x -->"),
    ],
)
def test_a_note_with_html_or_a_dangerous_link_is_text(text: str) -> None:
    _, body = front_matter(note(note=text).text)

    written = body.partition("## Note\n\n")[2]
    assert {token.type for token in tokens(written)} <= {
        *("paragraph_open", "paragraph_close", "inline", "text", "softbreak", "hardbreak")
    }


@pytest.mark.parametrize("text", ["*a* [b](https://e.example) <https://e.example>", "a < b & c"])
def test_a_harmless_note_stays_as_it_is(text: str) -> None:
    assert note(note=text).text.endswith(f"## Note\n\n{text}\n")


def test_only_kept_pictures_are_shown() -> None:
    images = [{"type": "image", "url": f"https://e.example/{n}.jpg", "alt_text": n} for n in "ab"]
    post = msgspec.convert(bookmark(attachments=images), Bookmark)

    written = note_of(post, {"https://e.example/a.jpg": Picture("0f", 1, 1, "image/jpeg")})

    assert "![a](pictures/0f.jpg)" in written.text
    assert "[Image: b](<https://e.example/b.jpg>)" in written.text
    assert written.pictures == ["0f.jpg"]


RESERVED = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
}


@given(
    TEXTS | RISKY | st.sampled_from(("../../etc/passwd", "CON", "a" * 500, "語" * 200, "ﾊﾞ" * 99))
)
def test_a_file_name_is_safe_on_every_system(text: str) -> None:
    for name in (
        texts.file_name("9" * 40, text, "ada"),
        texts.file_name("1", "", text),
    ):
        assert len(name.encode()) <= 120
        assert unicodedata.is_normalized("NFC", name)
        assert re.fullmatch(
            r"[^\x00-\x1f\x7f<>:\"/\\|?*.\s][^\x00-\x1f\x7f<>:\"/\\|?*.]*\.md", name
        )
        assert name.partition(".")[0].lower() not in RESERVED
        assert unicodedata.category(name[0])[0] != "M"


def test_a_file_keeps_its_name_when_anything_but_the_text_changes() -> None:
    text = (
        "The birds of spring, as they were seen from a window in the house at the end of the lane"
    )
    first = note(post_id="1947000000000000001", text=text)
    later = note(
        post_id="1947000000000000001",
        text=text,
        name="New",
        tags=["x"],
        article={"title": "Later"},
        note="n",
    )

    assert first.name == later.name
    assert first.name == (
        "the-birds-of-spring-as-they-were-seen-from-a-window-in-the-1947000000000000001.md"
    )
    assert note(post_id="5", text="https://t.co/a", author="ada").name == "ada-5.md"


def test_the_zip_file_has_each_post_once(tmp_path: Path) -> None:
    posts = [bookmark(text="the same") for _ in range(50)]

    written = export("markdown", tmp_path, posts)

    with zipfile.ZipFile(io.BytesIO(written.path.read_bytes())) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        fronts = [front_matter(archive.read(name).decode())[0] for name in names]
    assert len(set(names)) == 50
    assert [front["post_id"] for front in fronts] == [post["post_id"] for post in posts]
    assert (written.media_type, written.suffix) == ("application/zip", ".zip")


def test_the_table_has_every_format() -> None:
    assert get_args(FormatName) == tuple(FORMATS)


HOSTILE_NETSCAPE = "</A><script>alert(1)</script>\"'&lt;\n<H3>x</H3>\0"


def written(folder: Path, *posts: dict[str, Any]) -> str:
    return export("netscape", folder, posts).path.read_text(encoding="utf-8")


def with_link(link: str, **fields: Any) -> dict[str, Any]:
    post = bookmark(**fields)
    post["tweet_details"]["link"] = link
    return post


def test_our_importer_reads_the_posts_back_by_their_links(tmp_path: Path) -> None:
    posts = [
        with_link("https://x.com/ada/status/20", text="Good <morning>", tags=["Birds", "to read"]),
        with_link("https://x.com/ada/status/21", text="two\nlines", note="My & note"),
    ]

    found = report(written(tmp_path, *posts))

    one, two = found.posts
    assert found.left_out == []
    assert (one.record.post_id, one.record.tweet_details.text) == ("20", "Good <morning>")
    assert one.record.tags == ["Birds", "to read"]
    assert one.record.bookmarked_at == "2026-10-31T12:00:00+00:00"
    assert (two.record.post_id, two.record.tweet_details.text) == ("21", "two lines")
    assert (two.record.tags, two.note) == (UNSET, "My & note")


def test_a_hostile_post_is_one_link(tmp_path: Path) -> None:
    link = "https://x.com/ada/status/20"
    content = written(
        tmp_path,
        with_link(
            link, text=HOSTILE_NETSCAPE, tags=[HOSTILE_NETSCAPE, "a,b"], note=HOSTILE_NETSCAPE
        ),
    )

    class Tags(HTMLParser):
        seen: list[str] = []  # noqa: RUF012 - of this test

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.seen.append(tag)
            if tag == "a":
                assert dict(attrs)["href"] == link

    reader = Tags()
    reader.feed(content)
    assert reader.seen == ["meta", "meta", "title", "h1", "dl", "p", "dt", "a", "dd", "p"]
    (post,) = report(content).posts
    assert post.record.post_id == "20"
    assert post.record.tags is not UNSET
    assert "a b" in (post.record.tags or [])


def test_posts_without_a_link_are_left_out_with_a_note(tmp_path: Path) -> None:
    posts = [with_link("javascript:alert(1)"), with_link(""), bookmark()]

    made = export("netscape", tmp_path, posts)

    assert made.path.read_text(encoding="utf-8").count("<A ") == 1
    assert made.notes == ["2 posts have no link, so the file leaves them out."]
    assert (made.media_type, made.suffix) == ("text/html; charset=utf-8", ".html")
