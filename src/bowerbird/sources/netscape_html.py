"""Reads the posts among the links of a bookmarks file that a browser or another program exports."""

import re
from collections.abc import Iterator
from typing import Final

from bowerbird.sources import file_labels
from bowerbird.sources.file_posts import (
    FAVOURITE,
    FilePost,
    found_post,
    not_a_post,
    text_and_name,
)
from bowerbird.sources.found import Choices, Format, Found, Notice
from bowerbird.sources.parsing.html_text import Tag, tokens
from bowerbird.sources.parsing.text_lines import SeekableFile, TextLines
from bowerbird.sources.post_links import parse

_MAX_TITLE_CHARACTERS: Final = 20_000
_MAX_TITLE_PARTS: Final = 100
_FITS: Final = re.compile(r"<!DOCTYPE\s+NETSCAPE-Bookmark-file-1|<DT>\s*<(?:A|H3)\b", re.IGNORECASE)
# Pocket's file has lists under two headings, and Instapaper's too.
_LISTS_FIT: Final = re.compile(
    r"<li>\s*<a\s[^<>]{0,3000}\btime_added=|<title>(?:Pocket|Instapaper)[^<>]{0,20}Export",
    re.IGNORECASE,
)
_STATES: Final = {"read archive": "archived", "archive": "archived", "starred": "favourite"}
# Folders that every browser has. They say where a link was, not what it is about.
_ROOTS: Final = frozenset({"personal_toolbar_folder", "unfiled_bookmarks_folder"})


def read(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    lines = TextLines(file)
    reader = _Reader()
    for token in tokens(lines.blocks()):
        if isinstance(token, Tag):
            yield from reader.tag(token)
        else:
            reader.text(token)
    yield from reader.end_link()
    if line := lines.first_windows_line:
        yield Notice(line=line, sentence="The file is not UTF-8. It was read as Windows-1252.")


class _Reader:
    def __init__(self) -> None:
        # The names of the open folders, and the one whose list has not begun yet.
        self._folders: list[str] = []
        self._next_folder = ""
        self._link: Tag | None = None
        # The text of the open link or folder, None outside of both.
        self._text: list[str] | None = None
        self._note: list[str] | None = None
        self._title = ""
        self._is_root = False
        # What the heading above says about the links below.
        self._state = ""

    def text(self, text: str) -> None:
        for parts in (self._text, self._note):
            if parts is not None and len(parts) < _MAX_TITLE_PARTS:
                parts.append(text[:_MAX_TITLE_CHARACTERS])

    def tag(self, tag: Tag) -> Iterator[Found]:
        if tag.name == "a":
            yield from self._anchor(tag)
        elif tag.name == "h3":
            yield from self.end_link()
            self._folder(tag)
        elif tag.name == "h1":
            yield from self.end_link()
            self._heading(tag)
        elif tag.name == "dd":
            self._note = None if tag.is_end or self._link is None else []
        elif tag.name in ("dt", "dl", "li"):
            yield from self.end_link()
            if tag.name == "dl":
                self._list(tag)

    def _anchor(self, tag: Tag) -> Iterator[Found]:
        if tag.is_end:
            self._end_title()
            return
        yield from self.end_link()
        self._link, self._text = tag, []

    def _end_title(self) -> None:
        self._title = "".join(self._text or ())
        self._text = None

    def _heading(self, tag: Tag) -> None:
        if not tag.is_end:
            self._text = []
        else:
            self._end_title()
            self._state = _STATES.get(self._title.strip().lower(), "")

    def _folder(self, tag: Tag) -> None:
        if not tag.is_end:
            self._text = []
            self._is_root = any(root in tag.attributes.lower() for root in _ROOTS)
        else:
            self._end_title()
            self._next_folder = "" if self._is_root else self._title

    def _list(self, tag: Tag) -> None:
        if tag.is_end:
            if self._folders:
                self._folders.pop()
        else:
            if len(self._folders) < file_labels.MAX_FOLDER_DEPTH:
                self._folders.append(self._next_folder)
            self._next_folder = ""

    def end_link(self) -> Iterator[Found]:
        """A link ends where the next one begins, because its note follows it."""
        link, self._link = self._link, None
        if link is None:
            return
        if self._text is not None:
            self._end_title()
        note, self._note = "".join(self._note or ()), None
        address = link.attribute("href")
        post = parse(address)
        if post is None:
            yield not_a_post(link.line, address)
            return
        text, name = text_and_name(self._title, address, post)
        folder = file_labels.path(self._folders)
        yield found_post(
            FilePost(
                link=post,
                line=link.line,
                text=text,
                author_name=name,
                saved_at=link.attribute("add_date") or link.attribute("time_added"),
                labels=file_labels.names(
                    file_labels.split(link.attribute("tags")),
                    [folder],
                    [FAVOURITE] if self._state == "favourite" else (),
                ),
                note=note,
                is_archived=link.attribute("archived") == "1" or self._state == "archived",
            )
        )


FORMATS = (
    Format("bookmarks file of a browser", lambda start: bool(_FITS.search(start.text)), read),
    Format("Pocket or Instapaper HTML", lambda start: bool(_LISTS_FIT.search(start.text)), read),
)
