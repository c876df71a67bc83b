"""Stores pages that no reader understood, for a week."""

from collections.abc import Sequence
from typing import Final

from bowerbird.model.ingest import KeptPage, KeptPageHead
from bowerbird.storage.database import Database, Reader, Transaction

RETENTION_DAYS: Final = 7


class KeptPageStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("kept_pages")

    async def usage(self, reader: Reader, account_id: int) -> tuple[int, int]:
        """The number of kept pages and their bytes."""
        rows = await reader.rows(self._sql["usage"], {"account_id": account_id})
        return int(rows[0][0]), int(rows[0][1])

    async def count(self, account_id: int, problem: str) -> int:
        """The number of pages that are kept because of this problem."""
        values = {"account_id": account_id, "problem": problem}
        return int((await self._database.rows(self._sql["count"], values))[0][0])

    async def insert(self, transaction: Transaction, account_id: int, page: KeptPage) -> None:
        values = {
            "account_id": account_id,
            "kept_id": page.kept_id,
            "run_id": page.run_id,
            "seq": page.seq,
            "op": page.op,
            "request_url": page.request_url,
            "format": page.format,
            "captured_at": page.captured_at,
            "problem": page.problem,
            "size": len(page.body),
            "created_at": page.created_at,
            "body": page.body,
        }
        await transaction.run(self._sql["insert"], values)

    async def heads(self, account_id: int) -> Sequence[KeptPageHead]:
        """The kept pages without their content, the oldest first."""
        rows = await self._database.slow_rows(self._sql["heads"], {"account_id": account_id})
        return [KeptPageHead(*row) for row in rows]

    async def get(self, account_id: int, kept_id: str) -> KeptPage | None:
        """Pages are read one by one, because they may be large."""
        values = {"account_id": account_id, "kept_id": kept_id}
        rows = await self._database.slow_rows(self._sql["page"], values)
        return KeptPage(*rows[0]) if rows else None

    async def delete(self, account_id: int, kept_id: str) -> None:
        values = {"account_id": account_id, "kept_id": kept_id}

        async def work(transaction: Transaction) -> None:
            await transaction.run(self._sql["delete"], values)

        await self._database.write(work, account_id)

    async def sweep(self, transaction: Transaction, account_id: int, before: int, most: int) -> int:
        values = {"account_id": account_id, "before": before, "most": most}
        return len(await transaction.rows(self._sql["old"], values))
