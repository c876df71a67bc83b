"""Runs one export in its own process, and for comparison only reads the same rows.

    python -m benchmarks.measurements.single_export FOLDER FORMAT LIMIT

Prints seconds, CPU seconds and peak memory as a line of JSON. A LIMIT of 0 exports all posts.
"""

import asyncio
import resource
import sys
import time
from pathlib import Path
from typing import Any, Final

import msgspec

from bowerbird.clock import month_of, system_clock
from bowerbird.jobs.exports import ExportJobs
from bowerbird.model.accounts import Account
from bowerbird.model.jobs import ExportQuery, Job
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database, place_values
from bowerbird.storage.files import Files
from bowerbird.storage.opening import open_database

_PAGE: Final = 200
_ROWS: Final = """
SELECT c.rendering, c.tags, b.is_read, b.is_archived, b.number
  FROM bookmark AS b
  JOIN content AS c ON c.place = :place + b.number
 WHERE b.account_id = :account_id AND b.number > :after
 ORDER BY b.number
 LIMIT :limit
"""


async def main(folder: Path, format: str, limit: int) -> dict[str, Any]:
    settings = Settings(data_dir=folder)
    database = await open_database(settings, is_mapped=False)
    try:
        account = await _account(database)
        before_reading = _cpu_seconds()
        await _read(database, account)
        started, before_export = time.perf_counter(), _cpu_seconds()
        await _export(database, settings, account, format, limit)
        return {
            "reading": before_export - before_reading,
            "seconds": time.perf_counter() - started,
            "cpu": _cpu_seconds() - before_export,
            "own_mb": _peak_mb(),
            "child_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
        }
    finally:
        await database.close()


async def _account(database: Database) -> Account:
    accounts = AccountStore(database)
    members = await accounts.all()
    found = await accounts.by_id(members[0].account_id, month_of(system_clock()))
    assert found is not None
    return found


async def _read(database: Database, account: Account) -> None:
    """Reads the same rows page by page, and does nothing with them."""
    values = {"account_id": account.account_id, **place_values(account), "limit": _PAGE}
    after = 0
    while rows := await database.slow_rows(_ROWS, {**values, "after": after}):
        after = rows[-1][4]


async def _export(
    database: Database, settings: Settings, account: Account, format: str, limit: int
) -> None:
    exports = ExportJobs(database, Files(settings), system_clock, settings.data_dir)
    post_ids = None
    if limit:
        numbers = await BookmarkStore(database).numbers(
            account, BookmarkFilter(unread_only=False, hide_archived=False), None
        )
        rows = await database.slow_rows(
            "SELECT post_id FROM bookmark WHERE account_id = :account_id AND number <= :last",
            {"account_id": account.account_id, "last": numbers[:limit][-1]},
        )
        post_ids = [row[0] for row in rows]
    parameters = msgspec.json.encode(ExportQuery(format=format, post_ids=post_ids))
    job = Job(account.account_id, "benchmark", "export", parameters, 1)

    async def progress(_done: int, _total: int) -> None:
        pass

    await exports.kind.run(job, progress)


def _peak_mb() -> float:
    """Not ru_maxrss, which begins with the memory of the process that started this one."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _cpu_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    figures = asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
    print(msgspec.json.encode(figures).decode())
