"""Cursors: opaque texts that record where a page ended, bound to the query of the list.

While nodes are replaced, a list goes on at a node of another release. A filter that a release does
not know is therefore only written into the query if it is set.
"""

import base64
import hashlib
from collections.abc import Collection
from contextlib import suppress
from itertools import accumulate, pairwise
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct, structs

from bowerbird import errors
from bowerbird.model.posts.bookmarks import Integer
from bowerbird.model.posts.filters import SORT_FIELDS, After, BookmarkFilter, Sort, SortKind
from bowerbird.requests.bookmarks import ListQuery

# A letter, because programs take an argument that begins with "-" for an option.
_FIRST_LETTER: Final = "c"
_SEAL_BYTES: Final = 8
# All numbers of so many fit into 64 bits.
_DIGITS: Final = 18
# Enough for a full ranked list: a thousand gaps of at most five bytes.
_MAX_LENGTH: Final = 7_000
_pack: Final = msgspec.msgpack.Encoder().encode


class Ranked(Struct, frozen=True, array_like=True, tag="r"):
    """The end of a page of a ranked list: the numbers of all bookmarks that were returned.

    A position is not enough, because ranks change with the library. The sorted numbers are stored
    as the gaps between them, which are short.
    """

    gaps: list[int]
    # Whether the list has the posts with some of the words.
    is_relaxed: bool = False
    # Whether those come after the posts with all of the words. None in cursors without this.
    is_wide: bool | None = None


class Keyset(Struct, frozen=True, array_like=True, tag="k"):
    value: Integer | str
    number: Integer


class Named(Struct, frozen=True, array_like=True, tag="n"):
    """The end of a page of a list that is ordered by name."""

    name: str


class Followed(Struct, frozen=True, array_like=True, tag="f"):
    """How far a program has followed a library: the number of an event, in an epoch of it."""

    epoch: Integer
    number: Integer
    # While the posts are listed: the number of the last one.
    listed: Integer | None = None


End = Ranked | Keyset | Named | Followed
E = TypeVar("E", bound=Ranked | Keyset | Named | Followed)
_decoder: Final[msgspec.msgpack.Decoder[End]] = msgspec.msgpack.Decoder(End)


def write(end: End, query: bytes) -> str:
    body = _pack(end)
    return _FIRST_LETTER + _encoded(_seal(body, query) + body)


def read_after(text: str, query: bytes, sort: Sort) -> After:
    """Where to continue an ordered list."""
    end = read(text, query)
    is_text = SORT_FIELDS[sort.field].kind is SortKind.TEXT
    if not isinstance(end, Keyset) or isinstance(end.value, str) is not is_text:
        raise refused(text)
    # We never return such a cursor, but anyone can forge one, and PostgreSQL rejects the text.
    if isinstance(end.value, str) and "\x00" in end.value:
        raise refused(text)
    return After(end.value, end.number)


def read_as(kind: type[E], text: str, query: bytes) -> E:
    """The end of a page of a list whose cursors are of this kind."""
    end = read(text, query)
    if not isinstance(end, kind):
        raise refused(text)
    return end


def read_number(text: str, query: bytes) -> int:
    """The number in the cursor of a list that is ordered by numbers."""
    name = read_as(Named, text, query).name
    # We never return another one, but anyone can forge it.
    if not (name.isascii() and name.isdigit() and len(name) <= _DIGITS):
        raise refused(text)
    return int(name)


def seen(end: Ranked) -> set[int]:
    return set(accumulate(end.gaps))


def ranked(seen: Collection[int], *, is_relaxed: bool = False, is_wide: bool = False) -> Ranked:
    numbers = sorted(seen)
    gaps = [after - before for before, after in pairwise([0, *numbers])]
    return Ranked(gaps, is_relaxed, is_wide)


def query_of(*parts: Any) -> bytes:
    """What a cursor is bound to: account, filter and sort, as bytes."""
    return _pack(parts)


def read(text: str, query: bytes) -> End:
    """Raises a refusal if the text is not a cursor of this query."""
    # Cursors of earlier releases have no first letter, but may begin with the same one.
    for encoded in (text.removeprefix(_FIRST_LETTER), text):
        with suppress(ValueError, msgspec.MsgspecError):
            sealed = _decoded(encoded)
            body = sealed[_SEAL_BYTES:]
            if sealed[:_SEAL_BYTES] == _seal(body, query):
                return _decoder.decode(body)
    raise refused(text)


def refused(text: str) -> errors.Refusal:
    return errors.invalid(
        "cursor",
        f"{errors.shown(text, 40)} is not a cursor of this list; send next_cursor unchanged, with "
        "the same filters and sort, or omit it",
    )


def _decoded(text: str) -> bytes:
    if len(text) > _MAX_LENGTH or not text.isascii():
        raise ValueError(text[:1])
    sealed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    # base64 decodes several texts to the same bytes; only ours is accepted.
    if _encoded(sealed) != text:
        raise ValueError(text[:1])
    return sealed


def _encoded(sealed: bytes) -> str:
    return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()


def _seal(body: bytes, query: bytes) -> bytes:
    # Not keyed: a forged cursor reads only the caller's own library.
    return hashlib.blake2b(body + query, digest_size=_SEAL_BYTES).digest()


# The filters of 0.2.0, which are always written.
_FIRST: Final = frozenset(
    {
        "unread_only",
        "hide_archived",
        "archived_only",
        "media_bit",
        "author",
        "tag",
        "labels",
        "all_labels",
        "unlabelled",
        "has_note",
        "posted_from",
        "posted_to",
        "bookmarked_from",
        "bookmarked_to",
        "import_run",
        "words",
        "post_ids",
        "meaning",
    }
)


def bound_fields(filter: BookmarkFilter, query: ListQuery) -> dict[str, Any]:
    """What a cursor of a list is bound to of its filter."""
    fields = structs.asdict(filter)
    # Words as they were typed: every release makes something else of them.
    fields["words"] = query.q if filter.words else None
    if filter.linked is not None:
        fields["linked"] = query.linked_site
    return {name: value for name, value in fields.items() if value is not None or name in _FIRST}
