"""A sweep removes no more rows than its limit, whatever plan PostgreSQL chooses."""

import pytest

from bowerbird.storage.accounts.account_removal import AccountRemoval
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.labels import LabelStore
from tests.support import databases, writing
from tests.support.postgres import ThrowawayPostgres
from tests.support.service import Member
from tests.support.working import new_account

pytestmark = pytest.mark.anyio

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
