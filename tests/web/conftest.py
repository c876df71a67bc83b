"""The site as tests meet it: in the process, and in a real browser against a real server."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from bowerbird import app
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from tests.support import serving
from tests.support.service import SetClock
from tests.support.serving import Server
from tests.web.chromium import Chromium

# What an operator sets behind a proxy that has a name for each part.
PROXIED: dict[str, Any] = {
    "base_url": "https://api.example.org",
    "site_url": "https://posts.example.org",
    "mcp_url": "https://tools.example.org/mcp",
}

Opened = Callable[..., Awaitable[httpx.AsyncClient]]


@pytest.fixture
async def opened(sqlite: Database) -> AsyncIterator[Opened]:
    """Opens a client of the whole application with these settings."""
    async with AsyncExitStack() as stack:

        async def client(clock: SetClock | None = None, **settings: Any) -> httpx.AsyncClient:
            service = app.build(Settings(**settings), sqlite, clock or SetClock())
            transport = httpx.ASGITransport(service.asgi)
            # A name that is in no setting: nothing may be made from it.
            made = httpx.AsyncClient(transport=transport, base_url="http://inside.internal")
            return await stack.enter_async_context(made)

        yield client


@pytest.fixture
async def site(opened: Opened) -> httpx.AsyncClient:
    """A site behind a proxy, each part under a name of its own."""
    return await opened(**PROXIED, operator_contact="ops@example.org")


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("site")) as server:
        yield server


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser
