"""SQLite reads a list in the way that suits the number of its posts."""

import json
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from bowerbird.model.accounts import Account
from bowerbird.model.filters import BookmarkFilter, Names, Sort
from bowerbird.model.words import Term, WordQuery
from bowerbird.storage import queries
from bowerbird.storage.bookmarks.filters import FRAGMENTS
from bowerbird.storage.bookmarks.list_reads import (
    ARCHIVED,
    FRESH,
    MATCHES,
    PAST_DATES,
    SCAN,
    WALK,
    ListRead,
)
from tests.storage.test_queries import STATEMENTS

MILLION = 1_000_000
UNREAD = Account(1, 1, "pro", 5, 7, MILLION, 700_000, 100_000, 630_000, 0)
READ = Account(1, 1, "pro", 5, 7, MILLION, 1_200, 300, 1_000, 0)
TITLE = Sort("title", descending=False)
AUTHORS = Sort("author", descending=False)
ARCHIVE = BookmarkFilter(unread_only=False, hide_archived=False, archived_only=True)
WORDS = WordQuery((Term(("a",)),))
UNWANTED = WordQuery((Term(("a",), is_excluded=True),))


@pytest.mark.parametrize(
    ("account", "filter", "sort", "total", "statement"),
    [
        (UNREAD, BookmarkFilter(author="a"), Sort(), 7, MATCHES),
        (UNREAD, BookmarkFilter(author="a"), Sort(), 800, MATCHES),
        (UNREAD, BookmarkFilter(author="a"), Sort(), 50_000, WALK),
        (UNREAD, BookmarkFilter(author="a"), Sort("posted_at"), 7, MATCHES),
        (UNREAD, BookmarkFilter(author="a"), TITLE, 50_000, MATCHES),
        (UNREAD, BookmarkFilter(author=Names(("a", "b"))), Sort(), 7, MATCHES),
        (UNREAD, BookmarkFilter(tag="a"), Sort(), 0, MATCHES),
        (UNREAD, BookmarkFilter(labels=Names(("a",))), Sort(), 20, MATCHES),
        (UNREAD, BookmarkFilter(media_bit=4), Sort(), 20, MATCHES),
        (UNREAD, BookmarkFilter(media_bit=4), Sort(), 20_000, WALK),
        # Its index has the order of the list.
        (UNREAD, BookmarkFilter(languages=("nl",)), Sort(), 50_000, WALK),
        (UNREAD, BookmarkFilter(languages=("nl",)), Sort("posted_at"), 20, MATCHES),
        (UNREAD, BookmarkFilter(languages=("nl",)), Sort("posted_at"), 50_000, WALK),
        (UNREAD, BookmarkFilter(languages=("nl", "de")), Sort(), 20, MATCHES),
        # Only rare types have an index.
        (UNREAD, BookmarkFilter(media_bit=1), Sort(), 20, WALK),
        # The total is unknown.
        (UNREAD, BookmarkFilter(author="a"), Sort(), None, WALK),
        (UNREAD, BookmarkFilter(author="a", words=WORDS), Sort(), 7, MATCHES),
        (UNREAD, BookmarkFilter(words=WORDS), Sort(), 50_000, WALK),
        (UNREAD, BookmarkFilter(words=UNWANTED), Sort(), 7, WALK),
        (UNREAD, BookmarkFilter(posted_from=7), Sort(), 7, MATCHES),
        (UNREAD, BookmarkFilter(posted_from=7), Sort(), 500_000, PAST_DATES),
        (UNREAD, BookmarkFilter(posted_from=7), Sort("created_at"), 500_000, PAST_DATES),
        # Their index has the order of the list.
        (UNREAD, BookmarkFilter(posted_from=7), Sort("posted_at"), 500_000, WALK),
        (UNREAD, BookmarkFilter(bookmarked_to=7), TITLE, 500_000, WALK),
        (UNREAD, BookmarkFilter(), AUTHORS, None, WALK),
        (UNREAD, BookmarkFilter(), TITLE, None, WALK),
        (UNREAD, BookmarkFilter(), Sort("imported_at"), None, SCAN),
        (READ, BookmarkFilter(), AUTHORS, None, FRESH),
        (READ, BookmarkFilter(), TITLE, None, FRESH),
        (READ, BookmarkFilter(), Sort("imported_at"), None, FRESH),
        (READ, BookmarkFilter(hide_archived=False), TITLE, None, WALK),
        (READ, ARCHIVE, TITLE, None, ARCHIVED),
        (READ, ARCHIVE, Sort(), None, WALK),
    ],
)
def test_the_statement_depends_on_the_number_of_posts(
    account: Account, filter: BookmarkFilter, sort: Sort, total: int | None, statement: str
) -> None:
    assert ListRead(filter, sort, None, 101, total).statement(account) == statement


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
        (FRESH, "TRUE", ["INDEX bookmark_fresh "]),
        (SCAN, "TRUE", ["SEARCH b USING PRIMARY KEY (account_id=?)"]),
    ],
)
@pytest.mark.parametrize("column", ["b.sort_index", "b.title_key", "b.author_key"])
def test_a_statement_starts_where_it_says(
    connection: apsw.Connection, statement: str, filters: str, steps: list[str], column: str
) -> None:
    sql = STATEMENTS["sqlite/list_reads", statement].format(
        sort=column, direction="DESC", filters=f"{UNREAD_ONES} AND {filters}"
    )

    found = plan(connection, sql)

    assert all(step in found for step in steps), found


def test_counting_posts_with_rare_media_starts_with_their_index(
    connection: apsw.Connection,
) -> None:
    filters = f"{UNREAD_ONES} AND {FRAGMENTS['rare_media']}"

    found = plan(connection, STATEMENTS["bookmarks", "count"].format(filters=filters))

    assert "COVERING INDEX bookmark_rare_media " in found
    assert BY_NUMBER in found
