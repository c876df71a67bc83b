"""The service of the sign-in tests, a real server, and what an extension does with a code."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from bowerbird.app import App
from bowerbird.storage.database import Database
from tests.support import serving
from tests.support.serving import Server
from tests.support.visiting import ORIGIN, Visitor
from tests.web.sessions import signed_in_state
from tests.web.sign_in.conftest import House, build

_LINE = re.compile(r"<code>([^<#]+)/#([0-9A-Z]{4}-[0-9A-Z]{4})</code>")


@pytest.fixture
def house(database: Database, tmp_path: Path) -> House:
    return build(database, tmp_path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("connect")) as running:
        running.run("account", "create", "me@example.com")
        yield running


@pytest.fixture(scope="module")
def state(server: Server) -> Any:
    return signed_in_state(server)


async def code_of(person: Visitor) -> str:
    """A code that the person has created on the page."""
    page = await person.send("/connect", "/connect")
    assert page.status_code == 200, page.text
    found = _LINE.search(page.text)
    assert found, page.text
    assert found[1] == ORIGIN
    return found[2]


async def redeem(
    service: App, code: Any, name: Any = "Chromium on Linux", address: str = "192.0.2.7"
) -> httpx.Response:
    return await sent(service, address, json={"code": code, "name": name})


async def sent(service: App, address: str = "192.0.2.7", **request: Any) -> httpx.Response:
    transport = httpx.ASGITransport(service.asgi, client=(address, 50_000))
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN) as client:
        return await client.request(request.pop("method", "POST"), "/connect/redeem", **request)
