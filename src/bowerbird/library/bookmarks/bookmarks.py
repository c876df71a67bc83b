"""Reading bookmarks: lists, counts and single bookmarks. REST and the tools call this."""

import asyncio
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock, system_clock
from bowerbird.library.access import plans
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.cursors import Keyset, Ranked
from bowerbird.library.bookmarks.highlighting import with_highlights
from bowerbird.library.bookmarks.label_words import LabelWords
from bowerbird.library.bookmarks.list_request import ListRequest, read_list
from bowerbird.library.bookmarks.ranking import Rankings
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.model.filters import BookmarkFilter
from bowerbird.model.vectors import VectorStoreState
from bowerbird.requests.bookmarks import CountQuery, ListQuery, SimilarQuery
from bowerbird.requests.filters import filter_of
from bowerbird.requests.gates import gates_for
from bowerbird.requests.limits import PAGE_DEFAULT, PAGE_MAX, RANKED_MAX
from bowerbird.search import query_language
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore, Page
from bowerbird.storage.database import Database
from bowerbird.storage.vectors import VectorStore

_CACHED_TOTALS: Final = 4_096
_EMPTY: Final = Page(b"", 0, None)


class BookmarkList(Struct, frozen=True):
    """One page. `body` is its bookmarks as JSON, separated by commas."""

    body: bytes
    count: int
    next_cursor: str | None
    limit: int
    total_count: int
    # How many read or archived bookmarks match, if nothing else does.
    hidden: int = 0
    # What was not understood in q.
    query_hints: tuple[str, ...] = ()
    # How many bookmarks a search by meaning cannot find yet.
    vector_pending: int = 0
    # If it was asked for: the cursor of the page before, "" for the first page.
    newer_cursor: str | None = None


class SavedFilter(Struct, frozen=True):
    """The filter of a stored query, and the value that its cursors are bound to."""

    filter: BookmarkFilter
    bound_to: Any


class VectorState(Struct, frozen=True):
    """The state of an account's vectors, read once per request."""

    store: VectorStoreState | None

    @property
    def tag(self) -> str:
        """Changes whenever the answer to a search by meaning may change."""
        store = self.store
        return "" if store is None else f"{store.model.hex()}.{store.generation}"


class BookmarkCounts(Struct, frozen=True):
    count: int
    total: int
    unread: int
    archived: int


class Bookmarks:
    def __init__(
        self,
        database: Database,
        meaning: SemanticSearch | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._clock = clock
        self._labels = LabelWords(database)
        self._store = BookmarkStore(database)
        self._vectors = VectorStore(database)
        self._meaning = meaning or SemanticSearch(database)
        self._rankings = Rankings(database, self._meaning)
        # (account, epoch, version, filter) -> count, so that reading all pages counts once.
        self._totals = LruCache(_CACHED_TOTALS)

    async def vector_state(self, account: Account) -> VectorState:
        """The vectors that a search by meaning would read now."""
        return VectorState(await self._meaning.serving(account))

    def minute(self, text: str) -> int:
        """The current minute if the answer to a query changes over time, else 0."""
        return self._clock() // (60 * MICROSECONDS) if query_language.moves(text) else 0

    async def require_vectors(self, account: Account, vectors: VectorState) -> None:
        """Refuses a search by meaning until the account's vectors are built."""
        await self._meaning.required(account, vectors.store)

    async def get(self, account: Account, post_id: str) -> bytes:
        found = await self.found(account, post_id)
        if found is None:
            raise errors.not_found("bookmark", post_id)
        return found

    async def found(self, account: Account, post_id: str) -> bytes | None:
        """The JSON of a bookmark, or None if the library does not have it."""
        return await self._store.by_post_id(account, post_id) if is_post_id(post_id) else None

    async def thread(self, account: Account, first_id: str) -> bytes:
        """The saved posts of a thread, oldest first and separated by commas, up to a page."""
        if not is_post_id(first_id):
            return b""
        body, _ = await self._store.thread(account, first_id, PAGE_MAX)
        return body

    async def list(
        self,
        account: Account,
        query: ListQuery,
        vectors: VectorState | None = None,
        *,
        saved: SavedFilter | None = None,
        finds_newer: bool = False,
    ) -> BookmarkList:
        """One page. `vectors` is the state if it was read before; `saved` is a stored query.

        `finds_newer`: looks for the page before too, which costs another read.
        """
        plans.check_fields(account, gates_for(ListQuery, _sent(query)))
        request = await self._request(account, query, saved)
        store = None
        if request.filter.meaning is not None:
            vectors = vectors or await self.vector_state(account)
            store = await self._meaning.required(account, vectors.store)
        bound_to = cursors.query_of(
            account.account_id,
            saved.bound_to if saved else _timeless(query, request.filter),
            request.sort,
            request.is_ranked,
            request.is_best_first,
        )
        end: Keyset | Ranked | None
        if request.is_ranked:
            page, end, total = await self._ranked(account, request, bound_to, store)
        else:
            page, end, total = await self._ordered(account, request, bound_to)
        return BookmarkList(
            body=await _with_highlights(page.body, request),
            count=page.count,
            next_cursor=None if end is None else cursors.write(end, bound_to),
            limit=request.limit,
            total_count=total,
            hidden=0
            if page.count or total
            else await self._hidden(account, request.filter, vectors),
            query_hints=words.hints if (words := request.filter.words) else (),
            vector_pending=_pending(account, store) if request.filter.meaning else 0,
            newer_cursor=await self._newer(account, request, bound_to) if finds_newer else None,
        )

    async def similar(
        self,
        account: Account,
        post_id: str,
        query: SimilarQuery,
        vectors: VectorState | None = None,
    ) -> BookmarkList:
        """The bookmarks nearest to one by meaning."""
        plans.check_similar(account)
        vectors = vectors or await self.vector_state(account)
        store = await self._meaning.required(account, vectors.store)
        limit = query.limit or PAGE_DEFAULT
        filter = filter_of(query)
        number = None
        if is_post_id(post_id):
            number = await self._vectors.number_of(account.account_id, post_id)
        if number is None:
            raise errors.not_found("bookmark", post_id)
        near = await self._rankings.similar(account, filter, number, limit, store)
        body, count = await self._store.contents(account, near)
        pending = _pending(account, store)
        return BookmarkList(body, count, None, limit, count, vector_pending=pending)

    async def count(
        self, account: Account, query: CountQuery, vectors: VectorState | None = None
    ) -> BookmarkCounts:
        plans.check_fields(account, gates_for(CountQuery, _sent(query)))
        filter = filter_of(query, searched_at=self._clock())
        if filter.meaning is not None:
            vectors = vectors or await self.vector_state(account)
            await self._meaning.required(account, vectors.store)
        matching = await self.total(account, filter, vectors)
        return BookmarkCounts(matching, account.total, account.unread, account.archived)

    async def _request(
        self, account: Account, query: ListQuery, saved: SavedFilter | None
    ) -> ListRequest:
        request = read_list(
            query, saved.filter if saved else filter_of(query, searched_at=self._clock())
        )
        filter = await self._labels.resolved(account, request.filter)
        return msgspec.structs.replace(request, filter=filter)

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
        self,
        account: Account,
        request: ListRequest,
        query: bytes,
        store: VectorStoreState | None,
    ) -> tuple[Page, Ranked | None, int]:
        seen: set[int] = set()
        if request.cursor is not None:
            seen = cursors.read_seen(request.cursor, query)
        order = None if request.is_best_first else request.sort
        numbers = await self._rankings.numbers(account, request.filter, order, store)
        if request.is_best_first and not request.sort.descending:
            numbers = numbers[::-1]
        # The ranking may have changed since the last page, so a position in it is not enough.
        unseen = [number for number in numbers if number not in seen]
        unseen = unseen[: max(RANKED_MAX - len(seen), 0)]
        on_page = unseen[: request.limit]
        end_of_page = cursors.ranked(seen.union(on_page)) if len(unseen) > len(on_page) else None
        page = Page(*await self._store.contents(account, on_page), end=None)
        return page, end_of_page, len(numbers)

    async def _newer(self, account: Account, request: ListRequest, query: bytes) -> str | None:
        if request.cursor is None:
            return None
        if request.is_ranked:
            # Its cursors have no order. The first page has the best matches.
            return ""
        after = cursors.read_after(request.cursor, query, request.sort)
        key = await self._store.before(account, request.filter, request.sort, after, request.limit)
        if key is None or key.number is None:
            return ""
        return cursors.write(Keyset(key.value, key.number), query)

    async def total(
        self, account: Account, filter: BookmarkFilter, vectors: VectorState | None = None
    ) -> int:
        """How many bookmarks match. `vectors` is the state that was read already."""
        filter = await self._labels.resolved(account, filter)
        if filter.meaning is not None:
            vectors = vectors or await self.vector_state(account)
            return await self._rankings.total(account, filter, vectors.store)
        if filter.words is not None and filter.words.is_empty:
            return 0
        if filter.is_flags_only:
            return account.visible(
                unread_only=filter.unread_only,
                hide_archived=filter.hide_archived,
                archived_only=filter.archived_only,
            )
        key = (account.account_id, account.epoch, account.version, filter)
        found = self._totals.get(key)
        if found is None:
            found = await self._store.count(account, filter)
            self._totals.put(key, found)
        return int(found)

    async def _hidden(
        self, account: Account, filter: BookmarkFilter, vectors: VectorState | None
    ) -> int:
        """How many bookmarks match that the flags of the filter hide."""
        if not (filter.unread_only or filter.hide_archived):
            return 0
        everything = msgspec.structs.replace(filter, unread_only=False, hide_archived=False)
        return await self.total(account, everything, vectors)


def is_post_id(text: str) -> bool:
    """Ids are digits. Other text is never an id, and databases reject some characters."""
    return text.isascii() and text.isdigit()


def _sent(query: ListQuery | CountQuery) -> dict[str, Any]:
    """The fields that were sent with a value."""
    values = ((name, getattr(query, name)) for name in query.__struct_fields__)
    return {name: value for name, value in values if value not in (None, "")}


def _timeless(query: ListQuery, filter: BookmarkFilter) -> BookmarkFilter:
    """The filter as it was written: relative dates and labels change between two pages."""
    return filter_of(query) if query.q else filter


def _pending(account: Account, store: VectorStoreState | None) -> int:
    return max(account.total - store.embedded, 0) if store else 0


async def _with_highlights(body: bytes, request: ListRequest) -> bytes:
    words = request.filter.words
    if not request.is_highlighted or words is None or not body:
        return body
    # On a thread: a page of long articles takes milliseconds.
    return await asyncio.to_thread(with_highlights, body, words)


def _end(page: Page) -> Keyset | None:
    if page.end is None or page.end.number is None:
        return None
    return Keyset(page.end.value, page.end.number)
