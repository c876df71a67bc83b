"""The figures of the labelled library on each database, measured once for all tests."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final

import pytest

from bowerbird import app
from bowerbird.library.upkeep.corrections import Reindexing
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from tests.search_quality import collection, measuring
from tests.search_quality.collection import LabelledLibrary
from tests.search_quality.list_calls import listed
from tests.search_quality.measuring import FIRST, Answer, Measured
from tests.search_quality.remembered_models import remembered
from tests.support import databases, service
from tests.support.models import MODELS, ignore
from tests.support.postgres import ThrowawayPostgres
from tests.support.programs.once import made_once
from tests.support.service import SetClock

_MODELS: Final = remembered(MODELS)


@pytest.fixture(scope="session")
def library() -> LabelledLibrary:
    return collection.read()


@pytest.fixture(scope="session")
def measured_on_sqlite(
    library: LabelledLibrary, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Measured:
    """With every search for every query."""

    def measure() -> Measured:
        fresh = databases.fresh_sqlite(sqlite_template, tmp_path_factory.mktemp("quality"))
        return asyncio.run(_measure(library, fresh, is_complete=True))

    return made_once(tmp_path_factory.getbasetemp(), "quality-sqlite", measure)


@pytest.fixture(scope="session")
def measured_on_postgres(
    library: LabelledLibrary, postgres: ThrowawayPostgres, tmp_path_factory: pytest.TempPathFactory
) -> Measured:
    """Only with the searches that must answer a query: running the tests should stay cheap."""

    def measure() -> Measured:
        fresh = databases.fresh_postgres(postgres)
        return asyncio.run(_measure(library, fresh, is_complete=False))

    return made_once(tmp_path_factory.getbasetemp(), "quality-postgres", measure)


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def measured(request: pytest.FixtureRequest) -> Measured:
    found: Measured = request.getfixturevalue(f"measured_on_{request.param}")
    return found


async def _measure(
    library: LabelledLibrary, fresh: AbstractAsyncContextManager[Database], *, is_complete: bool
) -> Measured:
    async with fresh as database:
        return await _measure_on(database, library, is_complete=is_complete)


async def _measure_on(
    database: Database, library: LabelledLibrary, *, is_complete: bool
) -> Measured:
    clock = SetClock()
    running = app.build(Settings(), database, clock, _MODELS)
    alice = await service.member(running, database, clock, "alice", "pro")
    await alice.save_all(list(library.posts.values()))
    await Reindexing(database, clock).run(alice.account_id, ignore)
    await VectorBuilds(database, _MODELS, clock).build(alice.account_id, ignore)

    await alice.client.aclose()

    async def search(parameters: dict[str, str]) -> Answer:
        return await listed(running.asgi, alice.key, {**parameters, "limit": str(FIRST)})

    return await measuring.measure(library, search, is_complete=is_complete)
