"""Reads and writes devices. Only the hash of a device's token is stored."""

from collections.abc import Sequence

import msgspec

from bowerbird.model.activity import ActivityEntry
from bowerbird.model.devices import Device, DeviceCaller
from bowerbird.storage.activity import ActivityStore
from bowerbird.storage.database import Database, Reader, Transaction


class DeviceStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("devices")
        self._activity = ActivityStore(database)

    async def insert(
        self,
        transaction: Transaction,
        account_id: int,
        device: Device,
        token_hash: bytes,
        *,
        most: int,
        entry: ActivityEntry,
    ) -> bool:
        """False if the account has so many devices already."""
        values = {
            "account_id": account_id,
            "device_id": device.device_id,
            "token_hash": token_hash,
            "name": device.name,
            "created_at": device.created_at,
            "most": most,
        }
        if not await transaction.rows(self._sql["insert"], values):
            return False
        await self._activity.add(transaction, account_id, entry)
        return True

    async def all(self, account_id: int) -> Sequence[Device]:
        rows = await self._database.rows(self._sql["list"], {"account_id": account_id})
        return [Device(*row) for row in rows]

    async def revoke(
        self,
        account_id: int,
        device_id: str,
        token_hash: bytes,
        now: int,
        entry: ActivityEntry,
        *,
        kept: int,
    ) -> str | None:
        """Returns the id of the revoked device; None if no active device has that id or hash.

        The entry in the activity log gets the name of the device. Of all revoked devices of the
        account, the latest `kept` stay in the list.
        """
        values = {
            "account_id": account_id,
            "device_id": device_id,
            "token_hash": token_hash,
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
            named = msgspec.structs.replace(entry, detail=name)
            await self._activity.add(transaction, account_id, named)
            return str(revoked)

        # Not in the name of the account: those who flood it must not delay this.
        return await self._database.write(work)

    async def by_token(self, account_id: int, token_hash: bytes, month: int) -> DeviceCaller | None:
        values = {"account_id": account_id, "token_hash": token_hash, "month": month}
        rows = await self._database.rows(self._sql["by_token"], values)
        return DeviceCaller(*rows[0]) if rows else None

    async def is_revoked(self, account_id: int, token_hash: bytes) -> bool:
        """Whether the token is that of a device which was revoked."""
        values = {"account_id": account_id, "token_hash": token_hash}
        return bool(await self._database.rows(self._sql["revoked"], values))

    async def source_user(self, reader: Reader, account_id: int, device_id: str) -> str:
        """The account of the source that the device is bound to, or ""."""
        values = {"account_id": account_id, "device_id": device_id}
        rows = await reader.rows(self._sql["source_user"], values)
        return rows[0][0] if rows else ""

    async def bind(
        self, transaction: Transaction, account_id: int, device_id: str, source_user_id: str
    ) -> None:
        values = {
            "account_id": account_id,
            "device_id": device_id,
            "source_user_id": source_user_id,
        }
        await transaction.run(self._sql["bind"], values)

    async def note_use(
        self, transaction: Transaction, account_id: int, device_id: str, now: int, every: int
    ) -> None:
        """Stores when the device was used, unless the stored time is only a little older."""
        if device_id:
            values = {
                "account_id": account_id,
                "device_id": device_id,
                "now": now,
                "before": now - every,
            }
            await transaction.run(self._sql["note_use"], values)
