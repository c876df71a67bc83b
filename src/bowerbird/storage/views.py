"""Reads and writes Smart Views."""

from typing import Any

import msgspec

from bowerbird.model.views import Bucket, Query, View, ViewSort
from bowerbird.storage.database import Database, Row, Transaction

_query = msgspec.json.Decoder(Query).decode
_sort = msgspec.json.Decoder(ViewSort | None).decode
_buckets = msgspec.json.Decoder(list[Bucket]).decode


class ViewStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        sql = database.queries("views")
        self._sql = {name: text.format(columns=sql["columns"]) for name, text in sql.items()}

    async def all(self, account_id: int) -> list[View]:
        rows = await self._database.rows(self._sql["all"], {"account_id": account_id})
        return [_view(row) for row in rows]

    async def by_slug(self, account_id: int, slug: str) -> View | None:
        values = {"account_id": account_id, "slug": slug}
        rows = await self._database.rows(self._sql["by_slug"], values)
        return _view(rows[0]) if rows else None

    async def all_within(self, transaction: Transaction, account_id: int) -> dict[str, View]:
        """Every view by its slug, read inside a transaction."""
        rows = await transaction.rows(self._sql["all"], {"account_id": account_id})
        return {row[0]: _view(row) for row in rows}

    async def put(self, transaction: Transaction, account_id: int, view: View) -> None:
        values: dict[str, Any] = {"account_id": account_id, **msgspec.structs.asdict(view)}
        for name in ("base_query", "default_sort", "triage_buckets"):
            values[name] = msgspec.json.encode(values[name]).decode()
        await transaction.run(self._sql["put"], values)

    async def delete(self, transaction: Transaction, account_id: int, slug: str) -> None:
        await transaction.run(self._sql["delete"], {"account_id": account_id, "slug": slug})


def _view(row: Row) -> View:
    slug, name, description, base_query, default_sort, buckets, created_at, updated_at = row
    return View(
        slug=slug,
        name=name,
        description=description,
        base_query=_query(base_query),
        default_sort=_sort(default_sort),
        triage_buckets=_buckets(buckets),
        created_at=created_at,
        updated_at=updated_at,
    )
