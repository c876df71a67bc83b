"""Counts the ways in which a person can sign in, so that the last one is never removed."""

from collections.abc import Collection

from msgspec import Struct

from bowerbird.storage.database import Database, Reader, Transaction
from bowerbird.storage.libraries import LibraryStore


class WaysIn(Struct, frozen=True):
    """One-time links do not count: only the operator can make them."""

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
