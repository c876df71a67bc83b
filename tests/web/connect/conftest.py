"""The service of the sign-in tests, a real server, and what an extension does with a code."""

import re
from typing import Any

import httpx

from bowerbird.app import App
from tests.support.visiting import ORIGIN, Visitor

_LINE = re.compile(r"<code>([^<#]+)/#([0-9A-Z]{4}-[0-9A-Z]{4})</code>")


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
