"""The application serves every operation of the published table once, and nothing else."""

from collections import Counter

import httpx
import pytest

from bowerbird import app
from bowerbird.openapi import sandbox_routes
from bowerbird.openapi.operations import OPERATIONS, PATH_EXAMPLES
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.wire.routes import Operation
from tests.support.service import SetClock

pytestmark = pytest.mark.anyio

ROUTES = [(one.method, one.path) for one in OPERATIONS]
IN_SANDBOX = [
    (one.method, sandbox_routes.moved(one.path)) for one in OPERATIONS if one.is_in_sandbox
]


async def test_every_operation_is_served_once_and_nothing_else(sqlite: Database) -> None:
    built = app.build(Settings(), sqlite, SetClock())

    assert Counter(built.routes) == Counter([*ROUTES, *IN_SANDBOX])
    assert max(Counter(built.routes).values()) == 1


async def test_without_the_sandbox_only_its_operations_are_missing(sqlite: Database) -> None:
    built = app.build(Settings(sandbox="off"), sqlite, SetClock())

    assert Counter(built.routes) == Counter(ROUTES)


def test_no_two_operations_have_the_same_name() -> None:
    assert max(Counter(one.name for one in OPERATIONS).values()) == 1


async def test_the_application_allows_the_methods_of_its_table_per_path(sqlite: Database) -> None:
    built = app.build(Settings(), sqlite, SetClock())
    transport = httpx.ASGITransport(built.asgi)

    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        for method, path in (*ROUTES, *IN_SANDBOX):
            response = await client.options(path.format(**PATH_EXAMPLES))
            assert method in response.headers["allow"].split(", "), path


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_only_a_write_has_a_body(operation: Operation) -> None:
    assert operation.body is None or operation.method in ("POST", "PATCH")
    # With preview=true it is a read of what is not saved.
    may_read = operation.method == "GET" or operation.name == "saveBookmarks"
    assert operation.query is None or may_read
