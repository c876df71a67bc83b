"""The files of programs and networks: what their columns or fields are called, and how they differ.

Most services publish no list of their columns, so the names that they could have are listed here.
Karakeep, Linkwarden and browsers have links in folders inside folders. The name of a folder can
come after the links in it, so their files are read twice.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from bowerbird.sources import file_labels
from bowerbird.sources.found import Beginning, Choices, Format, Found, beginning_of, column_name
from bowerbird.sources.general import POSTS
from bowerbird.sources.link_files import addresses_in, without_addresses
from bowerbird.sources.parsing.json_values import (
    ANY,
    LISTS,
    PART,
    Part,
    Unreadable,
    at,
    list_at,
    nodes,
    text_at,
    walk,
)
from bowerbird.sources.parsing.text_lines import CsvRows, SeekableFile, Utf8File
from bowerbird.sources.records import Fields, Names, fields_of, read_parts, read_table

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
_KARAKEEP: Final = fields_of(
    "address=content.url/url kind=content.type title saved_at=created_at tags "
    "notes=note archived favourite=favourited"
)
_LINKWARDEN: Final = fields_of(
    "address=url title=name saved_at=import_date/created_at tags notes=description"
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


_CHROME: Final = fields_of("address=url title=name saved_at=date_added")
_FIREFOX: Final = fields_of("address=uri title saved_at=date_added tags")
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


_TREES: Final = (
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
    Format(
        "backup of Firefox (JSON)",
        lambda start: "text/x-moz-place" in start.text and start.json.has("children[]"),
        _browser(_FIREFOX, _FIREFOX_ROOTS),
    ),
)


# "Tweet Date" is when the post was written. When it was saved, the file does not say. Dewey has had
# two sets of columns.
_DEWEY: Final = fields_of(
    "address=tweet_url/post_url text=tweet_content/content/post_content "
    "author_name=posted_by author_username=posted_by_twitter_handle/twitter_handle "
    "profile_image=posted_by_profile_pic posted_at=tweet_date/post_date tags "
    "folder=folder/folders notes=my_notes/comments/notes media",
    is_in_order=True,
)
_READWISE: Final = fields_of(
    "address=url title saved_at=saved_date tags=document_tags "
    "notes=document_note/notes/note state=location read=seen"
)
_POCKET: Final = fields_of(
    "address=url title saved_at=time_added tags state=status", tag_separators="|"
)
_RAINDROP: Final = fields_of(
    "address=url/link text=excerpt title saved_at=created tags folder "
    "notes=note/highlights favourite=favorite"
)
_INSTAPAPER: Final = fields_of(
    "address=url title saved_at=timestamp tags folder state=folder notes=selection"
)
_MATTER: Final = fields_of(
    "address=url title author_name=author saved_at=last_interaction_date tags read "
    "favourite=favorited",
    tag_separators=",;",
)
# saved_posts.csv and saved_comments.csv of Reddit's data request.
_REDDIT: Final = fields_of(
    "address=permalink text=title/body posted_at=date/created", is_in_order=True
)
_LINKEDIN: Final = fields_of("address=saved_item saved_at=created_time", is_in_order=True)
# A playlist of Google Takeout.
_YOUTUBE: Final = fields_of(
    "address=video_id saved_at=playlist_video_creation_timestamp/time_added",
    address_form="https://www.youtube.com/watch?v={}",
)


def _is_raindrop(beginning: Beginning) -> bool:
    columns = beginning.columns
    return beginning.has_columns("url", "folder") and ("created" in columns or "note" in columns)


def _is_reddit(beginning: Beginning) -> bool:
    # The person's own posts have an "ip", their votes have a "direction".
    is_other = {"ip", "direction"} & set(beginning.columns)
    return beginning.has_columns("id", "permalink") and not is_other


def _is_dewey(beginning: Beginning) -> bool:
    columns = beginning.columns
    return "posted by" in columns and ("tweet url" in columns or "post url" in columns)


def _is_youtube(beginning: Beginning) -> bool:
    return "video id" in beginning.columns and bool(
        {"playlist video creation timestamp", "time added"} & set(beginning.columns)
    )


def _table(
    name: str,
    fields: Fields,
    columns: Names,
    fits: Callable[[Beginning], bool] | None = None,
    other_files: frozenset[str] = frozenset(),
) -> Format:
    def read(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
        return read_table(CsvRows(file, beginning_of(file).delimiter), fields)

    return Format(
        name,
        fits or (lambda start: start.has_columns(*columns)),
        read,
        other_files,
        signature=frozenset(columns),
    )


# The narrow ones above, the general ones below.
TABLES: Final = (
    _table("Dewey CSV", _DEWEY, ("tweet date", "posted by", "tweet url"), _is_dewey),
    _table("Readwise Reader CSV", _READWISE, ("url", "document tags", "saved date")),
    _table("YouTube playlist CSV", _YOUTUBE, ("video id", "time added"), _is_youtube),
    _table("LinkedIn CSV", _LINKEDIN, ("saved item", "created time")),
    _table("Pocket CSV", _POCKET, ("url", "time added")),
    _table("Instapaper CSV", _INSTAPAPER, ("url", "title", "selection", "folder")),
    _table("Matter CSV", _MATTER, ("url", "in queue", "favorited")),
    _table("Raindrop CSV", _RAINDROP, ("url", "folder", "created"), _is_raindrop),
    _table("Reddit CSV", _REDDIT, ("id", "permalink"), _is_reddit, frozenset({"hidden_posts.csv"})),
    _table("X exporter CSV", POSTS, ("screen name", "full text", "tweet url")),
)


_OMNIVORE: Final = fields_of(
    "address=url text=description title author_name=author posted_at=published_at "
    "saved_at tags=labels state progress=reading_progress"
)
_PINBOARD: Final = fields_of(
    "address=href title=description saved_at=time tags notes=extended unread=toread",
    tag_separators=" ",
)
_DELICIOUS: Final = fields_of(
    "address=url title saved_at=created/created_at tags notes=description"
)
# The first version says "is read" and "is fav".
_WALLABAG: Final = fields_of(
    "address=url title saved_at=created_at tags archived=is_archived read=is_read "
    "favourite=is_starred/is_fav"
)
_READABILITY: Final = fields_of(
    "address=article_url text=article_excerpt title=article_title saved_at=date_added "
    "archived=archive favourite=favorite"
)
_TIKTOK: Final = fields_of("address=link saved_at=date", is_in_order=True)
_TIKTOK_LISTS: Final = {
    "Favorite Videos": {"FavoriteVideoList": [PART]},
    "Like List": {"ItemFavoriteList": [PART]},
}
_FACEBOOK: Final = fields_of(
    "saved_at=timestamp",
    address=("attachments.data.external_context.url",),
    finds_address=True,
    title=("attachments.data.external_context.name",),
    repairs_texts=True,
)
# Of Instagram and Threads: first a map of named values with one link, now a list of them.
_META: Final = fields_of(
    "address=label_values.href author_username=title "
    "saved_at=timestamp/string_map_data.*.timestamp/string_list_data.timestamp",
    finds_address=True,
    repairs_texts=True,
)


def _json(
    name: str,
    fields: Fields,
    shape: Any,
    *paths: str,
    liked: frozenset[str] = frozenset(),
    only_files: frozenset[str] = frozenset(),
    liked_files: frozenset[str] = frozenset(),
    fits: Callable[[Beginning], bool] | None = None,
) -> Format:
    """`paths`: what recognises the file, as in `Outline`."""

    def read(file: SeekableFile, choices: Choices) -> Iterator[Found]:
        return read_parts(walk(Utf8File(file), shape), fields, liked=liked, choices=choices)

    return Format(
        name,
        fits or (lambda start: start.json.has(*paths)),
        read,
        only_files=only_files,
        liked_files=liked_files,
        signature=frozenset(column_name(path.rpartition(".")[2]) for path in paths),
    )


# The links in the messages that somebody sent to themselves, with their words as the note.
_TELEGRAM: Final = fields_of("address=url saved_at=date notes=note")
_MAX_PIECES: Final = 1_000


def _links_in_messages(parts: Iterable[Part]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part.value, Unreadable):
            yield part
            continue
        text = at(part.value, "text")
        pieces = text[:_MAX_PIECES] if isinstance(text, list) else [text]
        words = "".join(one if isinstance(one, str) else text_at(one, "text") for one in pieces)
        links = [link for piece in pieces if (link := text_at(piece, "href"))]
        links += addresses_in(words)
        note = without_addresses(words)
        date = text_at(part.value, "date_unixtime") or text_at(part.value, "date")
        for link in dict.fromkeys(links[:_MAX_PIECES]):
            yield part._replace(value={"url": link, "note": note.strip(), "date": date})


_LIKED: Final = frozenset({"Like List", "likes_media_likes"})
_SAVED_FILES: Final = frozenset(
    {"saved_posts.json", "saved_collections.json", "saved_threads.json"}
)
_LIKED_FILES: Final = frozenset({"liked_posts.json", "liked_threads.json"})
_META_FILES: Final = _SAVED_FILES | _LIKED_FILES


def _is_tiktok(beginning: Beginning) -> bool:
    outer = ("Likes and Favorites", "Your Activity", "Activity")
    has_list = any(f"{one}.{name}" in beginning.json for one in outer for name in _TIKTOK_LISTS)
    # Other parts of the file may come first, and can be long.
    return has_list or beginning.json.has("Profile And Settings") or beginning.json.has(*outer[:1])


OBJECTS: Final = (
    *_TREES,
    _json("Omnivore JSON", _OMNIVORE, [PART], "[].url", "[].slug", "[].savedAt"),
    _json("Pinboard JSON", _PINBOARD, [PART], "[].href", "[].extended", "[].toread"),
    _json("wallabag JSON", _WALLABAG, [PART], "[].url", "[].is_archived", "[].is_starred"),
    _json("wallabag JSON", _WALLABAG, [PART], "[].url", "[].is_read", "[].is_fav"),
    _json(
        "wallabag JSON",
        _WALLABAG,
        {ANY: PART},
        fits=lambda start: any(path.endswith(".is_fav") for path in start.json),
    ),
    _json("Delicious JSON", _DELICIOUS, [PART], "[].url", "[].created", "[].private"),
    _json("elCurator JSON", _DELICIOUS, [PART], "[].url", "[].created_at", "[].description"),
    _json("Readability JSON", _READABILITY, {"bookmarks": [PART]}, "bookmarks[].article__url"),
    _json("Facebook JSON", _FACEBOOK, {"saves_v2": [PART]}, "saves_v2[]"),
    _json(
        "Instagram JSON",
        _META,
        [PART],
        *("[].label_values[]", "[].timestamp"),
        only_files=_META_FILES,
        liked_files=_LIKED_FILES,
    ),
    _json(
        "Instagram JSON",
        _META,
        LISTS,
        liked=_LIKED,
        only_files=_META_FILES,
        liked_files=_LIKED_FILES,
        fits=lambda start: any(
            path.endswith(("[].string_map_data", "[].string_list_data[]")) for path in start.json
        ),
    ),
    _json("TikTok JSON", _TIKTOK, {ANY: _TIKTOK_LISTS}, liked=_LIKED, fits=_is_tiktok),
    Format(
        "Telegram JSON",
        lambda start: start.json.has("messages[].text", "messages[].id"),
        lambda file, _choices: read_parts(
            _links_in_messages(walk(Utf8File(file), {"messages": [PART]})), _TELEGRAM
        ),
        signature=frozenset({"messages", "text", "date"}),
    ),
)
