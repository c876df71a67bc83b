"""Reads posts from the records of a program: rows of a CSV file, or objects of a JSON file.

A program is a table of what its columns or fields are called (`Fields`). A new program is one such
table and one line in `programs.py`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final, cast

from msgspec import Struct

from bowerbird.model import instants
from bowerbird.model.arrival import Completeness
from bowerbird.model.posts.bookmarks import time_in_x_id
from bowerbird.sources import file_labels
from bowerbird.sources.file_posts import (
    FAVOURITE,
    LIKED,
    FilePost,
    found_post,
    invalid,
    media_attachments,
    not_a_post,
    only_if_requested,
    shown,
    text_and_name,
)
from bowerbird.sources.found import Choices, Found, LeftOut, Notice, Reason, column_name
from bowerbird.sources.parsing import dates
from bowerbird.sources.parsing.json_values import Part, Unreadable, text_at
from bowerbird.sources.parsing.text_lines import CsvRows
from bowerbird.sources.post_links import PostLink, X, parse, x_post

_MEDIA_SEPARATORS: Final = " \n\r\t,;|"
_TRUE: Final = frozenset({"true", "1", "yes", "y"})
_FALSE: Final = frozenset({"false", "0", "no", "n"})
_ALL_READ: Final = 100
# X's index of a bookmark has the milliseconds of its saving above these bits.
_INDEX_SHIFT: Final = 20
# Ids of posts since 2010 have as many digits.
LONG_ID: Final = re.compile(r"[1-9][0-9]{14,18}")
_INDEX: Final = re.compile(r"[1-9][0-9]{17,18}")
# Programs write the time of a post in any time zone. A date later than this is one of saving.
_SAVED_AFTER_US: Final = timedelta(days=2) // timedelta(microseconds=1)
_MAX_STEPS: Final = 300
_MAX_NAMES_KNOWN: Final = 2_000

Record = Mapping[str, Any]
Names = tuple[str, ...]


class Fields(Struct, frozen=True, kw_only=True):
    """The names of columns or of fields, as `column_name` writes them.

    In an object of JSON, also paths such as "content.url", whose later parts are as in the file. Of
    several names, the first one counts that the record has and that is not empty.
    """

    address: Names
    # The address of an id: "https://www.youtube.com/watch?v={}".
    address_form: str = "{}"
    # Whether an address under another name counts if these have none.
    finds_address: bool = False
    # Ids of posts of X, for a file without addresses; and ids of anything, which are those of posts
    # only if they are long.
    x_id: Names = ()
    any_id: Names = ()
    # What a record without an address is, for programs that keep other things than links.
    kind: Names = ()
    text: Names = ()
    # The title of a page. It is the text of the post only in part.
    title: Names = ()
    author_name: Names = ()
    author_username: Names = ()
    profile_image: Names = ()
    posted_at: Names = ()
    saved_at: Names = ()
    # When the post was written or saved, whichever fits the time in its id.
    dated: Names = ()
    # X's index, which has the time of saving.
    sort_index: Names = ()
    # A text, or in JSON a list of texts or of objects with a name.
    tags: Names = ()
    tag_separators: str = ","
    folder: Names = ()
    # All of them together are the note.
    notes: Names = ()
    media: Names = ()
    is_in_order: bool = False
    archived: Names = ()
    read: Names = ()
    unread: Names = ()
    # A hundred is all of it.
    progress: Names = ()
    favourite: Names = ()
    # Columns that say "archive", "read" or "starred". A folder of such a name is no label.
    state: Names = ()
    # Meta writes the bytes of UTF-8 as if they were characters.
    repairs_texts: bool = False
    find_link: Callable[[str], PostLink | None] = parse


def fields_of(named: str, **more: Any) -> Fields:
    """`named` has the names of a program: "saved_at=time_added/created tags".

    An underscore is a space. A field without names is called as here.
    """
    pairs = (word.partition("=") for word in named.split())
    names = {
        field: tuple((columns or field).replace("_", " ").split("/")) for field, _, columns in pairs
    }
    return Fields(**cast("Any", names), **more)


_STATES: Final = {
    "archive": "archived",
    "archived": "archived",
    "read": "read",
    "starred": "favourite",
    "favorites": "favourite",
    "unread": "",
    "inbox": "",
}


def read_table(rows: CsvRows, fields: Fields) -> Iterator[Found]:
    header: list[str] = []
    for row in rows:
        if row.problem:
            yield invalid(row.line, row.problem)
        elif not header:
            header = [column_name(cell) for cell in row.cells]
        else:
            # Of two columns with the same name, the first one counts.
            cells = dict(zip(reversed(header), reversed(row.cells), strict=True))
            yield post_of(row.line, cells, fields)
    yield from charset_notice(rows.first_windows_line)


def charset_notice(line: int) -> Iterator[Notice]:
    if line:
        yield Notice(
            line=line,
            sentence=f"The file is not UTF-8 (first in line {line}). "
            "The characters there were read as Windows-1252.",
        )


def read_parts(
    parts: Iterable[Part],
    fields: Fields,
    folders_of: Callable[[Part], Iterable[str]] = lambda _part: (),
    *,
    liked: frozenset[str] = frozenset(),
    choices: Choices = Choices(),  # noqa: B008 - immutable
) -> Iterator[Found]:
    """`liked` are keys of the lists that have liked posts."""
    names: dict[str, str] = {}
    for part in parts:
        value, place = part.value, part.place
        if isinstance(value, Unreadable):
            yield invalid(part.line, str(value), place)
            continue
        if isinstance(value, str):
            value = {fields.address[0]: value}
        if not isinstance(value, dict):
            yield invalid(part.line, "The record is not an object.", place)
        elif liked.intersection(part.path):
            found = post_of(part.line, _named(value, names), fields, [LIKED])
            yield from only_if_requested([found], choices)
        else:
            yield post_of(part.line, _named(value, names), fields, folders_of(part))


def _named(record: dict[str, Any], known: dict[str, str]) -> dict[str, Any]:
    """The record with the names of columns. Of two fields with the same name, the first counts."""
    named: dict[str, Any] = {}
    for key, value in record.items():
        name = known.get(key)
        if name is None:
            name = column_name(key)
            if len(known) < _MAX_NAMES_KNOWN:
                known[key] = name
        named.setdefault(name, value)
    return named


def post_of(line: int, record: Record, fields: Fields, folders: Iterable[str] = ()) -> Found:
    values = _Values(record, repairs_texts=fields.repairs_texts)
    text = values.text
    username = text(fields.author_username).strip().removeprefix("@")
    link = _link(line, values, fields, username)
    if not isinstance(link, PostLink):
        return link
    words = text(fields.text)
    title, author = text_and_name(text(fields.title), text(fields.address), link)
    posted_at, saved_at = _times(values, fields, link, has_text=bool(words))
    states = {_STATES.get(text((name,)).strip().lower(), "") for name in fields.state}
    is_favourite = "favourite" in states or values.is_any(fields.favourite, _TRUE)
    tags = file_labels.tags(values.first(fields.tags), fields.tag_separators)
    return found_post(
        FilePost(
            link=link,
            line=line,
            completeness=Completeness.PREVIEW if words else Completeness.STUB,
            text=words or title,
            author_name=text(fields.author_name) or author,
            author_username=username,
            profile_image=text(fields.profile_image),
            posted_at=posted_at,
            saved_at=saved_at,
            is_in_order=fields.is_in_order,
            labels=file_labels.names(
                tags,
                _folders(values, fields),
                folders,
                [FAVOURITE] if is_favourite else (),
            ),
            note="\n\n".join(filter(str.strip, (text((one,)) for one in fields.notes))),
            is_archived="archived" in states or values.is_any(fields.archived, _TRUE),
            is_read="read" in states
            or values.is_any(fields.read, _TRUE)
            or values.is_any(fields.unread, _FALSE)
            or values.number(fields.progress) >= _ALL_READ,
            attachments=media_attachments(_split_media(text(fields.media))),
        )
    )


def _link(line: int, values: "_Values", fields: Fields, username: str) -> PostLink | LeftOut:
    address, number = values.text(fields.address), values.text(fields.x_id).strip()
    if address:
        address = fields.address_form.format(address.strip())
    link = fields.find_link(address) if address else None
    # A column of ids may be under the name of a column of addresses.
    if not number and (not address or address.isdecimal()):
        number = address or values.long_id(fields.any_id)
    if link is None and not number and fields.finds_address:
        other = values.address(fields)
        link = fields.find_link(other) if other else None
        address = address or other
    if link is None and (not address or address.isdecimal()):
        link = x_post(number, username if username.isidentifier() else "")
        if link is None and number:
            return invalid(line, f"{shown(number)} is not the id of a post.")
        if link is None and fields.kind:
            kind = values.text(fields.kind)[:20] or "bookmark"
            sentence = f"Line {line}: A {kind} without a link is not a post."
            return LeftOut(line=line, reason=Reason.NOT_A_POST, sentence=sentence)
    return link or not_a_post(line, address)


class _Values:
    """The values of a record, by the names that they may have."""

    def __init__(self, record: Record, *, repairs_texts: bool) -> None:
        self._record = record
        self._repairs_texts = repairs_texts

    def first(self, names: Names) -> Any:
        for name in names:
            value = self._record.get(name)
            if value is None and "." in name:
                value = _inner(self._record, name.split("."))
            if value and (type(value) is not str or value.strip()):
                return value
        return ""

    def text(self, names: Names) -> str:
        text = text_at({"": self.first(names)}, "") if names else ""
        return _repaired(text) if self._repairs_texts else text

    def long_id(self, names: Names) -> str:
        number = self.text(names).strip()
        return number if LONG_ID.fullmatch(number) else ""

    def number(self, names: Names) -> float:
        value = self.first(names)
        return value if isinstance(value, int | float) else 0

    def address(self, fields: Fields) -> str:
        """An address of a post anywhere in the record, else any address, else ""."""
        address, waiting = "", list[Any](self._record.values())
        for step, value in enumerate(waiting):
            if step >= _MAX_STEPS:
                break
            if isinstance(value, str):
                if is_address(value) and " " not in value:
                    if fields.find_link(value):
                        return value
                    address = address or value
            elif isinstance(value, dict | list) and len(waiting) < _MAX_STEPS:
                waiting += value.values() if isinstance(value, dict) else value
        return address

    def is_any(self, names: Names, words: frozenset[str]) -> bool:
        return any(str(self._record.get(name, ""))[:10].strip().lower() in words for name in names)


def is_address(text: str) -> bool:
    return text.strip().startswith(("https://", "http://", "at://"))


def _repaired(text: str) -> str:
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _inner(value: Any, path: list[str]) -> Any:
    """The value at a path. Of a list or a "*" on the way, the first object counts with the key."""
    for key in path:
        if key == "*" and isinstance(value, Mapping):
            value = list(value.values())
            continue
        if isinstance(value, list):
            value = next((one for one in value[:100] if isinstance(one, dict) and key in one), None)
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _times(
    values: _Values, fields: Fields, link: PostLink, *, has_text: bool
) -> tuple[object, object]:
    """When the post was written and when it was saved, as the file says it."""
    posted_at, saved_at = values.first(fields.posted_at), values.first(fields.saved_at)
    written = time_in_x_id(link.post_id) if link.network == X else ""
    index = values.text(fields.sort_index).strip()
    if not saved_at and _INDEX.fullmatch(index) and index != link.post_id:
        moment = dates.read(int(index) >> _INDEX_SHIFT) or ""
        saved_at = moment if _is_after(moment, written, 0) else ""
    date = dates.read(values.first(fields.dated))
    if not date:
        return posted_at, saved_at
    is_saved = _is_after(date, written, _SAVED_AFTER_US) if written else not has_text
    return (posted_at, saved_at or date) if is_saved else (posted_at or date, saved_at)


def _is_after(date: str, written: str, distance_us: int) -> bool:
    one, other = instants.parse(date), instants.parse(written)
    return one is not None and (other is None or one - other > distance_us)


def _folders(values: _Values, fields: Fields) -> list[str]:
    """The folder as one label: a text, or in JSON a list of the names of several."""
    folder = values.first(fields.folder)
    named = (
        file_labels.tags(folder, "\n") if isinstance(folder, list) else [values.text(fields.folder)]
    )
    is_state = set(fields.state).intersection(fields.folder)
    return [
        label
        for name in named
        if not (is_state and name.strip().lower() in _STATES)
        for label in file_labels.folder(name)
    ]


def _split_media(text: str) -> list[str]:
    # Addresses may contain a comma, so only one before the next address separates.
    for separator in _MEDIA_SEPARATORS:
        text = text.replace(f"{separator}http", "\nhttp")
    return [part.strip(_MEDIA_SEPARATORS) for part in text.split("\n")]
