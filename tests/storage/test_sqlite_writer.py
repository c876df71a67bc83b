"""SQLite's writer: groups share a commit, a failure affects one write, processes take turns."""

import asyncio
import fcntl
import struct
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import pytest
import structlog

from bowerbird.errors import Code, Refusal
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.sqlite.database import FILE_NAME, SqliteDatabase, connect
from bowerbird.storage.sqlite.write_queue import LOCK_NAME
from bowerbird.storage.sqlite.writer import WRITE_WAIT_S
from tests.support.waiting import until

pytestmark = pytest.mark.anyio

INSERT = "INSERT INTO secret (name, value, created_at) VALUES (:name, :value, 0)"
COUNT = "SELECT count(*) FROM secret"
MEGABYTE = b"x" * 1024 * 1024

# Writes one row per line of input, and reports when it is on disk.
WRITER = """
import asyncio, sys
from pathlib import Path
from bowerbird.storage.sqlite.database import SqliteDatabase
async def main():
    database = SqliteDatabase(Path(sys.argv[1]))
    for line in sys.stdin:
        name = f"{sys.argv[2]} {line}"
        async def work(transaction):
            await transaction.run(
                "INSERT INTO secret (name, value, created_at) VALUES (:name, x'00', 0)",
                {"name": name},
            )
        await database.write(work)
        print("done", flush=True)
    await database.close()
asyncio.run(main())
"""
# Reaches the maximum file size in the middle of a write.
BOUNDED = """
import asyncio, resource, sys
from pathlib import Path
from bowerbird.errors import Refusal
from bowerbird.storage.sqlite.database import SqliteDatabase
async def main():
    database = SqliteDatabase(Path(sys.argv[1]))
    async def put(name, value):
        async def work(transaction):
            await transaction.run(
                "INSERT INTO secret (name, value, created_at) VALUES (:name, :value, 0)",
                {"name": name, "value": value},
            )
        await database.write(work)
    await put("before", b"")
    resource.setrlimit(resource.RLIMIT_FSIZE, (512 * 1024, resource.RLIM_INFINITY))
    try:
        await put("too large", b"x" * 4 * 1024 * 1024)
    except Refusal as refused:
        print(refused.status, refused.headers["Retry-After"])
    print((await database.rows("SELECT name FROM secret", {}))[0][0])
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await put("later", b"x" * 1024 * 1024)
    print((await database.rows("SELECT count(*) FROM secret", {}))[0][0])
    await database.close()
asyncio.run(main())
"""


def opened_copy(template: Path, folder: Path, write_wait_s: float = WRITE_WAIT_S) -> SqliteDatabase:
    (folder / FILE_NAME).write_bytes(template.read_bytes())
    return SqliteDatabase(folder, write_wait_s=write_wait_s)


def insert(name: str, value: bytes = b"") -> Callable[[Transaction], Awaitable[None]]:
    async def work(transaction: Transaction) -> None:
        await transaction.run(INSERT, {"name": name, "value": value})

    return work


async def names(database: Database) -> set[str]:
    return {row[0] for row in await database.rows("SELECT name FROM secret", {})}


def commits(folder: Path) -> int:
    """Commits in the log: the frames that contain the size of the file after a commit."""
    log = (folder / f"{FILE_NAME}-wal").read_bytes()
    page_size, salt = struct.unpack(">I", log[8:12])[0], log[16:24]
    frames = range(32, len(log), 24 + page_size)
    return sum(
        log[at + 8 : at + 16] == salt and struct.unpack(">I", log[at + 4 : at + 8])[0] > 0
        for at in frames
    )


async def limit_pages(database: Database, most: int) -> None:
    """Sets the size at which SQLite reports a full disk; at least the present size."""

    async def work(transaction: Transaction) -> None:
        await transaction.rows(f"PRAGMA max_page_count = {most}", {})

    await database.write(work)


def test_a_commit_is_on_disk_when_it_returns(tmp_path: Path) -> None:
    # 2 is FULL. The other tests turn it off (tests/support/databases.py).
    with closing(connect(tmp_path / FILE_NAME)) as connection:
        modes = [connection.execute(f"PRAGMA {n}").get for n in ("synchronous", "journal_mode")]

    assert modes == [2, "wal"]


async def test_waiting_writes_share_a_commit(sqlite: Database, tmp_path: Path) -> None:
    await asyncio.gather(*(sqlite.write(insert(f"row {number}")) for number in range(300)))

    assert len(await names(sqlite)) == 300
    assert commits(tmp_path) <= 30


async def test_a_single_write_is_committed_immediately(sqlite: Database, tmp_path: Path) -> None:
    for number in range(3):
        await sqlite.write(insert(f"row {number}"))
        assert commits(tmp_path) == number + 1


async def test_a_failing_write_does_not_affect_others(sqlite: Database) -> None:
    async def failing(transaction: Transaction) -> None:
        await transaction.run(INSERT, {"name": "half", "value": b""})
        raise LookupError("mine")

    outcomes = await asyncio.gather(
        *(sqlite.write(insert(f"before {number}")) for number in range(5)),
        sqlite.write(failing),
        sqlite.write(insert("before 1")),
        *(sqlite.write(insert(f"after {number}")) for number in range(5)),
        return_exceptions=True,
    )

    assert [type(outcome) for outcome in outcomes if outcome is not None] == [
        LookupError,
        apsw.ConstraintError,
    ]
    assert await names(sqlite) == {f"{when} {n}" for when in ("before", "after") for n in range(5)}


async def test_work_that_waits_is_refused(sqlite: Database) -> None:
    async def waiting(transaction: Transaction) -> None:
        await transaction.run(INSERT, {"name": "half", "value": b""})
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="must not wait"):
        await sqlite.write(waiting)

    assert await names(sqlite) == set()


async def test_a_full_disk_keeps_writes_that_succeeded(sqlite: Database, tmp_path: Path) -> None:
    await sqlite.write(insert("before"))
    await limit_pages(sqlite, 1)
    written = {"small": b"", "large": MEGABYTE, "large too": MEGABYTE, "small too": b""}

    outcomes = await asyncio.gather(
        *(sqlite.write(insert(name, value)) for name, value in written.items()),
        return_exceptions=True,
    )

    ended = dict(zip(written, outcomes, strict=True))
    done = {name for name, outcome in ended.items() if outcome is None}
    for name in written.keys() - done:
        outcome = ended[name]
        assert isinstance(outcome, Refusal)
        assert outcome.code is Code.SERVICE_UNAVAILABLE
        assert outcome.headers == {"Retry-After": "30"}
        assert outcome.sentence == "The disk is full; this change was not made."
    assert done.isdisjoint({"large", "large too"})
    assert await names(sqlite) == {"before", *done}
    await limit_pages(sqlite, 1_000_000)
    await sqlite.write(insert("later", MEGABYTE))
    assert await names(sqlite) == {"before", "later", *done}
    checked = apsw.Connection(str(tmp_path / FILE_NAME))
    assert checked.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    checked.close()


def test_a_write_beyond_the_maximum_file_size_is_refused(sqlite_template: Path) -> None:
    folder = sqlite_template.parent / "bounded"
    folder.mkdir()
    (folder / FILE_NAME).write_bytes(sqlite_template.read_bytes())

    ran = subprocess.run(
        [sys.executable, "-c", BOUNDED, str(folder)], capture_output=True, text=True, check=False
    )

    assert ran.stdout.split() == ["503", "5", "before", "2"], ran.stderr


async def test_the_writer_works_after_a_caller_was_cancelled(sqlite: Database) -> None:
    entered, leave = threading.Event(), threading.Event()

    async def slow(transaction: Transaction) -> None:
        await transaction.run(INSERT, {"name": "given up", "value": b""})
        entered.set()
        assert leave.wait(60)

    task = asyncio.create_task(sqlite.write(slow))
    await asyncio.to_thread(entered.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    leave.set()
    await sqlite.write(insert("later"))

    assert await names(sqlite) == {"given up", "later"}


async def test_closing_finishes_waiting_writes(sqlite_template: Path, tmp_path: Path) -> None:
    database = opened_copy(sqlite_template, tmp_path)
    writes = [asyncio.create_task(database.write(insert(f"row {n}"))) for n in range(50)]
    await asyncio.sleep(0)
    await database.close()

    assert await asyncio.gather(*writes) == [None] * 50
    for is_continuing in (False, True):
        with pytest.raises(Refusal, match="The service is stopping"):
            await database.write(insert("late"), 1, is_continuing=is_continuing)
    connection = apsw.Connection(str(tmp_path / FILE_NAME))
    assert connection.execute(COUNT).fetchall() == [(50,)]
    connection.close()


async def test_every_write_during_closing_is_stored_or_refused(
    sqlite_template: Path, tmp_path: Path
) -> None:
    database = opened_copy(sqlite_template, tmp_path)
    closing = asyncio.create_task(database.close())
    writes: list[asyncio.Task[None]] = []
    while not closing.done():
        writes.append(asyncio.create_task(database.write(insert(f"row {len(writes)}"))))
        await asyncio.sleep(0)

    async with asyncio.timeout(120):
        outcomes = await asyncio.gather(*writes, return_exceptions=True)

    refused = [str(outcome) for outcome in outcomes if outcome is not None]
    assert set(refused) == {"The service is stopping."}
    connection = apsw.Connection(str(tmp_path / FILE_NAME))
    assert connection.execute(COUNT).fetchall() == [(len(outcomes) - len(refused),)]
    connection.close()


async def test_a_write_waits_for_programs_that_lock(sqlite: Database, tmp_path: Path) -> None:
    shell = apsw.Connection(str(tmp_path / FILE_NAME))
    shell.execute("BEGIN IMMEDIATE")
    write = asyncio.create_task(sqlite.write(insert("ours")))
    await asyncio.sleep(0)

    assert await names(sqlite) == set()
    assert not write.done()
    shell.execute("INSERT INTO secret VALUES ('theirs', x'', 0); COMMIT")
    await write

    assert await names(sqlite) == {"ours", "theirs"}
    shell.close()


def start_writer(folder: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


async def test_many_processes_write_one_file(sqlite: Database, tmp_path: Path) -> None:
    others = [start_writer(tmp_path, str(number)) for number in range(3)]
    for other in others:
        assert other.stdin
        other.stdin.write("".join(f"{line}\n" for line in range(60)))
        other.stdin.close()
        other.stdin = None

    seen = [0]
    for number in range(60):
        await sqlite.write(insert(f"own {number}"))
        seen.append((await sqlite.rows(COUNT, {}))[0][0])
    said = [other.communicate()[0] for other in others]

    assert [other.returncode for other in others] == [0] * 3
    assert said == ["done\n" * 60] * 3
    assert seen == sorted(seen)
    assert (await sqlite.rows(COUNT, {}))[0][0] == 4 * 60


@contextmanager
def lock_held_by_another(folder: Path) -> Iterator[None]:
    """The lock belongs to an open file, so a second one in this process is like another process."""
    with (folder / LOCK_NAME).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


async def test_a_write_is_refused_while_another_process_holds_the_lock_and_never_made(
    sqlite_template: Path, tmp_path: Path
) -> None:
    database = opened_copy(sqlite_template, tmp_path, write_wait_s=0.2)

    async def is_ready() -> bool:
        with suppress(Refusal):
            await database.require_ready()
            return True
        return False

    with structlog.testing.capture_logs() as lines:
        with lock_held_by_another(tmp_path):
            for name in ("first", "second", "third"):
                with pytest.raises(Refusal, match="Another process has held") as refused:
                    await database.write(insert(name))
                assert refused.value.headers == {"Retry-After": "5"}
            with pytest.raises(Refusal, match="Another process has held"):
                await database.require_ready()
        await until(is_ready)
        await database.write(insert("later"))

    assert await names(database) == {"later"}
    assert [line["event"] for line in lines] == ["write_lock_held", "write_lock_released"]
    await database.close()


async def test_closing_does_not_wait_for_a_lock_that_another_process_holds(
    sqlite_template: Path, tmp_path: Path
) -> None:
    database = opened_copy(sqlite_template, tmp_path, write_wait_s=0.2)
    with lock_held_by_another(tmp_path):
        write = asyncio.create_task(database.write(insert("refused")))
        await asyncio.sleep(0)
        async with asyncio.timeout(120):
            await database.close()
            with pytest.raises(Refusal):
                await write
        thread = database._writer._thread  # noqa: SLF001 - it ends when it gets the lock

    await asyncio.to_thread(thread.join, 30)
    assert not thread.is_alive()
    connection = apsw.Connection(str(tmp_path / FILE_NAME))
    assert connection.execute(COUNT).fetchall() == [(0,)]
    connection.close()


async def test_a_write_that_raises_stop_iteration_holds_up_no_other(sqlite: Database) -> None:
    async def works(_: Transaction) -> int:
        return 5

    def fails(_: Transaction) -> Any:
        return next(iter(()))

    results = await asyncio.wait_for(
        asyncio.gather(
            sqlite.write(fails), sqlite.write(works), sqlite.write(works), return_exceptions=True
        ),
        WRITE_WAIT_S,
    )

    assert [type(result) for result in results] == [RuntimeError, int, int]
