"""Stores the state of files that were sent to be imported, and the report about each."""

from bowerbird.model.ingest import FileImport
from bowerbird.storage.database import Database, Reader, Transaction


class FileImportStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("file_imports")

    async def insert(self, transaction: Transaction, account_id: int, file: FileImport) -> bool:
        """False if the job exists, or the account does not."""
        values = {
            "account_id": account_id,
            "job_id": file.job_id,
            "is_dry_run": file.is_dry_run,
            "size": file.size,
            "report": file.report,
            "now": file.created_at,
        }
        return bool(await transaction.rows(self._sql["insert"], values))

    async def unfinished(
        self, reader: Reader, account_id: int, *, since: int, alive_since: int
    ) -> int:
        values = {"account_id": account_id, "since": since, "alive_since": alive_since}
        rows = await reader.rows(self._sql["unfinished"], values)
        return int(rows[0][0])

    async def get(self, account_id: int, job_id: str) -> FileImport | None:
        values = {"account_id": account_id, "job_id": job_id}
        rows = await self._database.rows(self._sql["get"], values)
        if not rows:
            return None
        first, is_dry_run, *rest = rows[0]
        return FileImport(first, bool(is_dry_run), *rest)

    async def update(self, account_id: int, file: FileImport) -> None:
        values = {
            "account_id": account_id,
            "job_id": file.job_id,
            "state": file.state,
            "done": file.done,
            "report": file.report,
            "error": file.error,
            "now": file.alive_at,
            "completed_at": file.completed_at,
        }

        async def work(transaction: Transaction) -> None:
            await transaction.run(self._sql["update"], values)

        # A write of the service: behind too many changes of its account, a file that is being
        # imported would look as if the server had stopped.
        await self._database.write(work)

    async def sweep(self, transaction: Transaction, account_id: int, before: int, most: int) -> int:
        values = {"account_id": account_id, "before": before, "most": most}
        return len(await transaction.rows(self._sql["old"], values))
