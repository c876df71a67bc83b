"""Statements that few tests run otherwise."""

import pytest

from bowerbird.model.connections import (
    HOURLY_S,
    Connection,
    ConnectionState,
    Network,
    Problem,
)
from bowerbird.storage.accounts.account_removal import AccountRemoval
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.changes.bulk import BulkStore
from bowerbird.storage.connections import ConnectionStore
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.labels import LabelStore
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.links import LinkStore
from bowerbird.storage.media import MediaStore
from tests.support import databases, make, writing
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Member, Service
from tests.support.working import new_account

pytestmark = pytest.mark.anyio

# What `leave_run` reads of a connection is its id and its run.
GONE = Connection(
    connection_id="gone",
    network=Network.BLUESKY,
    server="https://example.com",
    source_user_id="",
    name="",
    state=ConnectionState.ACTIVE,
    problem=Problem.NONE,
    sealed=b"",
    version=1,
    interval_s=HOURLY_S,
    run_id="run",
    failures=0,
    next_run_at=0,
    last_run_at=None,
    new=0,
    changed=0,
    total=0,
    posts_per_day=0,
    spent_day=0,
    spent=0,
    folders_day=0,
    created_at=0,
)


async def test_accounts_are_counted(database: Database, alice: Member, bob: Member) -> None:
    assert alice.account_id != bob.account_id

    assert await AccountStore(database).count() == 3


async def test_nothing_is_swept_without_changes_there(database: Database, alice: Member) -> None:
    store, libraries = BulkStore(database), LibraryStore(database)

    async def sweep(transaction: Transaction) -> int:
        library = await libraries.lock(transaction, alice.account_id)
        return await store.sweep(library, now=1, stopped_before=1, most=10)

    assert await database.write(sweep, alice.account_id) == 0


async def test_hosts_that_were_not_asked_for_long_are_forgotten(database: Database) -> None:
    store = LinkStore(database)
    await database.write(lambda transaction: store.take_turn(transaction, "old.example", 1, 2))
    await database.write(lambda transaction: store.take_turn(transaction, "new.example", 8, 9))

    some = await database.write(lambda transaction: store.forget_hosts(transaction, 5))
    more = await database.write(lambda transaction: store.forget_hosts(transaction, 5))

    assert (some, more) == (True, False)
    assert [await store.next_turn(host) for host in ("old.example", "new.example")] == [0, 9]


async def test_accounts_without_images_can_be_postponed(database: Database, alice: Member) -> None:
    store = MediaStore(database)

    await database.write(
        lambda transaction: store.postpone_account(Writable(transaction, alice.account_id), 5),
        alice.account_id,
    )

    assert await store.due_accounts(0, 10, now=1, looked_before=0, quota=1, is_on=True) == []


async def test_the_run_of_a_removed_connection_can_end(database: Database, alice: Member) -> None:
    store = ConnectionStore(database)

    await store.leave_run(alice.account_id, GONE)

    assert await store.all(alice.account_id) == []


# Without these, only plans are left that evaluate the subquery repeatedly.
DISABLED_PLANS = ("hashjoin", "mergejoin", "hashagg", "sort", "material", "memoize")
FILL = {
    "idempotency": (
        "INSERT INTO idempotency (account_id, idempotency_key, fingerprint, status, headers, body,"
        " created_at) VALUES (:account_id, :name, 'x', 200, '', 'x', :at)"
    ),
    "trash": (
        "INSERT INTO trash (account_id, post_id, bookmark, trashed_at)"
        " VALUES (:account_id, :name, 'x', :at)"
    ),
}


@pytest.mark.parametrize(
    ("table", "statement"), [("idempotency", "forget_old"), ("trash", "empty")]
)
async def test_a_removal_respects_its_limit(
    postgres: ThrowawayPostgres, table: str, statement: str
) -> None:
    async with databases.fresh_postgres(postgres) as database:
        account_id = await new_account(database)
        assert await removed(database, account_id, table, statement) == ["00", "01"]


async def removed(database: Database, account_id: int, table: str, statement: str) -> list[str]:
    async def work(transaction: Transaction) -> list[str]:
        for at in range(40):
            values = {"account_id": account_id, "name": f"{at:02}", "at": at}
            await transaction.run(FILL[table], values)
        for part in DISABLED_PLANS:
            await transaction.run(f"SET LOCAL enable_{part} = off", {})
        values = {"account_id": account_id, "before": 1_000, "most": 2, "most_bytes": 1_000}
        rows = await transaction.rows(database.queries(table)[statement], values)
        return sorted(row[0] for row in rows)

    return await database.write(work)


async def test_the_labels_of_a_removed_account_go_a_few_at_a_time(alice: Member) -> None:
    await writing.create_labels(alice, 120)
    removal = AccountRemoval(alice.database, alice.account_id)
    left = []

    while await removal.remove_other_rows(50):
        left.append(await LabelStore(alice.database).count(alice.account_id))

    assert left == [70, 20, 0]


async def test_posts_are_joined_as_a_list_shows_them(cast: Service, database: Database) -> None:
    texts = ["plain", 'quoted "text"; {"a": 1}', "日本語 😀 \\u0041", "x" * 20_000]
    posts = [
        make.post(text=text, is_read=is_read, tags=tags)
        for text in texts
        for is_read in (False, True)
        for tags in (None, ["Later", 'A "b"'])
    ]
    await cast.alice.save_all(posts)
    await cast.bob.save_all([make.post(text="of another account")])
    account, store = await cast.alice.account(), BookmarkStore(database)
    numbers = [7, 3, 16, 1, 99, 2, 15]

    joined = await store.joined_contents(account, numbers)

    assert (joined, len(numbers) - 1) == await store.contents(account, numbers)
    assert b"another account" not in joined


async def test_posts_that_do_not_exist_are_left_out(cast: Service, database: Database) -> None:
    store = BookmarkStore(database)

    assert await store.joined_contents(await cast.alice.account(), [1, 2]) == b""
