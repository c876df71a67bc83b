"""What a caller may do with bookmarks. Every surface calls this."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.library.access import plans
from bowerbird.library.bookmarks import cursors, parameters
from bowerbird.library.bookmarks.cursors import Keyset, Ranked
from bowerbird.library.bookmarks.highlighting import with_highlights
from bowerbird.library.bookmarks.parameters import ListRequest
from bowerbird.library.bookmarks.ranking import RANKED_MOST, Rankings
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.model.filters import BookmarkFilter
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore, Page
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.vectors import VectorStore

_REMEMBERED: Final = 4_096
_EMPTY: Final = Page(b"", 0, None)


class BookmarkList(Struct, frozen=True):
    """One page; `body` is its bookmarks as ready JSON, parted by commas."""

    body: bytes
    count: int
    next_cursor: str | None
    limit: int
    total_count: int
    hint: str | None
    # How many bookmarks a search by meaning cannot find yet.
    vector_pending: int = 0


class BookmarkCounts(Struct, frozen=True):
    count: int
    total: int
    unread: int
    archived: int


class Bookmarks:
    def __init__(self, database: Database, meaning: SemanticSearch | None = None) -> None:
        self._store = BookmarkStore(database)
        self._vectors = VectorStore(database)
        self._meaning = meaning or SemanticSearch(database)
        self._rankings = Rankings(database, self._meaning)
        # (account, epoch, version, filter) -> count, so that a crawl counts once.
        self._totals = LruCache(_REMEMBERED)

    async def check(self, account: Account, given: Collection[str]) -> None:
        """Refuses what plan or vector store do not open, by the names of what was sent."""
        plans.check_list(account, given)
        if plans.MEANING in given:
            await self._meaning.require(account)

    async def vectors(self, account: Account) -> str:
        """Names the state of the vectors that an answer by meaning depends on."""
        store = await self._meaning.serving(account)
        return "" if store is None else f"{store.model.hex()}.{store.generation}"

    async def get(self, account: Account, post_id: str) -> bytes:
        found = None
        # Ids are digits; any other text names nothing, and some of it no database would take.
        if post_id.isascii() and post_id.isdigit():
            found = await self._store.by_post_id(account, post_id)
        if found is None:
            raise errors.not_found("bookmark", post_id)
        return found

    async def list(
        self, account: Account, given: Mapping[str, str], bound_to: Any = None
    ) -> BookmarkList:
        """A page. Its cursor is bound to the filter, or to what the filter was made from."""
        await self.check(account, given)
        request = parameters.read_list(given)
        query = cursors.query_of(
            account.account_id,
            bound_to or request.filter,
            request.sort,
            request.is_ranked,
            request.is_best_first,
        )
        read = self._ranked if request.is_ranked else self._ordered
        page, end, total = await read(account, request, query)
        return BookmarkList(
            body=await _shown(page.body, request),
            count=page.count,
            next_cursor=None if end is None else cursors.write(end, query),
            limit=request.limit,
            total_count=total,
            hint=None if page.count else await self._hint(account, request.filter, total),
            vector_pending=await self._pending(account) if request.filter.meaning else 0,
        )

    async def similar(
        self, account: Account, post_id: str, given: Mapping[str, str]
    ) -> BookmarkList:
        """The bookmarks nearest to one by meaning; read ones too, unless asked otherwise."""
        plans.check_similar(account)
        await self._meaning.require(account)
        limit = parameters.read_limit(given)
        filter = parameters.read_filter({"is_unread_only": "false", **given})
        number = None
        if post_id.isascii() and post_id.isdigit():
            number = await self._vectors.number_of(account.account_id, post_id)
        if number is None:
            raise errors.not_found("bookmark", post_id)
        near = await self._rankings.similar(account, filter, number, limit)
        body, count = await self._store.contents(account, near)
        pending = await self._pending(account)
        return BookmarkList(body, count, None, limit, count, None, vector_pending=pending)

    async def count(self, account: Account, given: Mapping[str, str]) -> BookmarkCounts:
        await self.check(account, given)
        filter = parameters.read_filter(given)
        matching = await self.total(account, filter)
        return BookmarkCounts(matching, account.total, account.unread, account.archived)

    async def _ordered(
        self, account: Account, request: ListRequest, query: bytes
    ) -> tuple[Page, Keyset | None, int]:
        after = request.after
        if request.cursor is not None:
            after = cursors.read_after(request.cursor, query, request.sort)
        total = await self.total(account, request.filter)
        if total == 0:
            return _EMPTY, None, 0
        page = await self._store.page(account, request.filter, request.sort, after, request.limit)
        return page, _end(page), total

    async def _ranked(
        self, account: Account, request: ListRequest, query: bytes
    ) -> tuple[Page, Ranked | None, int]:
        seen: set[int] = set()
        if request.cursor is not None:
            seen = cursors.read_seen(request.cursor, query)
        order = None if request.is_best_first else request.sort
        numbers = await self._rankings.numbers(account, request.filter, order)
        if request.is_best_first and not request.sort.descending:
            numbers = numbers[::-1]
        # A library that changed since is ranked anew, so a place in the old ranking says nothing.
        unseen = [number for number in numbers if number not in seen]
        unseen = unseen[: max(RANKED_MOST - len(seen), 0)]
        shown = unseen[: request.limit]
        end_of_page = cursors.ranked(seen.union(shown)) if len(unseen) > len(shown) else None
        page = Page(*await self._store.contents(account, shown), end=None)
        return page, end_of_page, len(numbers)

    async def _pending(self, account: Account) -> int:
        store = await self._meaning.serving(account)
        return max(account.total - store.embedded, 0) if store else 0

    async def total_within(
        self, transaction: Transaction, account: Account, filter: BookmarkFilter
    ) -> int:
        """How many match, as a transaction sees it."""
        if filter.meaning is not None:
            return await self._rankings.total_within(transaction, account, filter)
        if filter.words is not None and filter.words.is_empty:
            return 0
        return await self._store.count_within(transaction, account, filter)

    async def total(self, account: Account, filter: BookmarkFilter) -> int:
        if filter.meaning is not None:
            return await self._rankings.total(account, filter)
        if filter.words is not None and filter.words.is_empty:
            return 0
        if filter.is_flags_only:
            return account.visible(
                unread_only=filter.unread_only, hide_archived=filter.hide_archived
            )
        key = (account.account_id, account.epoch, account.version, filter)
        found = self._totals.get(key)
        if found is None:
            found = await self._store.count(account, filter)
            self._totals.put(key, found)
        return int(found)

    async def _hint(self, account: Account, filter: BookmarkFilter, total: int) -> str | None:
        """Says so when nothing is shown though read or archived bookmarks would match."""
        if total or not (filter.unread_only or filter.hide_archived):
            return None
        everything = msgspec.structs.replace(filter, unread_only=False, hide_archived=False)
        hidden = await self.total(account, everything)
        if not hidden:
            return None
        verb = "bookmark matches" if hidden == 1 else "bookmarks match"
        return (
            f"{hidden} read or archived {verb}; ask with is_unread_only=false and "
            "hide_archived=false to see them."
        )


async def _shown(body: bytes, request: ListRequest) -> bytes:
    words = request.filter.words
    if not request.is_highlighted or words is None or not body:
        return body
    # A page of long articles takes milliseconds, which other requests need not wait.
    return await asyncio.to_thread(with_highlights, body, words)


def _end(page: Page) -> Keyset | None:
    if page.end is None or page.end.number is None:
        return None
    return Keyset(page.end.value, page.end.number)
