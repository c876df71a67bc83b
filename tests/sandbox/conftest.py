"""The sandbox of a service whose own database is closed, so any access to that database fails."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bowerbird.storage.sqlite.database import FILE_NAME, SqliteDatabase
from tests.support.programs import trying
from tests.support.programs.trying import Visitor


@pytest.fixture
def cast_settings() -> dict[str, Any]:
    return {"sandbox": "on"}


@pytest.fixture
async def closed_database(sqlite_template: Path, tmp_path: Path) -> SqliteDatabase:
    shutil.copy(sqlite_template, tmp_path / FILE_NAME)
    database = SqliteDatabase(tmp_path)
    await database.close()
    return database


@pytest.fixture
async def visitor(closed_database: SqliteDatabase) -> AsyncIterator[Visitor]:
    built = trying.visitor(closed_database)
    yield built
    await built.client.aclose()
