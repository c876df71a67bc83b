"""How much of its daily bounds an account has used. A day is a UTC calendar day."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from bowerbird.storage.database import Database, Reader, Row, Transaction

KEYED_ANSWERS: Final = "keyed answers"
EXPORTS: Final = "exports"
ACCOUNT_DOWNLOADS: Final = "account downloads"
EMAIL_LINKS: Final = "email links"
SIGN_IN_LINKS: Final = "sign-in links"
INGEST_PAGES: Final = "ingest pages"
INGEST_RUNS: Final = "ingest runs"
INGEST_FILES: Final = "ingest files"


class DayUse(Struct, frozen=True):
    uses: int = 0
    bytes: int = 0


class DailyUseStore:
    def __init__(self, database: Database, resource: str) -> None:
        self._sql = database.queries("daily_use")
        self._resource = resource

    async def used(self, reader: Reader, account_id: int, day: int) -> DayUse:
        values = {"account_id": account_id, "resource": self._resource, "day": day}
        return _use(await reader.rows(self._sql["used"], values))

    async def add(
        self, transaction: Transaction, account_id: int, day: int, *, uses: int = 0, size: int = 0
    ) -> DayUse:
        """Adds to the use of the day, and returns it."""
        values = {
            "account_id": account_id,
            "resource": self._resource,
            "day": day,
            "uses": uses,
            "bytes": size,
        }
        return _use(await transaction.rows(self._sql["add"], values))

    async def give_back(
        self, transaction: Transaction, account_id: int, day: int, size: int
    ) -> None:
        """Subtracts bytes that were added on the same day, and not used after all."""
        values = {
            "account_id": account_id,
            "resource": self._resource,
            "day": day,
            "bytes": size,
        }
        await transaction.run(self._sql["give_back"], values)


def _use(rows: Sequence[Row]) -> DayUse:
    return DayUse(*rows[0]) if rows else DayUse()
