"""Lists come from a replica that has caught up with their account, everything else does not."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest
import structlog

from bowerbird import app
from bowerbird.app import App
from bowerbird.model.posts.filters import BookmarkFilter, Sort
from bowerbird.settings import Settings
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.postgres import replica as reads
from bowerbird.storage.postgres.database import Limits, PostgresDatabase, open_pool
from bowerbird.storage.postgres.replica import Replica, ReplicaConnection, ReplicatedDatabase
from tests.support import databases, service
from tests.support.engines import external_postgres
from tests.support.engines.postgres_replica import Standby, replicated
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(bool(external_postgres.URL), reason="stops the server"),
]
PATIENT = Limits(wait_s=20, lock_s=20, statement_s=20)
AWAY = "replica is away; the primary answers"


class Nodes(NamedTuple):
    """A node that reads from the replica, and the same accounts on one that does not."""

    reader: Service
    writer: Service
    standby: Standby
    primary: ThrowawayPostgres
    name: str

    def cached(self) -> App:
        """Another application on the database of the reader, with a cache of answers."""
        settings = Settings(fetch_posts="off")
        return app.build(settings, self.reader.database, self.reader.clock)

    def empty_primary(self) -> None:
        """Holds the replica back, and removes all posts behind the back of the versions.

        Whoever sees posts afterwards was answered by the replica.
        """
        self.standby.hold()
        self.primary.execute("TRUNCATE keyword, content, bookmark", self.name)


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[ThrowawayPostgres, Standby]]:
    with replicated() as (primary, standby):
        databases.create_template(primary)
        yield primary, standby


@asynccontextmanager
async def opened(url: str, replica: Replica | None = None) -> AsyncIterator[PostgresDatabase]:
    pool = await open_pool(url, 4, PATIENT)
    database = PostgresDatabase(pool, PATIENT)
    if replica is not None:
        database = ReplicatedDatabase(pool, PATIENT, replica)
    try:
        yield database
    finally:
        await database.close()


@pytest.fixture
async def nodes(
    servers: tuple[ThrowawayPostgres, Standby], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Nodes]:
    monkeypatch.setattr(reads, "_PAUSE_S", 0.1)
    primary, standby = servers
    with primary.fresh_database(databases.TEMPLATE) as url:
        name = primary.execute("SELECT datname FROM pg_database ORDER BY oid DESC LIMIT 1")
        pool = await open_pool(standby.url(name), 4, PATIENT, ReplicaConnection)
        async with opened(url) as alone, opened(url, Replica(pool, PATIENT)) as replicated:
            writer = await service.build(alone)
            reader = service.with_cast(replicated, answer_cache_mb=0)
            for member in (writer.alice, writer.bob):
                await member.save(post_id="1", text="a nest")
            standby.catch_up()
            try:
                yield Nodes(reader, writer, standby, primary, name)
            finally:
                standby.let_go()


async def test_lists_counts_facets_and_searches_come_from_the_replica(nodes: Nodes) -> None:
    nodes.empty_primary()
    alice = nodes.reader.alice
    assert await alice.ids() == ["1"]
    assert await alice.ids(q="nest") == ["1"]
    assert await alice.ids(q="nest", sort_by="relevance") == ["1"]
    counted = (await alice.get("/v1/bookmarks/count", author="ada")).json()["data"]
    assert counted["count"] == 1
    [facet] = (await alice.get("/v1/bookmarks/facets", by="author")).json()["data"]
    assert facet["count"] == 1
    assert (await alice.get("/v1/bookmarks/1")).status_code == 404
    assert await nodes.writer.alice.ids() == []


async def test_whoever_wrote_elsewhere_reads_it_at_once_and_others_stay(nodes: Nodes) -> None:
    nodes.empty_primary()
    await nodes.writer.alice.save(post_id="2")
    assert await nodes.reader.alice.ids() == ["2"]
    assert await nodes.reader.bob.ids() == ["1"]


async def test_a_request_that_has_written_reads_from_the_primary(nodes: Nodes) -> None:
    store = BookmarkStore(nodes.reader.database)
    before = await nodes.reader.alice.account()
    nodes.standby.hold()
    await nodes.reader.alice.save(post_id="2")
    page = await store.page(before, BookmarkFilter(), Sort(), None, 10)
    assert page.count == 2


async def test_an_answer_of_the_replica_never_has_the_etag_of_a_newer_state(nodes: Nodes) -> None:
    caching = nodes.reader.alice.on(nodes.cached())
    nodes.standby.hold()
    first = await caching.get("/v1/bookmarks")
    await nodes.writer.alice.save(post_id="2")
    headers = {"If-None-Match": first.headers["etag"]}
    second = await caching.client.get("/v1/bookmarks", headers=headers)
    assert second.status_code == 200
    assert [one["post_id"] for one in second.json()["data"]] == ["2", "1"]
    nodes.standby.let_go()
    nodes.standby.catch_up()
    assert (await caching.get("/v1/bookmarks")).content == second.content
    assert (await nodes.writer.alice.get("/v1/bookmarks")).headers["etag"] == second.headers["etag"]
    headers = {"If-None-Match": second.headers["etag"]}
    assert (await caching.client.get("/v1/bookmarks", headers=headers)).status_code == 304


async def test_a_restored_library_is_not_read_from_a_replica_of_the_former_one(
    nodes: Nodes,
) -> None:
    nodes.empty_primary()
    nodes.primary.execute("UPDATE library SET epoch = epoch + 1", nodes.name)
    assert await nodes.reader.alice.ids() == []


async def test_the_primary_answers_while_the_replica_is_stopped(nodes: Nodes) -> None:
    alice = nodes.reader.alice
    assert await alice.ids() == ["1"]
    nodes.standby.stop(keep=True)
    try:
        with structlog.testing.capture_logs() as lines:
            await nodes.writer.alice.save(post_id="2")
            for _ in range(5):
                assert await alice.ids() == ["2", "1"]
        assert [line["event"] for line in lines].count(AWAY) == 1
    finally:
        nodes.standby.start()
    nodes.standby.catch_up()
    nodes.empty_primary()

    async def is_back() -> bool:
        return await alice.ids() == ["2", "1"]

    await until(is_back)


async def test_a_frozen_replica_is_waited_for_once(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "_PAUSE_S", 600.0)
    replica = await reads.open_replica(nodes.standby.url(nodes.name), 4)
    async with opened(nodes.primary.url(nodes.name), replica) as database:
        reader = service.with_cast(database, answer_cache_mb=0)
        nodes.standby.pause()
        try:
            with structlog.testing.capture_logs() as lines:
                assert await reader.alice.ids() == ["1"]
                # The primary is chosen without a look at the replica.
                account = await reader.bob.account()
                assert database.lists(account) is database
            assert AWAY in [line["event"] for line in lines]
        finally:
            nodes.standby.resume()


async def test_a_read_that_only_the_replica_refuses_is_done_by_the_primary(nodes: Nodes) -> None:
    lists = nodes.reader.database.lists(await nodes.reader.alice.account())
    # A replica has no log of its own.
    assert await lists.rows("SELECT pg_current_wal_lsn()", {})
    nodes.empty_primary()
    assert await nodes.reader.alice.ids() == ["1"]
