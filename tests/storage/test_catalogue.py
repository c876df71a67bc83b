"""Reads both catalogues: the account leads every key and index of a library table.

On SQLite a key may also be `place`, an integer that holds the account in its high bits; that is
the rowid of `content` and of the full-text table `keyword`.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import asyncpg
import pytest

from bowerbird.storage.places import place_of
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio

CONTROL = {"person", "secret", "schema_migration"}
# SQLite's own: hands out the account's number that stands in `place`.
SQLITE_CONTROL = CONTROL | {"local_account", "sqlite_sequence"}
LIBRARY = {
    "library",
    "api_key",
    "api_call",
    "bookmark",
    "content",
    "label",
    "bookmark_label",
    "keyword",
    "idempotency",
    "trash",
    "smart_view",
    "vector",
    "vector_store",
    "version_use",
    "sunset_notice",
    "digest",
    "digest_preference",
    "job",
}
# Where SQLite keys by place, PostgreSQL has the two parts of it.
PLACE = ["place"]
PARTS_OF_PLACE = ["account_id", "number"]
# The queue is one for all accounts; nobody but a worker that looks for a turn reads along it.
ACROSS_ACCOUNTS = {"job_turn"}

POSTGRES_KEYS = """
SELECT t.relname, i.relname, array_agg(a.attname ORDER BY k.position)
  FROM pg_index AS x
  JOIN pg_class AS t ON t.oid = x.indrelid
  JOIN pg_class AS i ON i.oid = x.indexrelid
  JOIN pg_namespace AS n ON n.oid = t.relnamespace AND n.nspname = 'public'
 CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY AS k (attnum, position)
  LEFT JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = k.attnum
 WHERE k.position <= x.indnkeyatts
 GROUP BY t.relname, i.relname
"""
POSTGRES_CONSTRAINTS = """
SELECT t.relname, c.conname, array_agg(a.attname ORDER BY k.position)
  FROM pg_constraint AS c
  JOIN pg_class AS t ON t.oid = c.conrelid
  JOIN pg_namespace AS n ON n.oid = t.relnamespace AND n.nspname = 'public'
 CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS k (attnum, position)
  JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = k.attnum
 WHERE c.contype IN ('p', 'u', 'f', 'x')
 GROUP BY t.relname, c.conname
"""
POSTGRES_COLUMNS = """
SELECT t.relname, array_agg(a.attname ORDER BY a.attnum)
  FROM pg_class AS t
  JOIN pg_namespace AS n ON n.oid = t.relnamespace AND n.nspname = 'public'
  JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE t.relkind IN ('r', 'p')
 GROUP BY t.relname
"""


class Key(NamedTuple):
    """A primary key, unique constraint, foreign key or index, and its columns in order."""

    table: str
    name: str
    columns: list[str]


@pytest.fixture(scope="module")
def sqlite_file(sqlite_template: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(sqlite_template), flags=apsw.SQLITE_OPEN_READONLY)
    yield connection
    connection.close()


@pytest.fixture
async def postgres_connection(postgres: ThrowawayPostgres) -> AsyncIterator[Any]:
    with postgres.fresh_database("migrated") as url:
        connection = await asyncpg.connect(url)
        yield connection
        await connection.close()


def sqlite_columns(connection: apsw.Connection) -> dict[str, list[str]]:
    # A full-text table is listed once; the tables it is stored in are no names of ours.
    tables = connection.execute("SELECT name FROM pragma_table_list WHERE schema = 'main'")
    shadows = connection.execute("SELECT name FROM pragma_table_list WHERE type = 'shadow'")
    names = {name for (name,) in tables} - {name for (name,) in shadows}
    return {
        name: [
            row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", [name])
        ]
        for name in names - {"sqlite_schema", "sqlite_sequence"}
    }


def sqlite_keys(connection: apsw.Connection) -> list[Key]:
    keys = []
    for table in sqlite_columns(connection):
        primary = connection.execute(
            "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", [table]
        ).fetchall()
        keys.append(Key(table, "primary key", [str(name) for (name,) in primary]))
        for index in connection.execute("SELECT name FROM pragma_index_list(?)", [table]):
            columns = connection.execute(
                "SELECT name FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno", index
            ).fetchall()
            keys.append(Key(table, index[0], [str(name) for (name,) in columns]))
        foreign = connection.execute(
            'SELECT "from" FROM pragma_foreign_key_list(?) WHERE seq = 0', [table]
        )
        keys += [Key(table, "foreign key", list(columns)) for columns in foreign]
    return keys


def is_led_by_the_account(key: Key) -> bool:
    is_leading = key.columns[:1] == ["account_id"] or key.columns == PLACE
    return is_leading or key.name in ACROSS_ACCOUNTS


def test_sqlite_has_the_tables_we_know_of(sqlite_file: apsw.Connection) -> None:
    assert sqlite_columns(sqlite_file).keys() == LIBRARY | SQLITE_CONTROL - {"sqlite_sequence"}


def test_the_account_leads_every_key_of_sqlite(sqlite_file: apsw.Connection) -> None:
    keys = [key for key in sqlite_keys(sqlite_file) if key.table in LIBRARY - {"keyword"}]

    assert [key for key in keys if not is_led_by_the_account(key)] == []
    assert {key.table for key in keys} == LIBRARY - {"keyword"}


def test_only_content_and_words_are_keyed_by_place(sqlite_file: apsw.Connection) -> None:
    by_place = {key.table for key in sqlite_keys(sqlite_file) if key.columns == PLACE}

    assert by_place == {"content"}
    # A full-text table has no key but its rowid, which we set: the place.
    assert [key.columns for key in sqlite_keys(sqlite_file) if key.table == "keyword"] == [[]]


def test_no_two_accounts_share_a_place() -> None:
    one, next_one = place_of(7), place_of(8)

    assert next_one - one == 1 << 40
    assert place_of(1 << 22) < 1 << 63


async def test_postgres_has_the_tables_we_know_of(postgres_connection: Any) -> None:
    columns = dict(await postgres_connection.fetch(POSTGRES_COLUMNS))

    assert columns.keys() == LIBRARY | CONTROL


async def test_the_account_leads_every_key_of_postgres(postgres_connection: Any) -> None:
    rows = await postgres_connection.fetch(POSTGRES_KEYS)
    rows += await postgres_connection.fetch(POSTGRES_CONSTRAINTS)
    keys = [Key(*row) for row in rows if row[0] in LIBRARY]

    assert [key for key in keys if not is_led_by_the_account(key)] == []
    assert {key.table for key in keys} == LIBRARY


async def test_both_databases_have_the_same_columns(
    sqlite_file: apsw.Connection, postgres_connection: Any
) -> None:
    in_sqlite = {
        table: [
            part for name in columns for part in (PARTS_OF_PLACE if [name] == PLACE else [name])
        ]
        for table, columns in sqlite_columns(sqlite_file).items()
        if table != "local_account"
    }
    # The full-text table's key is its rowid, the place, which no catalogue lists.
    in_sqlite["keyword"] = [*PARTS_OF_PLACE, "words"]

    in_postgres = dict(await postgres_connection.fetch(POSTGRES_COLUMNS))

    assert in_sqlite == in_postgres


async def test_both_databases_have_the_same_indexes(
    sqlite_file: apsw.Connection, postgres_connection: Any
) -> None:
    in_sqlite = {
        key.name: key.columns
        for key in sqlite_keys(sqlite_file)
        if key.table in LIBRARY and key.name != "primary key" and "autoindex" not in key.name
    }
    rows = [Key(*row) for row in await postgres_connection.fetch(POSTGRES_KEYS)]
    in_postgres = {
        key.name: key.columns
        for key in rows
        if key.table in LIBRARY and not key.name.endswith("_pkey")
    }

    # The words have an index of their own on PostgreSQL; on SQLite the table is one.
    assert in_postgres.pop("keyword_words") == ["account_id", "words"]
    assert in_sqlite == in_postgres
