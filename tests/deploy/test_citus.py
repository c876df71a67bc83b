"""deploy/citus.sql distributes every table. The functions of Citus are replaced by records."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.storage.test_catalogue import CONTROL, LIBRARY
from tests.support.databases import TEMPLATE
from tests.support.postgres import ThrowawayPostgres

pytestmark = pytest.mark.anyio

SCRIPT = Path(__file__).parents[2] / "deploy" / "citus.sql"
# With the signatures of Citus 12, and its list of distributed tables.
STAND_INS = """
CREATE TABLE pg_dist_partition (logicalrelid regclass, form text);
CREATE FUNCTION create_distributed_table(
    table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash',
    colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL) RETURNS void
LANGUAGE sql BEGIN ATOMIC
    INSERT INTO pg_dist_partition
    VALUES (table_name, concat_ws(' ', distribution_column, colocate_with, shard_count));
END;
CREATE FUNCTION citus_add_local_table_to_metadata(
    table_name regclass, cascade_via_foreign_keys boolean DEFAULT false) RETURNS void
LANGUAGE sql BEGIN ATOMIC
    INSERT INTO pg_dist_partition VALUES (table_name, 'local');
END;
"""


@pytest.fixture
async def connection(postgres: ThrowawayPostgres) -> AsyncIterator[Any]:
    with postgres.fresh_database(TEMPLATE) as url:
        connected = await asyncpg.connect(url)
        await connected.execute(STAND_INS)
        yield connected
        await connected.close()


async def run(connection: Any) -> dict[str, str]:
    await connection.execute(SCRIPT.read_text(encoding="utf-8"))
    rows = await connection.fetch("SELECT CAST(logicalrelid AS text), form FROM pg_dist_partition")
    assert len(rows) == len(dict(rows))
    return dict(rows)


async def test_every_table_is_distributed_or_stays_on_the_coordinator(connection: Any) -> None:
    found = await run(connection)

    assert {table for table, form in found.items() if form == "local"} == CONTROL
    assert found.pop("library") == "account_id default 32"
    distributed = {table for table, form in found.items() if form == "account_id library"}
    assert distributed == LIBRARY - {"library"}


async def test_a_second_run_changes_nothing(connection: Any) -> None:
    assert await run(connection) == await run(connection)


async def test_the_number_of_shards_can_be_chosen(connection: Any) -> None:
    await connection.execute("SET bowerbird.shards = '1024'")

    assert (await run(connection))["library"] == "account_id default 1024"


async def test_a_table_of_a_later_release_is_added_by_the_next_run(connection: Any) -> None:
    before = await run(connection)
    await connection.execute(
        "DELETE FROM pg_dist_partition WHERE logicalrelid IN ('label'::regclass, 'person')"
    )

    assert await run(connection) == before


async def test_no_foreign_key_leads_to_a_table_on_another_node(connection: Any) -> None:
    count = await connection.fetchval("SELECT count(*) FROM pg_constraint WHERE contype = 'f'")

    assert count == 0
