"""The filters of a bookmark list, each declared once.

A filter is one field of a struct below: its name, type, description, plan gate, the field of
`BookmarkFilter` that it sets, and how its value is read. Its SQL is in storage/bookmarks.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Final
from zoneinfo import ZoneInfo

from msgspec import Meta, Struct, structs

from bowerbird import errors
from bowerbird.model import instants
from bowerbird.model.labels import name_key
from bowerbird.model.posts import media, networks
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.words import Field, WordQuery
from bowerbird.requests.fields import Gate, InvalidField, about, metadata_of
from bowerbird.requests.filter_values import (
    BOOLEANS,
    MATCHES,
    RUN_ID_MAX,
    bound_of,
    fold,
    other_names,
    read_author,
    read_flag,
    read_has,
    read_ids,
    read_instant,
    read_labels,
    read_languages,
    read_match,
    read_media_type,
    read_network,
    read_number,
    read_run,
)
from bowerbird.requests.limits import FILTER_NAMES_MAX, LISTED_IDS_MAX, NUMBER_MAX, TEXT_MAX
from bowerbird.search.queries import query_fields, query_language

MEANING: Final = "vector_search_term"
"""The filter that ranks by meaning."""

OPERATORS: Final = (
    'Words, "a phrase" -not OR has:image is:unread|archived|reply|gone|duplicate lang:en '
    "site:youtube url:x.com words:>500 min_likes:9, posted since:2026-01-31 until:30d."
)
"""What the query of a tool may have."""

# A query string can only send text; a JSON body may send either.
Flag = bool | str | None
Number = int | str | None


class Reader(Struct, frozen=True):
    """Which field of a BookmarkFilter a filter sets, and how its value is read."""

    sets: str
    read: Callable[[str, Any], Any]


def _read_words(_: str, text: str, now: int | None = None) -> WordQuery | None:
    stripped = text.strip()
    return query_language.parse(stripped, now) if stripped else None


def _read_site(name: str, text: str) -> WordQuery | None:
    """As url: in a query finds it."""
    if not text.strip():
        return None
    address = query_fields.address(Field.URL, text)
    if address is None or any(map(str.isspace, address)):
        raise InvalidField(name, f"must be a site such as example.com, got {errors.shown(text)}")
    return query_language.parse(f'url:"{address}"')


def gates_in_words(text: str) -> dict[str, Gate]:
    """A field of a query needs the same plan as the filter."""
    conditions = query_language.parse(text.strip()).conditions
    fields = {one.field for one in conditions if not one.is_flag}
    return {f"{field}: in q": Gate.FILTERING for field in sorted(fields)}


def _folded(fold: Callable[[str], Any]) -> Callable[[str, str], Any]:
    def read(_: str, text: str) -> Any:
        stripped = text.strip()
        return fold(stripped) if stripped else None

    return read


def _flag(description: str, sets: str, *, example: bool, argument: str) -> Meta:
    reader, parameter = Reader(sets, read_flag), {"type": "boolean"}
    return about(
        description,
        example,
        filter=reader,
        parameter=parameter,
        nullable=True,
        argument={**parameter, "description": argument},
    )


def _narrows(
    description: str,
    example: str | int | bool,  # noqa: FBT001 - the value itself
    sets: str,
    read: Callable[[str, Any], Any],
    *,
    parameter: Mapping[str, Any] | None = None,
    argument: Mapping[str, Any] | None = None,
) -> Meta:
    """A filter that needs a paid plan.

    The list of tools repeats its filters in ten places, so only those that no operator of `query`
    can express have an `argument` there. The others are accepted all the same.
    """
    return about(
        description,
        example,
        filter=Reader(sets, read),
        gate=Gate.FILTERING,
        nullable=True,
        parameter=parameter or {},
        argument=argument,
    )


def _either(description: str, sets: str) -> Meta:
    """A filter of which true and false are a condition."""
    return _narrows(
        f"true: only {description}. false: only others.",
        example=True,
        sets=sets,
        read=read_flag,
        parameter={"type": "boolean"},
    )


def _limits(description: str, example: int, sets: str) -> Meta:
    return _narrows(
        description,
        example,
        sets,
        read_number,
        parameter={"type": "integer", "minimum": 0, "maximum": NUMBER_MAX},
    )


_LANGUAGE: Final = "[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})?"
_KINDS: Final = "|".join([*query_fields.HAS, *media.SYNONYMS])
_HAS: Final = f"^(({_KINDS})(,({_KINDS})){{0,{FILTER_NAMES_MAX - 1}}})?$"
_LANGUAGES: Final = f"^({_LANGUAGE}(,{_LANGUAGE}){{0,{FILTER_NAMES_MAX - 1}}})?$"

_SITE: Final = r"^(([a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?\.){1,4}[a-z]{2,20})?$"

OtherName = Annotated[str | None, about("", gate=Gate.FILTERING, is_other_name=True)]
"""Another name of a bound (requests/filter_values.py): accepted, but no schema lists it."""

# Alternatives, so that generated clients take dates and relative dates too.
TIMES: Final = [
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "date"},
    {"type": "string", "pattern": "^-[0-9]{1,4}[hdwmy]$"},
    # Views return today-1d for a bound before today.
    {"type": "string", "pattern": "^today([+-][0-9]{1,4}d)?$"},
]


def _limits_time(
    description: str, example: str, sets: str, argument: Mapping[str, Any] | None = None
) -> Meta:
    return _narrows(
        f"{description}. A date without a time is the whole day in the account's time zone; -7d, "
        "-3h, today and today-1d are relative.",
        example,
        sets,
        read_instant,
        parameter={"anyOf": TIMES},
        # A model writes dates, which the format would exclude.
        argument=argument,
    )


class FlagFilters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The two flags, which every plan includes."""

    # The values of flags that are not sent.
    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": True, "hide_archived": True}

    is_unread_only: Annotated[
        Flag,
        _flag("Only unread bookmarks.", "unread_only", example=False, argument="Only unread."),
    ] = None
    hide_archived: Annotated[
        Flag,
        _flag("Hide archived bookmarks.", "hide_archived", example=True, argument="Not archived."),
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
            read_media_type,
            parameter={"enum": [*media.BITS, *media.SYNONYMS]},
        ),
    ] = None
    author: Annotated[
        str | None,
        _narrows(
            "The author's handle, with or without @, or their exact name. Case is ignored. Several "
            "handles are separated by commas.",
            "bowerwatch",
            "author",
            read_author,
            argument={"description": "Handles, with commas."},
        ),
    ] = None
    tag: Annotated[
        str | None,
        _narrows(
            "Only bookmarks with this label. Case is ignored.", "Birds", "tag", _folded(name_key)
        ),
    ] = None
    label: Annotated[
        str | Annotated[list[str], Meta(max_length=FILTER_NAMES_MAX)] | None,
        _narrows(
            "Only bookmarks with this label, or with one of several that are separated by commas. "
            "Case is ignored.",
            "Birds,Nests",
            "labels",
            read_labels,
            parameter={"type": "string"},
            argument={"type": "string", "description": "Labels, with commas: any of them."},
        ),
    ] = None
    label_match: Annotated[
        str | None,
        _narrows(
            "any: one of the labels is enough. all: a bookmark needs all of them.",
            "all",
            "all_labels",
            read_match,
            parameter={"enum": list(MATCHES), "default": "any"},
        ),
    ] = None
    language: Annotated[
        str | None,
        _narrows(
            "Only posts in this language, or in one of several that are separated by commas: codes "
            "such as en. und: those whose language is unknown. It is the one that the source gives "
            "the post, or the one that its text clearly shows.",
            "en",
            "languages",
            read_languages,
            parameter={"type": "string", "pattern": _LANGUAGES},
        ),
    ] = None
    network: Annotated[
        str | None,
        _narrows(
            "Only posts of this network, as site: in q.",
            "youtube",
            "network_bits",
            read_network,
            parameter={"enum": [*networks.NETWORKS]},
        ),
    ] = None
    unlabelled: Annotated[
        Flag,
        _narrows(
            "true: only bookmarks without a label. false: only those with one.",
            sets="unlabelled",
            read=read_flag,
            example=True,
            parameter={"type": "boolean"},
            argument={"type": "boolean", "description": "Without a label."},
        ),
    ] = None
    has_note: Annotated[
        Flag,
        _narrows(
            "true: only bookmarks with a note of yours. false: only those without one.",
            sets="has_note",
            read=read_flag,
            example=True,
            parameter={"type": "boolean"},
        ),
    ] = None
    has: Annotated[
        str | None,
        _narrows(
            "Only posts with this, as has: in q; with all of several that are separated by commas.",
            "image,link",
            "has",
            read_has,
            parameter={"type": "string", "pattern": _HAS},
        ),
    ] = None
    is_gone: Annotated[
        Flag, _either("posts that their network does not show any more", "is_gone")
    ] = None
    is_reply: Annotated[Flag, _either("replies to another post", "is_reply")] = None
    is_thread: Annotated[Flag, _either("posts of a thread", "is_thread")] = None
    is_duplicate: Annotated[
        Flag,
        _either("posts whose text, links or pictures another saved post has too", "is_duplicate"),
    ] = None
    min_words: Annotated[
        Number, _limits("Only posts with so many words or more.", 500, "min_words")
    ] = None
    max_words: Annotated[
        Number, _limits("Only posts with so many words or fewer.", 50, "max_words")
    ] = None
    min_likes: Annotated[
        Number, _limits("Only posts with so many likes or more.", 100, "min_likes")
    ] = None
    linked_site: Annotated[
        str | None,
        _narrows(
            "Only posts with a link to this site or address, as url: in q.",
            "example.com",
            "linked",
            _read_site,
            parameter={"pattern": _SITE},
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
        _limits_time(
            "Bookmarked after this instant",
            "2026-07-01T00:00:00Z",
            "bookmarked_from",
            {"description": "Saved since 2026-01-31 or -7d."},
        ),
    ] = None
    bookmarked_to: Annotated[
        str | None,
        _limits_time(
            "Bookmarked before this instant",
            "2026-07-31T23:59:59Z",
            "bookmarked_to",
            {"description": "Saved until 2026-01-31 or -2y."},
        ),
    ] = None
    updated_since: Annotated[
        str | None,
        _narrows(
            "Changed at this instant or later: anything that /v1/changes reports of a post. Dates "
            "are written as in bookmarked_from.",
            "2026-07-01T00:00:00Z",
            "updated_since",
            read_instant,
            parameter={"anyOf": TIMES},
        ),
    ] = None
    posted_after: OtherName = None
    posted_since: OtherName = None
    posted_before: OtherName = None
    posted_until: OtherName = None
    bookmarked_after: OtherName = None
    bookmarked_since: OtherName = None
    bookmarked_before: OtherName = None
    bookmarked_until: OtherName = None

    def __post_init__(self) -> None:
        if any(getattr(self, name) for name in other_names(type(self))):
            fold(self)


class WordFilters(BookmarkFilters, frozen=True, kw_only=True):
    """The filters, and search by word, which every plan includes."""

    q: Annotated[
        str | None,
        about(
            'Words that must all occur; "a phrase", -word to exclude, wo* for a prefix, this OR '
            "that, parentheses, and the fields author:, label:, lang:, has:, is:, site:, before: "
            "and after:.",
            '"blue things" bower* -paint',
            filter=Reader("words", _read_words),
            gates_in=gates_in_words,
            nullable=True,
            argument={"description": OPERATORS},
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


class ImportedQuery(BookmarkQuery, frozen=True, kw_only=True):
    """The filters of a list, the posts themselves, and the import that brought them."""

    ids: Annotated[
        str | None,
        _narrows(
            f"Only these posts: up to {LISTED_IDS_MAX} ids, separated by commas. Read and archived "
            "ones are listed too unless their flag is sent, and limit is 100 by default.",
            "1908771653022654191,1908772659655622110",
            "post_ids",
            read_ids,
        ),
    ] = None
    import_run: Annotated[
        str | None,
        about(
            "Only posts that this import added or changed, by its run_id. They are known as long "
            "as the import can be undone.",
            "5f2c9a7be01d4c3389aa01bc",
            filter=Reader("import_run", read_run),
            parameter={"type": "string", "pattern": "^[0-9A-Za-z]*$", "maxLength": RUN_ID_MAX},
            nullable=True,
            # Tools do not list imports.
            argument=None,
        ),
    ] = None


def filter_of(
    query: FlagFilters, now: int | None = None, zone: ZoneInfo | None = None
) -> BookmarkFilter:
    """The filter that a query describes. With `now`, dates may be relative to it.

    `zone` is the time zone of the account, if the query names whole days.
    """
    try:
        return _filter(query, now, zone)
    except InvalidField as invalid:
        raise errors.invalid(invalid.field, invalid.problem) from None


def has_days(query: FlagFilters) -> bool:
    """Whether the query names whole days, which depend on a time zone."""
    return any(instants.is_day(text) for text in _dates(query))


def check_order(filter: BookmarkFilter) -> None:
    """Refuses a time that ends before it starts."""
    for what in ("posted", "bookmarked"):
        start, end = getattr(filter, f"{what}_from"), getattr(filter, f"{what}_to")
        # Both are exclusive: from one day to the day before it, there is no instant between them.
        if start is not None and end is not None and (start > end or start == end - 1):
            raise errors.invalid(f"{what}_from", f"is after {what}_to")


def _dates(query: FlagFilters) -> list[str]:
    return [text for name in DATES if (text := getattr(query, name, None))]


def check_filters(query: FlagFilters) -> None:
    """For a struct that checks itself: raises InvalidField for a filter that cannot be read."""
    for name, value in sent(query).items():
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and len(text) > TEXT_MAX for text in texts):
            raise InvalidField(name, f"must be a string of at most {TEXT_MAX:,} characters")
    _filter(query, now=0, zone=None)


def moves(query: FlagFilters) -> bool:
    """Whether the query has a date that is relative to the current time."""
    texts = (getattr(query, name, None) for name in ("q", MEANING))
    if any(text and query_language.moves(text) for text in texts):
        return True
    return any(map(instants.is_relative, _dates(query)))


@cache
def readers(kind: type[Struct]) -> dict[str, Reader]:
    """The filters of a request by name, in the order they are declared."""
    return {name: meta["filter"] for name, meta in metadata_of(kind).items() if "filter" in meta}


DATES: Final = tuple(
    name for name, reader in readers(BookmarkFilters).items() if reader.read is read_instant
)
"""The filters that limit the time of posts."""


def sent(query: FlagFilters) -> dict[str, Any]:
    """The filters that were sent with a value, by name."""
    values = ((name, getattr(query, name)) for name in readers(type(query)))
    return {name: value for name, value in values if value not in (None, "")}


def flags_of(query: FlagFilters) -> dict[str, bool]:
    """The values of the flags that were not sent. They do not contradict the other filters."""
    flags = {n: on for n, on in query.DEFAULTS.items() if getattr(query, n) in (None, "")}
    if getattr(query, "ids", None):
        return dict.fromkeys(flags, False)
    words = _words(query)
    if words is not None and words.shows_read:
        flags |= dict.fromkeys(flags.keys() & {"is_unread_only"}, False)
    # An invalid value is refused where it is read.
    is_archive = BOOLEANS.get(str(getattr(query, "is_archived_only", "")).strip().lower(), False)
    if is_archive or (words is not None and words.shows_archived):
        flags |= dict.fromkeys(flags.keys() & {"hide_archived"}, False)
    return flags


def _filter(query: FlagFilters, now: int | None, zone: ZoneInfo | None) -> BookmarkFilter:
    known = readers(type(query))
    values: dict[str, Any] = {known[name].sets: on for name, on in flags_of(query).items()}
    for name, value in sent(query).items():
        reader = known[name]
        if reader.read is read_instant:
            values[reader.sets] = bound_of(name, value, now, zone)
        elif reader.read is not _read_words:
            values[reader.sets] = reader.read(name, value)
    words = _words(query, now)
    if words is not None:
        values["words"] = words
        if (meaning := values.get("meaning")) and query_language.limits_of(meaning):
            values["meaning"] = query_language.plain_text(meaning) or None
    return BookmarkFilter(**values)


def _words(query: FlagFilters, now: int | None = None) -> WordQuery | None:
    """The words of a query, and the fields and exclusions of what is searched by meaning."""
    text, meaning = (getattr(query, name, None) for name in ("q", MEANING))
    words = _read_words("q", text, now) if text else None
    limits = query_language.limits_of(meaning.strip(), now) if meaning else None
    if limits is None or words is None or words.is_empty:
        return words or limits
    parts = tuple(dict.fromkeys((*words.parts, *limits.parts)))
    return structs.replace(words, parts=parts)
