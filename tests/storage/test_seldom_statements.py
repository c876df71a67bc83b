"""Statements that only whole servers run otherwise."""

import pytest

from bowerbird.model.connections import HOURLY_S, Connection, ConnectionState, Network, Problem
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bulk import BulkStore
from bowerbird.storage.connections import ConnectionStore
from bowerbird.storage.database import Database
from bowerbird.storage.media import MediaStore
from tests.support.service import Member

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


async def test_nothing_is_swept_from_an_account_without_changes(
    database: Database, alice: Member
) -> None:
    store = BulkStore(database)

    removed = await database.write(
        lambda transaction: store.sweep(
            transaction, alice.account_id, now=1, stopped_before=1, most=10
        ),
        alice.account_id,
    )

    assert removed == 0


async def test_an_account_without_images_can_be_postponed(
    database: Database, alice: Member
) -> None:
    store = MediaStore(database)

    await database.write(
        lambda transaction: store.postpone_account(transaction, alice.account_id, 5),
        alice.account_id,
    )

    assert await store.due_accounts(0, 10, now=1, looked_before=0, quota=1, is_on=True) == []


async def test_the_run_of_a_connection_that_was_removed_can_be_left(
    database: Database, alice: Member
) -> None:
    store = ConnectionStore(database)

    await store.leave_run(alice.account_id, GONE)

    assert await store.all(alice.account_id) == []
