"""Reads and writes what keys and devices have in common. Only the hash of a secret is stored."""

from collections.abc import Sequence
from typing import Final, Generic, TypeVar

import msgspec

from bowerbird.model.accounts import ActivityEntry
from bowerbird.storage.activity import ActivityStore
from bowerbird.storage.database import Database, Transaction

ANY_NUMBER: Final = 2**31

Record = TypeVar("Record", bound=msgspec.Struct)


class CredentialStore(Generic[Record]):
    def __init__(self, database: Database, resource: str, record: type[Record]) -> None:
        self._database = database
        self._sql = database.queries(resource)
        self._record = record
        self._activity = ActivityStore(database)

    async def create(
        self,
        transaction: Transaction,
        account_id: int,
        record: Record,
        hash: bytes,
        entry: ActivityEntry | None = None,
        *,
        most: int = ANY_NUMBER,
    ) -> bool:
        """False if the account has so many active ones already."""
        fields = msgspec.structs.asdict(record)
        values = {**fields, "account_id": account_id, "hash": hash, "most": most}
        if not await transaction.rows(self._sql["insert"], values):
            return False
        if entry is not None:
            await self._activity.add(transaction, account_id, entry)
        return True

    async def all(self, account_id: int) -> Sequence[Record]:
        rows = await self._database.rows(self._sql["list"], {"account_id": account_id})
        return [self._record(*row) for row in rows]

    async def revoke(
        self,
        account_id: int,
        id: str,
        hash: bytes,
        now: int,
        entry: ActivityEntry | None = None,
        *,
        kept: int = ANY_NUMBER,
    ) -> str | None:
        """Returns the id of what was revoked; None if nothing active has that id or hash.

        The entry in the activity log gets its name. Of all revoked ones of the account, the latest
        `kept` stay in the list.
        """
        values = {"account_id": account_id, "id": id, "hash": hash, "revoked_at": now}

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
