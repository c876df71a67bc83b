"""Fixtures for libraries that are opened twice, as by two processes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bowerbird.storage.database import Database
from tests.support import databases


@pytest.fixture(params=["sqlite", "postgres"])
async def opened_twice(
    request: pytest.FixtureRequest, sqlite_template: Path, tmp_path: Path
) -> AsyncIterator[tuple[Database, Database]]:
    if request.param == "sqlite":
        opened = databases.two_of_sqlite(sqlite_template, tmp_path)
    else:
        opened = databases.two_of_postgres(request.getfixturevalue("postgres"))
    async with opened as both:
        yield both
