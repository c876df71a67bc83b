"""The ways in of an account: identities at providers, and passkeys."""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from bowerbird.model.accounts import Passkey, ProviderIdentity
from bowerbird.storage.database import Database, Reader, Store, Transaction
from bowerbird.storage.libraries import LibraryStore

# An account has at most one identity per provider.
_LISTED: Final = 100


class IdentityStore(Store):
    resource = "identities"

    async def insert(
        self, transaction: Transaction, account_id: int, identity: ProviderIdentity
    ) -> bool:
        """False if the account is gone, or if the identity belongs to an account already."""
        values = {**asdict(identity), "account_id": account_id}
        return bool(await self._rows(transaction, "insert", **values))

    async def all(self, account_id: int) -> Sequence[ProviderIdentity]:
        """The oldest first."""
        rows = await self._read("list", account_id=account_id, limit=_LISTED)
        return [ProviderIdentity(*row) for row in rows]

    async def account_of(self, reader: Reader, issuer: str, subject: str) -> int | None:
        rows = await self._rows(reader, "account_of", issuer=issuer, subject=subject)
        return rows[0][0] if rows else None

    async def use(
        self, transaction: Transaction, account_id: int, identity: ProviderIdentity, used_at: int
    ) -> bool:
        """False if the account does not have the identity any more."""
        values = {**asdict(identity), "account_id": account_id, "used_at": used_at}
        return bool(await self._rows(transaction, "use", **values))

    async def has_issuer(self, reader: Reader, account_id: int, issuer: str) -> bool:
        return bool(await self._rows(reader, "of_issuer", account_id=account_id, issuer=issuer))

    async def remove(self, transaction: Transaction, account_id: int, identity_id: str) -> str:
        """Returns the issuer of the identity, or '' if there is none."""
        values = {"account_id": account_id, "identity_id": identity_id}
        rows = await self._rows(transaction, "remove", **values)
        return str(rows[0][0]) if rows else ""


class PasskeyStore(Store):
    resource = "passkeys"

    async def insert(self, transaction: Transaction, account_id: int, passkey: Passkey) -> bool:
        """False if the account is gone, or has this passkey already."""
        values = {**asdict(passkey), "account_id": account_id}
        return bool(await self._rows(transaction, "insert", **values))

    async def all(self, account_id: int, limit: int) -> Sequence[Passkey]:
        """The oldest first."""
        values = {"account_id": account_id, "limit": limit}
        return [Passkey(*row) for row in await self._read("list", **values)]

    async def by_credential(
        self, reader: Reader, account_id: int, credential_id: bytes
    ) -> Passkey | None:
        values = {"account_id": account_id, "credential_id": credential_id}
        rows = await self._rows(reader, "by_credential", **values)
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
        return bool(await self._rows(transaction, "use", **values))

    async def rename(
        self, transaction: Transaction, account_id: int, passkey_id: str, name: str
    ) -> bool:
        values = {"account_id": account_id, "passkey_id": passkey_id, "name": name}
        return bool(await self._rows(transaction, "rename", **values))

    async def remove(self, transaction: Transaction, account_id: int, passkey_id: str) -> str:
        """Returns the name of the passkey, or '' if there is none."""
        rows = await self._rows(transaction, "remove", account_id=account_id, passkey_id=passkey_id)
        return str(rows[0][0]) if rows else ""


class WaysIn(Struct, frozen=True):
    """One-time links do not count: they need the operator or the mailbox."""

    passkeys: int
    providers: int

    @property
    def total(self) -> int:
        return self.passkeys + self.providers


class WaysInStore(Store):
    resource = "ways_in"

    def __init__(self, database: Database, issuers: Collection[str] | None = None) -> None:
        """`issuers` are the providers that are configured. Without them, all providers count."""
        super().__init__(database)
        self._issuers = issuers
        self._libraries = LibraryStore(database)

    async def count(self, reader: Reader, account_id: int) -> WaysIn:
        values = {"account_id": account_id}
        [[passkeys]] = await self._rows(reader, "passkeys", **values)
        rows = await self._rows(reader, "issuers", **values)
        usable = [i for (i,) in rows if self._issuers is None or i in self._issuers]
        return WaysIn(passkeys, len(usable))

    async def lock(self, transaction: Transaction, account_id: int) -> WaysIn:
        """Counts the ways in, and locks them until this transaction ends."""
        await self._libraries.lock(transaction, account_id)
        return await self.count(transaction, account_id)
