"""Plain lists: filtered by flags only, in the order of an index.

Their query means the same at any time and on every page. A client that reads a whole library sends
it once per page, so it is read once and each page only reads its cursor.
"""

from contextlib import suppress

import msgspec
from msgspec import Struct

from bowerbird.errors import Refusal
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.cursors import Keyset
from bowerbird.library.bookmarks.list_request import ListRequest, read_list
from bowerbird.library.bookmarks.results import BookmarkList
from bowerbird.model.accounts import Account
from bowerbird.model.filters import SORT_FIELDS, After
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.filters import DATES
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore


class PlainList(Struct, frozen=True):
    """What a query of an account means, without its cursor."""

    request: ListRequest
    # The query that its cursors belong to.
    bound_to: bytes


def plain_list(account: Account, query: ListQuery) -> PlainList | None:
    """None if it is another kind of list. The query is one that was answered before."""
    # Free accounts have gates that depend on the cursor.
    if account.is_free or query.sort_cursor is not None or query.highlight or query.q:
        return None
    if any(getattr(query, name) for name in DATES):
        return None
    request = read_list(msgspec.structs.replace(query, cursor=None))
    if not request.filter.is_flags_only or not SORT_FIELDS[request.sort.field].is_indexed:
        return None
    bound_to = bound_query(account, request, request.filter)
    return PlainList(request, bound_to)


def bound_query(account: Account, request: ListRequest, filter: object) -> bytes:
    """What the cursors of a list are bound to."""
    return cursors.query_of(
        account.account_id, filter, request.sort, request.is_ranked, request.is_best_first
    )


class PlainLists:
    def __init__(self, store: BookmarkStore) -> None:
        self._store = store

    async def page(
        self, account: Account, plain: PlainList, cursor: str | None
    ) -> BookmarkList | None:
        """One page. None if the list is empty or the cursor is not one of this list.

        The caller then asks `Bookmarks.list`, which knows what to say about both.
        """
        request, bound_to = plain.request, plain.bound_to
        after: After | None = None
        if cursor is not None:
            with suppress(Refusal):
                after = cursors.read_after(cursor, bound_to, request.sort)
            if after is None:
                return None
        filter = request.filter
        total = account.visible(
            unread_only=filter.unread_only,
            hide_archived=filter.hide_archived,
            archived_only=filter.archived_only,
        )
        if not total:
            return None
        page = await self._store.page(account, filter, request.sort, after, request.limit)
        return BookmarkList(
            body=page.body,
            count=page.count,
            next_cursor=_next_cursor(page.end, bound_to),
            limit=request.limit,
            total_count=total,
        )


def _next_cursor(end: After | None, bound_to: bytes) -> str | None:
    if end is None or end.number is None:
        return None
    return cursors.write(Keyset(end.value, end.number), bound_to)
