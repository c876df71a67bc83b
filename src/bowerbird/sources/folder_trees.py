"""Reads the programs whose links are in folders inside folders: Karakeep, Linkwarden, browsers.

The name of a folder can come after the links in it, so their files are read twice.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from bowerbird.sources import file_labels
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Found
from bowerbird.sources.parsing.json_values import Unreadable, list_at, text_at
from bowerbird.sources.parsing.json_walk import PART, Part, nodes, walk
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.records import Fields, read_parts

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


# Karakeep was once called Hoarder. It also keeps notes and images.
_KARAKEEP: Final = Fields(
    address=("content.url", "url"),
    kind=("content.type",),
    title=("title",),
    saved_at=("created at",),
    tags=("tags",),
    notes=("note",),
    archived=("archived",),
    favourite=("favourited",),
)
_LINKWARDEN: Final = Fields(
    address=("url",),
    title=("name",),
    saved_at=("import date", "created at"),
    tags=("tags",),
    notes=("description",),
)


def _read_karakeep(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    lists = FolderTree()
    for part in walk(Utf8File(file), {"lists": [PART]}):
        lists.add(part.value)

    def names(part: Part) -> list[str]:
        """A bookmark names its lists by their ids, in older exports by their names."""
        named = [item for item in list_at(part.value, "lists") if isinstance(item, str)]
        return [lists.path(item) if len(lists) else item for item in named[:1000]]

    return read_parts(walk(Utf8File(file), {"bookmarks": [PART]}), _KARAKEEP, names)


# The path of a field: "collections", the number of the collection, the name of the field.
_FIELD_DEPTH: Final = 3
_COLLECTION: Final = {"id": PART, "name": PART, "parentId": PART}


def _read_linkwarden(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    tree, ids = _collections(file)
    return read_parts(
        walk(Utf8File(file), {"collections": [{"links": [PART]}]}),
        _LINKWARDEN,
        lambda part: [tree.path(ids.get(part.path[1], "")) if len(part.path) > 1 else ""],
    )


def _collections(file: SeekableFile) -> tuple[FolderTree, dict[str | int, str]]:
    """The collections, and the id of each by its place in the file."""
    tree = FolderTree()
    ids: dict[str | int, str] = {}
    fields: dict[str, Any] = {}
    current: str | int = -1
    for part in walk(Utf8File(file), {"collections": [_COLLECTION]}):
        if len(part.path) != _FIELD_DEPTH:
            continue
        _, number, key = part.path
        if number != current:
            tree.add(fields)
            current, fields = number, {}
        fields[str(key)] = part.value
        if key == "id" and len(ids) < MAX_FOLDERS:
            ids[number] = text_at(fields, "id")
    tree.add(fields)
    return tree, ids


_CHROME: Final = Fields(address=("url",), title=("name",), saved_at=("date added",))
_FIREFOX: Final = Fields(
    address=("uri",), title=("title",), saved_at=("date added",), tags=("tags",)
)
# The outermost object of Chrome's file has the folders that every browser has. In Firefox's, they
# are in one more folder.
_CHROME_ROOTS: Final = 2
_FIREFOX_ROOTS: Final = 2


def _browser(fields: Fields, roots: int) -> Callable[[SeekableFile, Choices], Iterator[Found]]:
    """Reads a tree of nodes with "children". A path has two steps for each folder."""
    name_key, address_key = fields.title[0], fields.address[0]

    def read(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
        names: dict[tuple[str | int, ...], str] = {}
        for part in nodes(Utf8File(file)):
            name = text_at(part.value, name_key)
            if name and not text_at(part.value, address_key) and len(names) < MAX_FOLDERS:
                names[part.path] = name[:500]
        links = (
            part
            for part in nodes(Utf8File(file))
            if isinstance(part.value, Unreadable) or text_at(part.value, address_key)
        )

        def folders(part: Part) -> list[str]:
            ends = range(roots + 2, len(part.path), 2)
            return [file_labels.path(names.get(part.path[:end], "") for end in ends)]

        return read_parts(links, fields, folders)

    return read


def _is_firefox(beginning: Beginning) -> bool:
    return "text/x-moz-place" in beginning.text and beginning.json.has("children[]")


FORMATS: Final = (
    Format(
        "Karakeep JSON",
        lambda start: start.json.has("bookmarks[].content.type", "bookmarks[].createdAt"),
        _read_karakeep,
        signature=frozenset({"content", "created at", "tags"}),
    ),
    Format(
        "Linkwarden JSON",
        lambda start: start.json.has("collections[].name", "collections[].id"),
        _read_linkwarden,
        signature=frozenset({"collections", "links", "name"}),
    ),
    Format(
        "bookmarks of Chrome (JSON)",
        lambda start: start.json.has("roots.bookmark_bar"),
        _browser(_CHROME, _CHROME_ROOTS),
    ),
    Format("backup of Firefox (JSON)", _is_firefox, _browser(_FIREFOX, _FIREFOX_ROOTS)),
)
