"""Lists the labels of an account."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from bowerbird.library.bookmarks import cursors
from bowerbird.model.accounts import Account
from bowerbird.model.labels import Label
from bowerbird.requests import limits
from bowerbird.requests.labels import LabelsQuery
from bowerbird.storage.database import Database, Row
from bowerbird.storage.labels import LabelStore

# Reading and encoding this many takes a few milliseconds on the event loop.
_FEW: Final = 1_000
_ALL: Final = 2**31 - 1
_encode: Final = msgspec.json.Encoder().encode


class LabelResponse(Struct, frozen=True):
    """A label as the API returns it."""

    id: str
    label_name: str
    metadata: dict[str, Any]
    count: int


class LabelPage(Struct, frozen=True):
    # The labels as JSON, joined by commas.
    body: bytes
    count: int
    limit: int
    total_count: int
    next_cursor: str | None


class LabelUse(Struct, frozen=True):
    label_name: str
    count: int


class _Encoded(Struct):
    """A label whose metadata is already JSON."""

    id: str
    label_name: str
    metadata: Raw
    count: int


class LabelList:
    def __init__(self, database: Database) -> None:
        self._store = LabelStore(database)

    async def all(self, account: Account) -> bytes:
        """Every label as JSON, by name, joined by commas.

        An account may have more labels than it can create today, so this has no limit.
        """
        rows = await self._store.page(account.account_id, "", _FEW + 1)
        if len(rows) <= _FEW:
            return _json(rows)
        rows = await self._store.long_page(account.account_id, "", _ALL)
        return await asyncio.to_thread(_json, rows)

    async def page(self, account: Account, query: LabelsQuery) -> LabelPage:
        place = cursors.query_of(account.account_id, "labels")
        limit = query.limit or limits.PAGE_DEFAULT
        after = _after(query.cursor, place) if query.cursor else ""
        rows = await self._store.page(account.account_id, after, limit + 1)
        shown = rows[:limit]
        has_more = len(rows) > limit
        return LabelPage(
            _json(shown),
            len(shown),
            limit,
            await self._store.count(account.account_id),
            cursors.write(cursors.Named(shown[-1][2]), place) if has_more else None,
        )

    async def uses(self, account: Account) -> tuple[list[LabelUse], int]:
        """The labels by name, or the most used ones if there are many; and how many there are."""
        rows = await self._store.page(account.account_id, "", _FEW + 1)
        total = len(rows)
        if total > _FEW:
            rows = await self._store.most_used(account.account_id, _FEW)
            total = await self._store.count(account.account_id)
        return [LabelUse(row[1], row[4]) for row in rows], total


def to_response(label: Label) -> LabelResponse:
    return LabelResponse(
        id=str(label.label_id),
        label_name=label.name,
        metadata=msgspec.json.decode(label.metadata, type=dict[str, Any]),
        count=label.bookmark_count,
    )


def _json(rows: Sequence[Row]) -> bytes:
    return b",".join(
        [
            _encode(_Encoded(str(label_id), name, Raw(metadata.encode()), count))
            for label_id, name, _, metadata, count, _ in rows
        ]
    )


def _after(cursor: str, place: bytes) -> str:
    name = cursors.read_name(cursor, place)
    # We never return such a cursor, but anyone can forge one, and PostgreSQL rejects the text.
    if "\x00" in name:
        raise cursors.refused(cursor)
    return name
