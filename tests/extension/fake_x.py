"""A stand-in for X on loopback: its pages, its GraphQL operations, and what they change.

The page's own script (pages/client.js) asks for posts as X's does, with the headers and cookies
of a signed-in person. The GraphQL operations refuse requests without them.
"""

import asyncio
import json
import math
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs

from tests.extension import loopback, x_answers
from tests.extension.loopback import Loopback, Request
from tests.extension.patience import PATIENCE_S
from tests.extension.x_account import World
from tests.support.hosts.loopback import certificate
from tests.support.waiting import until

PAGES: Final = Path(__file__).parent / "pages"
X: Final = "https://x.com"
EVIL: Final = "evil.example"
# Other networks, whose post pages are played too.
MASTODON: Final = "mastodon.example"
BLUESKY: Final = "bsky.app"
HOSTS: Final = ("x.com", "twitter.com", EVIL, MASTODON, BLUESKY)
SIGN_IN: Final = "/i/flow/login"

# A test looks for these in everything that the library's server receives.
AUTHORIZATION: Final = "Bearer AAAAAAAAfakeauthorization3bdd6a"
CSRF: Final = "fakecsrf81c04b2e"
SESSION: Final = "fakesession5f7a9d"
SECRETS: Final = (AUTHORIZATION.split()[1], CSRF, SESSION)

_SCRIPTS: Final = {"/client.js": "client.js", "/hostile.js": "hostile.js"}
_POLICY: Final = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; img-src 'self' data:; frame-src 'self' https://evil.example; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; worker-src 'self' blob:"
)


class Asked(NamedTuple):
    """A request for a GraphQL operation."""

    operation: str
    variables: dict[str, Any]
    # Whether the page's own script sent it.
    is_of_page: bool


@dataclass
class Limit:
    """After so many pages of the list, X shows none for so many seconds."""

    pages: int
    lasts_s: float
    shown: int = 0
    resets_at: int = 0
    # How often it was reached.
    reached: int = 0

    def is_reached(self) -> bool:
        if self.shown < self.pages:
            self.shown += 1
            return False
        if not self.resets_at:
            self.resets_at = math.ceil(time.time() + self.lasts_s)
            self.reached += 1
        if time.time() < self.resets_at:
            return True
        self.shown, self.resets_at = 1, 0
        return False


@dataclass
class FakeX:
    world: World = field(default_factory=World)
    operation_ids: dict[str, str] = field(default_factory=lambda: dict(x_answers.OPERATION_IDS))
    # How long each answer takes.
    delay_s: float = 0.0
    # The page of bookmarks after this many posts waits until the number is raised.
    most_listed: int | None = None
    limit: Limit | None = None
    # Answers with this status instead, such as 429, and with this number of an error.
    failing_with: int = 0
    failing_code: int = 0
    # Pages lead to the one where people sign in.
    is_signed_out: bool = False
    # Answers with this error instead, in the form of GraphQL. Each has an id of its own.
    reporting: str = ""
    has_trace_ids: bool = True
    # New names of fields, which the script of its pages knows.
    renamed: dict[str, str] = field(default_factory=dict)
    # New names of operations.
    operation_names: dict[str, str] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    # Hosts that a browser wanted to reach through the proxy, and that are not played here.
    refused: list[str] = field(default_factory=list)
    port: int = 0
    proxy_port: int = 0
    certificate: Path = Path()

    def change_operation_ids(self) -> None:
        self.operation_ids = {name: secrets.token_urlsafe(16) for name in self.operation_ids}

    def asked_for(self, operation: str) -> list[dict[str, Any]]:
        return [asked.variables for asked in self.asked if asked.operation == operation]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            request = await loopback.read_request(reader)
            writer.write(await self._answer(request))
            await writer.drain()

    async def proxy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Leads connections with the hosts that are played here to their server."""
        request = await loopback.read_request(reader)
        host = request.target.partition(":")[0]
        if request.method != "CONNECT" or host not in HOSTS:
            self.refused.append(request.target)
            writer.write(_http(b"", "502 Bad Gateway"))
            return
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(
            loopback.pump(reader, inner_writer), loopback.pump(inner_reader, writer)
        )

    async def _answer(self, request: Request) -> bytes:
        path = request.url.path
        if request.host not in ("x.com", "twitter.com"):
            return _http(_other_page(request.host).encode())
        if path in _SCRIPTS:
            kind = "Content-Type: text/javascript; charset=utf-8\r\n"
            return _http((PAGES / _SCRIPTS[path]).read_bytes(), headers=kind)
        if path.startswith("/i/api/graphql/"):
            return await self._graphql(request)
        if request.method != "GET" or path == "/favicon.ico":
            return _http(b"", "404 Not Found")
        if self.is_signed_out or path == SIGN_IN:
            return _sign_in(path)
        return self._page("hostile.js" if path == "/hostile" else "client.js")

    async def _graphql(self, request: Request) -> bytes:
        *_, operation_id, name = request.url.path.split("/")
        old_names = {new: old for old, new in self.operation_names.items()}
        operation = old_names.get(name, name)
        if request.method == "GET":
            variables = json.loads(parse_qs(request.url.query)["variables"][0])
        else:
            variables = json.loads(request.body)["variables"]
        is_of_page = "x-client-transaction-id" in request.headers
        self.asked.append(Asked(operation, variables, is_of_page))
        if self.operation_ids.get(operation) != operation_id:
            return _http(b"", "404 Not Found")
        if not _is_signed_in(request):
            return _json({"errors": [{"code": 353, "message": "Forbidden."}]}, "403 Forbidden")
        if operation == "Bookmarks":
            await until(lambda: self._may_answer(variables), PATIENCE_S)
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        return self._refusal(operation) or _json(
            x_answers.answer(self.world, operation, variables, self.renamed)
        )

    def _refusal(self, operation: str) -> bytes | None:
        if self.failing_with and self.failing_code:
            error = {"code": self.failing_code, "message": "The test says so."}
            return _json({"errors": [error]}, f"{self.failing_with} Failed")
        if self.failing_with:
            return _http(b"Rate limit exceeded\n", f"{self.failing_with} Failed")
        if operation == "Bookmarks" and self.limit and self.limit.is_reached():
            resets = f"x-rate-limit-reset: {self.limit.resets_at}\r\n"
            return _http(b"Rate limit exceeded\n", "429 Too Many Requests", resets)
        if self.reporting:
            trace_id = secrets.token_hex(8) if self.has_trace_ids else "0" * 16
            error = {"message": self.reporting, "tracing": {"trace_id": trace_id}}
            return _json({"errors": [error], "data": {}})
        return None

    async def _may_answer(self, variables: dict[str, Any]) -> bool:
        below = x_answers.read_cursor(variables.get("cursor"))
        if below is None or self.most_listed is None:
            return True
        return sum(index >= below for index in self.world.viewer.saved.values()) < self.most_listed

    def _page(self, script: str) -> bytes:
        nonce = secrets.token_urlsafe(12)
        viewer = self.world.viewer
        user = {"id_str": viewer.id, "screen_name": viewer.username, "name": "Viewer"}
        state = {
            "entities": {"users": {"entities": {viewer.id: user}}},
            "session": {"user_id": viewer.id, "isActiveCreator": False},
            "fake": {
                "operationIds": self.operation_ids,
                "authorization": AUTHORIZATION,
                "folders": len(viewer.folders),
                "operationNames": self.operation_names,
                "renamed": self.renamed,
            },
        }
        text = json.dumps(state).replace("<", "\\u003c")
        html = (PAGES / "x.html").read_text(encoding="utf-8")
        for name, value in {"nonce": nonce, "state": text, "script": script}.items():
            html = html.replace(f"{{{{{name}}}}}", value)
        cookies = (
            f"auth_token={SESSION}; Secure; HttpOnly; Path=/; SameSite=None",
            f"ct0={CSRF}; Secure; Path=/; SameSite=Lax",
            f"twid=u%3D{viewer.id}; Secure; Path=/; SameSite=None",
        )
        headers = "".join(f"Set-Cookie: {cookie}\r\n" for cookie in cookies)
        headers += f"Content-Security-Policy: {_POLICY.format(nonce=nonce)}\r\n"
        headers += "Content-Type: text/html; charset=utf-8\r\n"
        return _http(html.encode(), headers=headers)


def _is_signed_in(request: Request) -> bool:
    headers = request.headers
    return (
        headers.get("authorization") == AUTHORIZATION
        and headers.get("x-csrf-token") == CSRF
        and f"auth_token={SESSION}" in headers.get("cookie", "")
    )


def _sign_in(path: str) -> bytes:
    if path == SIGN_IN:
        return _http(b"<!doctype html><title>Log in to X</title><p>Log in to X.</p>")
    return _http(b"", "302 Found", f"Location: {SIGN_IN}\r\n")


def _other_page(host: str) -> str:
    script = "onmessage = (event) => top.postMessage(event.data, '*')" if host == EVIL else ""
    return f"<!doctype html><title>A page of {host}</title><p>A post.</p><script>{script}</script>"


def _json(body: Any, status: str = "200 OK") -> bytes:
    kind = "Content-Type: application/json; charset=utf-8\r\n"
    return _http(json.dumps(body, ensure_ascii=False).encode(), status, kind)


def _http(body: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    if "Content-Type" not in headers:
        headers += "Content-Type: text/html; charset=utf-8\r\n"
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nCache-Control: no-store\r\n"
    return f"{head}{headers}\r\n".encode() + body


@contextmanager
def fake_x(folder: Path) -> Iterator[FakeX]:
    x = FakeX(certificate=folder / "hosts.crt")
    with Loopback() as servers:
        x.port = servers.listen(x.serve, certificate(folder, HOSTS))
        x.proxy_port = servers.listen(x.proxy)
        yield x
