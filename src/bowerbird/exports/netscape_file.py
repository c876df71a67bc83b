"""Writes the bookmarks file that browsers and other programs for bookmarks import."""

import html
from collections.abc import Callable
from pathlib import Path
from typing import Final

from bowerbird.clock import MICROSECONDS
from bowerbird.exports import tasks
from bowerbird.exports.tasks import Report, Task
from bowerbird.exports.texts import printable, safe_url
from bowerbird.model import instants
from bowerbird.model.posts.bookmarks import Bookmark

_HEAD: Final = """\
<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<META HTTP-EQUIV="Content-Security-Policy" CONTENT="default-src 'none'">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
"""
_END: Final = "</DL><p>\n"
_TITLE_CHARACTERS: Final = 200


def run_step(task: Task, send_report: Callable[[Report], None]) -> Report:
    done = left_out = 0
    with Path(task.target).open("w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.write(_HEAD)
        for page in tasks.read_pages(Path(task.source), Bookmark):
            links = [link for post in page if (link := format_link(post))]
            file.writelines(links)
            left_out += len(page) - len(links)
            done += len(page)
            send_report(Report(done=done))
        file.write(_END)
    return Report(done=done, is_finished=True, notes=_notes(left_out))


def _notes(left_out: int) -> list[str]:
    if not left_out:
        return []
    subject = "1 post has" if left_out == 1 else f"{left_out:,} posts have"
    return [f"{subject} no link, so the file leaves {'it' if left_out == 1 else 'them'} out."]


def format_link(post: Bookmark) -> str:
    """The lines of a post; '' if it has no link."""
    url = safe_url(post.tweet_details.link)
    if not url:
        return ""
    attributes = [f'HREF="{html.escape(url)}"']
    saved_at = instants.parse(post.bookmarked_at)
    if saved_at is not None and saved_at >= 0:
        attributes.append(f'ADD_DATE="{saved_at // MICROSECONDS}"')
    if post.tags:
        # A comma ends a tag.
        names = ",".join(_one_line(name.replace(",", " ")) for name in post.tags)
        attributes.append(f'TAGS="{names}"')
    note = _one_line(post.note or "")
    line = f"<DT><A {' '.join(attributes)}>{_title(post) or html.escape(url)}</A>\n"
    return line + (f"<DD>{note}\n" if note else "")


def _title(post: Bookmark) -> str:
    article = (post.tweet_details.article or {}).get("title") or ""
    whole = " ".join((article or post.tweet_details.text).split())
    cut = whole if len(whole) <= _TITLE_CHARACTERS else f"{whole[: _TITLE_CHARACTERS - 1]}…"
    return _one_line(cut)


def _one_line(text: str) -> str:
    return html.escape(" ".join(printable(text).split()))
