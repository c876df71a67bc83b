"""What migrations make of the data of earlier releases."""

from pathlib import Path

import pytest

from bowerbird.storage import migrations
from bowerbird.storage.postgres import schema as postgres_schema
from bowerbird.storage.sqlite import schema as sqlite_schema
from bowerbird.storage.sqlite.database import FILE_NAME
from tests.support.migrating import query_postgres, query_sqlite
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio

OLD_PLACES = """
INSERT INTO bookmark (account_id, number, post_id, sort_index, is_read, is_archived, imported_at,
                      bookmarked_at, posted_at, media, author_key, author_name_key, title_key,
                      quote_count, reply_count, retweet_count, bookmark_count, favorite_count,
                      content_hash)
VALUES (1, 1, '11', (1784362873841 << 20) + 5, {no}, {no}, 1784362873841838, 1784362873841000,
        0, 0, '', '', '', 0, 0, 0, 0, 0, {empty}),
       (1, 2, '12', 1714557600000 << 20, {no}, {no}, 1784362873841838, 1714557600000000,
        0, 0, '', '', '', 0, 0, 0, 0, 0, {empty}),
       (1, 3, '13', 1784362873841 << 20, {no}, {no}, 1784362873841838, 1784362873841838,
        0, 0, '', '', '', 0, 0, 0, 0, 0, {empty}),
       (1, 4, '14', 7, {no}, {no}, 1784362873841838, 1784362873841838,
        0, 0, '', '', '', 0, 0, 0, 0, 0, {empty}),
       (1, 5, '15', 1784362873841 << 20, {no}, {no}, 1784362873841838, 1714557600000000,
        0, 0, '', '', '', 0, 0, 0, 0, 0, {empty})
"""
PLACES_AFTER = [("11", 3), ("12", 2), ("13", 0), ("14", 3), ("15", 0)]
READ_PLACES = "SELECT post_id, order_source FROM bookmark ORDER BY post_id"
BEFORE_IMPORTS = 9


def test_old_posts_of_sqlite_without_an_index_of_x_can_get_one(tmp_path: Path) -> None:
    sqlite_schema.prepare(tmp_path, migrations.available("sqlite")[:BEFORE_IMPORTS])
    query_sqlite(tmp_path / FILE_NAME, OLD_PLACES.format(no=0, empty="x''"))

    sqlite_schema.prepare(tmp_path)

    assert query_sqlite(tmp_path / FILE_NAME, READ_PLACES) == PLACES_AFTER


async def test_old_posts_of_postgres_without_an_index_of_x_can_get_one(
    postgres: ThrowawayPostgres,
) -> None:
    with postgres.fresh_database() as old:
        await postgres_schema.migrate(old, migrations.available("postgres")[:BEFORE_IMPORTS])
        await query_postgres(old, OLD_PLACES.format(no="false", empty="''"))

        await postgres_schema.migrate(old)

        assert await query_postgres(old, READ_PLACES) == PLACES_AFTER


BEFORE_SOURCE_STATE = 11
OLD_SOURCE_POST = (
    "INSERT INTO source_post (account_id, source, source_user_id, post_id, seen_run, changed_at,"
    " removed_at) VALUES (1, 'x', '', '11', '', 5, 6)"
)
OLD_LIBRARY = (
    "INSERT INTO library (account_id, local_number, plan, epoch, version, next_number,"
    " next_label_id, total, unread, archived, fresh, created_at)"
    " VALUES (1, 0, 'pro', 1, 1, 1, 1, 0, 0, 0, 0, 0)"
)
READ_SOURCE_STATE = (
    "SELECT s.post_id, s.removed_at, s.gone_at, s.gone_reason, l.removed_posts"
    " FROM source_post AS s JOIN library AS l ON l.account_id = s.account_id"
)


def test_removed_posts_of_sqlite_are_kept_as_before(tmp_path: Path) -> None:
    sqlite_schema.prepare(tmp_path, migrations.available("sqlite")[:BEFORE_SOURCE_STATE])
    query_sqlite(tmp_path / FILE_NAME, OLD_SOURCE_POST)
    query_sqlite(tmp_path / FILE_NAME, OLD_LIBRARY)

    sqlite_schema.prepare(tmp_path)

    rows = query_sqlite(tmp_path / FILE_NAME, READ_SOURCE_STATE)
    assert rows == [("11", 6, None, "", "keep")]


async def test_removed_posts_of_postgres_are_kept_as_before(postgres: ThrowawayPostgres) -> None:
    with postgres.fresh_database() as old:
        await postgres_schema.migrate(old, migrations.available("postgres")[:BEFORE_SOURCE_STATE])
        await query_postgres(old, OLD_SOURCE_POST)
        await query_postgres(old, OLD_LIBRARY)

        await postgres_schema.migrate(old)

        assert await query_postgres(old, READ_SOURCE_STATE) == [("11", 6, None, "", "keep")]


BEFORE_PLACES = 13
OLD_VIEWS = (
    "INSERT INTO smart_view (account_id, slug, name, description, base_query, default_sort,"
    " triage_buckets, created_at, updated_at) VALUES"
    " (1, 'late', 'L', '', '{}', 'null', '[]', 9, 9), (1, 'b', 'B', '', '{}', 'null', '[]', 5, 5),"
    " (1, 'a', 'A', '', '{}', 'null', '[]', 5, 5), (2, 'x', 'X', '', '{}', 'null', '[]', 7, 7)"
)
READ_VIEWS = "SELECT account_id, slug, position FROM smart_view WHERE is_pinned ORDER BY 1, 3"
PLACED_VIEWS = [(1, "a", 1), (1, "b", 2), (1, "late", 3), (2, "x", 1)]


def before_places(dialect: str) -> list[migrations.Migration]:
    return [each for each in migrations.available(dialect) if each.number <= BEFORE_PLACES]


def test_views_of_an_old_sqlite_library_keep_their_order(tmp_path: Path) -> None:
    sqlite_schema.prepare(tmp_path, before_places("sqlite"))
    query_sqlite(tmp_path / FILE_NAME, OLD_VIEWS)

    sqlite_schema.prepare(tmp_path)

    assert query_sqlite(tmp_path / FILE_NAME, READ_VIEWS) == PLACED_VIEWS


async def test_views_of_an_old_postgres_database_keep_their_order(
    postgres: ThrowawayPostgres,
) -> None:
    with postgres.fresh_database() as old:
        await postgres_schema.migrate(old, before_places("postgres"))
        await query_postgres(old, OLD_VIEWS)

        await postgres_schema.migrate(old)

        assert await query_postgres(old, READ_VIEWS) == PLACED_VIEWS


BEFORE_SIGN_IN = 12
# The deletion of the first account was interrupted: its library is gone.
OLD_PEOPLE = (
    "INSERT INTO person (account_id, email, email_key, created_at)"
    " VALUES (2, 'gone@example.com', 'gone@example.com', 1),"
    "        (1, 'first@example.com', 'first@example.com', 2),"
    "        (3, 'later@example.com', 'later@example.com', 3)"
)
READ_OWNERS = "SELECT email FROM person WHERE is_owner"


def test_the_first_account_of_an_old_sqlite_library_is_the_owners(tmp_path: Path) -> None:
    sqlite_schema.prepare(tmp_path, migrations.available("sqlite")[:BEFORE_SIGN_IN])
    query_sqlite(tmp_path / FILE_NAME, OLD_PEOPLE)
    query_sqlite(tmp_path / FILE_NAME, OLD_LIBRARY)

    sqlite_schema.prepare(tmp_path)

    assert query_sqlite(tmp_path / FILE_NAME, READ_OWNERS) == [("first@example.com",)]


async def test_the_first_account_of_an_old_postgres_database_is_the_owners(
    postgres: ThrowawayPostgres,
) -> None:
    with postgres.fresh_database() as old:
        await postgres_schema.migrate(old, migrations.available("postgres")[:BEFORE_SIGN_IN])
        await query_postgres(old, OLD_PEOPLE)
        await query_postgres(old, OLD_LIBRARY)

        await postgres_schema.migrate(old)

        assert await query_postgres(old, READ_OWNERS) == [("first@example.com",)]


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


BEFORE_WORD_COUNTS = 23
READ_WORD_FORMS = "SELECT number, word_form FROM bookmark WHERE word_form < 2 ORDER BY number"
OLD_FORMS = [(number, 1) for number in range(1, 6)]


def test_posts_of_sqlite_wait_to_be_counted(tmp_path: Path) -> None:
    sqlite_schema.prepare(tmp_path, migrations.available("sqlite")[:BEFORE_WORD_COUNTS])
    query_sqlite(tmp_path / FILE_NAME, OLD_PLACES.format(no=0, empty="x''"))

    sqlite_schema.prepare(tmp_path)

    assert query_sqlite(tmp_path / FILE_NAME, READ_WORD_FORMS) == OLD_FORMS


async def test_posts_of_postgres_wait_to_be_counted(postgres: ThrowawayPostgres) -> None:
    with postgres.fresh_database() as old:
        await postgres_schema.migrate(old, migrations.available("postgres")[:BEFORE_WORD_COUNTS])
        await query_postgres(old, OLD_PLACES.format(no="false", empty="''"))

        await postgres_schema.migrate(old)

        assert await query_postgres(old, READ_WORD_FORMS) == OLD_FORMS
