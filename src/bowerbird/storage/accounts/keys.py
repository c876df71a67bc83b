"""Reads and writes API keys. Only a key's hash is stored."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from bowerbird.model.accounts import Key
from bowerbird.model.activity import ActivityEntry
from bowerbird.storage.activity import ActivityStore
from bowerbird.storage.database import Database, Transaction

_ANY_NUMBER: Final = 2**31


class KeyStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("keys")
        self._activity = ActivityStore(database)

    async def create(
        self,
        account_id: int,
        key: Key,
        key_hash: bytes,
        entry: ActivityEntry | None = None,
        *,
        most: int = _ANY_NUMBER,
    ) -> bool:
        """False if the account has so many active keys already."""
        values = {
            "account_id": account_id,
            "key_id": key.key_id,
            "key_hash": key_hash,
            "name": key.name,
            "created_at": key.created_at,
            "shown": key.shown,
            "most": most,
        }

        async def work(transaction: Transaction) -> bool:
            if not await transaction.rows(self._sql["insert"], values):
                return False
            if entry is not None:
                await self._activity.add(transaction, account_id, entry)
            return True

        return await self._database.write(work, account_id)

    async def all(self, account_id: int) -> Sequence[Key]:
        rows = await self._database.rows(self._sql["list"], {"account_id": account_id})
        return [Key(*row) for row in rows]

    async def count_live(self, account_id: int) -> int:
        rows = await self._database.rows(self._sql["count_live"], {"account_id": account_id})
        return int(rows[0][0])

    async def revoke(
        self,
        account_id: int,
        key_id: str,
        key_hash: bytes,
        now: int,
        entry: ActivityEntry | None = None,
        *,
        kept: int = _ANY_NUMBER,
    ) -> str | None:
        """Returns the id of the revoked key; None if no active key has that id or hash.

        The entry in the activity log gets the name of the key. Of all revoked keys of the account,
        the latest `kept` stay in the list.
        """
        values = {
            "account_id": account_id,
            "key_id": key_id,
            "key_hash": key_hash,
            "revoked_at": now,
        }

        async def work(transaction: Transaction) -> str | None:
            rows = await transaction.rows(self._sql["revoke"], values)
            if not rows:
                return None
            await transaction.run(
                self._sql["forget_revoked"], {"account_id": account_id, "kept": kept}
            )
            revoked, name = rows[0]
            if entry is not None:
                named = msgspec.structs.replace(entry, detail=name)
                await self._activity.add(transaction, account_id, named)
            return str(revoked)

        # Not in the name of the account: those who flood it must not delay this.
        return await self._database.write(work)

    async def put_uses(self, uses: Mapping[tuple[int, bytes], int]) -> None:
        """Takes (account, hash of a key) -> day. A day before the stored one changes nothing."""
        rows = [
            {"account_id": account_id, "key_hash": key_hash, "day": day}
            for (account_id, key_hash), day in sorted(uses.items())
        ]

        async def work(transaction: Transaction) -> None:
            await transaction.run_many(self._sql["note_use"], rows)

        await self._database.write(work)
