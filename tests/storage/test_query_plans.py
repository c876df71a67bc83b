"""Every list uses an index, and needs few statements."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, cast

import pytest

from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import BookmarkFilter, Sort
from bowerbird.requests.bookmarks import KINDS
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.bookmarks.statistics import AuthorStore
from bowerbird.storage.database import Database, Row, Transaction, Values, WordRead
from tests.support import databases, make, service
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Member

pytestmark = pytest.mark.anyio

ALL = {"is_unread_only": "false", "hide_archived": "false"}
POSTS = 1_000
OTHER_ACCOUNTS = 20


class Shape(NamedTuple):
    """The parameters of a list, and the index that the plan of each database must use."""

    parameters: dict[str, str]
    sqlite: str
    postgres: str


SHAPES = {
    "default": Shape({}, "COVERING INDEX bookmark_fresh", "bookmark_fresh"),
    "everything": Shape(ALL, "COVERING INDEX bookmark_all", "bookmark_all"),
    "archived too": Shape(
        {"hide_archived": "false"}, "COVERING INDEX bookmark_all", "bookmark_all"
    ),
    "read too": Shape({"is_unread_only": "false"}, "COVERING INDEX bookmark_all", "bookmark_all"),
    "archive": Shape(
        {"is_unread_only": "false", "is_archived_only": "true"},
        "COVERING INDEX bookmark_archived",
        "bookmark_archived",
    ),
    "by date of bookmarking": Shape(
        {"sort_by": "created_at"}, "COVERING INDEX bookmark_by_bookmarked", "bookmark_by_bookmarked"
    ),
    "by date of posting": Shape(
        {"sort_by": "posted_at"}, "COVERING INDEX bookmark_by_posted", "bookmark_by_posted"
    ),
    "in a language": Shape(
        {"language": "nl"}, "COVERING INDEX bookmark_by_language ", "bookmark_by_language"
    ),
    "of an author": Shape({"author": "rare"}, "INDEX bookmark_by_author ", "bookmark_by_author"),
    "with a tag": Shape({"tag": "rare"}, "INDEX label_by_name ", "label_by_name"),
    "with one of several tags": Shape(
        {"label": "rare,other"}, "INDEX label_by_name ", "account_id = "
    ),
    "of several authors": Shape(
        {"author": "rare,other"}, "INDEX bookmark_by_author ", "bookmark_by_author"
    ),
    "with a note": Shape({"has_note": "true"}, "INDEX content_noted", "content_noted"),
    "without a tag": Shape(
        {"unlabelled": "true"},
        "COVERING INDEX bookmark_label_by_bookmark",
        "bookmark_label",
    ),
    "with photos": Shape({"media_type": "image", **ALL}, "INDEX bookmark_all ", "account_id = "),
    "with links": Shape({"has": "link"}, "SEARCH b USING ", "bookmark_linked"),
    "replies": Shape({"is_reply": "true", **ALL}, "INDEX bookmark_all ", "account_id = "),
    "long posts": Shape({"min_words": "9", **ALL}, "INDEX bookmark_all ", "account_id = "),
    "copies": Shape({"is_duplicate": "true"}, "COVERING INDEX bookmark_by_text ", "bookmark_by_"),
    "with links to a site": Shape(
        {"linked_site": "rareword.example"}, "keyword VIRTUAL TABLE INDEX", "keyword_words"
    ),
    "of named posts": Shape({"ids": "1,2"}, "INDEX bookmark_by_post ", "bookmark_by_post"),
    "changed since": Shape(
        {"updated_since": "2026-08-01", **ALL}, "INDEX bookmark_by_updated ", "bookmark_by_updated"
    ),
    "of a network": Shape({"network": "x", **ALL}, "INDEX bookmark_all ", "account_id = "),
    # As posts of Bluesky are found by the time in their address.
    "of a network, in some days": Shape(
        {
            "network": "bluesky",
            "sort_by": "posted_at",
            "posted_from": "2026-07-01T00:00:00Z",
            "posted_to": "2026-07-03T00:00:00Z",
            **ALL,
        },
        "INDEX bookmark_by_posted (account_id=? AND posted_at>? AND posted_at<?)",
        "bookmark_by_posted",
    ),
    "with a word": Shape({"q": "rareword"}, "keyword VIRTUAL TABLE INDEX", "keyword_words"),
    "with a word, of an author": Shape(
        {"q": "rareword", "author": "rare", "sort_by": "title"},
        "keyword VIRTUAL TABLE INDEX",
        "bookmark_by_author",
    ),
}


class Watched:
    """A database that records its reads."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.reads: list[tuple[str, Values]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def lists(self, _: Account) -> Self:
        return self

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        self.reads.append((sql, values))
        return await self._inner.rows(sql, values)

    async def slow_rows(self, sql: str, values: Values) -> Sequence[Row]:
        self.reads.append((sql, values))
        return await self._inner.slow_rows(sql, values)

    async def word_rows(self, read: WordRead) -> Sequence[Row]:
        self.reads.append((read.sql, read.values))
        return await self._inner.word_rows(read)


class Library(NamedTuple):
    watched: Watched
    alice: Member

    async def plan(
        self, explain: str, parameters: dict[str, str], path: str = "/v1/bookmarks"
    ) -> str:
        """The plans of all reads of a list, except the one of the key."""
        await self.alice.save()  # a new version, so that no cached total is used
        self.watched.reads.clear()
        response = await self.alice.get(path, **parameters)
        assert response.status_code == 200, response.text
        lines: list[str] = []
        for sql, values in self.watched.reads[1:]:
            rows = await self.watched.rows(f"{explain} {sql}", values)
            lines += [str(row[-1]) for row in rows]
        return "\n".join(lines)


@pytest.fixture(scope="module")
async def sqlite_library(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Library]:
    folder = tmp_path_factory.mktemp("plans")
    async with databases.fresh_sqlite(sqlite_template, folder) as database:
        yield await filled(database)


@pytest.fixture(scope="module")
async def postgres_library(postgres: ThrowawayPostgres) -> AsyncIterator[Library]:
    async with databases.fresh_postgres(postgres) as database:
        library = await filled(database)
        await multiply(database, library.alice.account_id)
        yield library


async def filled(database: Database) -> Library:
    watched = Watched(database)
    built = await service.build(cast("Database", watched))
    photo = [{"type": "photo", "url": "https://example.com/1.jpg"}]
    records = [
        make.post(
            is_read=number % 3 == 0,
            is_archived=number % 5 == 0,
            author="rare" if number % 100 == 1 else f"author{number % 50}",
            text="rareword" if number % 100 == 1 else f"plain text {number}",
            tags=["rare"] if number % 100 == 1 else [f"tag{number % 20}"],
            attachments=photo if number % 7 == 0 else [],
        )
        for number in range(POSTS)
    ]
    await built.alice.save_all(records)
    return Library(watched, built.alice)


async def multiply(database: Database, account_id: int) -> None:
    """Copies the library to many accounts, so that PostgreSQL plans as for a large table."""
    tables = ("bookmark", "content", "keyword", "label", "bookmark_label")

    async def work(transaction: Transaction) -> None:
        for table in tables:
            found = await transaction.rows(
                "SELECT string_agg(column_name, ', ' ORDER BY ordinal_position)"
                " FROM information_schema.columns"
                " WHERE table_name = :table AND column_name <> 'account_id'",
                {"table": table},
            )
            columns = found[0][0]
            await transaction.run(
                f"INSERT INTO {table} (account_id, {columns}) SELECT n, {columns}"  # noqa: S608 - names from the catalogue
                f" FROM {table} CROSS JOIN generate_series(1, {OTHER_ACCOUNTS}) AS n"
                " WHERE account_id = :account_id",
                {"account_id": account_id},
            )

    await database.write(work)
    for table in tables:
        await database.rows(f"VACUUM ANALYZE {table}", {})


@pytest.mark.parametrize("name", SHAPES)
async def test_a_list_uses_its_index_on_sqlite(sqlite_library: Library, name: str) -> None:
    shape = SHAPES[name]

    plan = await sqlite_library.plan("EXPLAIN QUERY PLAN", shape.parameters)

    assert shape.sqlite in plan
    assert "SCAN b" not in plan
    assert "SCAN c" not in plan


@pytest.mark.parametrize("by", KINDS)
@pytest.mark.parametrize("asked", [{}, ALL, {"author": "rare"}, {"tag": "rare"}])
async def test_facets_read_only_the_account_on_sqlite(
    sqlite_library: Library, by: str, asked: dict[str, str]
) -> None:
    plan = await sqlite_library.plan(
        "EXPLAIN QUERY PLAN", {**asked, "by": by}, "/v1/bookmarks/facets"
    )

    for table in ("b", "bl", "l", "c"):
        assert f"SCAN {table}\n" not in f"{plan}\n"
        assert f"SCAN {table} " not in plan
    if "author" in asked:
        assert "INDEX bookmark_by_author " in plan
    if "tag" in asked:
        assert "INDEX label_by_name " in plan
    if by in ("author", "language") and asked in ({}, ALL):
        assert f"COVERING INDEX bookmark_by_{by} " in plan


@pytest.mark.parametrize("by", KINDS)
async def test_facets_use_an_index_on_postgres(postgres_library: Library, by: str) -> None:
    asked = {"author": "rare", "by": by}

    plan = await postgres_library.plan("EXPLAIN", asked, "/v1/bookmarks/facets")

    assert "bookmark_by_author" in plan
    assert "Seq Scan on bookmark b" not in plan


@pytest.mark.parametrize("name", ["default", "everything", "archived too", "by date of posting"])
async def test_a_list_in_index_order_is_not_sorted(sqlite_library: Library, name: str) -> None:
    plan = await sqlite_library.plan("EXPLAIN QUERY PLAN", SHAPES[name].parameters)

    assert "TEMP B-TREE" not in plan


async def test_the_words_of_a_prefix_are_a_range_of_an_index(sqlite_library: Library) -> None:
    account = await sqlite_library.alice.account()
    sql = sqlite_library.watched.queries("word_reads")
    values = {"account_id": account.account_id, "first": "a", "after_last": "b", "limit": 1}

    plans = {}
    for name in ("are_all_counted", "words_between"):
        rows = await sqlite_library.watched.rows(f"EXPLAIN QUERY PLAN {sql[name]}", values)
        plans[name] = "\n".join(str(row[-1]) for row in rows)

    assert "PRIMARY KEY (account_id=? AND word>? AND word<?)" in plans["words_between"]
    assert "TEMP B-TREE" not in plans["words_between"]
    assert "INDEX bookmark_uncounted (account_id=?" in plans["are_all_counted"]
    assert "SCAN p" not in plans["are_all_counted"]


@pytest.mark.parametrize("name", SHAPES)
async def test_a_list_uses_its_index_on_postgres(postgres_library: Library, name: str) -> None:
    shape = SHAPES[name]

    plan = await postgres_library.plan("EXPLAIN", shape.parameters)

    assert shape.postgres in plan
    assert "Seq Scan" not in plan


@pytest.mark.parametrize(
    ("library", "explain"),
    [("sqlite_library", "EXPLAIN QUERY PLAN"), ("postgres_library", "EXPLAIN")],
)
async def test_renames_and_threads_use_their_index(
    sqlite_library: Library, postgres_library: Library, library: str, explain: str
) -> None:
    watched, alice = sqlite_library if library == "sqlite_library" else postgres_library
    renames = watched.queries("labels")["being_renamed"]
    watched.reads.clear()
    await BookmarkStore(watched).thread(await alice.account(), "1001", 100)
    thread, values = next(read for read in watched.reads if "thread" in read[1])
    everything = BookmarkFilter(unread_only=False, hide_archived=False)
    await BookmarkStore(watched).strands(await alice.account(), everything, Sort(), ["1001"], 100)
    strands, given_threads = next(read for read in watched.reads if "threads" in read[1])
    for index, sql, given in (
        ("label_renamed", renames, {"account_id": alice.account_id}),
        ("bookmark_by_thread", thread, values),
        ("bookmark_by_thread", strands, given_threads),
    ):
        rows = await watched.rows(f"{explain} {sql}", given)
        assert index in "\n".join(str(row[-1]) for row in rows)


async def test_suggesting_an_author_reads_few_of_many_posts(postgres_library: Library) -> None:
    watched, alice = postgres_library
    await alice.save_all([make.post(author="busy", name="Busy") for _ in range(300)])
    await watched.rows("VACUUM ANALYZE bookmark", {})
    watched.reads.clear()

    [(_, number)] = await AuthorStore(cast("Database", watched)).by_handle(
        alice.account_id, "busy", 6
    )

    assert number > POSTS
    [(sql, values)] = watched.reads
    rows = await watched.rows(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", values)
    assert 0 < most_rows(json.loads(rows[0][0])[0]["Plan"]) <= 100


def most_rows(plan: dict[str, Any]) -> int:
    """The most rows that a step of a plan has returned."""
    return max([int(plan["Actual Rows"]), *(most_rows(each) for each in plan.get("Plans", ()))])


VALUES: Final[dict[str, Any]] = {
    "account_id": 7,
    "after": 0,
    "now": 5,
    "limit": 50,
    "job_kind": "digest",
    "end_day": 20_700,
    "kind": "",
    "start": 0,
    "end": 10**15,
    "starts": "[0]",
    "ends": "[1]",
    "shifts": "[0]",
    "before": 10**15,
    "before_number": 0,
    "place": 0,
}
EXPECTED_INDEXES: Final = {
    ("digests", "due_accounts"): "COVERING INDEX digest_due",
    ("digests", "page"): "INDEX digest_by_end (account_id=?",
    ("digests", "unsent"): "INDEX digest_in_the_post (account_id=?",
    ("digest_posts", "between"): "INDEX bookmark_by_bookmarked (account_id=? AND bookmarked_at>?",
    ("digest_posts", "count_between"): "COVERING INDEX bookmark_by_bookmarked",
    ("digest_posts", "newest_unread"): "INDEX bookmark_by_bookmarked (account_id=?",
    ("digest_posts", "oldest_unread"): "INDEX bookmark_by_bookmarked (account_id=?",
    ("statistics", "first_saved"): "COVERING INDEX bookmark_by_bookmarked (account_id=?",
    ("statistics", "by_hour"): "COVERING INDEX bookmark_by_bookmarked (account_id=? AND bookm",
    ("statistics", "by_author"): "INDEX bookmark_by_bookmarked (account_id=?",
    ("statistics", "by_label"): "COVERING INDEX bookmark_by_bookmarked (account_id=? AND bookm",
    ("statistics", "labelled"): "COVERING INDEX bookmark_by_bookmarked (account_id=? AND bookm",
    ("statistics", "newest"): "INDEX bookmark_by_bookmarked (account_id=? AND bookmarked_at>?",
}


@pytest.mark.parametrize(("resource", "name"), EXPECTED_INDEXES)
async def test_a_statement_uses_its_index(sqlite: Database, resource: str, name: str) -> None:
    sql = sqlite.queries(resource)
    rows = await sqlite.rows(f"EXPLAIN QUERY PLAN {sql[name]}", VALUES)

    plan = "\n".join(str(row[-1]) for row in rows)
    assert EXPECTED_INDEXES[resource, name] in plan
    if not name.startswith("by_"):
        assert "TEMP B-TREE" not in plan
