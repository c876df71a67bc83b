"""A compatible step lets nodes of the previous release go on reading and writing."""

from pathlib import Path
from typing import Any

import pytest

from bowerbird.storage import migrations
from bowerbird.storage.changes.bulk import BulkStore
from bowerbird.storage.database import Database
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.postgres import schema as postgres_schema
from bowerbird.storage.sqlite import schema as sqlite_schema
from bowerbird.storage.sqlite.database import FILE_NAME
from tests.support.engines.migrating import query_postgres, query_sqlite
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio

# Table, column, type, whether an insert must name it.
POSTGRES_COLUMNS = """
SELECT table_name, column_name, data_type, is_nullable = 'NO' AND column_default IS NULL
  FROM information_schema.columns WHERE table_schema = 'public'
"""
SQLITE_COLUMNS = """
SELECT t.name, c.name, c.type, c."notnull" AND c.dflt_value IS NULL
  FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'
"""
# Table, index, its columns and condition as text.
POSTGRES_UNIQUE = """
SELECT tablename, indexname, indexdef FROM pg_indexes
 WHERE schemaname = 'public' AND indexdef LIKE 'CREATE UNIQUE%'
"""
SQLITE_UNIQUE = """
SELECT tbl_name, name, sql FROM sqlite_schema WHERE type = 'index' AND sql LIKE 'CREATE UNIQUE%'
"""

Shape = dict[tuple[str, str], tuple[Any, ...]]


def by_name(rows: list[Any]) -> Shape:
    return {(row[0], row[1]): tuple(row[2:]) for row in rows}


def broken_inserts(before: Shape, after: Shape) -> list[str]:
    """The columns because of which a statement of the previous release would fail."""
    tables = {table for table, _ in before}
    changed = [f"{t}.{c} changed" for (t, c), kind in before.items() if after.get((t, c)) != kind]
    required = [
        f"{table}.{column} has no default"
        for (table, column), (_, is_required) in after.items()
        if table in tables and (table, column) not in before and is_required
    ]
    return changed + required


def broken_by_indexes(before: Shape, after: Shape, columns: Shape, added: Shape) -> list[str]:
    """Unique indexes that rows of the previous release can violate: none of a new column."""
    new_columns = set(added) - set(columns)
    return [
        index
        for (table, index), (text,) in after.items()
        if (table, index) not in before
        and table in {table for table, _ in columns}
        and not any(table == owner and column in text for owner, column in new_columns)
    ]


def test_statements_of_the_release_before_work_after_a_compatible_step(tmp_path: Path) -> None:
    steps, file = migrations.available("sqlite"), tmp_path / FILE_NAME
    before, indexes = Shape(), Shape()
    for end, step in enumerate(steps, start=1):
        sqlite_schema.prepare(tmp_path, steps[:end])
        after, unique = (
            by_name(query_sqlite(file, sql)) for sql in (SQLITE_COLUMNS, SQLITE_UNIQUE)
        )
        if step.is_compatible:
            assert not broken_inserts(before, after), step.name
            assert not broken_by_indexes(indexes, unique, before, after), step.name
        before, indexes = after, unique


async def test_statements_of_the_previous_release_work_after_a_compatible_step_of_postgres(
    postgres: ThrowawayPostgres,
) -> None:
    steps = migrations.available("postgres")
    with postgres.fresh_database() as url:
        before, indexes = Shape(), Shape()
        for end, step in enumerate(steps, start=1):
            await postgres_schema.migrate(url, steps[:end])
            after = by_name(await query_postgres(url, POSTGRES_COLUMNS))
            unique = by_name(await query_postgres(url, POSTGRES_UNIQUE))
            if step.is_compatible:
                assert not broken_inserts(before, after), step.name
                assert not broken_by_indexes(indexes, unique, before, after), step.name
            before, indexes = after, unique


# As releases before step 0027 write them.
OLD_CHANGE = """
INSERT INTO bulk_change (account_id, number, change_id, action, label, state, matched, done,
                         changed, restored, kept, created_at, finished_at, undo_until, job_id)
VALUES (1, :number, :change_id, 'archive', '', 'working', 1, 0, 0, 0, 0, 0, NULL, 0, :change_id)
"""
NEW_CHANGE = """
INSERT INTO bulk_change (account_id, number, change_id, action, label, state, matched, done,
                         changed, restored, kept, created_at, finished_at, undo_until, job_id,
                         position)
VALUES (1, :number, :change_id, 'archive', '', 'working', 1, 0, 0, 0, 0, 0, NULL, 0, :change_id,
        :position)
"""
JOB = """
INSERT INTO job (account_id, job_id, kind, parameters, priority, state, tries, fence, due_at, done,
                 total, created_at)
VALUES (1, :change_id, 'bulk', :parameters, 1, 'queued', 0, 0, 0, 0, 0, 0)
"""


async def test_changes_of_an_old_node_come_before_those_of_new_nodes(database: Database) -> None:
    """They have no position, so a new node must neither skip them nor wait for them forever."""
    store = BulkStore(database)

    async def accept(number: int, change_id: str, sql: str, position: int = 0) -> None:
        values = {"number": number, "change_id": change_id, "position": position}

        async def work(transaction: Any) -> None:
            await transaction.run(sql, {**values, "parameters": b""})
            await transaction.run(JOB, {**values, "parameters": b""})

        await database.write(work, 1)

    await accept(1, "new", NEW_CHANGE, position=1)
    await accept(2, "old", OLD_CHANGE)
    await accept(3, "older", OLD_CHANGE)

    async def first(transaction: Any) -> tuple[str, int]:
        library = LockedLibrary(transaction, 1, 0, 0, 0, 0)
        found = await store.first_open(library, besides=0)
        assert found
        return found.change_id, await store.next_position(library)

    assert await database.write(first, 1) == ("old", 2)
