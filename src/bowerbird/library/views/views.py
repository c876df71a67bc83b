"""What an account can do with Smart Views. A view is a list with a stored query."""

import functools
from collections.abc import Sequence
from contextlib import suppress

import msgspec
from msgspec import UNSET, Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import BookmarkList, SavedFilter, VectorState
from bowerbird.library.bookmarks.writing.kept_changes import Done, KeptChanges
from bowerbird.library.views import changes
from bowerbird.library.views.changes import Locked, ViewWriting, check_room
from bowerbird.library.views.counts import Budget, Count, CountRequest, CountState, ViewCounts
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkAction, BulkRow, ChangedLabel, ValueKind, replaced, value_key
from bowerbird.model.instants import with_offset
from bowerbird.model.labels import Bucket, Query, View, ViewSort
from bowerbird.model.posts.filters import RELEVANCE, BookmarkFilter
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.fields import gates_for
from bowerbird.requests.filters import MEANING, filter_of, flags_of, has_days
from bowerbird.requests.limits import PINNED_VIEWS_SHOWN
from bowerbird.requests.views import NewView, ViewBookmarksQuery, ViewChange, ViewQuery
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.stores import TimedService


class ViewResponse(Struct, frozen=True):
    """A Smart View as the API returns it."""

    slug: str
    """The view's name in URLs. It never changes."""
    name: str
    """The view's display name."""
    description: str
    """What the view is for."""
    base_query: Query
    default_sort: ViewSort | None
    triage_buckets: list[Bucket]
    position: int
    """Its place in the list, from 1."""
    is_pinned: bool
    """Whether the website's sidebar shows it."""
    count: int
    """Number of bookmarks that it shows now if count_state is exact, else the last known number, or
    0 if none is known."""
    count_state: CountState
    """exact, earlier (counted before the last change), pending (not counted yet) or unavailable
    (counting takes too long). Repeat the request to get more exact counts."""
    created_at: str
    """When it was created."""
    updated_at: str
    """When it was last changed."""


ChangedView = tuple[ViewResponse, BulkRow | None]
"""A view, and the change; None if nothing has changed."""


class Views(TimedService):
    def __init__(
        self, database: Database, bookmarks: Bookmarks, clock: Clock, budget: Budget | None = None
    ) -> None:
        super().__init__(database, clock)
        self._writing = ViewWriting(database, clock)
        self._kept = KeptChanges(database, clock)
        self._bookmarks = bookmarks
        self._counts = ViewCounts(budget)

    async def all(self, account: Account) -> list[View]:
        return list((await self._stores.views.all(self._library(account.account_id))).values())

    async def pinned(self, account: Account) -> list[ViewResponse]:
        """The first views of the sidebar. It is on every page, so it hardly waits for counts."""
        views = await self._stores.views.pinned(account.account_id, PINNED_VIEWS_SHOWN)
        counts = await self._count(
            account, [view.base_query for view in views], None, wait_s=self._counts.budget.page_s
        )
        return [_response(view, count) for view, count in zip(views, counts, strict=True)]

    async def find(self, account: Account, slug: str) -> View:
        view = None
        if "\x00" not in slug:
            view = await self._stores.views.by_slug(
                self._library(account.account_id), changes.composed(slug)
            )
        if view is None:
            raise errors.not_found("Smart View", slug)
        return view

    async def admit(self, account: Account, view: View, vectors: VectorState | None = None) -> None:
        """Refuses a view if its query needs another plan, or vectors that are not built yet."""
        plans.check_fields(account, gates_for(ViewQuery, view.base_query))
        if MEANING in view.base_query:
            vectors = vectors or await self._bookmarks.vector_state(account)
            await self._bookmarks.require_vectors(account, vectors)

    async def bookmarks(
        self,
        account: Account,
        view: View,
        query: ViewBookmarksQuery,
        vectors: VectorState | None = None,
        *,
        for_page: bool = False,
    ) -> BookmarkList:
        """A page of the view, or of one of its buckets."""
        await self.admit(account, view, vectors)
        bucket = _bucket(view, query.bucket)
        if bucket is not None:
            plans.check_fields(account, gates_for(ViewQuery, bucket.query))
        filter = await self._filter(account, view, bucket)
        sort = view.default_sort or ViewSort("")
        # Sorting by relevance needs a search text.
        if sort.sort_by == RELEVANCE and filter.words is None and filter.meaning is None:
            sort = ViewSort("")
        page = ListQuery(
            limit=query.limit, cursor=query.cursor, sort_by=sort.sort_by, sort_order=sort.sort_order
        )
        bound_to = (view.slug, view.base_query, bucket and bucket.query, view.default_sort)
        return await self._bookmarks.list(
            account, page, vectors, saved=SavedFilter(filter, bound_to), for_page=for_page
        )

    async def filter(self, account: Account, slug: str, bucket_slug: str | None) -> BookmarkFilter:
        """What a view shows now, or one of its buckets."""
        view = await self.find(account, slug)
        await self.admit(account, view)
        bucket = _bucket(view, bucket_slug)
        if bucket is not None:
            plans.check_fields(account, gates_for(ViewQuery, bucket.query))
        return await self._filter(account, view, bucket)

    def flags(self, view: View, bucket_slug: str | None) -> dict[str, bool]:
        """The flags of a view or bucket that its query does not set."""
        bucket = _bucket(view, bucket_slug)
        query = changes.narrowed(view.base_query, bucket.query) if bucket else view.base_query
        return flags_of(changes.stored_query(query))

    async def prepare_create(self, account: Account, request: NewView) -> None:
        """Counts before the transaction, which must not take long."""
        with suppress(errors.Refusal):
            await self._prepare(account, changes.created(request, "", 0).base_query)

    async def add(self, transaction: Transaction, account: Account, request: NewView) -> View:
        """Creates a view that no undo removes: of the demo and the sandbox."""
        return (await self._created(transaction, account, request))[0]

    async def create(
        self, transaction: Transaction, account: Account, request: NewView
    ) -> ChangedView:
        plans.check_writes(account)
        view, locked = await self._created(transaction, account, request)
        return await self._done(account, view, locked, BulkAction.CREATE_VIEW)

    async def _created(
        self, transaction: Transaction, account: Account, request: NewView
    ) -> tuple[View, Locked]:
        locked = await self._writing.lock(transaction, account.account_id)
        check_room(locked)
        slug, position = changes.free_slug(request.name, locked.views), len(locked.views) + 1
        view = changes.created(request, slug, self._clock(), position)
        await self._writing.put(locked, [*locked.views.values(), view], view)
        return view, locked

    async def prepare_update(self, account: Account, slug: str, request: ViewChange) -> None:
        with suppress(errors.Refusal):
            view = changes.changed(await self.find(account, slug), request)
            await self._prepare(account, view.base_query)

    async def update(
        self, transaction: Transaction, account: Account, slug: str, request: ViewChange
    ) -> ChangedView:
        """Changes the fields that were sent. The slug never changes."""
        plans.check_writes(account)
        # Invalid buckets are refused before an unknown view is.
        changes.changed(changes.EMPTY, request)
        locked = await self._writing.lock(transaction, account.account_id)
        view = _required(locked.views, slug)
        views = list(locked.views.values())
        if request.position is not UNSET:
            others = (each for each in views if each is not view)
            views = changes.inserted(others, view, request.position)
        changed = changes.placed(changes.changed(view, request), views)
        if changed == view:
            return self._response_within(account, view, locked), None
        changed = msgspec.structs.replace(changed, updated_at=self._clock())
        await self._writing.put(locked, views, changed)
        return await self._done(account, changed, locked, BulkAction.UPDATE_VIEW)

    async def stored(self, transaction: Transaction, account: Account, slug: str) -> View:
        """A view as the transaction sees it."""
        return _required((await self._writing.lock(transaction, account.account_id)).views, slug)

    async def prepare_delete(self, account: Account, slug: str) -> None:
        with suppress(errors.Refusal):
            plans.check_writes(account)
            await self._prepare(account, (await self.find(account, slug)).base_query)

    async def delete(self, transaction: Transaction, account: Account, slug: str) -> ChangedView:
        """Deletes a view and returns it as it was. Its bookmarks stay."""
        plans.check_writes(account)
        locked = await self._writing.lock(transaction, account.account_id)
        view = _required(locked.views, slug)
        await self._writing.delete(locked, view)
        return await self._done(account, view, locked, BulkAction.DELETE_VIEW)

    async def _done(
        self, account: Account, view: View, locked: Locked, action: BulkAction
    ) -> ChangedView:
        """The view, and the change, which keeps what the view was before."""
        before = replaced(value_key(ValueKind.VIEW, view.slug), locked.views.get(view.slug))
        done = Done(action, [before], [ChangedLabel(0, view.name)])
        row = await self._kept.keep(locked.library, done)
        return self._response_within(account, view, locked), row

    async def response(
        self, account: Account, view: View, vectors: VectorState | None = None
    ) -> ViewResponse:
        return (await self.responses(account, [view], vectors))[0]

    async def responses(
        self, account: Account, views: Sequence[View], vectors: VectorState | None = None
    ) -> list[ViewResponse]:
        """The views with their counts, as far as these are known within the time budget."""
        counts = await self._count(account, [view.base_query for view in views], vectors)
        return [_response(view, count) for view, count in zip(views, counts, strict=True)]

    def check_buckets(self, account: Account, view: View) -> None:
        """Refuses buckets whose query needs another plan."""
        for bucket in view.triage_buckets:
            plans.check_fields(account, gates_for(ViewQuery, bucket.query))

    async def bucket_counts(self, account: Account, view: View) -> list[Count]:
        """The counts of the view's buckets, as far as they are known at once."""
        queries = [changes.narrowed(view.base_query, each.query) for each in view.triage_buckets]
        return await self._count(account, queries, None, wait_s=self._counts.budget.page_s)

    def draft(self, request: NewView) -> View:
        """A view that is not stored, to see what it would show."""
        return changes.created(request, "", self._clock())

    async def _prepare(self, account: Account, query: Query) -> None:
        await self._count(account, [query], None)

    async def _count(
        self,
        account: Account,
        queries: Sequence[Query],
        vectors: VectorState | None,
        *,
        wait_s: float | None = None,
    ) -> list[Count]:
        if vectors is None and any(MEANING in query for query in queries):
            vectors = await self._bookmarks.vector_state(account)
        requests = [self._count_request(account, query, vectors) for query in queries]
        return await self._counts.of(requests, wait_s)

    def _count_request(
        self, account: Account, query: Query, vectors: VectorState | None
    ) -> CountRequest:
        known = None
        if query.keys() <= ViewQuery.DEFAULTS.keys():
            filter = filter_of(changes.stored_query(query))
            known = account.visible(
                unread_only=filter.unread_only,
                hide_archived=filter.hide_archived,
                archived_only=filter.archived_only,
            )
        return CountRequest(
            account,
            query,
            stamp=(*self._stamp(account.version, query), _tag(query, vectors)),
            total=functools.partial(self._total, account, query, vectors),
            known=known,
        )

    async def _total(self, account: Account, query: Query, vectors: VectorState | None) -> int:
        filter = await self._filter_of(account, query)
        return await self._bookmarks.total(account, filter, vectors)

    def _stamp(self, version: int, query: Query) -> tuple[int, int]:
        return version, self.this_minute() if changes.is_moving(query) else 0

    def this_minute(self) -> int:
        """Counts with relative dates change with it."""
        return self._clock() // (60 * MICROSECONDS)

    def minute(self, views: Sequence[View]) -> int:
        """The current minute if an answer about these views changes over time, else 0."""
        is_moving = any(changes.is_moving(query) for view in views for query in _queries(view))
        return self.this_minute() if is_moving else 0

    async def vector_state(self, account: Account, views: Sequence[View]) -> VectorState | None:
        """The vectors, if an answer about these views depends on them."""
        queries = (query for view in views for query in _queries(view))
        if any(query.get(MEANING) for query in queries):
            return await self._bookmarks.vector_state(account)
        return None

    def _response_within(self, account: Account, view: View, locked: Locked) -> ViewResponse:
        """The view with the count that was prepared, if no other change came in between."""
        stamp = self._stamp(locked.library.version, view.base_query)
        return _response(view, self._counts.known_within(account, view.base_query, stamp))

    async def _filter(self, account: Account, view: View, bucket: Bucket | None) -> BookmarkFilter:
        query = view.base_query
        if bucket is not None:
            query = changes.narrowed(query, bucket.query)
        return await self._filter_of(account, query)

    async def _filter_of(self, account: Account, query: Query) -> BookmarkFilter:
        stored = changes.stored_query(query)
        zone = await self.zone(account) if has_days(stored) else None
        return filter_of(stored, self._clock(), zone)


def _tag(query: Query, vectors: VectorState | None) -> str:
    return vectors.tag if vectors is not None and MEANING in query else ""


def _response(view: View, count: Count) -> ViewResponse:
    fields = msgspec.structs.asdict(view)
    fields["created_at"] = with_offset(view.created_at)
    fields["updated_at"] = with_offset(view.updated_at)
    return ViewResponse(**fields, count=count.value, count_state=count.state)


def _queries(view: View) -> list[Query]:
    return [view.base_query, *(bucket.query for bucket in view.triage_buckets)]


def _bucket(view: View, slug: str | None) -> Bucket | None:
    if not slug:
        return None
    for bucket in view.triage_buckets:
        if bucket.slug == slug:
            return bucket
    accepted = ", ".join(bucket.slug for bucket in view.triage_buckets) or "none"
    raise errors.invalid("bucket", f"no bucket {errors.shown(slug)}; this view has: {accepted}")


def _required(views: dict[str, View], slug: str) -> View:
    view = views.get(changes.composed(slug))
    if view is None:
        raise errors.not_found("Smart View", slug)
    return view
