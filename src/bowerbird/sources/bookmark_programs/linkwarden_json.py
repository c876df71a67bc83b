"""Reads the posts among the links of a JSON export of Linkwarden."""

from collections.abc import Iterator
from typing import Any

from bowerbird.sources import file_labels
from bowerbird.sources.bookmark_programs.folder_tree import MAX_FOLDERS, FolderTree
from bowerbird.sources.file_posts import (
    FilePost,
    found_post,
    invalid,
    not_a_post,
)
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Found
from bowerbird.sources.page_titles import text_and_name
from bowerbird.sources.parsing.json_values import Unreadable, at, list_at, text_at
from bowerbird.sources.parsing.json_walk import PART, walk
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.post_links import parse

# The path of a field: "collections", the number of the collection, the name of the field.
_FIELD_DEPTH = 3
_COLLECTION = {"id": PART, "name": PART, "parentId": PART}


def read(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    # A collection can be in one that comes later, so the file is read twice.
    tree, ids = _collections(file)
    for part in walk(Utf8File(file), {"collections": [{"links": [PART]}]}):
        if isinstance(part.value, Unreadable):
            yield invalid(part.line, str(part.value))
        else:
            number = part.path[1]
            assert isinstance(number, int)
            yield _found(part.line, part.value, tree.path(ids.get(number, "")))


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


def _found(line: int, saved: Any, folder: str) -> Found:
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


def _fits(beginning: Beginning) -> bool:
    return beginning.json.has("collections[].name") and beginning.json.has("collections[].id")


FORMAT = Format("Linkwarden JSON", _fits, read)
