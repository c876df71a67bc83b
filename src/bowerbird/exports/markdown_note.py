"""Renders a post as a Markdown file with front matter, and writes the zip file of all of them."""

import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.exports import tasks, texts
from bowerbird.exports.tasks import Pictures, Report, Task
from bowerbird.exports.texts import (
    KINDS,
    choice_text,
    linked,
    one_line,
    printable,
    quotation,
    safe_url,
    split_links,
    tag,
    yaml_string,
)
from bowerbird.model import instants
from bowerbird.model.posts.bookmarks import Bookmark
from bowerbird.model.posts.media import image_url
from bowerbird.model.posts.networks import X

PICTURES: Final = "pictures"
"""The folder of pictures, beside the files."""
BEGINNING: Final = '---\npost_id: "'
"""How each file begins. The end of its name repeats the id."""
_TITLE_CHARACTERS: Final = 100
_SAFE_SCHEMES: Final = ("http", "https", "mailto")
# Macros, shortcodes and templates of other programs, which run in code and text alike.
_RUN_BY_OTHERS: Final = ("{{", "<%")


class Note(Struct, frozen=True):
    name: str
    text: str
    # The files of the pictures that it shows.
    pictures: Sequence[str]


def note_of(post: Bookmark, pictures: Pictures) -> Note:
    rendering = _Rendering(pictures)
    text = f"{_front_matter(post)}\n\n{rendering.body(post)}\n"
    name = texts.file_name(post.post_id, post.tweet_details.text, post.author_username)
    return Note(name, text, list(dict.fromkeys(rendering.shown)))


def _front_matter(post: Bookmark) -> str:
    details, labels = post.tweet_details, post.tags or ()
    saved = _moment(post.bookmarked_at)
    tags = list(dict.fromkeys(filter(None, map(tag, labels))))
    fields = {
        "post_id": yaml_string(post.post_id),
        "title": yaml_string(_title(post)),
        "author": yaml_string(post.author_details.name or post.author_username),
        "handle": yaml_string(post.author_username),
        # Hugo publishes a page at its `url`, so the address of the post has another name.
        "link": yaml_string(safe_url(details.link)),
        "network": yaml_string(post.source or X),
        "posted": _moment(details.posted_at),
        "saved": saved,
        # By which Hugo sorts.
        "date": saved,
        "tags": _list(tags),
        "labels": _list(labels),
        "is_read": str(post.is_read).lower(),
        "is_archived": str(post.is_archived).lower(),
        "gone": _moment(post.gone_at or ""),
        "removed": _moment(post.removed_at or ""),
    }
    shown = [f"{name}: {value}" for name, value in fields.items() if value not in ("", '""')]
    return "\n".join(["---", *shown, "---"])


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(yaml_string, texts))}]" if texts else ""


def _moment(text: str) -> str:
    instant = instants.parse(text)
    if instant is None or instant < instants.FIRST:
        return ""
    return f"{instants.with_offset(instant)[:19]}Z"


def _title(post: Bookmark) -> str:
    article = printable(_text(post.tweet_details.article or {}, "title")).strip()
    spoken = "".join(before for before, _ in split_links(printable(post.tweet_details.text)))
    whole = " ".join((article or spoken).split())
    if len(whole) > _TITLE_CHARACTERS:
        cut = whole[:_TITLE_CHARACTERS]
        whole = f"{cut.rpartition(' ')[0] or cut}…"
    return whole or f"Post by {_handle(post.author_username) or 'somebody'}"


class _Rendering:
    def __init__(self, pictures: Pictures) -> None:
        self._pictures = pictures
        self.shown: list[str] = []

    def body(self, post: Bookmark) -> str:
        details = post.tweet_details
        parts = [
            texts.lines(details.text),
            *self._attachments(details.attachments),
            *self._quoted(details.quoted_tweet),
            _source(post),
            *self._article(details.article),
            *_highlights(post),
            # Last: a note may open a block of code that it does not close.
            *_note(post.note or ""),
        ]
        return "\n\n".join(filter(None, parts))

    def _picture(self, url: str, description: str) -> str:
        """A kept picture, or '': others are links, so that reading a file asks no network."""
        kept = self._pictures.get(url)
        if kept is None:
            return ""
        self.shown.append(kept.name)
        return f"![{texts.label(description) or 'Image'}]({PICTURES}/{kept.name})"

    def _attachments(self, attachments: Sequence[dict[str, Any]]) -> Iterator[str]:
        for each in attachments:
            kind = KINDS.get(_text(each, "type").lower(), "Attachment")
            title = _text(each, "title") or _text(each, "domain")
            about = _text(each, "description") or _text(each, "alt_text")
            picture = self._picture(image_url(each), about or title)
            if picture:
                yield picture
            if picture and kind == "Image":
                continue
            words = ": ".join(filter(None, (kind, title or about)))
            url = safe_url(_text(each, "url"))
            yield linked(words, url) if url else one_line(words)
            choices = [one_line(choice_text(choice)) for choice in each.get("choices") or ()]
            yield "\n".join(f"- {choice}" for choice in choices if choice)

    def _quoted(self, quoted: dict[str, Any] | None) -> Iterator[str]:
        if quoted is None:
            return
        author = quoted.get("author_details") or {}
        username = _text(quoted, "author_username") or _text(author, "username")
        parts = [
            _byline(_text(author, "name"), username, _text(quoted, "link")),
            texts.lines(_text(quoted, "text")),
            *self._attachments(quoted.get("attachments") or ()),
            "This post is not available any more." if quoted.get("unavailable") else "",
            *self._article(quoted.get("article"), level=3),
        ]
        yield quotation("\n\n".join(filter(None, parts)))

    def _article(self, article: dict[str, Any] | None, level: int = 2) -> Iterator[str]:
        if article is None:
            return
        title = one_line(_text(article, "title")) or "Article"
        yield f"{'#' * level} {title}"
        yield self._picture(_text(article, "cover_image"), "Cover")
        yield texts.lines(_text(article, "plain_text") or _text(article, "preview_text"))
        if url := safe_url(_text(article, "url")):
            yield linked("The article", url)


def _text(fields: dict[str, Any], name: str) -> str:
    """A text of an object with open fields, where it may be missing or of another type."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _handle(username: str) -> str:
    return f"@{username}" if username else ""


def _source(post: Bookmark) -> str:
    link = post.tweet_details.link
    return _byline(post.author_details.name, post.author_username, link)


def _byline(name: str, username: str, link: str) -> str:
    handle = _handle(username)
    words = f"{name} ({handle})" if name and handle else name or handle
    url = safe_url(link)
    return linked(words or "The post", url) if url else one_line(words)


def _highlights(post: Bookmark) -> Iterator[str]:
    if post.highlights:
        yield "## Highlights"
    for each in post.highlights or ():
        yield quotation(texts.lines(each.quote))
        yield texts.lines(each.comment or "")


def _note(note: str) -> Iterator[str]:
    if note.strip():
        yield "## Note"
        yield note.strip() if _is_harmless(note) else texts.lines(note)


def _is_harmless(note: str) -> bool:
    """Whether the owner's Markdown has no HTML, no script and no address but those of the web.

    Notes may come from a file that somebody else wrote.
    """
    if any(sign in note for sign in _RUN_BY_OTHERS):
        return False
    from markdown_it import MarkdownIt  # noqa: PLC0415 - takes 40 ms; few posts have a note

    reader = MarkdownIt("commonmark")
    # All addresses, because the reader would take a dangerous one for text.
    reader.validateLink = bool  # type: ignore[assignment,method-assign]  # its way to be configured
    tokens = [inner for token in reader.parse(note) for inner in (token, *(token.children or ()))]
    return not any(token.type in ("html_block", "html_inline") for token in tokens) and all(
        _is_of_the_web(str(token.attrs.get("href") or token.attrs.get("src") or ""))
        for token in tokens
    )


def _is_of_the_web(address: str) -> bool:
    try:
        return not address or urlsplit(address).scheme.lower() in _SAFE_SCHEMES
    except ValueError:
        return False


def run_step(task: Task, send_report: Callable[[Report], None]) -> Report:
    pictures = tasks.read_pictures(task.pictures)
    files = {picture.name: picture.file for picture in pictures.values()}
    # A zip file cannot have an earlier time than 1980.
    date = max(time.gmtime(task.document.created_at // MICROSECONDS)[:6], (1980, 1, 1, 0, 0, 0))
    shown: dict[str, None] = {}
    done = 0
    with zipfile.ZipFile(task.target, "w") as archive:
        for page in tasks.read_pages(Path(task.source), Bookmark):
            for post in page:
                note = note_of(post, pictures)
                info = zipfile.ZipInfo(note.name, date)
                archive.writestr(info, note.text, zipfile.ZIP_DEFLATED)
                shown |= dict.fromkeys(note.pictures)
            done += len(page)
            send_report(Report(done=done))
        for name in shown:
            # Not compressed: pictures are compressed already.
            info = zipfile.ZipInfo(f"{PICTURES}/{name}", date)
            with (Path(task.pictures) / files[name]).open("rb") as source:
                archive.writestr(info, source.read())
    return Report(done=done, is_finished=True)
