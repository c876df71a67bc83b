"""A distributed database sends each statement to the node of one account, except listed sweeps."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import asyncpg
import pytest

from bowerbird.storage import queries
from bowerbird.storage.accounts.credentials import DeviceStore
from bowerbird.storage.bookmarks.filters import FRAGMENTS
from tests.storage.test_catalogue import CONTROL, LIBRARY, POSTGRES_COLUMNS
from tests.storage.test_query_plans import Watched
from tests.support import databases, make, service
from tests.support.engines import routing
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio

SWEEPS = {
    # A worker looks for accounts with something to do; what it then does is limited to each.
    ("accounts", "partly_deleted"): "accounts whose deletion was interrupted",
    ("connections", "due_accounts"): "accounts whose sources are to be read",
    ("digests", "due_accounts"): "accounts whose digest is to be written",
    ("links", "due_accounts"): "accounts with links whose text is to be read",
    ("media", "due_accounts"): "accounts with images to download",
    ("media", "accounts_with_files"): "accounts with images that may have to be deleted",
    ("rules", "due_accounts"): "accounts whose rules are to run",
    ("sweeping", "next_accounts"): "accounts with expired rows",
    ("vectors", "accounts_to_build"): "accounts with posts to embed",
    ("vectors", "expired"): "vectors that are no longer needed",
    ("vectors", "update_unpaid_since"): "since when accounts no longer pay for vectors",
    ("webhooks", "due_accounts"): "accounts with events to send to webhooks",
    ("webhooks", "waiting_accounts"): "accounts with messages to send by hand",
    ("word_counts", "japanese_accounts"): "accounts with posts in Japanese",
    ("word_counts", "due_accounts"): "accounts with words to count",
    # The job queue is one for all accounts. A claim is limited to the account that it chose.
    ("jobs", "next_priority"): "the most urgent jobs",
    ("jobs", "turns"): "the accounts whose jobs are due",
    ("jobs", "unfinished_of_kind"): "how long the queue is",
    ("jobs", "due_to_expire"): "files to delete",
    ("jobs", "accounts_with_old"): "accounts with finished jobs to delete",
    ("jobs", "counts"): "metrics",
    ("jobs", "counts_unfinished"): "metrics",
    # Commands and pages of the operator.
    ("accounts", "every_account"): "the list of accounts",
    ("accounts", "other_account"): "whether there is another account",
    ("accounts", "renew_epochs"): "after a restore",
    ("media", "totals"): "how many images are kept",
    ("media", "room_used"): "how many images are kept",
    ("jobs", "queue"): "whether jobs are due that nothing runs",
    ("jobs", "owner"): "a job by its id alone",
    ("jobs", "latest"): "the list of jobs",
    ("jobs", "open_page"): "the operator's page",
    ("vectors", "page"): "the operator's page",
    ("sunset_notices", "callers_of_version"): "whom to tell that a version ends",
    ("version_use", "callers"): "which versions are in use",
    # `bowerbird check` looks for rows without an account.
    ("checks", "libraries_without_person"): "accounts without a person",
    ("checks", "leftovers"): "rows without an account",
    ("checks", "leftover_contents"): "rows without an account",
    ("checks", "leftover_words"): "rows without an account",
    ("checks", "delete_leftovers"): "rows without an account",
    ("checks", "delete_leftover_contents"): "rows without an account",
    ("checks", "delete_leftover_words"): "rows without an account",
}
# The control tables stay on the coordinator, so these statements need it and another node.
WITH_CONTROL_TABLES = {
    # Requests.
    ("accounts", "membership"),
    ("identities", "insert"),
    ("sessions", "by_token"),
    # Lists and checks of the operator.
    ("accounts", "every_account"),
    ("accounts", "page"),
    ("accounts", "partly_deleted"),
    ("accounts", "starting_with"),
    *(("checks", name) for _, name in SWEEPS if name.startswith(("leftover", "delete_leftover"))),
    ("checks", "libraries_without_person"),
    ("jobs", "open_page"),
    ("sunset_notices", "callers_of_version"),
    ("vectors", "page"),
}
# Parts of other statements, which are checked there.
PARTS = {("authors", "of_handle"), ("authors", "of_name"), ("checks", "label_names")}
STATEMENT = re.compile(r"\(?(WITH|SELECT|INSERT|UPDATE|DELETE)\b")
LISTS: list[dict[str, str]] = [
    {},
    {"q": "nest"},
    {"q": '"bottle caps" -nest (bower OR wall) from:mara label:birds is:unread has:note'},
    {"author": "mara,other", "label": "birds,walls", "media_type": "image"},
    {"unlabelled": "true", "has_note": "true", "posted_after": "2026-01-01"},
    {
        "has": "highlight,link",
        "is_gone": "false",
        "is_duplicate": "true",
        "linked_site": "a.example",
    },
    {"min_words": "2", "max_words": "9", "min_likes": "3", "is_reply": "true", "is_thread": "true"},
    {"sort_by": "posted_at", "sort_order": "asc", "is_unread_only": "false"},
]


def statements() -> dict[tuple[str, str], str]:
    """Every named statement of PostgreSQL, complete, with all filters where some are possible."""
    found = {}
    bookmarks = queries.load("bookmarks", "postgres")
    filters = [sql for name, sql in bookmarks.items() if name.startswith("filter_")]
    for resource, own in queries.every("postgres").items():
        parts = {
            "columns": "t.name",
            "rendered": "c.rendering",
            **dict.fromkeys(("updated", "flags", "untagged", "tags"), "00"),
            "filters": " AND ".join([*FRAGMENTS.values(), *filters]),
            "condition": "TRUE",
            "direction": "DESC",
            "sort": "b.sort_index",
            "media": "count(*)",
            "networks": "65280",
            "same": "text",
            "words": ":words",
            "labels": ":labels",
            "table": "bookmark",
            "key": "account_id, number",
            **(DeviceStore.table if resource == "credentials" else {}),
        }
        for name, sql in own.items():
            if STATEMENT.match(sql) and (resource, name) not in PARTS:
                found[resource, name] = complete(sql, parts)
    return found


def complete(sql: str, parts: Mapping[str, str]) -> str:
    while (filled := re.sub(r"\{(\w+)(?:\[\d\])?\}", lambda part: parts[part[1]], sql)) != sql:
        sql = filled
    return sql


@pytest.fixture
async def connection(postgres: ThrowawayPostgres) -> AsyncIterator[Any]:
    with postgres.fresh_database(databases.TEMPLATE) as url:
        connected = await asyncpg.connect(url)
        yield connected
        await connected.close()


async def distributed(connection: Any) -> dict[str, list[str]]:
    found = dict(await connection.fetch(POSTGRES_COLUMNS))
    return {table: columns for table, columns in found.items() if table in LIBRARY}


async def test_every_statement_but_listed_sweeps_is_limited_to_an_account(connection: Any) -> None:
    columns = await distributed(connection)
    unlimited = {}
    for name, sql in statements().items():
        if found := routing.unlimited(await routing.plan(connection, sql), columns):
            unlimited[name] = found

    assert {name: found for name, found in unlimited.items() if name not in SWEEPS} == {}
    assert SWEEPS.keys() - unlimited.keys() == set(), "these are limited to one account"


async def test_only_the_listed_statements_read_control_tables_with_others(connection: Any) -> None:
    mixed = set()
    for name, sql in statements().items():
        tables = routing.tables(await routing.plan(connection, sql))
        if tables & CONTROL and tables & LIBRARY:
            mixed.add(name)

    assert mixed == WITH_CONTROL_TABLES


def test_no_sweep_is_recursive() -> None:
    every = statements()
    assert len(every) > 550
    assert [name for name in SWEEPS if "RECURSIVE" in every[name]] == []


async def test_the_reads_of_lists_are_limited_to_one_account(
    postgres: ThrowawayPostgres, connection: Any
) -> None:
    columns = await distributed(connection)
    async with databases.fresh_postgres(postgres) as database:
        recorded: Any = Watched(database)
        built = await service.build(recorded)
        await built.alice.save_all([make.post(text="a nest", tags=["birds"], author="mara")])
        recorded.reads.clear()
        for parameters in LISTS:
            response = await built.alice.get("/v1/bookmarks", **parameters)
            assert response.status_code == 200, response.text

    unlimited = {
        sql: found
        for sql, _ in recorded.reads
        if (found := routing.unlimited(await routing.plan(connection, sql), columns))
    }

    assert len(recorded.reads) >= 2 * len(LISTS)
    assert unlimited == {}


async def test_a_statement_without_an_account_is_noticed(connection: Any) -> None:
    columns = await distributed(connection)
    examples = {
        "SELECT b.number FROM bookmark AS b WHERE b.post_id = :post_id": ["bookmark"],
        "SELECT b.number FROM bookmark AS b WHERE b.account_id > :account_id": ["bookmark"],
        "DELETE FROM job WHERE job_id = :job_id": ["job"],
        "SELECT b.number FROM bookmark AS b JOIN label AS l ON l.label_id = b.number"
        " WHERE b.account_id = :account_id": ["label"],
        "SELECT l.plan FROM library AS l WHERE l.account_id = (SELECT k.account_id"
        " FROM api_key AS k WHERE k.account_id = :account_id AND k.key_hash = :hash)": ["library"],
        "INSERT INTO api_call (account_id, month, calls) VALUES (7, 1, 1)": ["api_call"],
        "UPDATE bookmark SET is_read = TRUE WHERE account_id = :account_id": [],
        "SELECT c.tags FROM bookmark AS b JOIN content AS c ON c.account_id = b.account_id"
        " AND c.number = b.number WHERE b.account_id = :account_id": [],
    }

    found = {}
    for sql in examples:
        unlimited = routing.unlimited(await routing.plan(connection, sql), columns)
        found[sql] = [text.split(" of ")[1] for text in unlimited]

    assert found == examples
