"""What migrations make of the data of earlier releases."""

from pathlib import Path
from typing import NamedTuple

import pytest

from bowerbird.model.posts.networks import bits_of
from bowerbird.storage import migrations
from bowerbird.storage.postgres import schema as postgres_schema
from bowerbird.storage.sqlite import schema as sqlite_schema
from bowerbird.storage.sqlite.database import FILE_NAME
from tests.support.engines.migrating import query_postgres, query_sqlite
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio

# Placed by X; by a date of saving; by the moment of the import; by a made-up index; by the moment
# of the import, before a date of saving was known.
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


OLD_LIBRARY = (
    "INSERT INTO library (account_id, local_number, plan, epoch, version, next_number,"
    " next_label_id, total, unread, archived, fresh, created_at)"
    " VALUES (1, 3, 'pro', 1, 1, 1, 1, 0, 0, 0, 0, 0)"
)
OLD_SOURCE_POST = (
    "INSERT INTO source_post (account_id, source, source_user_id, post_id, seen_run, changed_at,"
    " removed_at) VALUES (1, 'x', '', '11', '', 5, 6)"
)
OLD_VIEWS = (
    "INSERT INTO smart_view (account_id, slug, name, description, base_query, default_sort,"
    " triage_buckets, created_at, updated_at) VALUES"
    " (1, 'late', 'L', '', '{{}}', 'null', '[]', 9, 9),"
    " (1, 'b', 'B', '', '{{}}', 'null', '[]', 5, 5),"
    " (1, 'a', 'A', '', '{{}}', 'null', '[]', 5, 5),"
    " (2, 'x', 'X', '', '{{}}', 'null', '[]', 7, 7)"
)
# The deletion of the first account was interrupted: its library is gone.
OLD_PEOPLE = (
    "INSERT INTO person (account_id, email, email_key, created_at)"
    " VALUES (2, 'gone@example.com', 'gone@example.com', 1),"
    "        (1, 'first@example.com', 'first@example.com', 2),"
    "        (3, 'later@example.com', 'later@example.com', 3)"
)
OLD_NOTES = (
    "INSERT INTO content ({place}, render_version, rendering) VALUES"
    """ ({first}1, 1, CAST('{{"post_id":"1","note":"mine"' AS {bytes})),"""
    """ ({first}2, 1, CAST('{{"post_id":"2"' AS {bytes}))"""
)
# Of Mastodon and of a network that is not known; of X, also with a number that looks like another.
OLD_NETWORKS = """
INSERT INTO bookmark (account_id, number, post_id, sort_index, is_read, is_archived, imported_at,
                      bookmarked_at, posted_at, media, author_key, author_name_key, title_key,
                      quote_count, reply_count, retweet_count, bookmark_count, favorite_count,
                      content_hash)
SELECT 1, n.number, n.post_id, 0, {no}, {no}, 0,
       0, 0, 128, '', '', '', 0, 0, 0, 0, 0, {empty}
  FROM (SELECT 1 AS number, '10000000000000000001' AS post_id
         UNION ALL SELECT 2, '10000000000000000002' UNION ALL SELECT 3, '20'
         UNION ALL SELECT 4, '10000000000000000003') AS n
"""
OLD_SOURCES = """
INSERT INTO content ({place}, render_version, rendering)
VALUES ({first}1, 1, CAST('{{"source":"mastodon","source_id":"a.example/1"' AS {bytes})),
       ({first}2, 1, CAST('{{"source":"elsewhere","source_id":"1"' AS {bytes})),
       ({first}3, 1, CAST('{{"post_id":"20"' AS {bytes})),
       ({first}4, 1, CAST('{{"post_id":"10000000000000000003"' AS {bytes}))
"""
IN_SQLITE = {
    "no": "0",
    "empty": "x''",
    "place": "place",
    "first": "(3 << 40) + ",
    "bytes": "BLOB",
}
IN_POSTGRES = {
    "no": "false",
    "empty": "''",
    "place": "account_id, number",
    "first": "1, ",
    "bytes": "bytea",
}


class Case(NamedTuple):
    """The last step of an old release, what it stored, and what a query finds after migrating."""

    released: int
    stored: tuple[str, ...]
    query: str
    found: list[tuple[object, ...]]


CASES = {
    "old posts without an index of X can get one": Case(
        9, (OLD_PLACES,), READ_PLACES, [*PLACES_AFTER]
    ),
    "removed posts are kept as before": Case(
        11,
        (OLD_SOURCE_POST, OLD_LIBRARY),
        "SELECT s.post_id, s.removed_at, s.gone_at, s.gone_reason, l.removed_posts"
        " FROM source_post AS s JOIN library AS l ON l.account_id = s.account_id",
        [("11", 6, None, "", "keep")],
    ),
    "views keep their order": Case(
        13,
        (OLD_VIEWS,),
        "SELECT account_id, slug, position FROM smart_view WHERE is_pinned ORDER BY 1, 3",
        [(1, "a", 1), (1, "b", 2), (1, "late", 3), (2, "x", 1)],
    ),
    "the first account is the owner's": Case(
        12,
        (OLD_PEOPLE, OLD_LIBRARY),
        "SELECT email FROM person WHERE is_owner",
        [("first@example.com",)],
    ),
    "notes wait to be indexed": Case(
        13, (OLD_LIBRARY, OLD_NOTES), "SELECT * FROM unindexed_note", [(1, 1)]
    ),
    "posts have the number of their network": Case(
        33,
        (OLD_LIBRARY, OLD_NETWORKS, OLD_SOURCES),
        "SELECT number, media FROM bookmark ORDER BY number",
        [(1, 128 | bits_of("mastodon")), (2, 128 | bits_of("elsewhere")), (3, 128), (4, 128)],
    ),
    "posts wait to be counted": Case(
        23,
        (OLD_PLACES,),
        "SELECT number, word_form FROM bookmark WHERE word_form < 2 ORDER BY number",
        [(number, 1) for number in range(1, 6)],
    ),
}


def steps(dialect: str, last: int) -> list[migrations.Migration]:
    return [each for each in migrations.available(dialect) if each.number <= last]


@pytest.mark.parametrize("case", CASES)
def test_sqlite_after_migrating_an_old_library(tmp_path: Path, case: str) -> None:
    released, stored, query, found = CASES[case]
    sqlite_schema.prepare(tmp_path, steps("sqlite", released))
    for sql in stored:
        query_sqlite(tmp_path / FILE_NAME, sql.format(**IN_SQLITE))

    sqlite_schema.prepare(tmp_path)

    assert query_sqlite(tmp_path / FILE_NAME, query) == found


@pytest.mark.parametrize("case", CASES)
async def test_postgres_after_migrating_old_data(postgres: ThrowawayPostgres, case: str) -> None:
    released, stored, query, found = CASES[case]
    with postgres.fresh_database() as old:
        await postgres_schema.migrate(old, steps("postgres", released))
        for sql in stored:
            await query_postgres(old, sql.format(**IN_POSTGRES))

        await postgres_schema.migrate(old)

        assert await query_postgres(old, query) == found
