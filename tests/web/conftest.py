"""The website in this process with its people, and a real server with a real browser."""

import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page

from bowerbird import app
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from tests.support import serving
from tests.support.hosts import smtp
from tests.support.hosts.smtp import MailServer
from tests.support.service import SetClock
from tests.support.serving import Server
from tests.web.chromium import Chromium
from tests.web.house import House, Reader, build, signed_in
from tests.web.sessions import signed_in_state

# Settings behind a reverse proxy with three host names.
PROXIED: dict[str, Any] = {
    "base_url": "https://api.example.org",
    "site_url": "https://posts.example.org",
    "mcp_url": "https://tools.example.org/mcp",
}

_numbers = itertools.count(1)

OpenSite = Callable[..., Awaitable[httpx.AsyncClient]]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object:
    """Runs a test that has a page in the thread of the browser, which must not complain."""
    if not {"page", "chromium"} <= set(pyfuncitem.funcargs):
        return None
    names = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001 - as pytest itself does
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    chromium = pyfuncitem.funcargs["chromium"]
    assert isinstance(chromium, Chromium)
    chromium.call(lambda: pyfuncitem.obj(**arguments))
    assert chromium.problems == []
    return True


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


@pytest.fixture
def house_settings() -> dict[str, Any]:
    """What a folder of tests sets for its service."""
    return {}


@pytest.fixture
def house(database: Database, tmp_path: Path, house_settings: dict[str, Any]) -> House:
    """A service without an owner."""
    return build(database, tmp_path, **house_settings)


@pytest.fixture
async def mail() -> AsyncIterator[MailServer]:
    async with smtp.mail_server() as server:
        yield server


@pytest.fixture
def mailing(database: Database, tmp_path: Path, mail: MailServer) -> House:
    return build(database, tmp_path, smtp_url=mail.url, mail_from="Posts <posts@example.org>")


@pytest.fixture
async def ann(house: House) -> AsyncIterator[Reader]:
    reader = await signed_in(house, "ann@example.com")
    yield reader
    await reader.member.client.aclose()


@pytest.fixture
async def bob(house: House) -> AsyncIterator[Reader]:
    reader = await signed_in(house, "bob@example.com")
    yield reader
    await reader.member.client.aclose()


@pytest.fixture
async def free(house: House) -> AsyncIterator[Reader]:
    """Somebody with the free plan."""
    reader = await signed_in(house, "free@example.com", "free")
    yield reader
    await reader.member.client.aclose()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("site")) as server:
        yield server


@pytest.fixture(scope="module")
def server(served: Server) -> Server:
    """The server of a module's browser, unless the module needs other settings."""
    return served


@pytest.fixture(scope="module")
def posts() -> list[dict[str, Any]]:
    """The library of a module's account."""
    return []


@pytest.fixture(scope="module")
def email(
    request: pytest.FixtureRequest,
    server: Server,
    posts: list[dict[str, Any]],
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """The account of a module. A process may come back to a module, and then needs another one."""
    name = request.module.__name__.removeprefix("tests.web.")
    email = f"{name}.{next(_numbers)}@example.com"
    server.run("account", "create", email)
    if posts:
        file = tmp_path_factory.mktemp("posts") / "posts.json"
        file.write_text(json.dumps(posts))
        server.run("import", email, str(file))
    return email


@pytest.fixture(scope="module")
def options(server: Server, email: str) -> dict[str, Any]:
    """What the browser of a module starts with: the site, and the cookies of the account."""
    return {
        "base_url": f"http://localhost:{server.port}",
        "storage_state": signed_in_state(server, email),
    }


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    with Chromium() as browser:
        yield browser


@pytest.fixture
def page(
    request: pytest.FixtureRequest, chromium: Chromium, options: dict[str, Any]
) -> Iterator[Page]:
    """A page of the browser, with the options of the module and of the mark `browser`.

    `email` is one of them: a new account of the test's own.
    """
    marks = list(request.node.iter_markers("browser"))
    own = {name: value for mark in reversed(marks) for name, value in mark.kwargs.items()}
    if email := own.pop("email", ""):
        server: Server = request.getfixturevalue("server")
        server.run("account", "create", email)
        own["storage_state"] = signed_in_state(server, email)
    with chromium.opened(**{**options, **own}) as opened:
        yield opened
