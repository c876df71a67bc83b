"""A person with a browser, without the browser: keeps cookies and sends forms as a browser does."""

import re
from dataclasses import dataclass
from html import unescape
from typing import Any

import httpx

from bowerbird.app import App

ORIGIN = "http://localhost:8080"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')


@dataclass
class Visitor:
    """Someone who visits the website of a service."""

    client: httpx.AsyncClient
    origin: str = ORIGIN

    async def open(self, path: str) -> httpx.Response:
        """A page, after redirects."""
        return await self.client.get(path, follow_redirects=True)

    async def send(self, path: str, page: str, **fields: Any) -> httpx.Response:
        """Opens a page, then sends one of its forms to a path. Redirects are not followed."""
        shown = await self.open(page)
        return await self.post(path, csrf=form_token(shown.text), **fields)

    async def post(
        self, path: str, *, headers: dict[str, str] | None = None, **fields: Any
    ) -> httpx.Response:
        """Sends a form with exactly these fields."""
        sent = {"Origin": self.origin, **(headers or {})}
        return await self.client.post(path, data=fields, headers=sent)

    @property
    def session(self) -> str:
        """The cookie of the session, or ''."""
        found = [v for n, v in self.client.cookies.items() if n.endswith("-session")]
        return found[0] if found else ""


def visitor(service: App, origin: str = ORIGIN, address: str = "192.0.2.7") -> Visitor:
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(service.asgi, client=(address, 50_000)),
        base_url=origin,
        headers={"User-Agent": FIREFOX, "Accept": "text/html"},
    )
    return Visitor(client, origin)


def form_token(page: str) -> str:
    found = _TOKEN.search(page)
    assert found, page
    return unescape(found[1])
