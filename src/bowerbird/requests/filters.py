"""The filters of a bookmark list, each declared once.

A filter is one field of a struct below: its name, type, description, plan gate, the field of
`BookmarkFilter` that it sets, and how its value is read. Its SQL is in storage/bookmarks.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Final

from msgspec import Meta, Struct

from bowerbird import errors
from bowerbird.model import instants, media, relative_dates
from bowerbird.model.filters import BookmarkFilter
from bowerbird.model.folding import order_key
from bowerbird.model.labels import name_key
from bowerbird.model.words import Field, WordQuery
from bowerbird.requests.fields import InvalidField, about, metadata_of
from bowerbird.requests.gates import Gate
from bowerbird.requests.limits import TEXT_MAX
from bowerbird.search import query_language

_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}
_RUN_ID_MAX: Final = 40
MEANING: Final = "vector_search_term"
"""The filter that ranks by meaning."""

# A query string can only send text; a JSON body may send either.
Flag = bool | str | None


class Reader(Struct, frozen=True):
    """Which field of a BookmarkFilter a filter sets, and how its value is read."""

    sets: str
    read: Callable[[str, Any], Any]


def read_flag(name: str, value: bool | str) -> bool:  # noqa: FBT001 - the value itself
    if isinstance(value, bool):
        return value
    flag = _BOOLEANS.get(value.strip().lower())
    if flag is None:
        raise InvalidField(name, f"must be true or false, got {errors.shown(value)}")
    return flag


def read_instant(name: str, text: str) -> int:
    instant = instants.parse(text.strip())
    if instant is None:
        raise InvalidField(
            name,
            "must be an ISO 8601 date or date-time such as 2026-01-31 or "
            f"2026-01-31T08:00:00+02:00, got {errors.shown(text)}",
        )
    return instant


def _read_media_type(name: str, text: str) -> int:
    bit = media.bit_of(text)
    if bit is None:
        raise InvalidField(
            name, f"must be one of {', '.join(media.BITS)}, got {errors.shown(text)}"
        )
    return bit


def _read_words(_: str, text: str, now: int | None = None) -> WordQuery | None:
    stripped = text.strip()
    return query_language.parse(stripped, now) if stripped else None


def _gates_in_words(text: str) -> dict[str, Gate]:
    """A field of a query needs the same plan as the filter."""
    fields = {one.field for one in query_language.parse(text.strip()).conditions}
    return {f"{field}: in q": Gate.FILTERING for field in sorted(fields - {Field.IS})}


def _folded(fold: Callable[[str], Any]) -> Callable[[str, str], Any]:
    def read(_: str, text: str) -> Any:
        stripped = text.strip()
        return fold(stripped) if stripped else None

    return read


def _flag(description: str, sets: str, *, example: bool) -> Meta:
    reader, parameter = Reader(sets, read_flag), {"type": "boolean"}
    return about(description, example, filter=reader, parameter=parameter, nullable=True)


def _narrows(
    description: str,
    example: str,
    sets: str,
    read: Callable[[str, Any], Any],
    **more: Mapping[str, Any],
) -> Meta:
    """A filter that needs a paid plan."""
    return about(
        description,
        example,
        filter=Reader(sets, read),
        gate=Gate.FILTERING,
        nullable=True,
        **more,
    )


def _limits_time(description: str, example: str, sets: str) -> Meta:
    return _narrows(
        f"{description}.",
        example,
        sets,
        read_instant,
        parameter={"format": "date-time"},
        # A model writes dates, which the format would exclude.
        argument={"description": f"{description}, such as 2026-01-31."},
    )


class FlagFilters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The two flags, which every plan includes."""

    # The values of flags that are not sent.
    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": True, "hide_archived": True}

    is_unread_only: Annotated[
        Flag, _flag("Only unread bookmarks.", "unread_only", example=False)
    ] = None
    hide_archived: Annotated[
        Flag, _flag("Hide archived bookmarks.", "hide_archived", example=True)
    ] = None


class BookmarkFilters(FlagFilters, frozen=True, kw_only=True):
    """The filters that every list, count, export and view understands."""

    is_archived_only: Annotated[
        Flag,
        about(
            "Only archived bookmarks. hide_archived is false then, unless it is sent.",
            example=True,
            filter=Reader("archived_only", read_flag),
            parameter={"type": "boolean"},
            nullable=True,
            # The list of tools has to stay short.
            argument=None,
        ),
    ] = None
    media_type: Annotated[
        str | None,
        _narrows(
            "Only posts that contain this kind of media.",
            "image",
            "media_bit",
            _read_media_type,
            parameter={"enum": [*media.BITS, *media.SYNONYMS]},
            argument={"enum": [*media.BITS]},
        ),
    ] = None
    author: Annotated[
        str | None,
        _narrows(
            "The author's handle, with or without @, or their exact name. Case is ignored.",
            "bowerwatch",
            "author",
            _folded(order_key),
        ),
    ] = None
    tag: Annotated[
        str | None,
        _narrows(
            "Only bookmarks with this label. Case is ignored.", "Birds", "tag", _folded(name_key)
        ),
    ] = None
    posted_from: Annotated[
        str | None,
        _limits_time("Posted after this instant", "2026-01-01T00:00:00+00:00", "posted_from"),
    ] = None
    posted_to: Annotated[
        str | None,
        _limits_time("Posted before this instant", "2026-07-01T00:00:00+02:00", "posted_to"),
    ] = None
    bookmarked_from: Annotated[
        str | None,
        _limits_time("Bookmarked after this instant", "2026-07-01T00:00:00Z", "bookmarked_from"),
    ] = None
    bookmarked_to: Annotated[
        str | None,
        _limits_time("Bookmarked before this instant", "2026-07-31T23:59:59Z", "bookmarked_to"),
    ] = None


class WordFilters(BookmarkFilters, frozen=True, kw_only=True):
    """The filters, and search by word, which every plan includes."""

    q: Annotated[
        str | None,
        about(
            'Words that must all occur; "a phrase", -word to exclude, wo* for a prefix, this OR '
            "that, parentheses, and the fields author:, label:, has:, is:, before: and after:.",
            '"blue things" bower* -paint',
            filter=Reader("words", _read_words),
            gates_in=_gates_in_words,
            nullable=True,
            argument={"description": "As query of search_bookmarks."},
        ),
    ] = None


class BookmarkQuery(WordFilters, frozen=True, kw_only=True):
    """Everything that selects bookmarks."""

    vector_search_term: Annotated[
        str | None,
        about(
            "Nearest by meaning, best first; with q, the union of both. Needs a paid plan.",
            "birds that decorate",
            filter=Reader("meaning", _folded(str)),
            gate=Gate.MEANING,
            nullable=True,
            # A tool has a mode instead.
            argument=None,
        ),
    ] = None


def _read_run(name: str, text: str) -> str | None:
    run_id = text.strip()
    if not (run_id.isascii() and run_id.isalnum() and len(run_id) <= _RUN_ID_MAX):
        raise InvalidField(name, f"must be the run_id of an import, got {errors.shown(text)}")
    return run_id


class ImportedQuery(BookmarkQuery, frozen=True, kw_only=True):
    """The filters of a list, and the import that brought the posts."""

    import_run: Annotated[
        str | None,
        about(
            "Only posts that this import added or changed, by its run_id. They are known as long "
            "as the import can be undone.",
            "5f2c9a7be01d4c3389aa01bc",
            filter=Reader("import_run", _read_run),
            parameter={"type": "string", "pattern": "^[0-9A-Za-z]*$", "maxLength": _RUN_ID_MAX},
            nullable=True,
            # Tools do not list imports.
            argument=None,
        ),
    ] = None


def filter_of(
    query: FlagFilters, now: int | None = None, *, searched_at: int | None = None
) -> BookmarkFilter:
    """The filter that a query describes. With `now`, dates may be relative to it.

    With `searched_at` only those in q, which a list accepts too.
    """
    try:
        return _filter(query, now, now if searched_at is None else searched_at)
    except InvalidField as invalid:
        raise errors.invalid(invalid.field, invalid.problem) from None


def check_filters(query: FlagFilters) -> None:
    """For a struct that checks itself: raises InvalidField for a filter that cannot be read."""
    for name, value in sent(query).items():
        if isinstance(value, str) and len(value) > TEXT_MAX:
            raise InvalidField(name, f"must be a string of at most {TEXT_MAX:,} characters")
    _filter(query, now=0, searched_at=0)


def moves(query: FlagFilters) -> bool:
    """Whether the query has a date that is relative to the current time."""
    return any(
        (reader.read is read_instant and relative_dates.resolved(getattr(query, name) or "", 0))
        or (reader.read is _read_words and query_language.moves(getattr(query, name) or ""))
        for name, reader in readers(type(query)).items()
    )


@cache
def readers(kind: type[Struct]) -> dict[str, Reader]:
    """The filters of a request by name, in the order they are declared."""
    return {name: meta["filter"] for name, meta in metadata_of(kind).items() if "filter" in meta}


def sent(query: FlagFilters) -> dict[str, Any]:
    """The filters that were sent with a value, by name."""
    values = ((name, getattr(query, name)) for name in readers(type(query)))
    return {name: value for name, value in values if value not in (None, "")}


def flags_of(query: FlagFilters) -> dict[str, bool]:
    """The values of the flags that were not sent. They do not contradict the other filters."""
    flags = {n: on for n, on in query.DEFAULTS.items() if getattr(query, n) in (None, "")}
    text = getattr(query, "q", None)
    words = _read_words("q", text) if text else None
    if words is not None and words.shows_read:
        flags |= dict.fromkeys(flags.keys() & {"is_unread_only"}, False)
    # An invalid value is refused where it is read.
    is_archive = _BOOLEANS.get(str(getattr(query, "is_archived_only", "")).strip().lower(), False)
    if is_archive or (words is not None and words.shows_archived):
        flags |= dict.fromkeys(flags.keys() & {"hide_archived"}, False)
    return flags


def _filter(query: FlagFilters, now: int | None, searched_at: int | None) -> BookmarkFilter:
    values: dict[str, Any] = {}
    given = {**flags_of(query), **sent(query)}
    for name, reader in readers(type(query)).items():
        value = given.get(name)
        if value is None:
            continue
        if now is not None and reader.read is read_instant:
            value = relative_dates.resolved(value, now) or value
        if reader.read is _read_words:
            values[reader.sets] = _read_words(name, value, searched_at)
        else:
            values[reader.sets] = reader.read(name, value)
    return BookmarkFilter(**values)
