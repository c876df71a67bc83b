"""Reads and writes API keys. Only a key's hash is stored."""

from collections.abc import Mapping, Sequence

from bowerbird.model.accounts import ActivityEntry, Key
from bowerbird.storage.accounts.credentials import ANY_NUMBER, CredentialStore
from bowerbird.storage.database import Database, Transaction


class KeyStore(CredentialStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database, database.queries("keys"))

    async def create(
        self,
        account_id: int,
        key: Key,
        key_hash: bytes,
        entry: ActivityEntry | None = None,
        *,
        most: int = ANY_NUMBER,
    ) -> bool:
        values = {
            "id": key.key_id,
            "hash": key_hash,
            "name": key.name,
            "created_at": key.created_at,
            "shown": key.shown,
        }

        async def work(transaction: Transaction) -> bool:
            return await self.insert(transaction, account_id, values, entry, most=most)

        return await self._database.write(work, account_id)

    async def all(self, account_id: int) -> Sequence[Key]:
        rows = await self._database.rows(self._sql["list"], {"account_id": account_id})
        return [Key(*row) for row in rows]

    async def count_live(self, account_id: int) -> int:
        rows = await self._database.rows(self._sql["count_live"], {"account_id": account_id})
        return int(rows[0][0])

    async def put_uses(self, uses: Mapping[tuple[int, bytes], int]) -> None:
        """Takes (account, hash of a key) -> day. A day before the stored one changes nothing."""
        rows = [
            {"account_id": account_id, "key_hash": key_hash, "day": day}
            for (account_id, key_hash), day in sorted(uses.items())
        ]

        async def work(transaction: Transaction) -> None:
            await transaction.run_many(self._sql["note_use"], rows)

        await self._database.write(work)
