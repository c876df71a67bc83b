"""What a list of bookmarks takes: filter, order, page, and where to continue. What it returns.

A client that continues after the value of the last bookmark alone does not say which of the
bookmarks with that value were on its page. It read the list from the start, in pages of one size,
so the page ended where such pages end.

On the website, the posts of one author in one conversation are one row of a list. The row has the
place of the post that comes first in the list, and shows the post that was written first. Which
posts belong to it depends on the list alone, not on a page: a page shows the row if it has the
first of them, and never the others. So no post is missing or shown twice, whichever page is opened.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.library.bookmarks import cursors
from bowerbird.model import instants
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import (
    RELEVANCE,
    SORT_FIELDS,
    After,
    BookmarkFilter,
    Sort,
    SortKind,
)
from bowerbird.model.posts.networks import PostContent
from bowerbird.model.words import VectorStoreState, order_key
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.fields import InvalidField
from bowerbird.requests.filter_values import read_flag
from bowerbird.requests.limits import PAGE_DEFAULT, PAGE_MAX
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore

# The rest of a longer thread has rows of its own.
POSTS_MAX: Final = 100
# The post that the row shows, and the lines below it.
_SHOWN: Final = 3
# Inside of a text, quotation marks are escaped.
_MARKS: Final = (b'"tweet_is_thread":true', b'"is_sub_tweet_of_thread":true')
# The flags in a state.
_READ, _ARCHIVED = 1, 2


class Thread(Struct, frozen=True):
    """The posts of one row, in the order in which they were written."""

    post_ids: tuple[str, ...]
    # The post that comes first in the list.
    lead: str
    # The first posts as JSON.
    beginning: tuple[bytes, ...]
    is_read: bool
    is_archived: bool


class _Part(NamedTuple):
    post_id: str
    number: int
    state: int
    place: int


class _Meta(Struct):
    tweet_conversation_id: str = ""
    tweet_is_thread: bool = False
    is_sub_tweet_of_thread: bool = False


class _Details(Struct):
    meta: _Meta


class _Listed(Struct):
    post_id: str
    tweet_details: _Details


_decode: Final = msgspec.json.Decoder(list[_Listed]).decode


async def threads_of(
    store: BookmarkStore, account: Account, filter: BookmarkFilter, sort: Sort, page: bytes
) -> dict[str, Thread]:
    """The threads that a page of a list has posts of, by each of their posts."""
    names = _names(page)
    if not names:
        return {}
    found: dict[tuple[str, str], list[_Part]] = defaultdict(list)
    for thread, author, *part in await store.strands(account, filter, sort, names, POSTS_MAX):
        # Nobody knows whether posts without an author have the same one.
        if author:
            found[thread, author].append(_Part(*part))
    folded = [parts for parts in found.values() if len(parts) > 1]
    shown = await store.each(account, [one.number for parts in folded for one in parts[:_SHOWN]])
    threads: dict[str, Thread] = {}
    for parts in folded:
        beginning = tuple(shown[one.number] for one in parts[:_SHOWN] if one.number in shown)
        if len(beginning) < len(parts[:_SHOWN]):
            # A post was deleted since it was listed.
            continue
        thread = Thread(
            post_ids=tuple(one.post_id for one in parts),
            lead=min(parts, key=lambda one: one.place).post_id,
            beginning=beginning,
            is_read=all(one.state & _READ for one in parts),
            is_archived=all(one.state & _ARCHIVED for one in parts),
        )
        threads |= dict.fromkeys(thread.post_ids, thread)
    return threads


def _names(page: bytes) -> list[str]:
    """The threads that the posts of a page belong to: the ids of their first posts."""
    if not any(mark in page for mark in _MARKS):
        return []
    try:
        listed = _decode(b"[%b]" % page)
    except (msgspec.MsgspecError, RecursionError):
        # They are shown without their threads.
        return []
    names = []
    for one in listed:
        meta = one.tweet_details.meta
        if meta.is_sub_tweet_of_thread:
            names.append(meta.tweet_conversation_id)
        elif meta.tweet_is_thread:
            names.append(one.post_id)
    return list(dict.fromkeys(filter(None, names)))


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
        # All of the posts that are named, without a second page.
        limit=query.limit or (PAGE_DEFAULT if filter.post_ids is None else PAGE_MAX),
        cursor=query.cursor or None,
        after=_sort_cursor(query, sort, is_ranked=is_ranked),
        has_own_order=bool(query.sort_by) and (query.sort_by or "").strip() != RELEVANCE,
        is_highlighted=_is_highlighted(query),
    )


def bound_query(account_id: int, request: ListRequest, filter: Any) -> bytes:
    """What the cursors of a list are bound to."""
    order = (request.sort, request.is_ranked, request.is_best_first)
    return cursors.query_of(account_id, filter, *order)


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


class ByMeaning(Enum):
    """Whether a search by meaning could find what the words of a search did not."""

    READY = auto()
    BUILDING = auto()


class BookmarkList(Struct, frozen=True):
    """One page. `body` is its bookmarks as JSON, separated by commas."""

    body: bytes
    count: int
    next_cursor: str | None
    limit: int
    total_count: int
    # How many read or archived bookmarks match, if nothing else does or only by its meaning.
    hidden: int = 0
    # How many bookmarks a search by meaning cannot find yet.
    vector_pending: int = 0
    # If it was asked for: the cursor of the page before, "" for the first page.
    newer_cursor: str | None = None
    # What the search did not understand.
    hints: tuple[str, ...] = ()
    # Why the search found nothing, only similar posts, or none that matches closely.
    reason: str = ""
    # Whether no bookmark has every word of q, so that those with any of them are listed.
    is_relaxed: bool = False
    # Whether posts are in it that counts and changes of the same query do not have.
    is_wider: bool = False
    # If posts were named: the ids among them that the library does not have.
    not_found: Sequence[str] | None = None
    # q with other words in place of those that no bookmark has.
    did_you_mean: str | None = None
    # Set if a question found nothing, or posts with some of its words.
    by_meaning: ByMeaning | None = None
    # If it was asked for: the threads that posts of the page belong to, by post.
    threads: Mapping[str, Thread] = {}
    # Of the posts of the page that are only links, by id. The JSON of these says it too.
    contents: Mapping[str, PostContent] = {}

    @property
    def is_settled(self) -> bool:
        """Whether only a change of the library changes the page."""
        return all(one.is_settled for one in self.contents.values())

    @property
    def hint(self) -> str:
        return " ".join(sentence for sentence in (*self.hints, self.reason) if sentence)


class SavedFilter(Struct, frozen=True):
    """The filter of a stored query, and the value that its cursors are bound to."""

    filter: BookmarkFilter
    bound_to: Any


class VectorState(Struct, frozen=True):
    """The state of an account's vectors, read once per request."""

    store: VectorStoreState | None
    # Whether this process can build vectors.
    can_build: bool = False

    @property
    def by_meaning(self) -> ByMeaning | None:
        if self.store is not None:
            return ByMeaning.READY
        return ByMeaning.BUILDING if self.can_build else None

    @property
    def tag(self) -> str:
        """Changes whenever the answer to a search by meaning may change."""
        store = self.store
        if store is None:
            return "building" if self.can_build else ""
        return ".".join(p.hex() if isinstance(p, bytes) else str(p) for p in store.version)


class BookmarkCounts(Struct, frozen=True):
    count: int
    """Bookmarks that match the filters."""
    total: int
    """All bookmarks in the library."""
    unread: int
    """Unread bookmarks, archived ones too."""
    archived: int
    """Archived bookmarks."""


_NUMBERS: Final = (-1, 2**63 - 1)
_LIST_END: Final = "This is the end of the list: next_cursor is null."


class Continuation(Struct, frozen=True):
    after: After
    hint: str = ""


async def continue_after(
    store: BookmarkStore, account: Account, request: ListRequest, value: int | str, total: int
) -> Continuation:
    """Where the next page starts. `total`: how many bookmarks the list has."""
    filter, sort, limit = request.filter, request.sort, request.limit
    strictly = Continuation(After(value))
    if total <= limit:
        return strictly
    # After the last bookmark with this value.
    last = After(value, _NUMBERS[not sort.descending])
    second = await store.before(account, filter, sort, last, 2)
    if second is None or second.value != value:
        return strictly
    backwards = Sort(sort.field, not sort.descending)
    first = await store.count_after(account, filter, backwards, value)
    end = total - await store.count_after(account, filter, sort, value)
    page_end = end - end % limit
    hint = ""
    if page_end - limit > first:
        hint = (
            f"{end - first} posts have this value of {sort.field}, more than a page. To read them "
            "all, send next_cursor as cursor, with or without sort_cursor."
        )
    if not first < page_end < end:
        return Continuation(strictly.after, hint)
    if end == total:
        # The value of the last bookmark returns the last page again.
        hint = hint or _LIST_END
    after = await store.before(account, filter, sort, last, end - page_end + 1)
    return Continuation(after or strictly.after, hint)
