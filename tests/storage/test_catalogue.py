"""In both schemas, every key and index of a library table starts with the account.

On SQLite a key can also be `place`, an integer with the account in its high bits. It is the rowid
of `content` and of the full-text table `keyword`.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import asyncpg
import pytest

from bowerbird.storage.accounts.account_removal import ACCESS, PRIMARY_KEYS
from bowerbird.storage.database import place_of
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio

CONTROL = {
    *("person", "secret", "schema_migration"),
    # Found by a token, by a name or by an account elsewhere, before the account is known.
    *("one_time_link", "spent_attempt", "provider_identity", "share"),
    # Hosts are asked for all accounts together.
    "host_turn",
}
# Only on SQLite: assigns the local number of an account that is part of `place`.
SQLITE_CONTROL = CONTROL | {"local_account", "sqlite_sequence"}
LIBRARY = {
    *(
        "library",
        "library_event",
        "activity",
        "passkey",
        "web_session",
        "api_key",
        "api_call",
        "daily_use",
    ),
    *("bookmark", "content", "keyword", "label", "bookmark_label", "bare_link", "unindexed_note"),
    *(
        "word_count",
        "word_change",
        "abbreviation",
        "vector",
        "vector_part",
        "vector_store",
        "smart_view",
        "deleted_view",
    ),
    *("rule", "rule_state", "rule_log"),
    *("trash", "deletion", "replaced_annotation", "bulk_change", "bulk_part", "bulk_post"),
    *("import_run", "import_change", "import_label", "file_import", "device", "source_connection"),
    *("ingest_run", "ingest_page", "kept_page", "source_post", "source_folder"),
    *("media_account", "media_post", "media_link", "media_source", "media_file"),
    *("webhook", "webhook_delivery"),
    *("idempotency", "job", "version_use", "sunset_notice", "digest", "digest_preference"),
}
# Where SQLite has a key on place, PostgreSQL has one on its two parts.
PLACE = ["place"]
PARTS_OF_PLACE = ["account_id", "number"]
# The job queue is shared by all accounts. Only workers that claim a job read this index.
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
    # A full-text table is listed once, without its shadow tables.
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


def starts_with_account(key: Key) -> bool:
    is_first = key.columns[:1] == ["account_id"] or key.columns == PLACE
    return is_first or key.name in ACROSS_ACCOUNTS


def test_sqlite_has_the_expected_tables(sqlite_file: apsw.Connection) -> None:
    assert sqlite_columns(sqlite_file).keys() == LIBRARY | SQLITE_CONTROL - {"sqlite_sequence"}


def test_every_key_of_sqlite_starts_with_the_account(sqlite_file: apsw.Connection) -> None:
    keys = [key for key in sqlite_keys(sqlite_file) if key.table in LIBRARY - {"keyword"}]

    assert [key for key in keys if not starts_with_account(key)] == []
    assert {key.table for key in keys} == LIBRARY - {"keyword"}


def test_the_removal_of_an_account_knows_every_table_and_its_key(
    sqlite_file: apsw.Connection,
) -> None:
    primary = {
        key.table: ", ".join(key.columns)
        for key in sqlite_keys(sqlite_file)
        if key.name == "primary key"
    }

    assert LIBRARY - {"content", "keyword"} <= {*PRIMARY_KEYS, *ACCESS}
    assert {table: primary[table] for table in PRIMARY_KEYS} == PRIMARY_KEYS


def test_only_content_and_keyword_have_place_as_key(sqlite_file: apsw.Connection) -> None:
    by_place = {key.table for key in sqlite_keys(sqlite_file) if key.columns == PLACE}

    assert by_place == {"content"}
    # The only key of a full-text table is its rowid, which is the place.
    assert [key.columns for key in sqlite_keys(sqlite_file) if key.table == "keyword"] == [[]]


def test_no_two_accounts_share_a_place() -> None:
    one, next_one = place_of(7), place_of(8)

    assert next_one - one == 1 << 40
    assert place_of(1 << 22) < 1 << 63


async def test_postgres_has_the_expected_tables(postgres_connection: Any) -> None:
    columns = dict(await postgres_connection.fetch(POSTGRES_COLUMNS))

    assert columns.keys() == LIBRARY | CONTROL


async def test_every_key_of_postgres_starts_with_the_account(postgres_connection: Any) -> None:
    rows = await postgres_connection.fetch(POSTGRES_KEYS)
    rows += await postgres_connection.fetch(POSTGRES_CONSTRAINTS)
    keys = [Key(*row) for row in rows if row[0] in LIBRARY]

    assert [key for key in keys if not starts_with_account(key)] == []
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
    # The key of the full-text table is its rowid, which SQLite does not list.
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

    # On SQLite the full-text table itself is the index of the words.
    assert in_postgres.pop("keyword_words") == ["account_id", "words"]
    # SQLite would look up the row of each entry.
    flags = ["is_read", "is_archived"]
    assert in_postgres.pop("bookmark_linked") == ["account_id", "sort_index", "number", *flags]
    # On SQLite a place has both.
    for name in ("content_noted", "content_highlighted"):
        assert in_postgres.pop(name) == ["account_id", "number"]
        assert in_sqlite.pop(name) == ["place"]
    assert in_sqlite == in_postgres
