"""PostgreSQL is slow, locked, busy, frozen or stopped: errors of its own, in bounded time."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager

import asyncpg
import httpx
import pytest

from bowerbird.errors import Code, Refusal, TooManyWaiting
from bowerbird.storage import migrations
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.postgres import schema as postgres_schema
from bowerbird.storage.postgres.database import Limits, PostgresDatabase, open_pool
from bowerbird.storage.upkeep.idempotency import IdempotencyStore
from tests.support import databases, service
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Service

pytestmark = pytest.mark.anyio

CONNECTIONS = 3
# Long enough for a busy machine, whose delays must not count as those of the server.
SHORT = Limits(wait_s=3.0, lock_s=1.0, statement_s=3.0)
LOCKED = "The change waited too long for another one to finish; nothing was changed."


@pytest.fixture(scope="module")
def server() -> Iterator[ThrowawayPostgres]:
    """A separate server, because these tests freeze and stop it."""
    with databases.postgres_server() as server:
        yield server


@asynccontextmanager
async def opened(url: str, limits: Limits = SHORT) -> AsyncIterator[PostgresDatabase]:
    database = PostgresDatabase(await open_pool(url, CONNECTIONS, limits), limits)
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
def url(server: ThrowawayPostgres) -> Iterator[str]:
    with server.fresh_database(databases.TEMPLATE) as url:
        yield url


@pytest.fixture
async def cast(url: str) -> AsyncIterator[Service]:
    async with opened(url) as database:
        yield await service.build(database)


@asynccontextmanager
async def locked(url: str, statement: str) -> AsyncIterator[None]:
    """Another program holds a lock in its transaction."""
    other = await asyncpg.connect(url)
    try:
        async with other.transaction():
            await other.execute(statement)
            yield
    finally:
        await other.close()


async def add_label(cast: Service, key: str | None = None) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    body = {"tweet_ids": ["1"], "label_name": "new"}
    return await cast.alice.client.post("/v1/labels/add", json=body, headers=headers)


def assert_unavailable(answer: httpx.Response, sentence: str | None = None) -> None:
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.json()["status"] is False
    assert answer.json()["code"] == "SERVICE_UNAVAILABLE"
    assert sentence in (None, answer.json()["error"])


@pytest.mark.parametrize(
    ("statement", "key"),
    [
        ("SELECT 1 FROM library FOR UPDATE", None),
        ("SELECT 1 FROM library FOR UPDATE", "free-key"),
        ("LOCK TABLE idempotency IN ACCESS EXCLUSIVE MODE", "free-key"),
    ],
)
async def test_a_write_that_waits_for_a_lock_is_no_idempotency_conflict(
    cast: Service, url: str, statement: str, key: str | None
) -> None:
    await cast.alice.save(post_id="1")
    async with locked(url, statement):
        assert_unavailable(await add_label(cast, key), LOCKED)
    assert (await add_label(cast, key)).status_code == 200


async def test_only_a_key_in_use_is_an_idempotency_conflict(cast: Service) -> None:
    await cast.alice.save(post_id="1")
    entered, leave = asyncio.Event(), asyncio.Event()

    async def hold(transaction: Transaction) -> None:
        await IdempotencyStore(cast.database).claim(
            Writable(transaction, cast.alice.account_id), "held", fingerprint=b"", now=1, oldest=0
        )
        entered.set()
        await leave.wait()

    first = asyncio.create_task(cast.database.write(hold))
    await entered.wait()

    refused = await add_label(cast, "held")

    assert refused.status_code == 409
    assert refused.json()["code"] == "IDEMPOTENCY_IN_PROGRESS"
    assert refused.headers["retry-after"] == "1"
    assert (await add_label(cast, "other")).status_code == 200
    leave.set()
    await first


async def test_a_slow_read_is_stopped_with_its_own_error(cast: Service) -> None:
    for read in (cast.database.rows, cast.database.slow_rows):
        with pytest.raises(Refusal, match="The read took too long and was stopped") as refused:
            await read("SELECT pg_sleep(30)", {})
        assert refused.value.code is Code.SERVICE_UNAVAILABLE
        assert refused.value.headers["Retry-After"]


async def test_a_slow_write_is_rolled_back_with_its_own_error(cast: Service) -> None:
    before = (await cast.alice.account()).version

    async def work(transaction: Transaction) -> None:
        await transaction.run("UPDATE library SET version = version + 1", {})
        await transaction.rows("SELECT pg_sleep(30)", {})

    with pytest.raises(Refusal, match="The change took too long and was undone") as refused:
        await cast.database.write(work)

    assert refused.value.code is Code.SERVICE_UNAVAILABLE
    assert refused.value.headers["Retry-After"]
    assert (await cast.alice.account()).version == before


@asynccontextmanager
async def in_use(database: Database) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Writes that hold every connection until the end."""
    entered, leave = asyncio.Semaphore(0), asyncio.Event()

    async def hold(_: Transaction) -> None:
        entered.release()
        await leave.wait()

    holders = [asyncio.create_task(database.write(hold)) for _ in range(CONNECTIONS)]
    for _ in holders:
        await entered.acquire()
    try:
        yield holders
    finally:
        leave.set()
        await asyncio.wait(holders)


async def test_a_pool_without_a_free_connection_has_its_own_error(cast: Service) -> None:
    async with in_use(cast.database):
        answer = await cast.alice.get("/v1/bookmarks")

    assert_unavailable(answer, "No database connection became free in time; retry later.")
    assert (await cast.alice.get("/v1/bookmarks")).status_code == 200


async def test_a_call_is_refused_if_no_connection_is_free_to_count_it(cast: Service) -> None:
    account = await cast.free.account()

    async with in_use(cast.database):
        with pytest.raises(TooManyWaiting):
            await cast.app.calls.charge(account)

    assert cast.app.calls.used(account) == account.calls_this_month


async def test_a_server_that_freezes_during_a_write_delays_it_no_longer_than_a_read(
    server: ThrowawayPostgres, cast: Service
) -> None:
    async def work(transaction: Transaction) -> None:
        async with transaction.savepoint():
            await transaction.run("UPDATE library SET version = version + 1", {})
            server.pause()
            await transaction.run("UPDATE library SET version = version + 1", {})

    started = time.monotonic()
    try:
        with pytest.raises(Refusal, match="did not answer in time"):
            await cast.database.write(work)
    finally:
        server.resume()
    # Neither the savepoint nor the transaction waits for the server again.
    assert time.monotonic() - started < 2 * SHORT.answer_s


async def test_a_frozen_server_delays_requests_for_less_than_ten_seconds(
    server: ThrowawayPostgres, url: str
) -> None:
    limits = Limits()
    assert limits.wait_s + limits.answer_s < 10
    async with AsyncExitStack() as closing:
        database = await closing.enter_async_context(opened(url, limits))
        cast = await service.build(database)
        await asyncio.gather(*(cast.alice.get("/v1/bookmarks/count") for _ in range(6)))
        server.pause()
        closing.callback(server.resume)
        # A busy machine takes longer than the limits, but not as long as waiting twice.
        async with asyncio.timeout(1.8 * (limits.wait_s + limits.answer_s)):
            paths = ["/v1/bookmarks", "/v1/bookmarks?q=word", "/v1/bookmarks/count?author=x"]
            answers = await asyncio.gather(*(cast.alice.get(path) for path in paths * 3))
        assert {answer.status_code for answer in answers} == {503}


async def nothing(_: Transaction) -> None:
    pass


async def test_closing_refuses_waiting_and_later_calls(url: str) -> None:
    async with opened(url, Limits()) as database, in_use(database) as holders:
        waiting = asyncio.create_task(database.write(nothing))
        await asyncio.sleep(0)

        closing = asyncio.create_task(database.close())
        await asyncio.sleep(0)

        calls = [
            waiting,
            database.write(nothing),
            database.rows("SELECT 1", {}),
            database.slow_rows("SELECT 1", {}),
        ]
        for call in calls:
            with pytest.raises(Refusal, match="The service is stopping"):
                await call
    # Writes that had started are finished.
    await asyncio.gather(*holders, closing)


async def test_a_write_that_takes_longer_than_closing_is_refused(url: str) -> None:
    async with opened(url) as database, in_use(database) as holders:
        await database.close()

    for holder in holders:
        with pytest.raises(Refusal, match="The service is stopping"):
            await holder


NOT_MIGRATED = "The database has not been migrated. Run: bowerbird migrate"


async def write_something(cast: Service) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.run(
            "UPDATE library SET version = version + 1 WHERE account_id = :account_id",
            {"account_id": cast.alice.account_id},
        )

    await cast.database.write(work)


async def fill_the_pool(cast: Service) -> None:
    # One account never takes every connection.
    members = (cast.alice, cast.bob)
    await asyncio.gather(*(m.get("/v1/bookmarks/count") for _ in range(6) for m in members))


async def test_requests_get_503_until_a_stopped_server_is_back(
    server: ThrowawayPostgres, cast: Service
) -> None:
    saved = await cast.alice.save()
    server.stop(keep=True)
    try:
        for path in ("/v1/bookmarks", "/v1/bookmarks/count", f"/v1/bookmarks/{saved['post_id']}"):
            assert_unavailable(await cast.alice.get(path))
        assert (await cast.nobody.get("/readyz")).status_code == 503
        assert (await cast.nobody.get("/healthz")).status_code == 200
        with pytest.raises(Refusal) as refused:
            await write_something(cast)
        assert refused.value.headers["Retry-After"]
    finally:
        server.start()

    assert await cast.alice.ids() == [saved["post_id"]]
    assert (await cast.nobody.get("/readyz")).status_code == 200
    await write_something(cast)


async def test_calls_succeed_after_all_connections_were_closed(
    server: ThrowawayPostgres, cast: Service
) -> None:
    saved = await cast.alice.save()
    before = (await cast.alice.account()).version
    await fill_the_pool(cast)
    assert server.kill_backends() == 3

    assert await cast.alice.ids() == [saved["post_id"]]
    await fill_the_pool(cast)
    assert server.kill_backends() == 3
    await write_something(cast)
    assert (await cast.alice.account()).version == before + 1


async def test_a_write_that_loses_its_connection_is_refused_and_rolled_back(
    server: ThrowawayPostgres, cast: Service
) -> None:
    before = (await cast.alice.account()).version

    async def work(transaction: Transaction) -> None:
        values = {"account_id": cast.alice.account_id}
        sql = "UPDATE library SET version = version + 1 WHERE account_id = :account_id"
        await transaction.run(sql, values)
        server.kill_backends()
        await transaction.run(sql, values)

    with pytest.raises(Refusal, match="cannot be reached"):
        await cast.database.write(work)

    assert (await cast.alice.account()).version == before


async def test_a_hanging_server_does_not_delay_the_stop(server: ThrowawayPostgres) -> None:
    with server.fresh_database("migrated") as url:
        async with asyncio.timeout(120), opened(url) as database:
            await database.rows("SELECT 1", {})
            server.pause()
        server.resume()


async def test_requests_get_503_until_the_database_is_migrated(server: ThrowawayPostgres) -> None:
    with server.fresh_database("migrated") as migrated, server.fresh_database() as url:
        async with opened(migrated) as elsewhere, opened(url) as database:
            key = (await service.build(elsewhere)).alice.key
            client = service.client_of(database, {"Authorization": f"Bearer {key}"})

            not_ready = await client.get("/readyz")
            assert (not_ready.status_code, not_ready.text.strip()) == (503, NOT_MIGRATED)
            assert_unavailable(await client.get("/v1/bookmarks"))

            await postgres_schema.migrate(url)

            assert (await client.get("/readyz")).status_code == 200
            # The key is from another database. The 401 shows that the service looked it up.
            assert (await client.get("/v1/bookmarks")).status_code == 401


async def test_a_node_of_an_earlier_release_changes_nothing_in_a_newer_schema(
    server: ThrowawayPostgres,
) -> None:
    async def rename(transaction: Transaction) -> None:
        await transaction.run("UPDATE person SET email = 'changed'", {})

    with server.fresh_database("migrated") as url:
        async with opened(url) as running:
            await running.rows("INSERT INTO schema_migration VALUES (9999, '', false)", {})
            # A node that was left running is stopped by the first check of its health.
            with pytest.raises(Refusal, match="newer release"):
                await running.require_ready()
            with pytest.raises(Refusal, match="newer release"):
                await running.rows("SELECT 1", {})
        async with opened(url) as database:
            for read in (database.rows, database.slow_rows):
                with pytest.raises(Refusal, match="newer release"):
                    await read("SELECT email FROM person", {})
            with pytest.raises(Refusal, match="newer release"):
                await database.write(rename)


async def test_a_new_node_on_the_schema_before_answers_only_after_the_migration(
    server: ThrowawayPostgres,
) -> None:
    """All tables it needs may be there, but not yet all columns."""
    steps = migrations.available("postgres")
    with server.fresh_database() as url:
        await postgres_schema.migrate(url, steps[:-1])
        async with opened(url) as database:
            with pytest.raises(Refusal, match=NOT_MIGRATED):
                await database.rows("SELECT email FROM person", {})

            await postgres_schema.migrate(url)

            assert await database.rows("SELECT email FROM person", {}) == []
