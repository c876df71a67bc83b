"""Migrations: every step is applied once, also by concurrent processes."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from bowerbird.settings import Settings
from bowerbird.storage import migrations
from bowerbird.storage.migrations import Applied, SchemaProblem
from bowerbird.storage.opening import explained, open_database
from bowerbird.storage.postgres import schema as postgres_schema
from bowerbird.storage.sqlite import schema as sqlite_schema
from bowerbird.storage.sqlite.database import FILE_NAME
from bowerbird.storage.sqlite.schema import FolderInUse, FolderLock
from tests.support.migrating import (
    ADD_COLUMN,
    last_of,
    later_steps,
    query_postgres,
    query_sqlite,
    sqlite_shape,
    step,
)
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio

INSERT_LABEL = (
    "INSERT INTO label (account_id, label_id, name, name_key, metadata, bookmark_count, created_at)"
    " VALUES (1, 1, 'old', 'old', '{}', 0, 0)"
)
FROZEN = Path(__file__).parents[2] / "spec" / "published" / "migrations.sha256"
POSTGRES_SHAPE = """
SELECT 'column', table_name, column_name, data_type || is_nullable || coalesce(column_default, '')
  FROM information_schema.columns WHERE table_schema = 'public'
 UNION ALL
SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
 ORDER BY 1, 2, 3
"""


def test_no_migration_changes_after_it_was_committed() -> None:
    """A library stores the checksums of its steps, and opens only if they are still the same.

    A new file gets a line, which `sha256sum` prints in the folder of the migrations. A line that
    is there is never changed.
    """
    frozen = FROZEN.read_text(encoding="utf-8").splitlines()

    assert sorted(frozen, key=lambda line: line.split()[1]) == [
        f"{migration.checksum}  {dialect}/{migration.name}"
        for dialect in ("postgres", "sqlite")
        for migration in migrations.available(dialect)
    ]


def test_a_fresh_sqlite_library_equals_one_migrated_step_by_step(tmp_path: Path) -> None:
    steps = later_steps("sqlite")
    for end in range(1, len(steps) + 1):
        sqlite_schema.prepare(tmp_path / "stepwise", steps[:end])
    sqlite_schema.prepare(tmp_path / "fresh", steps)

    assert sqlite_shape(tmp_path / "stepwise") == sqlite_shape(tmp_path / "fresh")


async def test_a_fresh_postgres_equals_one_migrated_step_by_step(
    postgres: ThrowawayPostgres,
) -> None:
    steps = later_steps("postgres")
    with postgres.fresh_database() as stepwise, postgres.fresh_database() as fresh:
        for end in range(1, len(steps) + 1):
            await postgres_schema.migrate(stepwise, steps[:end])
        await postgres_schema.migrate(fresh, steps)

        shape = await query_postgres(stepwise, POSTGRES_SHAPE)
        assert shape == await query_postgres(fresh, POSTGRES_SHAPE)
        assert ("column", "label", "colour") in [row[:3] for row in shape]


def test_a_sqlite_migration_keeps_the_data_and_a_copy_of_the_old_file(tmp_path: Path) -> None:
    sqlite_schema.prepare(tmp_path)
    query_sqlite(tmp_path / FILE_NAME, INSERT_LABEL)

    sqlite_schema.prepare(tmp_path, later_steps("sqlite"))

    labels = "SELECT name, colour FROM label"
    assert query_sqlite(tmp_path / FILE_NAME, labels) == [("old", "grey")]
    copy = tmp_path / f"before-migration-{last_of('sqlite'):04d}.db"
    assert query_sqlite(copy, "SELECT name FROM label") == [("old",)]
    assert query_sqlite(copy, "PRAGMA integrity_check") == [("ok",)]


async def test_a_postgres_migration_keeps_the_data(postgres: ThrowawayPostgres) -> None:
    with postgres.fresh_database("migrated") as url:
        await query_postgres(url, INSERT_LABEL)

        await postgres_schema.migrate(url, later_steps("postgres"))

        assert await query_postgres(url, "SELECT name, colour FROM label") == [("old", "grey")]


@pytest.mark.parametrize("released", range(1, last_of("sqlite")))
def test_a_sqlite_library_of_an_earlier_release_keeps_its_data(
    tmp_path: Path, sqlite_template: Path, released: int
) -> None:
    sqlite_schema.prepare(tmp_path, migrations.available("sqlite")[:released])
    query_sqlite(tmp_path / FILE_NAME, INSERT_LABEL)
    sqlite_schema.prepare(tmp_path)

    assert query_sqlite(tmp_path / FILE_NAME, "SELECT name FROM label") == [("old",)]
    assert sqlite_shape(tmp_path) == sqlite_shape(sqlite_template.parent)


@pytest.mark.parametrize("released", range(1, last_of("postgres")))
async def test_a_postgres_database_of_an_earlier_release_keeps_its_data(
    postgres: ThrowawayPostgres, released: int
) -> None:
    with postgres.fresh_database() as old, postgres.fresh_database("migrated") as fresh:
        await postgres_schema.migrate(old, migrations.available("postgres")[:released])
        await query_postgres(old, INSERT_LABEL)
        await postgres_schema.migrate(old)

        assert await query_postgres(old, "SELECT name FROM label") == [("old",)]
        shape = await query_postgres(old, POSTGRES_SHAPE)
        assert shape == await query_postgres(fresh, POSTGRES_SHAPE)


# Placed by X; by a date of saving; by the moment of the import; by a made-up index; by the moment
# of the import, before a date of saving was known.
def test_a_fresh_library_needs_no_copy(tmp_path: Path) -> None:
    sqlite_schema.prepare(tmp_path)

    assert not list(tmp_path.glob("before-migration-*"))


def test_a_current_library_is_not_migrated_again(tmp_path: Path) -> None:
    every_step = [step.name for step in migrations.available("sqlite")]

    assert sqlite_schema.prepare(tmp_path) == every_step
    assert sqlite_schema.prepare(tmp_path) == []


def test_a_process_that_was_killed_when_it_created_the_library_leaves_no_empty_one(
    tmp_path: Path,
) -> None:
    # It was killed before the file had content and its name.
    for name in ("bowerbird.db.new", "bowerbird.db.new-wal"):
        (tmp_path / name).touch()

    assert sqlite_schema.prepare(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["bowerbird.db", "folder.lock"]


def test_a_failing_step_leaves_the_library_at_the_step_before(tmp_path: Path) -> None:
    sqlite_schema.prepare(tmp_path)
    before = sqlite_shape(tmp_path)
    failing = step(last_of("sqlite") + 1, f"{ADD_COLUMN}; SELECT no_such_function()")
    steps = [*migrations.available("sqlite"), failing]

    with pytest.raises(apsw.SQLError):
        sqlite_schema.prepare(tmp_path, steps)

    assert sqlite_shape(tmp_path) == before
    assert sqlite_schema.prepare(tmp_path) == []


async def test_a_failing_step_leaves_postgres_at_the_step_before(
    postgres: ThrowawayPostgres,
) -> None:
    with postgres.fresh_database("migrated") as url:
        before = await query_postgres(url, POSTGRES_SHAPE)
        failing = step(last_of("postgres") + 1, f"{ADD_COLUMN}; SELECT no_such()")
        steps = [*migrations.available("postgres"), failing]

        with pytest.raises(SchemaProblem, match="no_such"):
            await postgres_schema.migrate(url, steps)

        assert await query_postgres(url, POSTGRES_SHAPE) == before


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_a_file_changed_after_it_was_applied_is_refused(dialect: str) -> None:
    released = migrations.available(dialect)[0]
    applied = [Applied(1, released.checksum, is_compatible=False)]
    changed = replace(released, sql=released.sql + " ")

    with pytest.raises(SchemaProblem, match=r"0001_library\.sql was changed"):
        migrations.pending([changed], applied)


def applied_by_a_newer_release(*, is_compatible: bool) -> Sequence[Applied]:
    known = [Applied(m.number, m.checksum, m.is_compatible) for m in migrations.available("sqlite")]
    return [*known, Applied(last_of("sqlite") + 1, "another", is_compatible)]


def test_a_newer_incompatible_schema_is_refused() -> None:
    with pytest.raises(SchemaProblem, match="newer release"):
        migrations.pending(
            migrations.available("sqlite"), applied_by_a_newer_release(is_compatible=False)
        )


def test_a_newer_compatible_schema_is_accepted() -> None:
    assert not migrations.pending(
        migrations.available("sqlite"), applied_by_a_newer_release(is_compatible=True)
    )


def test_a_newer_schema_is_refused_at_the_start(tmp_path: Path) -> None:
    sqlite_schema.prepare(tmp_path, later_steps("sqlite"))

    with pytest.raises(SchemaProblem, match="newer release"):
        sqlite_schema.prepare(tmp_path)


def test_every_file_declares_whether_it_is_compatible_with_the_previous_release() -> None:
    for dialect in ("sqlite", "postgres"):
        assert all("-- compatible: " in known.sql for known in migrations.available(dialect))


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_a_release_that_does_not_count_words_is_refused(dialect: str) -> None:
    """It would write words of the old form into posts that are marked as counted."""
    steps = migrations.available(dialect)
    applied = [Applied(m.number, m.checksum, m.is_compatible) for m in steps]

    with pytest.raises(SchemaProblem, match="newer release"):
        migrations.pending([step for step in steps if step.number < 24], applied)


def migrate_concurrently(environment: dict[str, str], count: int = 4) -> list[tuple[int, str]]:
    """Runs `bowerbird migrate` in several processes; returns their exit codes and outputs."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "bowerbird", "migrate"],
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(count)
    ]
    return [(process.wait(), process.communicate()[0]) for process in processes]


def test_concurrent_processes_migrate_an_empty_folder_once(tmp_path: Path) -> None:
    results = migrate_concurrently({"BOWERBIRD_DATA_DIR": str(tmp_path)})

    assert [code for code, _ in results] == [0] * 4, results
    assert "".join(output for _, output in results).count("applied 0001_library.sql") == 1


def test_concurrent_processes_migrate_an_empty_postgres_database_once(
    postgres: ThrowawayPostgres,
) -> None:
    with postgres.fresh_database() as url:
        results = migrate_concurrently({"BOWERBIRD_DATABASE_URL": url})

    assert [code for code, _ in results] == [0] * 4, results
    assert "".join(output for _, output in results).count("applied 0001_library.sql") == 1


def test_a_folder_in_use_is_not_migrated(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.share()
    other = FolderLock(tmp_path)

    with pytest.raises(FolderInUse, match=r"Stop bowerbird serve"), other.alone():
        pass

    lock.close()
    with other.alone():
        pass
    other.close()


async def test_an_open_library_is_in_use_until_it_is_closed(tmp_path: Path) -> None:
    database = await open_database(Settings(data_dir=tmp_path))
    lock = FolderLock(tmp_path)

    with pytest.raises(FolderInUse), lock.alone():
        pass

    await database.close()
    with lock.alone():
        pass
    lock.close()


async def test_a_library_is_not_migrated_while_another_process_has_it_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_schema, "_TRIES", 1)
    database = await open_database(Settings(data_dir=tmp_path))

    with pytest.raises(FolderInUse):
        await asyncio.to_thread(sqlite_schema.prepare, tmp_path, later_steps("sqlite"))

    await database.close()


async def test_an_unreachable_postgres_is_reported(tmp_path: Path) -> None:
    url = f"postgresql://postgres@/none?host={tmp_path}"

    with pytest.raises(SchemaProblem, match="PostgreSQL cannot be reached"):
        await postgres_schema.migrate(url)
    with pytest.raises(SchemaProblem, match="PostgreSQL cannot be reached"):
        await postgres_schema.require_ready(url)


async def test_a_password_with_an_at_sign_is_explained() -> None:
    url = "postgresql://bowerbird:PASS@WORD@127.0.0.1:1/bowerbird"

    with pytest.raises(SchemaProblem, match=r"at 127\.0\.0\.1:1: .*@ of the password as %40$"):
        await postgres_schema.migrate(url)


async def test_missing_permissions_for_a_migration_are_reported(
    postgres: ThrowawayPostgres,
) -> None:
    with postgres.fresh_database() as url:
        await query_postgres(url, "CREATE ROLE reader LOGIN")
        try:
            with pytest.raises(SchemaProblem, match="PostgreSQL refused: permission denied"):
                await postgres_schema.migrate(url.replace("postgres@", "reader@"))
        finally:
            await query_postgres(url, "DROP ROLE reader")


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        (apsw.CorruptError, "Restore a backup."),
        (apsw.FullError, "Free some disk space."),
        (apsw.BusyError, "Another program has locked the file. Stop it first."),
        (
            apsw.CantOpenError,
            "Check that this user can read and write the folder and its files.",
        ),
        (apsw.SQLError, ""),
    ],
)
def test_an_unusable_file_is_reported_with_advice(kind: type[apsw.Error], advice: str) -> None:
    with pytest.raises(SchemaProblem) as problem, explained(Path("data")):
        raise kind("the reason")

    expected = f"Cannot open the library in data: the reason. {advice}"
    assert str(problem.value) == expected.rstrip()


def test_a_process_that_keeps_the_folder_for_itself_is_not_waited_for_forever(
    tmp_path: Path,
) -> None:
    holding, waiting = FolderLock(tmp_path), FolderLock(tmp_path)

    with (
        holding.alone(),
        pytest.raises(FolderInUse, match="Another process migrates or restores the library"),
    ):
        waiting.share(wait_s=0.1)
    waiting.share()

    holding.close()
    waiting.close()
