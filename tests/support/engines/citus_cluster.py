"""A coordinator and two nodes of Citus that run as long as the tests on them.

    python -m tests.support.engines.citus_cluster FOLDER [ARGUMENT OF PYTEST…]

FOLDER has the programs of a PostgreSQL into which Citus was installed (`postgres`, `initdb`). The
servers reach each other by their Unix sockets; nothing listens on the network.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg

from bowerbird.storage import queries
from bowerbird.storage.postgres import schema
from bowerbird.storage.postgres.database import PostgresDatabase, open_pool
from tests.storage.test_routing import statements
from tests.support import service
from tests.support.engines.external_postgres import VARIABLE
from tests.support.postgres import SERVER_OPTIONS, ThrowawayPostgres

NODES: Final = 2
DATABASE: Final = "bowerbird_test"
ROOT: Final = Path(__file__).parents[3]
_SHARDS: Final = 8
_TESTS: Final = ("contract", "jobs", "library", "rest", "storage", "toolserver")
# About plans, locks and connections of one server.
_OTHER_TESTS: Final = ("catalogue", "postgres_limits", "postgres_stopping", "query_plans")
# Gives rows to another account, which no statement of the service does and Citus refuses.
_REFUSED_TEST: Final = "tests/library/media/test_keeping.py::test_images_of_no_account_are_found"
_OPTIONS: Final = (
    *(option for option in SERVER_OPTIONS if not option.startswith(("wal_level", "max_"))),
    "shared_preload_libraries=citus",
    "max_connections=300",
    "max_prepared_transactions=300",
    "max_locks_per_transaction=512",
    "max_worker_processes=32",
    "wal_level=logical",
    "citus.node_conninfo=sslmode=prefer",
)
# A value for each type of a parameter; what Citus thinks of a statement does not depend on it.
_VALUES: Final[dict[str, Any]] = {
    "int8": 1,
    "int4": 1,
    "float8": 1.0,
    "bool": True,
    "text": "[]",
    "bytea": b"{}",
    "int8[]": [1],
    "text[]": ["x"],
    "bytea[]": [b"x"],
    "bool[]": [True],
}
_REFUSED: Final = re.compile(r"distribut|shard|VOLATILE|not supported|data type of parameter")


@dataclass(frozen=True)
class Cluster:
    coordinator: ThrowawayPostgres
    nodes: list[ThrowawayPostgres]

    @property
    def url(self) -> str:
        return self.coordinator.url(DATABASE)

    def rows(self, statement: str) -> list[list[str]]:
        found = self.coordinator.execute(statement, DATABASE)
        return [line.split("|") for line in found.splitlines()]


@contextmanager
def cluster(binaries: Path, shards: int = _SHARDS, *options: str) -> Iterator[Cluster]:
    """A migrated and distributed database. `options` are settings of all servers."""
    with ExitStack() as running:
        servers = [
            running.enter_context(ThrowawayPostgres(binaries, options=(*_OPTIONS, *options)))
            for _ in range(NODES + 1)
        ]
        for server in servers:
            server.create_database(DATABASE)
            server.execute("CREATE EXTENSION citus", DATABASE)
            # Moves of shards connect to the server itself.
            server.execute(f"ALTER SYSTEM SET citus.local_hostname = '{server.folder}'")
            server.execute("SELECT pg_reload_conf()")
        coordinator, *nodes = servers
        coordinator.execute(
            f"SELECT citus_set_coordinator_host('{coordinator.folder}', 5432)", DATABASE
        )
        for node in nodes:
            coordinator.execute(f"SELECT citus_add_node('{node.folder}', 5432)", DATABASE)
        made = Cluster(coordinator, nodes)
        asyncio.run(schema.migrate(made.url))
        script = (ROOT / "deploy/citus.sql").read_text(encoding="utf-8")
        coordinator.execute(f"SET bowerbird.shards = {shards}; {script}", DATABASE)
        yield made


async def refused_statements(url: str) -> dict[tuple[str, str], str]:
    """Runs every statement of storage/sql, undoes it, and returns what Citus refused."""
    refused = {}
    database = PostgresDatabase(await open_pool(url, 1))
    await service.create_cast(database)
    await database.close()
    connection: Any = await asyncpg.connect(url)
    # Some are refused only if the account exists.
    account_id = await connection.fetchval("SELECT min(account_id) FROM library")
    for name, sql in statements().items():
        text, names = queries.numbered(sql)
        transaction = connection.transaction()
        await transaction.start()
        try:
            prepared = await connection.prepare(text)
            await prepared.fetch(
                *(
                    account_id if name == "account_id" else _VALUES.get(parameter.name)
                    for name, parameter in zip(names, prepared.get_parameters(), strict=True)
                )
            )
        except asyncpg.PostgresError as error:
            # Others are about the values.
            if _REFUSED.search(str(error)):
                refused[name] = str(error)
        await transaction.rollback()
    await connection.close()
    return refused


def main() -> int:
    folder, *arguments = sys.argv[1:]
    arguments = arguments or [
        *(f"tests/{name}" for name in _TESTS),
        *(f"--ignore=tests/storage/test_{name}.py" for name in _OTHER_TESTS),
        f"--deselect={_REFUSED_TEST}",
    ]
    with cluster(Path(folder).resolve()) as made:
        refused = asyncio.run(refused_statements(made.url))
        for (resource, name), why in refused.items():
            sys.stdout.write(f"{resource}.{name}: {why}\n")
        sys.stdout.write(f"{len(statements())} statements, {len(refused)} refused\n")
        sys.stdout.flush()
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:xdist", "-k", "postgres", *arguments],
            env={**os.environ, VARIABLE: made.url},
            check=False,
        )
    return int(bool(refused)) or ran.returncode


if __name__ == "__main__":
    sys.exit(main())
