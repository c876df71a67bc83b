"""Reads and writes API keys."""

from collections.abc import Mapping

from bowerbird.model.accounts import Key
from bowerbird.storage.accounts.credentials import CredentialStore
from bowerbird.storage.database import Database, Transaction


class KeyStore(CredentialStore[Key]):
    def __init__(self, database: Database) -> None:
        super().__init__(database, "keys", Key)

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
