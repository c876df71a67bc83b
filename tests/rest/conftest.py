"""For what does not depend on the database: the service on SQLite alone, and its log."""

from collections.abc import AsyncIterator, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bowerbird.storage.database import Database
from tests.support import service
from tests.support.service import Member


@pytest.fixture
async def sqlite_alice(sqlite: Database, tmp_path: Path) -> AsyncIterator[Member]:
    built = await service.build(sqlite, data_dir=tmp_path)
    yield built.alice
    for client in (built.alice.client, built.bob.client, built.free.client, built.nobody):
        await client.aclose()


@pytest.fixture
def logged() -> Iterator[list[MutableMapping[str, Any]]]:
    with capture_logs() as lines:
        yield lines
