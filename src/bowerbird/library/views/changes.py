"""Applies a request to a Smart View, its name, place and queries, and stores it."""

import re
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from bowerbird import errors
from bowerbird.model.events import EventType, Happening
from bowerbird.model.labels import Bucket, Query, View, ViewSort
from bowerbird.model.words import normalized
from bowerbird.requests.filter_values import read_instant
from bowerbird.requests.filters import moves, readers, sent
from bowerbird.requests.limits import SLUG_MAX, VIEWS_MAX
from bowerbird.requests.views import NewBucket, NewSort, NewView, ViewChange, ViewQuery
from bowerbird.search.queries import query_language
from bowerbird.storage.database import Transaction
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

_LATIN_MARKS: Final = re.compile(r"(?<=[A-Za-z])[\u0300-\u036f]+")
# Letters without a shape, and signs that only choose between shapes of the letter before them.
_INVISIBLE: Final = re.compile(
    "[\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_SYMBOL: Final = "So"
# Two of them are a flag.
_FLAG_LETTER: Final = "REGIONAL INDICATOR SYMBOL LETTER "
_DEFAULT: Final = "view"


def slug_of(name: str) -> str:
    """Lowercase letters and digits, joined by hyphens.

    Latin letters lose their accents. A name of symbols only is spelled out: a bird becomes "bird".
    """
    return _joined(name) or _joined(" ".join(map(_spelled, name))) or _DEFAULT


def free_slug(name: str, taken: Container[str]) -> str:
    """The slug of a new view. The second one with the same name has the number 2."""
    base = slug_of(name)
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def composed(slug: str) -> str:
    """The slug as it is stored. Some programs send the accents of a letter separately."""
    return slug if slug.isascii() else normalized("NFC", slug)


def _joined(text: str) -> str:
    plain = _LATIN_MARKS.sub("", unicodedata.normalize("NFKD", text))
    lower = unicodedata.normalize("NFC", _INVISIBLE.sub("", plain).lower())
    words = "".join(_kept(lower)).split()
    return "-".join(words)[:SLUG_MAX].strip("-")


def _kept(text: str) -> list[str]:
    """Letters, digits, and the marks on letters; a space for everything else."""
    kept: list[str] = []
    for character in text:
        kind = unicodedata.category(character)
        # Joins letters, or sets the direction of the text; nobody sees it.
        if kind == "Cf":
            continue
        is_mark_on_letter = kind in ("Mn", "Mc") and bool(kept) and kept[-1] != " "
        is_kept = kind[0] == "L" or kind[0] == "N" or is_mark_on_letter
        kept.append(character if is_kept else " ")
    return kept


def _spelled(character: str) -> str:
    is_symbol = unicodedata.category(character) == _SYMBOL
    return unicodedata.name(character, "").removeprefix(_FLAG_LETTER) if is_symbol else ""


def inserted(others: Iterable[View], view: View, position: int) -> list[View]:
    """The views with this one at a place, or at the end if there are fewer."""
    views = list(others)
    views.insert(position - 1, view)
    return views


def position_in(views: Sequence[View], slug: str) -> int:
    return next(place for place, view in enumerate(views, 1) if view.slug == slug)


def misplaced(views: Sequence[View]) -> dict[str, int]:
    """The views whose place is not that of this order, with their new places."""
    return {view.slug: place for place, view in enumerate(views, 1) if view.position != place}


def placed(view: View, views: Sequence[View]) -> View:
    """The view with its place in this order."""
    return msgspec.structs.replace(view, position=position_in(views, view.slug))


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


def changed_fields(before: View, after: View) -> list[str]:
    return [
        name
        for name in View.__struct_fields__
        if name != "updated_at" and getattr(before, name) != getattr(after, name)
    ]


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
    dates = {name: query[name] for name in _DATES & query.keys()}
    return bool(dates) and moves(stored_query(dates))


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


class Locked(Struct, frozen=True):
    """A library that a transaction has locked, and its views by slug."""

    library: LockedLibrary
    views: dict[str, View]


class ViewWriting(TimedService):
    async def lock(self, transaction: Transaction, account_id: int) -> Locked:
        library = await self._stores.libraries.lock(transaction, account_id)
        return Locked(library, await self._stores.views.all(library))

    async def put(self, locked: Locked, views: Sequence[View], view: View) -> None:
        """Stores a view, and gives the others their places in the order of `views`."""
        await self._stores.views.put(locked.library, view)
        moved = misplaced(views)
        await self._stores.views.place(locked.library, moved)
        before = locked.views.get(view.slug)
        kind = EventType.VIEW_CREATED if before is None else EventType.VIEW_CHANGED
        fields = () if before is None else changed_fields(before, view)
        others = {slug: place for slug, place in moved.items() if slug != view.slug}
        await self._note(locked, [Happening(kind, fields=fields, view=view.slug)], others)

    async def delete(self, locked: Locked, view: View) -> None:
        await self._stores.views.delete(locked.library, view.slug)
        moved = misplaced([each for each in locked.views.values() if each.slug != view.slug])
        await self._stores.views.place(locked.library, moved)
        await self._note(locked, [Happening(EventType.VIEW_DELETED, view=view.slug)], moved)

    async def put_back(self, library: LockedLibrary, slug: str, before: View | None) -> bool:
        """Makes a view what it was before a change; None if there was none."""
        locked = await self.lock(library.transaction, library.account_id)
        present = locked.views.get(slug)
        if before is None:
            if present is not None:
                await self.delete(locked, present)
            return present is not None
        if present is None:
            check_room(locked)
        others = (each for each in locked.views.values() if each is not present)
        views = inserted(others, before, before.position)
        changed = msgspec.structs.replace(placed(before, views), updated_at=self._clock())
        await self.put(locked, views, changed)
        return True

    async def _note(
        self, locked: Locked, happened: list[Happening], moved: Mapping[str, int]
    ) -> None:
        """The events of a change, and of views that get another place because of it."""
        happened += [
            Happening(EventType.VIEW_CHANGED, fields=("position",), view=slug) for slug in moved
        ]
        library = locked.library
        await self._stores.libraries.touch(library, happened, self._clock())


def check_room(locked: Locked) -> None:
    if len(locked.views) >= VIEWS_MAX:
        raise errors.invalid("name", f"an account can have at most {VIEWS_MAX} views")
