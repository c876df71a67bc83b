"""A transaction sees the context variables of its caller, on whatever thread it runs."""

import asyncio
from contextvars import ContextVar

import pytest

from bowerbird.storage.database import Database, Transaction

pytestmark = pytest.mark.anyio

NAME: ContextVar[str] = ContextVar("name", default="nobody")


async def test_concurrent_writes_see_their_own_caller(database: Database) -> None:
    async def read(_: Transaction) -> str:
        return NAME.get()

    async def write_as(name: str) -> str:
        NAME.set(name)
        return await database.write(read)

    names = [f"caller {n}" for n in range(20)]

    assert await asyncio.gather(*map(write_as, names)) == names
    assert await database.write(read) == "nobody"
