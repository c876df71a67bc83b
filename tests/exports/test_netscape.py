"""The bookmarks file is read by our own importer, and is no page that does anything."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from msgspec import UNSET

from tests.exports.files import bookmark, export
from tests.support.source_files import report

HOSTILE = "</A><script>alert(1)</script>\"'&lt;\n<H3>x</H3>\0"


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
    content = written(tmp_path, with_link(link, text=HOSTILE, tags=[HOSTILE, "a,b"], note=HOSTILE))

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
