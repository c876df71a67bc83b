"""The JSON files of programs and networks: what their fields are called, and where links are."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from bowerbird.sources import folder_trees
from bowerbird.sources.formats import Beginning, Choices, Format, column_name
from bowerbird.sources.found import Found
from bowerbird.sources.link_list import addresses_in, without_addresses
from bowerbird.sources.parsing.json_values import Unreadable, at, text_at
from bowerbird.sources.parsing.json_walk import ANY, LISTS, PART, Part, walk
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.records import Fields, read_parts

_OMNIVORE: Final = Fields(
    address=("url",),
    text=("description",),
    title=("title",),
    author_name=("author",),
    posted_at=("published at",),
    saved_at=("saved at",),
    tags=("labels",),
    state=("state",),
    progress=("reading progress",),
)
_PINBOARD: Final = Fields(
    address=("href",),
    title=("description",),
    saved_at=("time",),
    tags=("tags",),
    tag_separators=" ",
    notes=("extended",),
    unread=("toread",),
)
_DELICIOUS: Final = Fields(
    address=("url",),
    title=("title",),
    saved_at=("created", "created at"),
    tags=("tags",),
    notes=("description",),
)
# The first version says "is read" and "is fav".
_WALLABAG: Final = Fields(
    address=("url",),
    title=("title",),
    saved_at=("created at",),
    tags=("tags",),
    archived=("is archived",),
    read=("is read",),
    favourite=("is starred", "is fav"),
)
_READABILITY: Final = Fields(
    address=("article url",),
    text=("article excerpt",),
    title=("article title",),
    saved_at=("date added",),
    archived=("archive",),
    favourite=("favorite",),
)
_TIKTOK: Final = Fields(address=("link",), saved_at=("date",), is_in_order=True)
_TIKTOK_LISTS: Final = {
    "Favorite Videos": {"FavoriteVideoList": [PART]},
    "Like List": {"ItemFavoriteList": [PART]},
}
_FACEBOOK: Final = Fields(
    address=("attachments.data.external_context.url",),
    finds_address=True,
    title=("attachments.data.external_context.name",),
    saved_at=("timestamp",),
    repairs_texts=True,
)
# Of Instagram and Threads: first a map of named values with one link, now a list of them.
_META: Final = Fields(
    address=("label values.href",),
    finds_address=True,
    author_username=("title",),
    saved_at=("timestamp", "string map data.*.timestamp", "string list data.timestamp"),
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
_TELEGRAM: Final = Fields(address=("url",), saved_at=("date",), notes=("note",))
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


def _read_telegram(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    return read_parts(_links_in_messages(walk(Utf8File(file), {"messages": [PART]})), _TELEGRAM)


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
    *folder_trees.FORMATS,
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
        _read_telegram,
        signature=frozenset({"messages", "text", "date"}),
    ),
)
