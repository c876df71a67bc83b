"""Reads and writes the accounts at providers with which people sign in."""

from collections.abc import Sequence
from typing import Final

from bowerbird.model.sign_in import ProviderIdentity
from bowerbird.storage.database import Database, Reader, Transaction

# An account has at most one identity per provider.
_LISTED: Final = 100


class IdentityStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("identities")

    async def insert(
        self, transaction: Transaction, account_id: int, identity: ProviderIdentity
    ) -> bool:
        """False if the account is gone, or if the identity belongs to an account already."""
        values = {
            "issuer": identity.issuer,
            "subject": identity.subject,
            "account_id": account_id,
            "identity_id": identity.identity_id,
            "shown": identity.shown,
            "created_at": identity.created_at,
        }
        return bool(await transaction.rows(self._sql["insert"], values))

    async def all(self, account_id: int) -> Sequence[ProviderIdentity]:
        """The oldest first."""
        values = {"account_id": account_id, "limit": _LISTED}
        rows = await self._database.rows(self._sql["list"], values)
        return [ProviderIdentity(*row) for row in rows]

    async def account_of(self, reader: Reader, issuer: str, subject: str) -> int | None:
        values = {"issuer": issuer, "subject": subject}
        rows = await reader.rows(self._sql["account_of"], values)
        return rows[0][0] if rows else None

    async def use(
        self, transaction: Transaction, account_id: int, identity: ProviderIdentity, used_at: int
    ) -> bool:
        """False if the account does not have the identity any more."""
        values = {
            "issuer": identity.issuer,
            "subject": identity.subject,
            "account_id": account_id,
            "shown": identity.shown,
            "used_at": used_at,
        }
        return bool(await transaction.rows(self._sql["use"], values))

    async def has_issuer(self, reader: Reader, account_id: int, issuer: str) -> bool:
        values = {"account_id": account_id, "issuer": issuer}
        return bool(await reader.rows(self._sql["of_issuer"], values))

    async def remove(self, transaction: Transaction, account_id: int, identity_id: str) -> str:
        """Returns the issuer of the identity, or '' if there is none."""
        values = {"account_id": account_id, "identity_id": identity_id}
        rows = await transaction.rows(self._sql["remove"], values)
        return str(rows[0][0]) if rows else ""
