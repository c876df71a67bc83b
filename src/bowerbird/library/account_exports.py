"""Everything an account holds, as one JSON document.

The bookmarks come last and in the API's own shape, so that `bowerbird import` reads them.
"""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import msgspec

from bowerbird.model.accounts import Account, Membership
from bowerbird.model.instants import with_offset
from bowerbird.storage.account_exports import AccountExportStore
from bowerbird.storage.accounts import AccountStore
from bowerbird.storage.database import Database
from bowerbird.storage.keys import KeyStore


class Piece(NamedTuple):
    """Some bytes of the document, and the bookmarks in it."""

    data: bytes
    bookmarks: int


class AccountExports:
    def __init__(self, database: Database) -> None:
        self._store = AccountExportStore(database)
        self._accounts = AccountStore(database)
        self._keys = KeyStore(database)

    async def pieces(self, account: Account) -> AsyncIterator[Piece]:
        head = msgspec.json.encode(await self._head(account))
        yield Piece(head[:-1] + b',"bookmarks":[\n', 0)
        separator = b""
        async for page in self._store.bookmarks(account):
            yield Piece(separator + b",\n".join(page), len(page))
            separator = b",\n"
        yield Piece(b"\n]}\n", 0)

    async def _head(self, account: Account) -> dict[str, Any]:
        membership = await self._accounts.membership(account.account_id)
        return {
            "account": membership and _account(membership),
            "keys": [
                {
                    "id": key.key_id,
                    "name": key.name,
                    "created_at": with_offset(key.created_at),
                    "revoked_at": None if key.revoked_at is None else with_offset(key.revoked_at),
                }
                for key in await self._keys.all(account.account_id)
            ],
            "calls": [
                {"month": f"{month // 100:04d}-{month % 100:02d}", "calls": calls}
                for month, calls in await self._store.calls(account)
            ],
            "labels": [
                {
                    "id": str(label_id),
                    "label_name": name,
                    "metadata": msgspec.Raw(metadata.encode()),
                    "count": count,
                    "created_at": with_offset(created_at),
                }
                for label_id, name, metadata, count, created_at in await self._store.labels(account)
            ],
        }


def _account(membership: Membership) -> dict[str, Any]:
    return {
        # As text: a number of 63 bits loses digits in many a program.
        "id": str(membership.account_id),
        "email": membership.email,
        "plan": membership.plan,
        "created_at": with_offset(membership.created_at),
    }
