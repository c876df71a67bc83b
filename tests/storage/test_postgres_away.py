"""PostgreSQL stops, hangs or is not migrated: requests get 503, and the service keeps running."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx
import pytest

from bowerbird.errors import Refusal
from bowerbird.storage import migrations
from bowerbird.storage.database import Transaction
from bowerbird.storage.postgres import schema as postgres_schema
from bowerbird.storage.postgres.database import Limits, PostgresDatabase, open_pool
from tests.support import databases, service
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Service

pytestmark = pytest.mark.anyio

# Long enough for a busy machine, which must not count as a hanging server.
LIMIT_S = 3.0
NOT_MIGRATED = "The database has not been migrated. Run: bowerbird migrate"


@pytest.fixture(scope="module")
def server() -> Iterator[ThrowawayPostgres]:
    """A separate server, because these tests stop it."""
    with databases.postgres_server() as server:
        yield server


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[PostgresDatabase]:
    """A database with timeouts short enough for a test."""
    limits = Limits(wait_s=2 * LIMIT_S, statement_s=LIMIT_S)
    database = PostgresDatabase(await open_pool(url, 3, limits), limits)
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
async def cast(server: ThrowawayPostgres) -> AsyncIterator[Service]:
    with server.fresh_database("migrated") as url:
        async with opened(url) as database:
            yield await service.build(database)


def assert_unavailable(response: httpx.Response) -> None:
    assert response.status_code == 503
    assert int(response.headers["retry-after"]) >= 1
    answer = response.json()
    assert answer["status"] is False
    assert answer["code"] == "SERVICE_UNAVAILABLE"


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


async def test_a_read_succeeds_after_all_connections_were_closed(
    server: ThrowawayPostgres, cast: Service
) -> None:
    saved = await cast.alice.save()
    await fill_the_pool(cast)

    assert server.kill_backends() == 3

    assert await cast.alice.ids() == [saved["post_id"]]


async def test_a_write_succeeds_after_all_connections_were_closed(
    server: ThrowawayPostgres, cast: Service
) -> None:
    await fill_the_pool(cast)
    before = (await cast.alice.account()).version

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


async def test_requests_to_a_hanging_server_get_503_in_bounded_time(
    server: ThrowawayPostgres, cast: Service
) -> None:
    saved = await cast.alice.save()
    await fill_the_pool(cast)
    server.pause()
    try:
        async with asyncio.timeout(10 * LIMIT_S):
            # More requests than connections: the wait for a connection is bounded as well.
            answers = await asyncio.gather(*(cast.alice.get("/v1/bookmarks") for _ in range(9)))
        for answer in answers:
            assert_unavailable(answer)
    finally:
        server.resume()

    assert await cast.alice.ids() == [saved["post_id"]]


async def test_a_hanging_server_does_not_delay_the_stop(server: ThrowawayPostgres) -> None:
    with server.fresh_database("migrated") as url:
        async with asyncio.timeout(10 * LIMIT_S), opened(url) as database:
            await database.rows("SELECT 1", {})
            server.pause()
        server.resume()


async def test_requests_get_503_until_the_database_is_migrated(
    server: ThrowawayPostgres,
) -> None:
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


async def test_a_newer_schema_is_not_ready(server: ThrowawayPostgres) -> None:
    with server.fresh_database("migrated") as url:
        async with opened(url) as database:
            await database.rows("INSERT INTO schema_migration VALUES (9999, '', false)", {})

            with pytest.raises(Refusal, match="newer release"):
                await database.require_ready()
            # A node that was left running is stopped by the first check of its health.
            with pytest.raises(Refusal, match="newer release"):
                await database.rows("SELECT 1", {})


async def test_a_node_of_an_earlier_release_changes_nothing_in_a_newer_schema(
    server: ThrowawayPostgres,
) -> None:
    async def rename(transaction: Transaction) -> None:
        await transaction.run("UPDATE person SET email = 'changed'", {})

    with server.fresh_database("migrated") as url:
        async with opened(url) as newer:
            await newer.rows("INSERT INTO schema_migration VALUES (9999, '', false)", {})
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
