"""Reads and writes API keys. Only a key's hash is stored."""

from collections.abc import Sequence

from bowerbird.model.accounts import Key
from bowerbird.storage.database import Database, Transaction


class KeyStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("keys")

    async def create(self, account_id: int, key: Key, key_hash: bytes) -> None:
        values = {
            "account_id": account_id,
            "key_id": key.key_id,
            "key_hash": key_hash,
            "name": key.name,
            "created_at": key.created_at,
        }

        async def work(transaction: Transaction) -> None:
            await transaction.run(self._sql["insert"], values)

        await self._database.write(work)

    async def all(self, account_id: int) -> Sequence[Key]:
        rows = await self._database.rows(self._sql["list"], {"account_id": account_id})
        return [Key(*row) for row in rows]

    async def revoke(self, account_id: int, key_id: str, key_hash: bytes, now: int) -> str | None:
        """Returns the id of the revoked key; None if no active key has that id or hash."""
        values = {
            "account_id": account_id,
            "key_id": key_id,
            "key_hash": key_hash,
            "revoked_at": now,
        }

        async def work(transaction: Transaction) -> str | None:
            rows = await transaction.rows(self._sql["revoke"], values)
            return rows[0][0] if rows else None

        return await self._database.write(work)
