"""Empty libraries on both databases for the commands to work on."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.libraries import Library, sqlite_library
from tests.support.databases import TEMPLATE


@pytest.fixture(params=["sqlite", "postgres"])
def empty(
    request: pytest.FixtureRequest, sqlite_template: Path, tmp_path: Path
) -> Iterator[Library]:
    folder = tmp_path / "data"
    if request.param == "sqlite":
        folder.mkdir()
        shutil.copy(sqlite_template, folder / sqlite_template.name)
        yield sqlite_library(folder)
        return
    with request.getfixturevalue("postgres").fresh_database(TEMPLATE) as url:
        yield Library({"BOWERBIRD_DATA_DIR": str(folder), "BOWERBIRD_DATABASE_URL": url})
