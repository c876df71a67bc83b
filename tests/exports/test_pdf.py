"""PDF: documents, hostile texts, and volumes."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from bowerbird.exports.pdf_document import MAX_CHARACTERS, clean, paragraphs
from bowerbird.exports.tasks import Picture
from bowerbird.exports.texts import safe_url
from bowerbird.exports.volumes import MAX_POSTS, PostIndex
from tests.exports.documents import Document
from tests.exports.files import bookmark, export

SCRIPTS = {
    "Latin": "Žluťoučký kůň: naïve façade",
    "Greek": "γνώση είναι δύναμη",
    "Cyrillic": "Книги хранят время",
    "Chinese": "读书破万卷下笔如有神",
    "Japanese": "今日は図書館で本を読んだ",
    "Korean": "한국어 문장도 잘 보인다",
    "Arabic": "الخط العربي طريقة في التفكير",
    "Hebrew": "ספריות הן המקום שבו זמן נשמר",
    "Devanagari": "किताबें वह दर्पण हैं",
    "Thai": "การอ่านหนังสือ",
    "emoji": "🚀🎉😀",
}


def document(folder: Path, *posts: dict[str, Any]) -> Document:
    return Document(export("pdf", folder, posts).path)


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Document:
    posts = [bookmark(text=text) for text in SCRIPTS.values()]
    written = export("pdf", tmp_path_factory.mktemp("scripts"), posts)
    assert written.notes == []
    return Document(written.path)


@pytest.mark.parametrize("script", SCRIPTS)
def test_text_is_searchable_in_every_script(scripts: Document, script: str) -> None:
    text = SCRIPTS[script]

    assert all(scripts.contains(word) for word in text.split()) or text in scripts.text


def test_a_document_has_a_cover_contents_and_posts_by_month_newest_first(tmp_path: Path) -> None:
    found = document(
        tmp_path,
        bookmark(
            text="middle",
            author_id="1",
            tags=["a", "b"],
            bookmarked_at="2026-03-01T00:00:00+00:00",
        ),
        bookmark(
            text="newest",
            author_id="2",
            tags=["b"],
            is_read=True,
            bookmarked_at="2026-03-09T00:00:00+00:00",
        ),
        bookmark(text="oldest", author_id="2", bookmarked_at="2025-12-02T00:00:00+00:00"),
    )

    assert found.is_tagged
    assert found.metadata["Title"] == "All my bookmarks"
    assert found.metadata["Author"] == "Bowerbird"
    assert found.metadata["CreationDate"].startswith("D:20261115")
    assert found.bookmarks == ["Contents", "March 2026", "December 2025"]
    cover = " ".join(found.pages[0].split())
    assert cover.startswith("BOWERBIRD")
    assert "All my bookmarks" in cover
    assert "Everything I have saved." in cover
    assert "3 2 2 2 posts authors unread labels" in cover
    assert "Bookmarked 2 December 2025 – 9 March 2026" in cover  # noqa: RUF001 - a span
    assert "Created on 15 November 2026, 00:00 UTC" in cover
    contents = " ".join(found.pages[1].replace(".", " ").split())
    assert "2026 March 2 posts 3 2025 December 1 post 3" in contents
    order = ["newest", "middle", "December 2025", "oldest"]
    positions = [found.flat.rindex(words) for words in order]
    assert positions == sorted(positions)


def test_a_thread_stays_together_oldest_first(tmp_path: Path) -> None:
    def part(number: int, day: int) -> dict[str, Any]:
        return bookmark(
            text=f"part-{number}",
            meta={"tweet_conversation_id": "9"},
            posted_at=f"2026-01-01T00:00:0{number}+00:00",
            bookmarked_at=f"2026-03-{day:02}T00:00:00+00:00",
        )

    other = bookmark(text="stranger", bookmarked_at="2026-03-05T00:00:00+00:00")
    reply = bookmark(text="reply", author_id="8", meta={"tweet_conversation_id": "9"})
    found = document(tmp_path, part(3, 9), other, part(1, 1), part(2, 2), reply).flat

    order = ["reply", "Thread of 3 posts", "part-1", "part-2", "part-3", "stranger"]
    positions = [found.rindex(words) for words in order]
    assert positions == sorted(positions)


def test_a_post_is_printed_with_all_its_parts(tmp_path: Path) -> None:
    found = document(
        tmp_path,
        bookmark(
            text="first line\nsecond line\n\nnew paragraph",
            name="Ada Lindqvist",
            author="ada",
            tags=["Design", "Later"],
            posted_at="2026-02-03T04:05:06+00:00",
            article={
                "title": "Reading rooms",
                "plain_text": "Once.\n\nAgain.",
                "url": "https://e.example/a",
            },
            quoted={
                "author_details": {"name": "Bob"},
                "author_username": "bob",
                "text": "I was quoted",
                "link": "https://x.com/bob/status/1",
            },
            attachments=[
                {"type": "image", "url": "https://e.example/1.jpg", "alt_text": "A quiet page"},
                {"type": "poll", "choices": ["Tabs", {"label": "Spaces", "votes": 1204}]},
                {
                    "type": "link",
                    "url": "https://e.example/b",
                    "title": "Guide",
                    "description": "Why",
                },
            ],
        ),
    )

    for words in (
        *("Ada Lindqvist @ada", "3 February 2026, 04:05", "first line second line new paragraph"),
        *("Design", "Later", "Reading rooms Once. Again.", "Bob @bob", "I was quoted"),
        *("IMAGE A quiet page e.example/1.jpg", "POLL – Tabs – Spaces (1,204)"),  # noqa: RUF001 - as printed
        *("LINK Guide Why e.example/b", "x.com/ada/status/"),
    ):
        assert words in found.flat
    for address in ("e.example/a", "x.com/bob/status/1", "e.example/1.jpg", "e.example/b"):
        assert f"https://{address}" in found.links()


def test_an_unavailable_quoted_post_is_marked_as_such(tmp_path: Path) -> None:
    found = document(
        tmp_path,
        bookmark(quoted={"post_id": "1", "link": "https://x.com/a/status/1", "unavailable": True}),
    )

    assert "The quoted post is no longer available." in found.flat
    assert "https://x.com/a/status/1" in found.links()


def test_a_post_with_almost_no_fields_is_printed(tmp_path: Path) -> None:
    bare = bookmark(
        text="", name="", author="", posted_at="", article={}, quoted={}, attachments=[{}]
    )

    found = document(tmp_path, bare | {"bookmarked_at": ""}).flat

    assert "Undated" in found
    assert "Unknown author" in found


def test_an_export_without_posts_says_that_nothing_matched(tmp_path: Path) -> None:
    written = export("pdf", tmp_path, [])

    assert "No posts matched the filters." in Document(written.path).flat
    assert (written.media_type, written.suffix) == ("application/pdf", ".pdf")


def test_the_same_posts_give_the_same_file(tmp_path: Path) -> None:
    post = bookmark()

    first = export("pdf", tmp_path, [post]).path.read_bytes()
    second = export("pdf", tmp_path, [post]).path.read_bytes()

    assert first == second


def test_notes_and_highlights_are_printed_with_their_post(tmp_path: Path) -> None:
    passages = [
        {"id": "a", "quote": "the marked passage", "comment": "why it matters"},
        {"id": "b", "quote": "\u200b"},
    ]
    found = document(
        tmp_path, bookmark(text="Text", note="#set page(fill: red)\n\n*mine*", highlights=passages)
    )

    assert all(
        found.contains(words)
        for words in ("the marked passage", "why it matters", "#set page(fill: red)", "*mine*")
    )


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


def numbered(number: int, **fields: Any) -> dict[str, Any]:
    month = 1 + number // 1_000
    return bookmark(text=f"n{number}", bookmarked_at=f"2026-{month:02}-01T00:00:00+00:00", **fields)


def volumes(posts: list[dict[str, Any]]) -> list[list[list[int]]]:
    index = PostIndex()
    index.add([Raw(json.dumps(post).encode()) for post in posts])
    return list(index.volumes())


def counts(posts: list[dict[str, Any]]) -> list[int]:
    return [sum(map(len, volume)) for volume in volumes(posts)]


def test_more_posts_than_one_document_has_are_split_into_volumes() -> None:
    posts = [numbered(number) for number in range(MAX_POSTS + 1)]
    assert counts(posts[:-1]) == [MAX_POSTS]

    found = volumes(posts)

    assert [sum(map(len, volume)) for volume in found] == [2_000, 2_000, 1_001]
    numbers = [number for volume in found for thread in volume for number in thread]
    assert sorted(numbers) == list(range(MAX_POSTS + 1))


def test_volumes_of_long_texts_contain_few_posts() -> None:
    long = {"title": "T", "plain_text": "x" * 600_000}

    assert counts([numbered(number, article=long) for number in range(9)]) == [2, 2, 2, 2, 1]


def test_a_very_long_conversation_does_not_exceed_the_size_of_a_volume() -> None:
    meta = {"tweet_conversation_id": "1"}

    assert max(counts([numbered(number, meta=meta) for number in range(6_000)])) <= 2_000


@pytest.mark.slow
def test_a_large_export_is_a_zip_of_documents(tmp_path: Path) -> None:
    written = export("pdf", tmp_path, [numbered(number) for number in range(MAX_POSTS + 1)])

    assert (written.media_type, written.suffix) == ("application/zip", ".zip")
    with zipfile.ZipFile(written.path) as archive:
        assert archive.namelist() == [
            "volume-1-of-3-2026-06-to-2026-04.pdf",
            "volume-2-of-3-2026-04-to-2026-02.pdf",
            "volume-3-of-3-2026-02-to-2026-01.pdf",
        ]
        archive.extract("volume-3-of-3-2026-02-to-2026-01.pdf", tmp_path)
    found = Document(tmp_path / "volume-3-of-3-2026-02-to-2026-01.pdf")
    assert "Volume 3 of 3" in found.pages[0]
    assert "1,001" in found.pages[0]
    assert found.bookmarks == ["Contents", "February 2026", "January 2026"]


def test_many_large_pictures_make_several_volumes() -> None:
    urls = [f"https://pbs.twimg.com/{number}" for number in range(300)]
    pictures = {url: Picture("x", 2_000, 1_000) for url in urls}
    posts = [
        Raw(json.dumps(bookmark(attachments=[{"type": "image", "url": url}])).encode())
        for url in urls
    ]
    with_pictures, without = PostIndex(pictures), PostIndex()
    for index in (with_pictures, without):
        index.add(posts)

    assert len(list(without.volumes())) == 1
    volumes = list(with_pictures.volumes())
    assert len(volumes) > 5
    # Two million pixels each: 8 MB of memory.
    assert max(sum(map(len, volume)) for volume in volumes) * 8 < 400
