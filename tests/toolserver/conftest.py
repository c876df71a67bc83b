"""Fixtures for tests that do not depend on the database: the service on SQLite, and its log."""

from collections.abc import AsyncIterator, Iterator, MutableMapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from bowerbird.storage.database import Database
from tests.support import service as services
from tests.support.service import Service


@pytest.fixture
async def service(sqlite: Database) -> AsyncIterator[Service]:
    built = await services.build(sqlite)
    yield built
    for client in (built.alice.client, built.bob.client, built.free.client, built.nobody):
        await client.aclose()


@pytest.fixture
def logged() -> Iterator[list[MutableMapping[str, Any]]]:
    with capture_logs() as lines:
        yield lines
