"""Reads and writes one-time links, and attempts to sign in that have succeeded.

Only the hash of a link's token is stored. An attempt is stored until it would expire anyway.

Secrets of the service, created at first use and stored in the database.
"""

import secrets
from collections.abc import Sequence
from typing import Final

from msgspec.structs import asdict

from bowerbird.model.accounts import LinkKind, OneTimeLink
from bowerbird.storage.database import Reader, Row, Store, Transaction


class OneTimeLinkStore(Store):
    resource = "one_time_links"

    async def insert(
        self, transaction: Transaction, link_hash: bytes, link: OneTimeLink, most: int
    ) -> bool:
        """False if the account has so many open links of this kind already."""
        values = {"account_id": link.account_id, "kind": link.kind, "now": link.created_at}
        await self._run(transaction, "remove_expired", **values)
        if await self.count(transaction, link.account_id, link.kind, link.created_at) >= most:
            return False
        await self._run(transaction, "insert", **asdict(link), link_hash=link_hash)
        return True

    async def count(self, reader: Reader, account_id: int, kind: LinkKind, now: int) -> int:
        """The number of links that can still be used."""
        values = {"account_id": account_id, "kind": kind, "now": now}
        return int((await self._rows(reader, "count", **values))[0][0])

    async def sweep(self, transaction: Transaction, before: int, limit: int) -> int:
        """Removes links that expired before a time, used or not."""
        return len(await self._rows(transaction, "remove_some", before=before, limit=limit))

    async def open_link(self, reader: Reader, link_hash: bytes, now: int) -> OneTimeLink | None:
        """None if the link is unknown, used or expired."""
        rows = await self._rows(reader, "by_hash", link_hash=link_hash, now=now)
        return _link(rows[0]) if rows else None

    async def use(self, transaction: Transaction, link_hash: bytes, now: int) -> bool:
        """False if another request has used it."""
        return bool(await self._rows(transaction, "use", link_hash=link_hash, now=now))

    async def find(self, account_id: int, kind: LinkKind, link_id: str) -> OneTimeLink | None:
        """A link of an account. Used and expired ones are found too, until they are removed."""
        rows = await self._read("by_id", account_id=account_id, kind=kind, link_id=link_id)
        return _link(rows[0]) if rows else None

    async def set_detail(self, transaction: Transaction, link_hash: bytes, detail: str) -> None:
        await self._run(transaction, "set_detail", link_hash=link_hash, detail=detail)

    async def all(
        self, account_id: int, kind: LinkKind, now: int, limit: int
    ) -> Sequence[OneTimeLink]:
        """The links that can still be used, the latest first."""
        values = {"account_id": account_id, "kind": kind, "now": now, "limit": limit}
        return [_link(row) for row in await self._read("list", **values)]

    async def withdraw_all(self, transaction: Transaction, account_id: int, kind: LinkKind) -> None:
        await self._run(transaction, "withdraw_all", account_id=account_id, kind=kind)

    async def withdraw(
        self, transaction: Transaction, account_id: int, kind: LinkKind, link_id: str
    ) -> bool:
        values = {"account_id": account_id, "kind": kind, "link_id": link_id}
        return bool(await self._rows(transaction, "withdraw", **values))


def _link(row: Row) -> OneTimeLink:
    link_id, kind, *rest = row
    return OneTimeLink(link_id, LinkKind(kind), *rest)


class SpentAttemptStore(Store):
    resource = "spent_attempts"

    async def spend(self, transaction: Transaction, attempt_hash: bytes, expires_at: int) -> bool:
        """False if the attempt was spent before."""
        values = {"attempt_hash": attempt_hash, "expires_at": expires_at}
        return bool(await self._rows(transaction, "spend", **values))

    async def sweep(self, transaction: Transaction, now: int, limit: int) -> int:
        return len(await self._rows(transaction, "remove_expired", now=now, limit=limit))


_BYTES: Final = 32
_PREVIOUS: Final = " before"


class SecretStore(Store):
    resource = "secrets"

    async def keys(self, name: str, now: int) -> list[bytes]:
        """The signing key; after a rotation also the previous key, which is still valid."""
        current = await self._value(name)
        if current is None:
            current = await self.put_new(name, secrets.token_bytes(_BYTES), now)
        previous = await self._value(name + _PREVIOUS)
        return [current] if previous is None else [current, previous]

    async def put_new(self, name: str, value: bytes, now: int) -> bytes:
        """Stores the value unless the name has one; returns the stored value."""

        async def work(transaction: Transaction) -> bytes:
            await self._run(transaction, "add", name=name, value=value, now=now)
            rows = await self._rows(transaction, "named", name=name)
            return bytes(rows[0][0])

        found = await self._value(name)
        return await self._database.write(work) if found is None else found

    async def rotate(self, name: str, now: int, older_than: int) -> bool:
        """Replaces a key that is older. Signatures with the old key stay valid."""

        async def work(transaction: Transaction) -> bool:
            rows = await self._rows(transaction, "named", name=name)
            if not rows or rows[0][1] >= older_than:
                return False
            for key, value in (
                (name + _PREVIOUS, rows[0][0]),
                (name, secrets.token_bytes(_BYTES)),
            ):
                values = {"name": key, "value": value, "now": now}
                await self._run(transaction, "delete", name=key)
                await self._run(transaction, "add", **values)
            return True

        rows = await self._read("named", name=name)
        is_old = bool(rows) and rows[0][1] < older_than
        return is_old and await self._database.write(work)

    async def delete(self, name: str) -> None:
        await self._write("delete", None, name=name)

    async def _value(self, name: str) -> bytes | None:
        rows = await self._read("named", name=name)
        return bytes(rows[0][0]) if rows else None
