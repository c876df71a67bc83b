"""Reads the query of a list: filter, order, page, and where to continue."""

import re
from typing import Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.model import instants
from bowerbird.model.filters import RELEVANCE, SORT_FIELDS, After, BookmarkFilter, Sort, SortKind
from bowerbird.model.folding import order_key
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.fields import InvalidField
from bowerbird.requests.filter_values import read_flag
from bowerbird.requests.limits import PAGE_DEFAULT

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")


class ListRequest(Struct, frozen=True):
    filter: BookmarkFilter
    sort: Sort
    # Lists a bounded number of the best matches, not everything that matches.
    is_ranked: bool
    # Best match first, instead of the order of `sort`.
    is_best_first: bool
    limit: int
    cursor: str | None
    after: After | None
    # Whether `sort` was asked for. Otherwise a list of posts with some of the words is best first.
    has_own_order: bool = False
    # Whether the answer shows where the words of q occur.
    is_highlighted: bool = False

    @property
    def is_question(self) -> bool:
        words = self.filter.words
        return self.filter.meaning is None and words is not None and words.is_question

    @property
    def may_be_relaxed(self) -> bool:
        """Whether the list starts here, and is of words that posts may lack."""
        words = self.filter.words
        if words is None or self.filter.meaning is not None:
            return False
        return bool(words.wanted_terms) and self.cursor is None


def read_list(query: ListQuery, filter: BookmarkFilter) -> ListRequest:
    """`filter`: the one of the query, or of a stored query."""
    sort, is_ranked = _sort(query, filter)
    is_best_first = is_ranked and (query.sort_by or RELEVANCE).strip() == RELEVANCE
    return ListRequest(
        filter=filter,
        sort=sort,
        is_ranked=is_ranked,
        is_best_first=is_best_first,
        limit=query.limit or PAGE_DEFAULT,
        cursor=query.cursor or None,
        after=_sort_cursor(query, sort, is_ranked=is_ranked),
        has_own_order=bool(query.sort_by) and (query.sort_by or "").strip() != RELEVANCE,
        is_highlighted=_is_highlighted(query),
    )


def _is_highlighted(query: ListQuery) -> bool:
    try:
        return read_flag("highlight", query.highlight) if query.highlight else False
    except InvalidField as invalid:
        raise errors.invalid(invalid.field, invalid.problem) from None


def _sort(query: ListQuery, filter: BookmarkFilter) -> tuple[Sort, bool]:
    by_meaning = filter.meaning is not None
    name = (query.sort_by or (RELEVANCE if by_meaning else "sort_index")).strip()
    if name == RELEVANCE:
        if filter.words is None and not by_meaning:
            raise errors.invalid("sort_by", "relevance needs a search")
        return Sort(descending=_order(query, default=True)), True
    if name not in SORT_FIELDS:
        accepted = ", ".join([*SORT_FIELDS, RELEVANCE])
        raise errors.invalid("sort_by", f"must be one of {accepted}, got {errors.shown(name)}")
    return Sort(name, _order(query, default=SORT_FIELDS[name].descends)), by_meaning


def _order(query: ListQuery, *, default: bool) -> bool:
    """Whether the list descends."""
    text = query.sort_order
    if not text:
        return default
    if text.strip().lower() not in ("asc", "desc"):
        raise errors.invalid("sort_order", f"must be asc or desc, got {errors.shown(text)}")
    return text.strip().lower() == "desc"


def _sort_cursor(query: ListQuery, sort: Sort, *, is_ranked: bool) -> After | None:
    text = query.sort_cursor
    kind = SORT_FIELDS[sort.field].kind
    is_value = bool(text) or (kind is SortKind.TEXT and not is_ranked)
    # If both are sent, cursor decides.
    if text is None or query.cursor or not is_value:
        return None
    if is_ranked:
        raise errors.invalid("sort_cursor", "a ranked list continues only by cursor")
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
