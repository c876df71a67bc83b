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
from tests.support.engines.migrating import (
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

    A new step gets a line per database, which this test prints when it fails. A line that is there
    is never changed.
    """
    frozen = FROZEN.read_text(encoding="utf-8").splitlines()

    assert sorted(frozen, key=lambda line: line.split()[1]) == [
        f"{migration.checksum}  {dialect}/{migration.name}"
        for dialect in ("postgres", "sqlite")
        for migration in migrations.available(dialect)
    ]


# Any release has these columns.
INSERT_LABEL = (
    "INSERT INTO label (account_id, label_id, name, name_key, metadata, bookmark_count, created_at)"
    " VALUES (1, {0}, 'old {0}', 'old {0}', '{{}}', 0, 0)"
)


LABELS = "SELECT name, colour FROM label ORDER BY label_id"


def kept(steps: Sequence[migrations.Migration]) -> list[tuple[str, str]]:
    return [(f"old {released}", "grey") for released in range(1, len(steps) + 1)]


def test_a_sqlite_library_of_any_release_keeps_its_data_and_gets_the_schema_of_a_fresh_one(
    tmp_path: Path,
) -> None:
    steps = later_steps("sqlite")
    for end in range(1, len(steps) + 1):
        sqlite_schema.prepare(tmp_path / "stepwise", steps[:end])
        query_sqlite(tmp_path / "stepwise" / FILE_NAME, INSERT_LABEL.format(end))
    sqlite_schema.prepare(tmp_path / "fresh", steps)

    assert sqlite_shape(tmp_path / "stepwise") == sqlite_shape(tmp_path / "fresh")
    assert query_sqlite(tmp_path / "stepwise" / FILE_NAME, LABELS) == kept(steps)


async def test_a_postgres_database_of_any_release_keeps_its_data_and_gets_the_schema_of_a_fresh_one(
    postgres: ThrowawayPostgres,
) -> None:
    steps = later_steps("postgres")
    with postgres.fresh_database() as stepwise, postgres.fresh_database() as fresh:
        for end in range(1, len(steps) + 1):
            await postgres_schema.migrate(stepwise, steps[:end])
            await query_postgres(stepwise, INSERT_LABEL.format(end))
        await postgres_schema.migrate(fresh, steps)

        shape = await query_postgres(stepwise, POSTGRES_SHAPE)
        assert shape == await query_postgres(fresh, POSTGRES_SHAPE)
        assert ("column", "label", "colour") in [row[:3] for row in shape]
        assert await query_postgres(stepwise, LABELS) == kept(steps)


def test_a_sqlite_migration_of_many_steps_keeps_a_copy_of_the_old_file(tmp_path: Path) -> None:
    sqlite_schema.prepare(tmp_path, migrations.available("sqlite")[:1])
    query_sqlite(tmp_path / FILE_NAME, INSERT_LABEL.format(1))
    sqlite_schema.prepare(tmp_path, later_steps("sqlite"))

    assert query_sqlite(tmp_path / FILE_NAME, LABELS) == [("old 1", "grey")]
    copy = tmp_path / "before-migration-0001.db"
    assert query_sqlite(copy, "SELECT name FROM label") == [("old 1",)]
    assert query_sqlite(copy, "PRAGMA integrity_check") == [("ok",)]


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


async def test_a_failing_step_leaves_postgres_at_the_last(postgres: ThrowawayPostgres) -> None:
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


def test_a_newer_compatible_schema_is_accepted() -> None:
    known = migrations.available("sqlite")
    applied = [Applied(m.number, m.checksum, m.is_compatible) for m in known]
    newer = Applied(last_of("sqlite") + 1, "another", is_compatible=True)

    assert not migrations.pending(known, [*applied, newer])


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


def migrate_concurrently(environment: dict[str, str]) -> list[tuple[int, str]]:
    """Runs `bowerbird migrate` in three processes; returns their exit codes and outputs."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "bowerbird", "migrate"],
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(3)
    ]
    return [(process.wait(), process.communicate()[0]) for process in processes]


def test_concurrent_processes_migrate_an_empty_library_once(
    tmp_path: Path, postgres: ThrowawayPostgres
) -> None:
    with postgres.fresh_database() as url:
        for environment in (
            {"BOWERBIRD_DATA_DIR": str(tmp_path)},
            {"BOWERBIRD_DATABASE_URL": url},
        ):
            results = migrate_concurrently(environment)

            assert [code for code, _ in results] == [0] * 3, results
            assert "".join(said for _, said in results).count("applied 0001_library.sql") == 1


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


async def test_a_library_is_migrated_only_after_another_process_has_closed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_schema, "_TRIES", 1)
    database = await open_database(Settings(data_dir=tmp_path))
    with pytest.raises(FolderInUse):
        await asyncio.to_thread(sqlite_schema.prepare, tmp_path, later_steps("sqlite"))
    await database.close()

    assert len(sqlite_schema.prepare(tmp_path, later_steps("sqlite"))) == 2


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


def test_a_process_that_keeps_the_folder_is_not_waited_for_forever(tmp_path: Path) -> None:
    holding, waiting = FolderLock(tmp_path), FolderLock(tmp_path)

    with (
        holding.alone(),
        pytest.raises(FolderInUse, match="Another process migrates or restores the library"),
    ):
        waiting.share(wait_s=0.1)
    waiting.share()

    holding.close()
    waiting.close()
