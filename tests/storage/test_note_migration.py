"""The migration that lists the notes which earlier releases did not index."""

from pathlib import Path

import pytest

from bowerbird.storage import migrations
from bowerbird.storage.postgres import schema as postgres_schema
from bowerbird.storage.sqlite import schema as sqlite_schema
from bowerbird.storage.sqlite.database import FILE_NAME
from tests.storage.test_migrations import query_postgres, query_sqlite
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio


def test_migrating_marks_the_notes_that_a_sqlite_library_has(tmp_path: Path) -> None:
    steps = migrations.available("sqlite")
    sqlite_schema.prepare(tmp_path, steps[:13])
    query_sqlite(
        tmp_path / FILE_NAME,
        "INSERT INTO library (account_id, local_number, plan, epoch, version, next_number,"
        " next_label_id, total, unread, archived, fresh, created_at)"
        " VALUES (77, 3, 'pro', 0, 0, 3, 1, 2, 2, 0, 2, 0);"
        " INSERT INTO content (place, render_version, rendering) VALUES"
        """ ((3 << 40) + 1, 1, CAST('{"post_id":"1","note":"mine"' AS BLOB)),"""
        """ ((3 << 40) + 2, 1, CAST('{"post_id":"2"' AS BLOB))""",
    )

    sqlite_schema.prepare(tmp_path, steps)

    assert query_sqlite(tmp_path / FILE_NAME, "SELECT * FROM unindexed_note") == [(77, 1)]


async def test_migrating_marks_the_notes_that_a_postgres_library_has(
    postgres: ThrowawayPostgres,
) -> None:
    steps = migrations.available("postgres")
    with postgres.fresh_database() as url:
        await postgres_schema.migrate(url, steps[:13])
        await query_postgres(
            url,
            "INSERT INTO content (account_id, number, render_version, rendering) VALUES"
            """ (77, 1, 1, CAST('{"post_id":"1","note":"mine"' AS bytea)),"""
            """ (77, 2, 1, CAST('{"post_id":"2"' AS bytea))""",
        )

        await postgres_schema.migrate(url, steps)

        assert await query_postgres(url, "SELECT * FROM unindexed_note") == [(77, 1)]
