"""Reads and writes devices."""

from bowerbird.model.accounts import Device, DeviceCaller
from bowerbird.storage.accounts.credentials import CredentialStore
from bowerbird.storage.database import Database, Reader, Transaction


class DeviceStore(CredentialStore[Device]):
    def __init__(self, database: Database) -> None:
        super().__init__(database, "devices", Device)

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
