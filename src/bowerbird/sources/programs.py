"""The files of programs and services: what their fields are called, and how to tell them apart.

Most services publish no list of their columns, so the names that they could have are listed here.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from bowerbird.sources import file_labels
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Found
from bowerbird.sources.parsing.json_values import list_at, text_at
from bowerbird.sources.parsing.json_walk import PART, Part, walk
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.records import Fields, is_true, read_json, read_table

# "Tweet Date" is when the post was written. When it was saved, the file does not say. Dewey has had
# two sets of columns.
_DEWEY: Final = Fields(
    address=("tweet url", "post url"),
    text=("tweet content", "content", "post content"),
    author_name=("posted by",),
    author_username=("posted by twitter handle", "twitter handle"),
    profile_image=("posted by profile pic",),
    posted_at=("tweet date", "post date"),
    tags=("tags",),
    folder=("folder", "folders"),
    notes=("my notes", "comments", "notes"),
    media=("media",),
    is_in_order=True,
)
_READWISE: Final = Fields(
    address=("url",),
    title=("title",),
    saved_at=("saved date",),
    tags=("document tags",),
    notes=("document note", "notes", "note"),
    is_archived=lambda cells: cells.get("location", "").strip().lower() == "archive",
    is_read=lambda cells: is_true(cells.get("seen", "")),
)
_POCKET: Final = Fields(
    address=("url",),
    title=("title",),
    saved_at=("time added",),
    tags=("tags",),
    tag_separators="|",
    is_archived=lambda cells: cells.get("status", "").strip().lower() == "archive",
)
_RAINDROP: Final = Fields(
    address=("url", "link"),
    title=("title",),
    saved_at=("created",),
    tags=("tags",),
    folder=("folder",),
    notes=("note", "highlights"),
)
# saved_posts.csv and saved_comments.csv of Reddit's data request.
_REDDIT: Final = Fields(
    address=("permalink",),
    text=("title", "body"),
    posted_at=("date", "created"),
    is_in_order=True,
)
# Posts of X from browser extensions and other services.
_POSTS: Final = Fields(
    address=(
        *("tweet url", "post url", "tweet link", "post link", "status url", "tweet permalink"),
        *("url", "link", "permalink", "href"),
    ),
    x_id=("tweet id", "post id", "status id", "id", "id str"),
    text=(
        *("note tweet text", "full text", "tweet text", "post text", "tweet content"),
        *("post content", "text", "content", "tweet", "body"),
    ),
    author_name=("name", "author name", "display name", "user name", "posted by", "author"),
    author_username=(
        *("screen name", "author username", "username", "author handle", "twitter handle"),
        *("user handle", "handle", "user screen name", "author screen name"),
    ),
    profile_image=(
        *("profile image url https", "profile image url", "profile image", "avatar"),
        *("author avatar", "author profile image", "profile pic"),
    ),
    posted_at=(
        *("tweeted at", "posted at", "tweet date", "post date", "tweet created at"),
        *("created at", "posted on", "date", "published at"),
    ),
    saved_at=("bookmarked at", "bookmark date", "saved at", "saved date", "date bookmarked"),
    tags=("tags", "labels", "label", "tag", "categories", "category"),
    folder=("folder", "folders", "collection"),
    notes=("note", "notes", "my notes", "comment"),
    media=("media", "media urls", "media url", "images", "attachments"),
    is_in_order=True,
    is_archived=lambda cells: is_true(cells.get("is archived", cells.get("archived", ""))),
    is_read=lambda cells: is_true(cells.get("is read", "")),
)
_ADDRESSES: Final = frozenset(_POSTS.address) | {"tweet id", "post id", "status id"}
# A file with an address is a file of posts if it also has one of these. A list of any links has
# none of them.
_ONLY_POSTS_HAVE: Final = frozenset(
    {
        *("tweet url", "post url", "tweet link", "status url", "tweet id", "post id", "status id"),
        *("full text", "note tweet text", "tweet text", "tweet content", "tweet", "tweeted at"),
        *("screen name", "author username", "author handle", "twitter handle", "username"),
        *("handle", "bookmarked at", "posted at"),
    }
)


def _is_raindrop(beginning: Beginning) -> bool:
    columns = beginning.columns
    return beginning.has_columns("url", "folder") and ("created" in columns or "note" in columns)


def _is_reddit(beginning: Beginning) -> bool:
    # The person's own posts have an "ip", their votes have a "direction".
    is_other = {"ip", "direction"} & set(beginning.columns)
    return beginning.has_columns("id", "permalink") and not is_other


def _has_posts(beginning: Beginning) -> bool:
    columns = set(beginning.columns)
    return len(columns) > 1 and bool(columns & _ADDRESSES) and bool(columns & _ONLY_POSTS_HAVE)


def _is_exporter(beginning: Beginning) -> bool:
    return _has_posts(beginning) and beginning.has_columns("screen name", "full text")


def _is_dewey(beginning: Beginning) -> bool:
    columns = beginning.columns
    return "posted by" in columns and ("tweet url" in columns or "post url" in columns)


def _table(
    name: str,
    fields: Fields,
    fits: Callable[[Beginning], bool],
    other_files: frozenset[str] = frozenset(),
) -> Format:
    return Format(name, fits, lambda file, _choices: read_table(file, fields), other_files)


# The narrow ones above, the general ones below.
TABLES: Final = (
    _table("Dewey CSV", _DEWEY, _is_dewey),
    _table(
        "Readwise Reader CSV",
        _READWISE,
        lambda start: start.has_columns("url", "document tags", "saved date"),
    ),
    _table("Pocket CSV", _POCKET, lambda start: start.has_columns("url", "time added")),
    _table("Raindrop CSV", _RAINDROP, _is_raindrop),
    _table("Reddit CSV", _REDDIT, _is_reddit, frozenset({"hidden_posts.csv"})),
    _table("X exporter CSV", _POSTS, _is_exporter),
    _table("CSV of posts", _POSTS, _has_posts),
)


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
    saved_at=("createdAt",),
    tags=("tags",),
    notes=("note",),
    is_archived=lambda record: record.get("archived") is True,
)
_LINKWARDEN: Final = Fields(
    address=("url",),
    title=("name",),
    saved_at=("importDate", "createdAt"),
    tags=("tags",),
    notes=("description",),
)


def _read_karakeep(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    # The lists come after the bookmarks that are in them, so the file is read twice.
    lists = FolderTree()
    for part in walk(Utf8File(file), {"lists": [PART]}):
        lists.add(part.value)

    def names(part: Part) -> list[str]:
        """A bookmark names its lists by their ids, in older exports by their names."""
        named = [item for item in list_at(part.value, "lists") if isinstance(item, str)]
        return [lists.path(item) if len(lists) else item for item in named[:1000]]

    return read_json(file, {"bookmarks": [PART]}, _KARAKEEP, names)


# The path of a field: "collections", the number of the collection, the name of the field.
_FIELD_DEPTH: Final = 3
_COLLECTION: Final = {"id": PART, "name": PART, "parentId": PART}


def _read_linkwarden(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    # A collection can be in one that comes later, so the file is read twice.
    tree, ids = _collections(file)
    return read_json(
        file,
        {"collections": [{"links": [PART]}]},
        _LINKWARDEN,
        lambda part: [tree.path(ids.get(part.path[1], ""))],
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


OBJECTS: Final = (
    Format(
        "Karakeep JSON",
        lambda start: start.json.has("bookmarks[].content.type", "bookmarks[].createdAt"),
        _read_karakeep,
    ),
    Format(
        "Linkwarden JSON",
        lambda start: start.json.has("collections[].name", "collections[].id"),
        _read_linkwarden,
    ),
)
