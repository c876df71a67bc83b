"""Stores the last day on which an account called a version."""

from collections.abc import Mapping, Sequence

from bowerbird.storage.database import Database, Transaction


class VersionUseStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("version_use")

    async def versions(self, account_id: int, first_day: int) -> Sequence[str]:
        """The versions that the account called on that day or later."""
        values = {"account_id": account_id, "first_day": first_day}
        return [row[0] for row in await self._database.rows(self._sql["versions"], values)]

    async def callers(self, first_day: int) -> Sequence[tuple[str, int, int]]:
        """Version, number of accounts that called it since that day, and day of the last call."""
        rows = await self._database.slow_rows(self._sql["callers"], {"first_day": first_day})
        return [(version, count, last_day) for version, count, last_day in rows]

    async def put(self, uses: Mapping[tuple[int, str], int]) -> None:
        """Takes (account, version) -> day. A day older than the stored one changes nothing."""
        rows = [
            {"account_id": account_id, "version": version, "last_day": day}
            for (account_id, version), day in sorted(uses.items())
        ]

        async def work(transaction: Transaction) -> None:
            await transaction.run_many(self._sql["put"], rows)

        await self._database.write(work)
