"""The parameters of a list: what each accepts, and how its text is read.

Read by the list, the count, the OpenAPI document, and whatever keeps a query to run it later.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.model import instants, media
from bowerbird.model.filters import RELEVANCE, SORT_FIELDS, After, BookmarkFilter, Sort, SortKind
from bowerbird.model.folding import order_key
from bowerbird.model.labels import name_key
from bowerbird.search import query_language

FILTER_PARAMETERS: Final = (
    "is_unread_only",
    "hide_archived",
    "media_type",
    "author",
    "tag",
    "posted_from",
    "posted_to",
    "bookmarked_from",
    "bookmarked_to",
    "q",
    "vector_search_term",
)
LIST_PARAMETERS: Final = (
    "limit",
    "cursor",
    *FILTER_PARAMETERS,
    "sort_by",
    "sort_order",
    "sort_cursor",
    "highlight",
)
LIMIT_DEFAULT: Final = 20
LIMIT_MAX: Final = 100
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")
_BOOLEANS: Final = {"true": True, "1": True, "false": False, "0": False}


class ListRequest(Struct, frozen=True):
    filter: BookmarkFilter
    sort: Sort
    # Of a bounded set of the best, rather than of all that match.
    is_ranked: bool
    # Best first, rather than in the order of `sort`.
    is_best_first: bool
    limit: int
    cursor: str | None
    after: After | None
    # Whether the answer shows where the words of q stand.
    is_highlighted: bool = False


def read_filter(given: Mapping[str, str]) -> BookmarkFilter:
    return BookmarkFilter(
        unread_only=_boolean(given, "is_unread_only", default=True),
        hide_archived=_boolean(given, "hide_archived", default=True),
        media_bit=_media_bit(given),
        author=_read(given, "author", order_key),
        tag=_read(given, "tag", name_key),
        posted_from=_instant(given, "posted_from"),
        posted_to=_instant(given, "posted_to"),
        bookmarked_from=_instant(given, "bookmarked_from"),
        bookmarked_to=_instant(given, "bookmarked_to"),
        words=_read(given, "q", query_language.parse),
        meaning=_read(given, "vector_search_term", str),
    )


def read_list(given: Mapping[str, str]) -> ListRequest:
    filter = read_filter(given)
    sort, is_ranked = _sort(given, filter)
    is_best_first = is_ranked and given.get("sort_by", RELEVANCE).strip() == RELEVANCE
    return ListRequest(
        filter=filter,
        sort=sort,
        is_ranked=is_ranked,
        is_best_first=is_best_first,
        limit=read_limit(given),
        cursor=given.get("cursor"),
        after=_sort_cursor(given, sort, is_ranked=is_ranked),
        is_highlighted=_boolean(given, "highlight", default=False),
    )


def _read(given: Mapping[str, str], name: str, reader: Callable[[str], Any]) -> Any:
    text = given.get(name, "").strip()
    return reader(text) if text else None


def _boolean(given: Mapping[str, str], name: str, *, default: bool) -> bool:
    text = given.get(name)
    if text is None:
        return default
    value = _BOOLEANS.get(text.strip().lower())
    if value is None:
        raise errors.invalid(name, f"must be true or false, got {errors.shown(text)}")
    return value


def read_limit(given: Mapping[str, str]) -> int:
    text = given.get("limit")
    if text is None:
        return LIMIT_DEFAULT
    # Any number of digits is a number: what is above the most is applied as the most.
    digits = text.strip(" ").removeprefix("+")
    significant = digits.lstrip("0")
    if not (digits.isascii() and digits.isdigit() and significant):
        raise errors.invalid(
            "limit", f"must be a whole number from 1 to {LIMIT_MAX}, got {errors.shown(text)}"
        )
    if len(significant) > len(str(LIMIT_MAX)):
        return LIMIT_MAX
    return min(int(significant), LIMIT_MAX)


def _instant(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name)
    if text is None:
        return None
    instant = instants.parse(text.strip())
    if instant is None:
        raise errors.invalid(
            name,
            "must be an ISO 8601 date or date-time such as 2026-01-31 or "
            f"2026-01-31T08:00:00+02:00, got {errors.shown(text)}",
        )
    return instant


def _media_bit(given: Mapping[str, str]) -> int | None:
    text = given.get("media_type")
    if text is None:
        return None
    bit = media.bit_of(text)
    if bit is None:
        raise errors.invalid(
            "media_type", f"must be one of {', '.join(media.BITS)}, got {errors.shown(text)}"
        )
    return bit


def _sort(given: Mapping[str, str], filter: BookmarkFilter) -> tuple[Sort, bool]:
    by_meaning = filter.meaning is not None
    name = given.get("sort_by", RELEVANCE if by_meaning else "sort_index").strip()
    if name == RELEVANCE:
        if filter.words is None and not by_meaning:
            raise errors.invalid("sort_by", "relevance needs q or vector_search_term")
        return Sort(descending=_order(given, default=True)), True
    if name not in SORT_FIELDS:
        accepted = ", ".join([*SORT_FIELDS, RELEVANCE])
        raise errors.invalid("sort_by", f"must be one of {accepted}, got {errors.shown(name)}")
    return Sort(name, _order(given, default=SORT_FIELDS[name].descends)), by_meaning


def _order(given: Mapping[str, str], *, default: bool) -> bool:
    """Whether the list descends."""
    text = given.get("sort_order")
    if text is None:
        return default
    if text.strip().lower() not in ("asc", "desc"):
        raise errors.invalid("sort_order", f"must be asc or desc, got {errors.shown(text)}")
    return text.strip().lower() == "desc"


def _sort_cursor(given: Mapping[str, str], sort: Sort, *, is_ranked: bool) -> After | None:
    text = given.get("sort_cursor")
    # When both come, cursor decides.
    if text is None or "cursor" in given:
        return None
    if is_ranked:
        raise errors.invalid("sort_cursor", "a ranked list continues by cursor alone")
    kind = SORT_FIELDS[sort.field].kind
    if kind is SortKind.TEXT:
        return After(order_key(text))
    value = _whole_number(text) if kind is SortKind.NUMBER else instants.parse(text.strip())
    if value is None:
        raise errors.invalid(
            "sort_cursor", f"must be a value of {sort.field}, got {errors.shown(text)}"
        )
    return After(value)


def _whole_number(text: str) -> int | None:
    text = text.strip(" ")
    if not _NUMBER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
