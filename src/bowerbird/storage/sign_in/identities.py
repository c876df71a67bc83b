"""The ways in of an account: identities at providers, and passkeys."""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from bowerbird.model.accounts import Passkey, ProviderIdentity
from bowerbird.storage.database import Database, Reader, Transaction
from bowerbird.storage.libraries import LibraryStore

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
        values = {**asdict(identity), "account_id": account_id}
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
        values = {**asdict(identity), "account_id": account_id, "used_at": used_at}
        return bool(await transaction.rows(self._sql["use"], values))

    async def has_issuer(self, reader: Reader, account_id: int, issuer: str) -> bool:
        values = {"account_id": account_id, "issuer": issuer}
        return bool(await reader.rows(self._sql["of_issuer"], values))

    async def remove(self, transaction: Transaction, account_id: int, identity_id: str) -> str:
        """Returns the issuer of the identity, or '' if there is none."""
        values = {"account_id": account_id, "identity_id": identity_id}
        rows = await transaction.rows(self._sql["remove"], values)
        return str(rows[0][0]) if rows else ""


class PasskeyStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("passkeys")

    async def insert(self, transaction: Transaction, account_id: int, passkey: Passkey) -> bool:
        """False if the account is gone, or has this passkey already."""
        values = {**asdict(passkey), "account_id": account_id}
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


class WaysIn(Struct, frozen=True):
    """One-time links do not count: they need the operator or the mailbox."""

    passkeys: int
    providers: int

    @property
    def total(self) -> int:
        return self.passkeys + self.providers


class WaysInStore:
    def __init__(self, database: Database, issuers: Collection[str] | None = None) -> None:
        """`issuers` are the providers that are configured. Without them, all providers count."""
        self._issuers = issuers
        self._libraries = LibraryStore(database)
        self._sql = database.queries("ways_in")

    async def count(self, reader: Reader, account_id: int) -> WaysIn:
        values = {"account_id": account_id}
        [[passkeys]] = await reader.rows(self._sql["passkeys"], values)
        rows = await reader.rows(self._sql["issuers"], values)
        usable = [i for (i,) in rows if self._issuers is None or i in self._issuers]
        return WaysIn(passkeys, len(usable))

    async def lock(self, transaction: Transaction, account_id: int) -> WaysIn:
        """Counts the ways in, and locks them until this transaction ends."""
        await self._libraries.lock(transaction, account_id)
        return await self.count(transaction, account_id)
