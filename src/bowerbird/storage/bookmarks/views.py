"""Reads and writes Smart Views."""

from collections.abc import Mapping

import msgspec

from bowerbird.model.labels import Bucket, Query, Shared, View, ViewSort
from bowerbird.storage.database import Database, Reader, Row
from bowerbird.storage.labels import ShareStore
from bowerbird.storage.libraries import LockedLibrary, LockedStore

_query = msgspec.json.Decoder(Query).decode
_sort = msgspec.json.Decoder(ViewSort | None).decode
_buckets = msgspec.json.Decoder(list[Bucket]).decode


class ViewStore(LockedStore):
    resource = "views"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._shares = ShareStore(database)

    async def all(self, account_id: int) -> list[View]:
        return [_view(row) for row in await self._read("all", account_id=account_id)]

    async def pinned(self, account_id: int, limit: int) -> list[View]:
        values = {"account_id": account_id, "limit": limit}
        return [_view(row) for row in await self._read("pinned", **values)]

    async def by_slug(self, account_id: int, slug: str) -> View | None:
        return await self.by_slug_within(self._database, account_id, slug)

    async def by_slug_within(self, reader: Reader, account_id: int, slug: str) -> View | None:
        rows = await self._rows(reader, "by_slug", account_id=account_id, slug=slug)
        return _view(rows[0]) if rows else None

    async def all_within(self, reader: Reader, account_id: int) -> dict[str, View]:
        """Every view by its slug, read inside a transaction or outside of one."""
        rows = await self._rows(reader, "all", account_id=account_id)
        return {row[0]: _view(row) for row in rows}

    async def put(self, library: LockedLibrary, view: View) -> None:
        values = msgspec.structs.asdict(view)
        for name in ("base_query", "default_sort", "triage_buckets"):
            values[name] = msgspec.json.encode(values[name]).decode()
        await self._do(library, "put", **values)

    async def place(self, library: LockedLibrary, positions: Mapping[str, int]) -> None:
        """Moves views, by slug, to other places of the list."""
        places = [{"slug": slug, "position": place} for slug, place in positions.items()]
        await self._do_many(library, "place", places)

    async def delete(self, library: LockedLibrary, slug: str) -> None:
        """Its sharing ends with it."""
        await self._do(library, "delete", slug=slug)
        await self._shares.end(library.transaction, library.account_id, Shared.VIEW, slug)


def _view(row: Row) -> View:
    slug, name, description, base_query, default_sort, buckets, *rest = row
    created_at, updated_at, position, is_pinned = rest
    return View(
        slug=slug,
        name=name,
        description=description,
        base_query=_query(base_query),
        default_sort=_sort(default_sort),
        triage_buckets=_buckets(buckets),
        created_at=created_at,
        updated_at=updated_at,
        position=position,
        is_pinned=bool(is_pinned),
    )
