"""What a caller may do with Smart Views. A view is a list that remembers its question."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.library.access import bodies, plans
from bowerbird.library.access.bodies import Body
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.bookmarks import parameters
from bowerbird.library.bookmarks.bookmarks import BookmarkList, Bookmarks
from bowerbird.library.views import view_bodies
from bowerbird.model.accounts import Account
from bowerbird.model.filters import RELEVANCE
from bowerbird.model.instants import with_offset
from bowerbird.model.views import Bucket, Query, View, ViewSort
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.views import ViewStore

_MOST_VIEWS: Final = 200
# A view is about a subject, read or not; what was archived stays out of sight.
DEFAULTS: Final[Query] = {"is_unread_only": "false"}


class ViewResponse(Struct, frozen=True):
    """A Smart View as the API shows it."""

    slug: str
    name: str
    description: str
    base_query: Query
    default_sort: ViewSort | None
    triage_buckets: list[Bucket]
    count: int
    created_at: str
    updated_at: str


class Views:
    def __init__(self, database: Database, bookmarks: Bookmarks, clock: Clock) -> None:
        self._store = ViewStore(database)
        self._libraries = LibraryStore(database)
        self._bookmarks = bookmarks
        self._clock = clock

    async def held(self, account: Account) -> list[View]:
        return await self._store.all(account.account_id)

    async def find(self, account: Account, slug: str) -> View:
        view = None
        if "\x00" not in slug:
            view = await self._store.by_slug(account.account_id, slug)
        if view is None:
            raise errors.not_found("Smart View", slug)
        return view

    async def bookmarks(self, account: Account, view: View, asked: dict[str, str]) -> BookmarkList:
        """A page of the view; `asked` may hold limit, cursor and bucket."""
        await self._bookmarks.check(account, view_bodies.given(view.base_query, self._clock()))
        bucket = _bucket(view, asked.pop("bucket", None))
        given = self._given(view, bucket)
        if view.default_sort is not None:
            order = msgspec.to_builtins(view.default_sort)
            # relevance is an order only where something is searched for.
            if order["sort_by"] != RELEVANCE or {"q", plans.MEANING} & given.keys():
                given |= order
        kept = (view.slug, view.base_query, bucket and bucket.query, view.default_sort)
        return await self._bookmarks.list(account, {**given, **asked}, bound_to=kept)

    async def create(self, transaction: Transaction, account: Account, body: Body) -> ViewResponse:
        plans.check_writes(account)
        fields = bodies.as_object(body())
        bodies.only(fields, view_bodies.FIELDS)
        held = await self._held(transaction, account)
        if len(held) >= _MOST_VIEWS:
            raise errors.invalid("name", f"an account has at most {_MOST_VIEWS} views")
        now = self._clock()
        empty = View("", "", "", {}, None, [], now, now)
        view = _changed(empty, {"name": None, **fields})
        view = msgspec.structs.replace(view, slug=_free_slug(view.name, held))
        return await self._put(transaction, account, view)

    async def update(
        self, transaction: Transaction, account: Account, slug: str, body: Body
    ) -> ViewResponse:
        """Changes the fields that are given; the slug stays whatever the name becomes."""
        plans.check_writes(account)
        fields = bodies.as_object(body())
        bodies.only(fields, view_bodies.FIELDS)
        # Read once before the view is looked for: a mistake is told before a missing view.
        _changed(View("", "", "", {}, None, [], 0, 0), fields)
        view = _known(await self._held(transaction, account), slug)
        changed = _changed(view, fields)
        if changed == view:
            return await self._shown_within(transaction, account, view)
        changed = msgspec.structs.replace(changed, updated_at=self._clock())
        return await self._put(transaction, account, changed)

    async def delete(self, transaction: Transaction, account: Account, slug: str) -> ViewResponse:
        """The view as it was; its bookmarks stay."""
        plans.check_writes(account)
        view = _known(await self._held(transaction, account), slug)
        await self._store.delete(transaction, account.account_id, slug)
        await self._libraries.touch(transaction, account.account_id)
        return await self._shown_within(transaction, account, view)

    def minute(self, views: Sequence[View]) -> int:
        """The present minute where an answer about these views changes as time goes by, else 0."""
        return self._clock() // (60 * MICROSECONDS) if any(map(_moves, views)) else 0

    async def vectors(self, account: Account, views: Sequence[View]) -> str:
        """Names the state of the vectors, where an answer about these views depends on it."""
        return await self._bookmarks.vectors(account) if any(map(_ranks, views)) else ""

    async def _held(self, transaction: Transaction, account: Account) -> dict[str, View]:
        await lock_library(self._libraries, transaction, account.account_id)
        return await self._store.held(transaction, account.account_id)

    async def _put(self, transaction: Transaction, account: Account, view: View) -> ViewResponse:
        await self._store.put(transaction, account.account_id, view)
        await self._libraries.touch(transaction, account.account_id)
        return await self._shown_within(transaction, account, view)

    async def shown(self, account: Account, view: View) -> ViewResponse:
        filter = parameters.read_filter(self._given(view, None))
        return _shown(view, await self._bookmarks.total(account, filter))

    async def _shown_within(
        self, transaction: Transaction, account: Account, view: View
    ) -> ViewResponse:
        filter = parameters.read_filter(self._given(view, None))
        return _shown(view, await self._bookmarks.total_within(transaction, account, filter))

    def _given(self, view: View, bucket: Bucket | None) -> dict[str, str]:
        query = {**DEFAULTS, **view.base_query}
        if bucket is not None:
            words = [text for text in (query.get("q"), bucket.query.get("q")) if text]
            query |= bucket.query | ({"q": " ".join(words)} if words else {})
        return view_bodies.given(query, self._clock())


def _shown(view: View, count: int) -> ViewResponse:
    fields = msgspec.structs.asdict(view)
    fields["created_at"] = with_offset(view.created_at)
    fields["updated_at"] = with_offset(view.updated_at)
    return ViewResponse(**fields, count=count)


def _queries(view: View) -> list[Query]:
    return [view.base_query, *(bucket.query for bucket in view.triage_buckets)]


def _moves(view: View) -> bool:
    """Whether the view's answer changes by itself, as days go by."""
    return any(view_bodies.moves(query) for query in _queries(view))


def _ranks(view: View) -> bool:
    return any(plans.MEANING in query for query in _queries(view))


def _changed(view: View, fields: Any) -> View:
    changes: dict[str, Any] = {}
    if "name" in fields:
        changes["name"] = view_bodies.name_of(fields)
    if "description" in fields:
        changes["description"] = view_bodies.description_of(fields)
    if "base_query" in fields:
        changes["base_query"] = view_bodies.query_of(fields["base_query"], "base_query")
    if "default_sort" in fields:
        changes["default_sort"] = view_bodies.sort_of(fields["default_sort"])
    base_query = changes.get("base_query", view.base_query)
    if "triage_buckets" in fields or "base_query" in fields:
        buckets = fields.get("triage_buckets", msgspec.to_builtins(view.triage_buckets))
        changes["triage_buckets"] = view_bodies.buckets_of(buckets, base_query)
    return msgspec.structs.replace(view, **changes)


def _bucket(view: View, slug: str | None) -> Bucket | None:
    if slug is None:
        return None
    for bucket in view.triage_buckets:
        if bucket.slug == slug:
            return bucket
    accepted = ", ".join(bucket.slug for bucket in view.triage_buckets) or "none"
    raise errors.invalid("bucket", f"{errors.shown(slug)} is not in this view; it has {accepted}")


def _known(held: dict[str, View], slug: str) -> View:
    if slug not in held:
        raise errors.not_found("Smart View", slug)
    return held[slug]


def _free_slug(name: str, held: dict[str, View]) -> str:
    wanted = view_bodies.slug_of(name)
    slug, number = wanted, 2
    while slug in held:
        slug, number = f"{wanted}-{number}", number + 1
    return slug
