"""SQLite reads a list in the way that suits the number of its posts."""

import json
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import BookmarkFilter, Sort
from bowerbird.storage import queries
from bowerbird.storage.bookmarks.filters import FRAGMENTS
from bowerbird.storage.bookmarks.list_reads import MATCHES, SCAN, WALK, ListRead


@pytest.fixture
def connection(sqlite_template: Path, tmp_path: Path) -> Iterator[apsw.Connection]:
    file = tmp_path / "copy.db"
    [template] = [sqlite_template] if sqlite_template.is_file() else sqlite_template.glob("*.db")
    file.write_bytes(template.read_bytes())
    connection = apsw.Connection(str(file))
    yield connection
    connection.close()


def plan(connection: apsw.Connection, sql: str) -> str:
    _, names = queries.numbered(sql)
    values = {name: json.dumps([]) for name in names}
    return "\n".join(
        str(row[-1]) for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)
    )


UNREAD_ONES = f"{FRAGMENTS['unread_only']} AND {FRAGMENTS['hide_archived']}"
BY_NUMBER = "SEARCH b USING PRIMARY KEY (account_id=? AND number=?)"


@pytest.mark.parametrize(
    ("statement", "filters", "steps"),
    [
        (MATCHES, FRAGMENTS["author"], [BY_NUMBER, "INDEX bookmark_by_author "]),
        (MATCHES, FRAGMENTS["tag"], [BY_NUMBER, "INDEX label_by_name "]),
        (MATCHES, FRAGMENTS["rare_media"], [BY_NUMBER, "COVERING INDEX bookmark_rare_media "]),
        (SCAN, "TRUE", ["SEARCH b USING PRIMARY KEY (account_id=?)"]),
    ],
)
@pytest.mark.parametrize("column", ["b.sort_index", "b.title_key", "b.author_key"])
def test_a_statement_starts_where_it_says(
    connection: apsw.Connection, statement: str, filters: str, steps: list[str], column: str
) -> None:
    sql = queries.load("list_reads", "sqlite")[statement].format(
        sort=column, direction="DESC", filters=f"{UNREAD_ONES} AND {filters}"
    )

    found = plan(connection, sql)

    assert all(step in found for step in steps), found


def test_counting_posts_with_rare_media_uses_their_index(connection: apsw.Connection) -> None:
    filters = f"{UNREAD_ONES} AND {FRAGMENTS['rare_media']}"

    found = plan(connection, queries.load("bookmarks", "sqlite")["count"].format(filters=filters))

    assert "COVERING INDEX bookmark_rare_media " in found
    assert BY_NUMBER in found


@pytest.mark.parametrize("statement", ["hidden", "other_lists", "last_changes", "shown_posts"])
def test_what_sources_said_about_some_posts_is_looked_up(
    connection: apsw.Connection, statement: str
) -> None:
    found = plan(connection, queries.load("ingest", "sqlite")[statement])

    assert "INDEX source_post_by_id (account_id=? AND post_id=?" in found


@pytest.mark.parametrize(
    ("languages", "order", "total", "statement"),
    [
        (("es",), "sort_index", 1, WALK),
        (("es",), "posted_at", 1, MATCHES),
        (("es", "hi"), "sort_index", 1, MATCHES),
        (("es", "hi"), "posted_at", 50_000, WALK),
    ],
)
def test_posts_of_a_rare_language_are_looked_up_if_no_index_has_them_in_order(
    languages: tuple[str, ...], order: str, total: int, statement: str
) -> None:
    account = Account(1, 1, "pro", 5, 1, 100_000, 100_000, 0, 100_000, 0)
    searched = BookmarkFilter(languages=languages)

    read = ListRead(searched, Sort(order), None, 20, total)

    assert read.statement(account) == statement
