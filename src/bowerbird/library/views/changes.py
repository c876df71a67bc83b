"""Applies a request to a Smart View."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import UNSET

from bowerbird import errors
from bowerbird.library.views.slugs import slug_of
from bowerbird.model.labels import Bucket, Query, View, ViewSort
from bowerbird.requests.filter_values import read_instant
from bowerbird.requests.filters import moves, readers, sent
from bowerbird.requests.views import NewBucket, NewSort, NewView, ViewChange, ViewQuery
from bowerbird.search.queries import query_language

EMPTY: Final = View("", "", "", {}, None, [], 0, 0)
_DATES: Final = frozenset(
    ["q", *(name for name, reader in readers(ViewQuery).items() if reader.read is read_instant)]
)


def created(request: NewView, slug: str, now: int, position: int = 1) -> View:
    base_query = _stored(request.base_query)
    return View(
        slug=slug,
        name=request.name,
        description=request.description or "",
        base_query=base_query,
        default_sort=_sort(request.default_sort),
        triage_buckets=_buckets(request.triage_buckets or (), base_query),
        created_at=now,
        updated_at=now,
        position=position,
        is_pinned=request.is_pinned is not False,
    )


def changed(view: View, request: ViewChange) -> View:
    """The view with the fields that were sent. Raises a refusal if its buckets are invalid."""
    changes: dict[str, Any] = {}
    if request.name is not UNSET:
        changes["name"] = request.name
    if request.description is not UNSET:
        changes["description"] = request.description or ""
    if request.default_sort is not UNSET:
        changes["default_sort"] = _sort(request.default_sort)
    if request.base_query is not UNSET:
        changes["base_query"] = _stored(request.base_query)
    if request.is_pinned is not UNSET:
        changes["is_pinned"] = request.is_pinned
    base_query = changes.get("base_query", view.base_query)
    if request.triage_buckets is not UNSET:
        changes["triage_buckets"] = _buckets(request.triage_buckets or (), base_query)
    elif "base_query" in changes:
        _check_buckets(view.triage_buckets, base_query)
    return msgspec.structs.replace(view, **changes)


def stored_query(query: Query) -> ViewQuery:
    """A stored query as a request. Older versions stored flags as text."""
    flags = ViewQuery.DEFAULTS
    values = {
        name: str(value).lower() if isinstance(value, bool) and name not in flags else value
        for name, value in query.items()
        if name in readers(ViewQuery)
    }
    return msgspec.convert(values, ViewQuery)


def is_moving(query: Query) -> bool:
    """Whether a stored query has a date that is relative to the current time."""
    # Most queries have no date, and an account can have thousands of queries.
    dates = tuple((name, query[name]) for name in sorted(_DATES & query.keys()))
    return bool(dates) and _moves(dates)


@lru_cache(maxsize=4_096)
def _moves(query: tuple[tuple[str, str | bool], ...]) -> bool:
    """Kept, because every page of the library asks for up to 20 views."""
    return moves(stored_query(dict(query)))


def narrowed(query: Query, further: Query) -> Query:
    """Combines both queries. Words are joined; no other filter is in both."""
    words = [text for text in (query.get("q"), further.get("q")) if text]
    return {**query, **further, **({"q": query_language.joined(words)} if words else {})}


def _stored(query: ViewQuery | None) -> Query:
    """Drops empty filters, which must not override the value of a view or a bucket."""
    return {} if query is None else sent(query)


def _sort(sort: str | NewSort | None) -> ViewSort | None:
    if sort is None:
        return None
    if isinstance(sort, str):
        return ViewSort(sort)
    return ViewSort(sort.sort_by, sort.sort_order or None)


def _buckets(requests: Sequence[NewBucket], base_query: Query) -> list[Bucket]:
    buckets = [
        Bucket(slug_of(request.slug or request.name), request.name, _stored(request.query))
        for request in requests
    ]
    _check_buckets(buckets, base_query)
    return buckets


def _check_buckets(buckets: Sequence[Bucket], base_query: Query) -> None:
    slugs: set[str] = set()
    for position, bucket in enumerate(buckets):
        field = f"triage_buckets[{position}]"
        if bucket.slug in slugs:
            raise errors.invalid(f"{field}.slug", f"{errors.shown(bucket.slug)} is already used")
        slugs.add(bucket.slug)
        # Words are joined; every other filter has one value, so a bucket cannot narrow it further.
        for name in sorted((bucket.query.keys() & base_query.keys()) - {"q"}):
            raise errors.invalid(f"{field}.query.{name}", "is already set by base_query")
