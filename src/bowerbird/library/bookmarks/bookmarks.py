"""Reading bookmarks: lists, counts and single bookmarks. REST and the tools call this."""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock, system_clock
from bowerbird.library.access import plans
from bowerbird.library.bookmarks import cursors
from bowerbird.library.bookmarks.authors import NearNames
from bowerbird.library.bookmarks.cursors import Keyset, Ranked, bound_fields
from bowerbird.library.bookmarks.list_request import (
    BookmarkCounts,
    BookmarkList,
    ByMeaning,
    ListRequest,
    SavedFilter,
    Thread,
    VectorState,
    bound_query,
    continue_after,
    read_list,
    threads_of,
)
from bowerbird.library.bookmarks.searching import explaining
from bowerbird.library.bookmarks.searching.explaining import Reasons
from bowerbird.library.bookmarks.searching.label_words import LabelWords
from bowerbird.library.bookmarks.searching.post_texts import with_highlights
from bowerbird.library.bookmarks.searching.ranking import Ranking, Rankings
from bowerbird.library.bookmarks.searching.word_reading import ReadWords
from bowerbird.library.bookmarks.shown_fields import Contents, with_content, with_contents
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import Completeness
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.posts.networks import ContentState, PostContent
from bowerbird.model.words import VectorStoreState
from bowerbird.requests.bookmarks import CountQuery, ListQuery, SimilarQuery
from bowerbird.requests.fields import gates_for
from bowerbird.requests.filters import FlagFilters, check_order, filter_of, has_days, moves
from bowerbird.requests.limits import PAGE_DEFAULT, PAGE_MAX, RANKED_MAX
from bowerbird.storage.bookmarks.bookmarks import Page
from bowerbird.storage.database import Database
from bowerbird.storage.stores import TimedService

_CACHED_TOTALS: Final = 4_096
_EMPTY: Final = Page(b"", 0, None)


class _Found(Struct, frozen=True):
    """A page, where the next one continues, and how many bookmarks match."""

    page: Page
    end: Keyset | Ranked | None
    total: int
    ranking: Ranking = Ranking(())
    is_relaxed: bool = False
    hidden: int = 0
    hint: str = ""


class Bookmarks(TimedService):
    def __init__(
        self,
        database: Database,
        meaning: SemanticSearch | None = None,
        clock: Clock = system_clock,
        *,
        fetches_posts: bool = False,
    ) -> None:
        """`fetches_posts`: whether the text of posts that are only links is asked for."""
        super().__init__(database, clock)
        self.contents = Contents(database, is_fetched=fetches_posts)
        self.names = NearNames(database)
        self.labels = LabelWords(database)
        self._meaning = meaning or SemanticSearch(database)
        self.rankings = Rankings(database, self._meaning)
        self._reasons = Reasons(database)
        # (account, epoch, version, filter) -> count, so that reading all pages counts once.
        self._totals = LruCache(_CACHED_TOTALS)

    async def vector_state(self, account: Account) -> VectorState:
        """The vectors that a search by meaning would read now."""
        return VectorState(await self._meaning.serving(account), self._meaning.can_build)

    def minute(self, query: FlagFilters) -> int:
        """The current minute if the answer to a query changes over time, else 0."""
        return self._clock() // (60 * MICROSECONDS) if moves(query) else 0

    async def require_vectors(self, account: Account, vectors: VectorState) -> None:
        """Refuses a search by meaning until the account's vectors are built."""
        await self._meaning.required(account, vectors.store)

    async def get(self, account: Account, post_id: str) -> bytes:
        return (await self._get(account, post_id))[0]

    async def get_with_content(self, account: Account, post_id: str) -> tuple[bytes, PostContent]:
        """The JSON of a bookmark, and how much of the post the library has."""
        found, content = await self.stored_with_content(account, post_id)
        return with_content(found, content), content

    async def stored_with_content(
        self, account: Account, post_id: str
    ) -> tuple[bytes, PostContent]:
        """As above, but the JSON does not say how much of a post is known."""
        found, completeness = await self._get(account, post_id)
        if completeness != Completeness.STUB:
            return found, PostContent(ContentState.WHOLE)
        return found, await self.contents.of(account, post_id)

    async def found(self, account: Account, post_id: str) -> bytes | None:
        """The JSON of a bookmark, or None if the library does not have it."""
        found = await self._stored(account, post_id)
        return found and found[0]

    async def _get(self, account: Account, post_id: str) -> tuple[bytes, int]:
        found = await self._stored(account, post_id)
        if found is None:
            raise errors.not_found("post", post_id)
        return found

    async def _stored(self, account: Account, post_id: str) -> tuple[bytes, int] | None:
        return (
            await self._stores.bookmarks.by_post_id(account, post_id)
            if is_post_id(post_id)
            else None
        )

    async def thread(self, account: Account, first_id: str) -> bytes:
        """The saved posts of a thread, oldest first and separated by commas, up to a page."""
        if not is_post_id(first_id):
            return b""
        body, _ = await self._stores.bookmarks.thread(account, first_id, PAGE_MAX)
        return body

    async def list(
        self,
        account: Account,
        query: ListQuery,
        vectors: VectorState | None = None,
        *,
        saved: SavedFilter | None = None,
        for_page: bool = False,
    ) -> BookmarkList:
        """One page. `vectors` is the state if it was read before; `saved` is a stored query.

        `for_page`: looks for the page before and for threads too, which costs further reads.
        """
        _check_plan(account, query)
        written = saved.filter if saved else await self.filter(account, query)
        request = read_list(query, written)
        if written.words is not None:
            filter = await self.labels.resolved(account, written)
            request = msgspec.structs.replace(request, filter=filter)
        store = None
        if request.filter.meaning is not None:
            vectors = vectors or await self.vector_state(account)
            store = await self._meaning.required(account, vectors.store)
        bound_to = bound_query(
            account.account_id,
            request,
            saved.bound_to if saved else bound_fields(_timeless(query, written), query),
        )
        found = await self._found(account, request, bound_to, store, is_relaxed=saved is None)
        if not found.total:
            is_absent = found.ranking.is_absent
            hidden = 0 if is_absent else await self._hidden(account, request.filter, vectors)
            # Matches that are only hidden are better than posts with some of the words.
            if not hidden and request.may_be_relaxed:
                relaxed = await self._relaxed(account, request, bound_to, found.ranking.words)
                if saved is None:
                    found = await self._instead(account, request, relaxed)
                else:
                    # A view has the posts that it counts.
                    found = _Found(_EMPTY, None, 0, relaxed.ranking)
            else:
                found = msgspec.structs.replace(found, hidden=hidden)
        elif found.ranking.may_hide_exact:
            by_words = msgspec.structs.replace(request.filter, meaning=None)
            hidden = await self._hidden(account, by_words, vectors)
            found = msgspec.structs.replace(found, hidden=hidden)
        contents = await self.contents.of_page(account, found.page.body)
        return BookmarkList(
            body=await _with_highlights(with_contents(found.page.body, contents), request),
            count=found.page.count,
            next_cursor=None if found.end is None else cursors.write(found.end, bound_to),
            limit=request.limit,
            total_count=found.total,
            hidden=found.hidden,
            vector_pending=_pending(account, store) if request.filter.meaning else 0,
            newer_cursor=await self._newer(account, request, bound_to) if for_page else None,
            threads=await self._threads(account, request, found) if for_page else {},
            contents=contents,
            not_found=await self._not_found(account, request.filter),
            hints=await self._hints(account, request.filter),
            reason=await self._reason(account, request.filter, found),
            is_relaxed=found.is_relaxed,
            is_wider=found.is_relaxed or found.ranking.is_wider,
            did_you_mean=await self._meant(account, query, request, found),
            by_meaning=None if saved else await self._by_meaning(account, request, found, vectors),
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
            number = await self._stores.vectors.number_of(account.account_id, post_id)
        if number is None:
            raise errors.not_found("post", post_id)
        near = await self.rankings.similar(account, filter, number, store)
        numbers, scores = near.numbers[:limit], near.scores[:limit]
        body, count = await self._stores.bookmarks.contents(account, numbers, scores)
        contents = await self.contents.of_page(account, body)
        return BookmarkList(
            with_contents(body, contents),
            count,
            None,
            limit,
            len(near.numbers),
            vector_pending=_pending(account, store),
            contents=contents,
        )

    async def count(
        self, account: Account, query: CountQuery, vectors: VectorState | None = None
    ) -> BookmarkCounts:
        _check_plan(account, query)
        filter = await self.filter(account, query)
        if filter.meaning is not None:
            vectors = vectors or await self.vector_state(account)
            await self._meaning.required(account, vectors.store)
        matching = await self.total(account, filter, vectors)
        return BookmarkCounts(matching, account.total, account.unread, account.archived)

    async def filter(self, account: Account, query: FlagFilters) -> BookmarkFilter:
        """The filter that a query of this account describes now."""
        zone = await self.zone(account) if has_days(query) else None
        filter = filter_of(query, self._clock(), zone)
        check_order(filter)
        return filter

    async def _found(
        self,
        account: Account,
        request: ListRequest,
        query: bytes,
        store: VectorStoreState | None,
        *,
        is_relaxed: bool,
    ) -> _Found:
        if _continues_relaxed_list(request, query):
            return await self._relaxed(account, request, query)
        if request.is_ranked:
            order = None if request.is_best_first else request.sort
            ranking = await self.rankings.rank(
                account,
                request.filter,
                order,
                store,
                is_relaxed=is_relaxed,
                is_wide=_is_wide(request, query),
            )
            return await self._ranked(account, request, query, ranking)
        after, hint = request.after, ""
        if request.cursor is not None:
            after = cursors.read_after(request.cursor, query, request.sort)
        total = await self._total(account, request.filter)
        if total == 0:
            return _Found(_EMPTY, None, 0)
        if after is not None and after.number is None:
            place = await continue_after(
                self._stores.bookmarks, account, request, after.value, total
            )
            after, hint = place.after, place.hint
        page = await self._stores.bookmarks.page(
            account, request.filter, request.sort, after, request.limit, total=total
        )
        return _Found(page, _end(page), total, hint=hint)

    async def _relaxed(
        self, account: Account, request: ListRequest, query: bytes, read: ReadWords | None = None
    ) -> _Found:
        """The bookmarks with any of the words, best first unless another order was asked for."""
        order = request.sort if request.has_own_order else None
        ranking = await self.rankings.relaxed(account, request.filter, order, read)
        found = await self._ranked(account, request, query, ranking, is_relaxed=True)
        return msgspec.structs.replace(found, is_relaxed=found.total > 0)

    async def _ranked(
        self,
        account: Account,
        request: ListRequest,
        query: bytes,
        ranking: Ranking,
        *,
        is_relaxed: bool = False,
    ) -> _Found:
        seen: set[int] = set()
        is_wide = ranking.is_wider
        if request.cursor is not None:
            before = cursors.read_as(Ranked, request.cursor, query)
            seen, is_wide = cursors.seen(before), is_wide or before.is_wide is True
        groups: Mapping[int, Sequence[int]] = {}
        if request.is_best_first or (is_relaxed and not request.has_own_order):
            ranking, groups = await self.rankings.grouped(account, ranking)
        seen.update(one for number in tuple(seen) for one in groups.get(number, ()))
        numbers, scores = ranking.numbers, ranking.scores
        if request.is_best_first and not request.sort.descending:
            numbers, scores = numbers[::-1], scores[::-1]
        # The ranking may have changed since the last page, so a position in it is not enough.
        unseen = (
            place
            for place, number in enumerate(numbers)
            if number not in seen and groups.get(number, (number,))[0] == number
        )
        # One more than on the page tells whether another one follows.
        places = list(islice(unseen, max(min(RANKED_MAX - len(seen), request.limit + 1), 0)))
        on_page = [numbers[place] for place in places[: request.limit]]
        with_scores = [scores[place] for place in places[: request.limit]] if scores else ()
        copies = {number: len(groups[number]) for number in on_page if number in groups}
        is_last = len(places) <= request.limit
        end = cursors.ranked(seen.union(on_page), is_relaxed=is_relaxed, is_wide=is_wide)
        return _Found(
            Page(
                *await self._stores.bookmarks.contents(account, on_page, with_scores, copies),
                end=None,
            ),
            None if is_last else end,
            len(numbers),
            ranking,
        )

    async def _threads(
        self, account: Account, request: ListRequest, found: _Found
    ) -> dict[str, Thread]:
        """Not of a search, which finds single posts."""
        if request.is_ranked or request.filter.words is not None:
            return {}
        return await threads_of(
            self._stores.bookmarks, account, request.filter, request.sort, found.page.body
        )

    async def _newer(self, account: Account, request: ListRequest, query: bytes) -> str | None:
        if request.cursor is None:
            return None
        # A relaxed list has ranked cursors too.
        if isinstance(cursors.read(request.cursor, query), Ranked):
            # Its cursors have no order. The first page has the best matches.
            return ""
        after = cursors.read_after(request.cursor, query, request.sort)
        key = await self._stores.bookmarks.before(
            account, request.filter, request.sort, after, request.limit
        )
        if key is None or key.number is None:
            return ""
        return cursors.write(Keyset(key.value, key.number), query)

    async def total(
        self, account: Account, filter: BookmarkFilter, vectors: VectorState | None = None
    ) -> int:
        """How many bookmarks match. `vectors` is the state that was read already."""
        return await self._total(account, await self.labels.resolved(account, filter), vectors)

    async def _total(
        self, account: Account, filter: BookmarkFilter, vectors: VectorState | None = None
    ) -> int:
        """How many bookmarks match a filter whose label names are resolved."""
        if filter.meaning is not None:
            vectors = vectors or await self.vector_state(account)
            return len(
                await self.rankings.numbers(account, filter, vectors.store, is_ordered=False)
            )
        if filter.words is not None and filter.words.is_empty:
            return 0
        if filter.is_flags_only:
            return account.visible(
                unread_only=filter.unread_only,
                hide_archived=filter.hide_archived,
                archived_only=filter.archived_only,
            )
        key = (account.account_id, account.epoch, account.version, filter)
        found: int | None = self._totals.get(key)
        if found is None:
            found = await self._stores.bookmarks.count(account, filter)
            self._totals.put(key, found)
        return found

    async def _not_found(self, account: Account, filter: BookmarkFilter) -> Sequence[str] | None:
        if filter.post_ids is None:
            return None
        # Those that only another filter leaves out are found.
        named = BookmarkFilter(unread_only=False, hide_archived=False, post_ids=filter.post_ids)
        found = set(await self._stores.bookmarks.post_ids(account, named))
        return [one for one in filter.post_ids if one not in found]

    async def _hints(self, account: Account, filter: BookmarkFilter) -> tuple[str, ...]:
        hints = filter.words.hints if filter.words else ()
        if filter.needs_traits and await self._stores.bookmarks.has_posts_without_traits(account):
            return (*hints, explaining.NOT_LOOKED_AT)
        return hints

    async def _reason(self, account: Account, filter: BookmarkFilter, found: _Found) -> str:
        if found.is_relaxed and filter.words is not None:
            return explaining.relaxed(filter.words, found.ranking)
        if found.total and not found.ranking.is_close:
            return explaining.NOT_CLOSE
        if found.ranking.is_wider and filter.meaning is None:
            return explaining.SOME_HAVE_ALL
        if found.total or found.hidden:
            return found.hint
        return await self._reasons.of_nothing(account, filter, found.ranking)

    async def _meant(
        self, account: Account, query: ListQuery, request: ListRequest, found: _Found
    ) -> str | None:
        """The query with other words, if more posts have all of these."""
        text = _corrected(query, found.ranking)
        if text is None:
            return None
        asked = msgspec.structs.replace(query, q=text, vector_search_term=None)
        filter = _with_hidden(await self.filter(account, asked))
        if found.is_relaxed or request.filter.meaning is not None:
            # One is enough. Counting all posts with a common word takes as long as the list.
            filter = await self.labels.resolved(account, filter)
            return text if await self._stores.bookmarks.first(account, filter, 1) else None
        return text if await self.total(account, filter) > found.total else None

    async def _by_meaning(
        self, account: Account, request: ListRequest, found: _Found, vectors: VectorState | None
    ) -> ByMeaning | None:
        has_all_words = found.hidden or (found.total and not found.is_relaxed)
        if account.is_free or has_all_words or not request.is_question:
            return None
        state = (vectors or await self.vector_state(account)).by_meaning
        return None if found.total and state is not ByMeaning.READY else state

    async def _hidden(
        self, account: Account, filter: BookmarkFilter, vectors: VectorState | None
    ) -> int:
        """How many bookmarks match that the flags of the filter hide."""
        if not _hides(filter):
            return 0
        return await self._total(account, _with_hidden(filter), vectors)

    async def _instead(self, account: Account, request: ListRequest, relaxed: _Found) -> _Found:
        """A relaxed list, or how many bookmarks it would have without the flags of the filter."""
        filter = request.filter
        if relaxed.total:
            if request.after is not None:
                problem = "a list of posts with some of the words continues only by cursor"
                raise errors.invalid("sort_cursor", problem)
            return relaxed
        if not _hides(filter):
            return relaxed
        ranking = await self.rankings.relaxed(account, _with_hidden(filter), None)
        return msgspec.structs.replace(relaxed, hidden=len(ranking.numbers))


def _hides(filter: BookmarkFilter) -> bool:
    return filter.unread_only or filter.hide_archived


def _with_hidden(filter: BookmarkFilter) -> BookmarkFilter:
    return msgspec.structs.replace(filter, unread_only=False, hide_archived=False)


def is_post_id(text: str) -> bool:
    """Ids are digits. Other text is never an id, and databases reject some characters."""
    return text.isascii() and text.isdigit()


def _check_plan(account: Account, query: ListQuery | CountQuery) -> None:
    if not account.is_free:
        return
    values = ((name, getattr(query, name)) for name in query.__struct_fields__)
    sent = {name: value for name, value in values if value not in (None, "")}
    plans.check_fields(account, gates_for(type(query), sent))


def _continues_relaxed_list(request: ListRequest, query: bytes) -> bool:
    if request.cursor is None or request.filter.words is None:
        return False
    end = cursors.read(request.cursor, query)
    return isinstance(end, Ranked) and end.is_relaxed


def _is_wide(request: ListRequest, query: bytes) -> bool | None:
    """Whether posts with some of the words follow. A list stays as it began; None if it begins."""
    if not request.sort.descending:
        return False
    if request.cursor is None:
        return None
    return cursors.read_as(Ranked, request.cursor, query).is_wide


def _timeless(query: ListQuery, filter: BookmarkFilter) -> BookmarkFilter:
    """The filter as it was written: what relative dates mean changes between two pages."""
    # Cursors of searches by word never depended on the time zone.
    is_written = moves(query) or (query.q and has_days(query))
    return filter_of(query, 0) if is_written else filter


def _pending(account: Account, store: VectorStoreState | None) -> int:
    return store.missing(account.total) if store else 0


def _corrected(query: ListQuery, ranking: Ranking) -> str | None:
    meant = ranking.corrections
    return explaining.corrected(query.q or "", meant) if meant else None


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
