"""A PDF export is a sorted document with contents and links, searchable in every script."""

from pathlib import Path
from typing import Any

import pytest

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
