"""Reads the posts among the bookmarks in JSON exports of Karakeep (once Hoarder) and Linkwarden."""

from collections.abc import Iterator
from typing import Any, Final

from bowerbird.sources import file_labels
from bowerbird.sources.file_posts import (
    FilePost,
    found_post,
    invalid,
    not_a_post,
    text_and_name,
)
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Found, LeftOut, Reason
from bowerbird.sources.parsing.json_values import Unreadable, at, list_at, text_at
from bowerbird.sources.parsing.json_walk import PART, walk
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.post_links import parse

MAX_FOLDERS: Final = 20_000


class FolderTree:
    def __init__(self) -> None:
        # Id -> name and id of the parent, which is "" for a folder at the top.
        self._folders: dict[str, tuple[str, str]] = {}

    def __len__(self) -> int:
        return len(self._folders)

    def add(self, folder: Any) -> None:
        identifier = text_at(folder, "id")[:100]
        if identifier and len(self._folders) < MAX_FOLDERS:
            name = file_labels.shortened(text_at(folder, "name")) or ""
            self._folders[identifier] = name, text_at(folder, "parentId")[:100]

    def path(self, identifier: str) -> str:
        """One name for the folder and all that it is in. "" if there is no such folder."""
        names: list[str] = []
        # A file can make a folder its own parent.
        while identifier in self._folders and len(names) < file_labels.MAX_FOLDER_DEPTH:
            name, identifier = self._folders[identifier]
            names.insert(0, name)
        return file_labels.path(names)


def _read_karakeep(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    # The lists come after the bookmarks that are in them, so the file is read twice.
    lists = FolderTree()
    for part in walk(Utf8File(file), {"lists": [PART]}):
        lists.add(part.value)
    for part in walk(Utf8File(file), {"bookmarks": [PART]}):
        if isinstance(part.value, Unreadable):
            yield invalid(part.line, str(part.value))
        else:
            yield _karakeep_bookmark(part.line, part.value, lists)


def _karakeep_bookmark(line: int, bookmark: Any, lists: FolderTree) -> Found:
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


def _fits_karakeep(beginning: Beginning) -> bool:
    return beginning.json.has("bookmarks[].content.type", "bookmarks[].createdAt")


# The path of a field: "collections", the number of the collection, the name of the field.
_FIELD_DEPTH = 3
_COLLECTION = {"id": PART, "name": PART, "parentId": PART}


def _read_linkwarden(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    # A collection can be in one that comes later, so the file is read twice.
    tree, ids = _collections(file)
    for part in walk(Utf8File(file), {"collections": [{"links": [PART]}]}):
        if isinstance(part.value, Unreadable):
            yield invalid(part.line, str(part.value))
        else:
            number = part.path[1]
            assert isinstance(number, int)
            yield _linkwarden_link(part.line, part.value, tree.path(ids.get(number, "")))


def _collections(file: SeekableFile) -> tuple[FolderTree, dict[int, str]]:
    """The collections, and the id of each by its place in the file."""
    tree = FolderTree()
    ids: dict[int, str] = {}
    fields: dict[str, Any] = {}
    current = -1
    for part in walk(Utf8File(file), {"collections": [_COLLECTION]}):
        if len(part.path) != _FIELD_DEPTH:
            continue
        _, number, key = part.path
        assert isinstance(number, int)
        if number != current:
            tree.add(fields)
            current, fields = number, {}
        fields[str(key)] = part.value
        if key == "id" and len(ids) < MAX_FOLDERS:
            ids[number] = text_at(fields, "id")
    tree.add(fields)
    return tree, ids


def _linkwarden_link(line: int, saved: Any, folder: str) -> Found:
    if not isinstance(saved, dict):
        return invalid(line, "The record is not an object.")
    address = text_at(saved, "url")
    link = parse(address)
    if link is None:
        return not_a_post(line, address)
    text, name = text_and_name(text_at(saved, "name"), address, link)
    tags = [text_at(tag, "name") for tag in list_at(saved, "tags")]
    return found_post(
        FilePost(
            link=link,
            line=line,
            text=text,
            author_name=name,
            saved_at=at(saved, "importDate") or at(saved, "createdAt"),
            labels=file_labels.names(tags, [folder]),
            note=text_at(saved, "description"),
        )
    )


def _fits_linkwarden(beginning: Beginning) -> bool:
    return beginning.json.has("collections[].name") and beginning.json.has("collections[].id")


FORMATS = (
    Format("Karakeep JSON", _fits_karakeep, _read_karakeep),
    Format("Linkwarden JSON", _fits_linkwarden, _read_linkwarden),
)
