"""The website in this process, and a real server with a real browser."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from bowerbird import app
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from tests.support import serving
from tests.support.service import SetClock
from tests.support.serving import Server
from tests.web.chromium import Chromium

# Settings behind a reverse proxy with three host names.
PROXIED: dict[str, Any] = {
    "base_url": "https://api.example.org",
    "site_url": "https://posts.example.org",
    "mcp_url": "https://tools.example.org/mcp",
}

OpenSite = Callable[..., Awaitable[httpx.AsyncClient]]


@pytest.fixture
async def open_site(sqlite: Database) -> AsyncIterator[OpenSite]:
    """Opens a client of the whole application with the given settings."""
    async with AsyncExitStack() as stack:

        async def client(clock: SetClock | None = None, **settings: Any) -> httpx.AsyncClient:
            configured = Settings(**settings)
            service = app.build(configured, sqlite, clock or SetClock())
            transport = httpx.ASGITransport(service.asgi)
            address = urlsplit(configured.site_origin)
            opened = httpx.AsyncClient(
                transport=transport, base_url=f"{address.scheme}://{address.netloc}"
            )
            return await stack.enter_async_context(opened)

        yield client


@pytest.fixture
async def site(open_site: OpenSite) -> httpx.AsyncClient:
    """The website behind a reverse proxy with three host names."""
    return await open_site(**PROXIED, operator_contact="ops@example.org")


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("site")) as server:
        yield server


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser
