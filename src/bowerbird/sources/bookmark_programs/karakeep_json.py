"""Reads the posts among the bookmarks of a JSON export of Karakeep (formerly Hoarder)."""

from collections.abc import Iterator
from typing import Any

from bowerbird.sources import file_labels
from bowerbird.sources.bookmark_programs.folder_tree import FolderTree
from bowerbird.sources.file_posts import (
    FilePost,
    found_post,
    invalid,
    not_a_post,
)
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Found, LeftOut, Reason
from bowerbird.sources.page_titles import text_and_name
from bowerbird.sources.parsing.json_values import Unreadable, at, list_at, text_at
from bowerbird.sources.parsing.json_walk import PART, walk
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.post_links import parse


def read(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    # The lists come after the bookmarks that are in them, so the file is read twice.
    lists = FolderTree()
    for part in walk(Utf8File(file), {"lists": [PART]}):
        lists.add(part.value)
    for part in walk(Utf8File(file), {"bookmarks": [PART]}):
        if isinstance(part.value, Unreadable):
            yield invalid(part.line, str(part.value))
        else:
            yield _found(part.line, part.value, lists)


def _found(line: int, bookmark: Any, lists: FolderTree) -> Found:
    if not isinstance(bookmark, dict):
        return invalid(line, "The record is not an object.")
    kind = text_at(bookmark, "content", "type")
    address = text_at(bookmark, "content", "url") or text_at(bookmark, "url")
    if not address:
        return LeftOut(
            line=line,
            reason=Reason.NOT_A_POST,
            sentence=f"Line {line}: A {kind[:20] or 'bookmark'} without a link is not a post.",
        )
    link = parse(address)
    if link is None:
        return not_a_post(line, address)
    text, name = text_and_name(text_at(bookmark, "title"), address, link)
    tags = [
        tag if isinstance(tag, str) else text_at(tag, "name") for tag in list_at(bookmark, "tags")
    ]
    return found_post(
        FilePost(
            link=link,
            line=line,
            text=text,
            author_name=name,
            saved_at=at(bookmark, "createdAt"),
            labels=file_labels.names(tags, _list_names(bookmark, lists)),
            note=text_at(bookmark, "note"),
            is_archived=at(bookmark, "archived") is True,
        )
    )


def _list_names(bookmark: Any, lists: FolderTree) -> list[str]:
    """A bookmark names its lists by their ids, in older exports by their names."""
    named = [item for item in list_at(bookmark, "lists") if isinstance(item, str)]
    return [lists.path(item) if len(lists) else item for item in named[:1000]]


def _fits(beginning: Beginning) -> bool:
    return beginning.json.has("bookmarks[].content.type", "bookmarks[].createdAt")


FORMAT = Format("Karakeep JSON", _fits, read)
