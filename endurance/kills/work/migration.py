"""A migration from the first step that is killed: the next start finishes it."""

import asyncio
from typing import Any, Final

from bowerbird.storage import migrations
from bowerbird.storage.postgres import schema as postgres_schema
from bowerbird.storage.sqlite import schema as sqlite_schema
from bowerbird.storage.sqlite.database import FILE_NAME
from endurance.kills.trials import Kind, Library, Trial
from tests.crash.killing import Moment
from tests.storage.test_migrated_data import OLD_PLACES, PLACES_AFTER, READ_PLACES
from tests.storage.test_migrations import POSTGRES_SHAPE
from tests.support import databases
from tests.support.engines.migrating import query_postgres, query_sqlite, sqlite_shape

_LABELS: Final = 500
# A few steps, of about 28.
_MOMENT: Final = Moment(0, 0, 0.15)
_READ_LABELS: Final = "SELECT label_id, name FROM label ORDER BY label_id"
_STORED: Final = [(number, f"label {number}") for number in range(_LABELS)]
_INSERT_LABELS: Final = (
    "INSERT INTO label (account_id, label_id, name, name_key, metadata, bookmark_count, created_at)"  # noqa: S608 - fixed
    " VALUES " + ", ".join(f"(1, {n}, '{name}', '{name}', '{{}}', 0, 0)" for n, name in _STORED)
)


def _fill_old(library: Library) -> list[Any]:
    """Rows of the first release; returns the tables and indexes of this one."""
    if library.settings.is_sqlite:
        data = library.settings.data_dir
        sqlite_schema.prepare(data, migrations.available("sqlite")[:1])
        places = OLD_PLACES.format(no=0, empty="x''")
    else:
        first = migrations.available("postgres")[:1]
        asyncio.run(postgres_schema.migrate(library.settings.database_url, first))
        places = OLD_PLACES.format(no="false", empty="''")
    for statement in (_INSERT_LABELS, places):
        _query(library, statement)
    return _fresh_shape(library)


def _fresh_shape(library: Library) -> list[Any]:
    if library.settings.is_sqlite:
        sqlite_schema.prepare(library.folder / "fresh")
        return sqlite_shape(library.folder / "fresh")
    url = library.settings.database_url
    migrated = url.replace(f"/{library.folder.name}?", f"/{databases.TEMPLATE}?")
    return asyncio.run(query_postgres(migrated, POSTGRES_SHAPE))


def _migrate(trial: Trial) -> None:
    library = trial.library
    trial.until_finished(lambda _: library.command("migrate"), _MOMENT)
    assert library.command("migrate") == "The schema is up to date."
    assert _query(library, _READ_LABELS) == _STORED
    assert _query(library, READ_PLACES) == PLACES_AFTER
    if not library.settings.is_sqlite:
        assert _query(library, POSTGRES_SHAPE) == trial.state
        return
    data = library.settings.data_dir
    assert sqlite_shape(data) == trial.state
    for file in (FILE_NAME, "before-migration-0001.db"):
        assert query_sqlite(data / file, "PRAGMA integrity_check") == [("ok",)]
        assert query_sqlite(data / file, _READ_LABELS) == _STORED
    assert not list(data.glob("*.part"))


def _query(library: Library, sql: str) -> list[Any]:
    if library.settings.is_sqlite:
        return query_sqlite(library.settings.data_dir / FILE_NAME, sql)
    return asyncio.run(query_postgres(library.settings.database_url, sql))


MIGRATION: Final = Kind(_migrate, _fill_old, is_library=False)
