"""Continues an ordered list after a value that several bookmarks may have.

A client that sends the value of the last bookmark alone does not say which of the bookmarks with
that value were on its page. It read the list from the start, in pages of one size, so the page
ended where such pages end.
"""

from typing import Final

from msgspec import Struct

from bowerbird.library.bookmarks.list_request import ListRequest
from bowerbird.model.accounts import Account
from bowerbird.model.filters import After, Sort
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore

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
