"""Stores what devices sent and is not settled yet: pages that no reader understood, and files."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import asdict

from bowerbird.model.ingest import FileImport, KeptPage, KeptPageHead
from bowerbird.storage.database import Reader, Store, Transaction

RETENTION_DAYS: Final = 7
# X may have changed its answers, and the reader that knows them comes with an update.
KEPT_PAGE_DAYS: Final = 365


class KeptPageStore(Store):
    resource = "kept_pages"

    async def usage(self, reader: Reader, account_id: int) -> tuple[int, int]:
        """The number of kept pages and their bytes."""
        rows = await self._rows(reader, "usage", account_id=account_id)
        return int(rows[0][0]), int(rows[0][1])

    async def count(self, account_id: int, problem: str) -> int:
        """The number of pages that are kept because of this problem."""
        return int((await self._read("count", account_id=account_id, problem=problem))[0][0])

    async def insert(self, transaction: Transaction, account_id: int, page: KeptPage) -> None:
        values = {**asdict(page), "account_id": account_id, "size": len(page.body)}
        await self._run(transaction, "insert", **values)

    async def heads(self, account_id: int) -> Sequence[KeptPageHead]:
        """The kept pages without their content, the oldest first."""
        rows = await self._read_slowly("heads", account_id=account_id)
        return [KeptPageHead(*row) for row in rows]

    async def get(self, account_id: int, kept_id: str) -> KeptPage | None:
        """Pages are read one by one, because they may be large."""
        rows = await self._read_slowly("page", account_id=account_id, kept_id=kept_id)
        return KeptPage(*rows[0]) if rows else None

    async def delete(self, account_id: int, kept_id: str) -> None:
        values = {"account_id": account_id, "kept_id": kept_id}
        await self._database.write(
            lambda transaction: self._run(transaction, "delete", **values), account_id
        )

    async def sweep(self, transaction: Transaction, account_id: int, before: int, most: int) -> int:
        values = {"account_id": account_id, "before": before, "most": most}
        return len(await self._rows(transaction, "old", **values))


class FileImportStore(Store):
    resource = "file_imports"

    async def insert(self, transaction: Transaction, account_id: int, file: FileImport) -> bool:
        """False if the job exists, or the account does not."""
        values = {**asdict(file), "account_id": account_id, "now": file.created_at}
        return bool(await self._rows(transaction, "insert", **values))

    async def unfinished(
        self, reader: Reader, account_id: int, *, since: int, alive_since: int
    ) -> int:
        values = {"account_id": account_id, "since": since, "alive_since": alive_since}
        rows = await self._rows(reader, "unfinished", **values)
        return int(rows[0][0])

    async def get(self, account_id: int, job_id: str) -> FileImport | None:
        rows = await self._read("get", account_id=account_id, job_id=job_id)
        if not rows:
            return None
        first, is_dry_run, *rest = rows[0]
        return FileImport(first, bool(is_dry_run), *rest)

    async def update(self, account_id: int, file: FileImport) -> None:
        values = {**asdict(file), "account_id": account_id, "now": file.alive_at}
        # A write of the service: behind too many changes of its account, a file that is being
        # imported would look as if the server had stopped.
        await self._database.write(lambda transaction: self._run(transaction, "update", **values))

    async def sweep(self, transaction: Transaction, account_id: int, before: int, most: int) -> int:
        values = {"account_id": account_id, "before": before, "most": most}
        return len(await self._rows(transaction, "old", **values))
