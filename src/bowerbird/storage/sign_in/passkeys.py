"""Reads and writes passkeys. Only public keys are stored: they cannot sign anybody in."""

from collections.abc import Sequence

from bowerbird.model.sign_in import Passkey
from bowerbird.storage.database import Database, Reader, Transaction


class PasskeyStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("passkeys")

    async def insert(self, transaction: Transaction, account_id: int, passkey: Passkey) -> bool:
        """False if the account is gone, or has this passkey already."""
        values = {
            "account_id": account_id,
            "credential_id": passkey.credential_id,
            "passkey_id": passkey.passkey_id,
            "public_key": passkey.public_key,
            "sign_count": passkey.sign_count,
            "name": passkey.name,
            "transports": passkey.transports,
            "created_at": passkey.created_at,
        }
        return bool(await transaction.rows(self._sql["insert"], values))

    async def all(self, account_id: int, limit: int) -> Sequence[Passkey]:
        """The oldest first."""
        values = {"account_id": account_id, "limit": limit}
        return [Passkey(*row) for row in await self._database.rows(self._sql["list"], values)]

    async def by_credential(
        self, reader: Reader, account_id: int, credential_id: bytes
    ) -> Passkey | None:
        values = {"account_id": account_id, "credential_id": credential_id}
        rows = await reader.rows(self._sql["by_credential"], values)
        return Passkey(*rows[0]) if rows else None

    async def use(
        self,
        transaction: Transaction,
        account_id: int,
        credential_id: bytes,
        *,
        sign_count: int,
        used_at: int,
    ) -> bool:
        """False if the passkey was removed, or if its counter did not grow."""
        values = {
            "account_id": account_id,
            "credential_id": credential_id,
            "sign_count": sign_count,
            "used_at": used_at,
        }
        return bool(await transaction.rows(self._sql["use"], values))

    async def rename(
        self, transaction: Transaction, account_id: int, passkey_id: str, name: str
    ) -> bool:
        values = {"account_id": account_id, "passkey_id": passkey_id, "name": name}
        return bool(await transaction.rows(self._sql["rename"], values))

    async def remove(self, transaction: Transaction, account_id: int, passkey_id: str) -> str:
        """Returns the name of the passkey, or '' if there is none."""
        values = {"account_id": account_id, "passkey_id": passkey_id}
        rows = await transaction.rows(self._sql["remove"], values)
        return str(rows[0][0]) if rows else ""
