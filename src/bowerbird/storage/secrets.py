"""Secrets of the service, created at first use and stored in the database."""

import secrets
from typing import Final

from bowerbird.storage.database import Database, Transaction

_BYTES: Final = 32
_PREVIOUS: Final = " before"


class SecretStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("secrets")

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
            values = {"name": name, "value": value, "now": now}
            await transaction.run(self._sql["add"], values)
            rows = await transaction.rows(self._sql["named"], {"name": name})
            return bytes(rows[0][0])

        found = await self._value(name)
        return await self._database.write(work) if found is None else found

    async def rotate(self, name: str, now: int, older_than: int) -> bool:
        """Replaces a key that is older. Signatures with the old key stay valid."""

        async def work(transaction: Transaction) -> bool:
            rows = await transaction.rows(self._sql["named"], {"name": name})
            if not rows or rows[0][1] >= older_than:
                return False
            for key, value in (
                (name + _PREVIOUS, rows[0][0]),
                (name, secrets.token_bytes(_BYTES)),
            ):
                values = {"name": key, "value": value, "now": now}
                await transaction.run(self._sql["delete"], {"name": key})
                await transaction.run(self._sql["add"], values)
            return True

        rows = await self._database.rows(self._sql["named"], {"name": name})
        is_old = bool(rows) and rows[0][1] < older_than
        return is_old and await self._database.write(work)

    async def delete(self, name: str) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.run(self._sql["delete"], {"name": name})

        await self._database.write(work)

    async def _value(self, name: str) -> bytes | None:
        rows = await self._database.rows(self._sql["named"], {"name": name})
        return bytes(rows[0][0]) if rows else None
