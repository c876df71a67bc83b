"""A server for each test, with bounds that a test does not reach by accident."""

from collections.abc import AsyncIterator

import pytest

from tests.support.programs import raw_http
from tests.support.programs.raw_http import Client, RawServer


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """The event loop that `bowerbird serve` uses."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture
async def server() -> AsyncIterator[RawServer]:
    async with raw_http.serving(stop_timeout_s=0) as running:
        yield running


@pytest.fixture
async def client(server: RawServer) -> Client:
    return await server.connect()
