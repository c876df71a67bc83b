"""A read ends when its client disconnects, and so does its statement in the database."""

import asyncio
import threading
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from starlette.types import Message

from bowerbird.storage.postgres.database import Limits, PostgresDatabase, open_pool
from bowerbird.storage.sqlite.database import SqliteDatabase
from tests.support import databases, service
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Member, Service
from tests.support.waiting import PATIENCE_S, until

pytestmark = pytest.mark.anyio

ENDLESS = """
CREATE TEMP VIEW bookmark_label AS
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
SELECT {account_id} AS account_id, 1 AS label_id, i AS number FROM n
"""


class Client:
    """A client that sends a read and disconnects when a test says so."""

    def __init__(self, cast: Service, member: Member, path: str, query: bytes = b"") -> None:
        self.sent: list[Message] = []
        self._received = [{"type": "http.request", "body": b"", "more_body": False}]
        self._leaving = asyncio.Event()
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": query,
            "headers": [(b"authorization", f"Bearer {member.key}".encode())],
        }
        self.request = asyncio.ensure_future(cast.app.asgi(scope, self._receive, self._send))

    async def leave(self) -> None:
        self._leaving.set()
        async with asyncio.timeout(PATIENCE_S):
            await self.request

    async def _receive(self) -> Message:
        if self._received:
            return self._received.pop(0)
        await self._leaving.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.sent.append(message)


async def test_a_read_on_sqlite_ends_when_its_client_disconnects(
    sqlite: SqliteDatabase, tmp_path: Path, logged: list[MutableMapping[str, Any]]
) -> None:
    cast = await service.build(sqlite, data_dir=tmp_path)
    await cast.alice.save(tags=["x"])
    started = threading.Semaphore(0)

    def record(*_: Any) -> bool:
        started.release()
        return True

    for connection in sqlite._slow_readers.connections:  # noqa: SLF001 - a read that never ends
        connection.execute(ENDLESS.format(account_id=cast.alice.account_id))
        connection.set_exec_trace(record)
    # As many as one account may run, and two that wait.
    clients = [Client(cast, cast.alice, "/v1/bookmarks/count", b"tag=x") for _ in range(4)]
    assert await asyncio.to_thread(started.acquire, timeout=PATIENCE_S)

    for client in clients:
        await client.leave()

    assert [client.sent for client in clients] == [[]] * 4
    lines = [line for line in logged if line["event"] == "request"]
    assert [line["status"] for line in lines] == [499] * 4
    async with asyncio.timeout(PATIENCE_S):
        assert len(await cast.alice.ids(author="nobody")) == 0


async def test_a_read_on_postgresql_ends_when_its_client_disconnects(
    postgres: ThrowawayPostgres,
) -> None:
    limits = Limits(lock_s=60, statement_s=60)
    with postgres.fresh_database(databases.TEMPLATE) as url:
        database = PostgresDatabase(await open_pool(url, 4, limits), limits)
        cast = await service.build(database)
        other, watcher = await asyncpg.connect(url), await asyncpg.connect(url)
        async with other.transaction():
            await other.execute("LOCK TABLE bookmark IN ACCESS EXCLUSIVE MODE")
            client = Client(cast, cast.alice, "/v1/bookmarks/count", b"tag=x")

            async def waiting() -> int:
                count: int = await watcher.fetchval(
                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                )
                return count

            await until(waiting)
            await client.leave()

            async def is_stopped() -> bool:
                return await waiting() == 0

            await until(is_stopped)
        assert client.sent == []
        await other.close()
        await watcher.close()
        await database.close()
