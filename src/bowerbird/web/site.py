"""Serves the site: looks a path up, answers, and writes one line of log."""

import asyncio
import itertools
import secrets
import time
from collections.abc import Callable, Collection
from typing import Final

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from bowerbird.clock import Clock
from bowerbird.settings import Settings
from bowerbird.web.reference import Route
from bowerbird.web.schema_rows import Json
from bowerbird.web.site_paths import Maker, Resource, SitePaths
from bowerbird.wire import documents
from bowerbird.wire.answer_cache import RequestTarget
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.replies import Header, Reply

_READS: Final = frozenset({"GET", "HEAD"})
_PLAIN: Final[list[Header]] = [
    (b"content-type", b"text/plain; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"vary", b"Accept"),
    (b"x-content-type-options", b"nosniff"),
    (b"access-control-allow-origin", b"*"),
]
# Its validity is counted from today, so it is made each time.
_NEVER_KEPT: Final = "/.well-known/security.txt"


def site(
    settings: Settings,
    openapi: Callable[[], Json],
    sandbox: Collection[Route],
    clock: Clock,
    measures: RequestMetrics,
) -> ASGIApp:
    """Everything outside /v1 and the tool server.

    `openapi` makes the API's document; `sandbox` names the routes that can be tried there, by
    method and path of the real ones; none when there is no sandbox.
    """
    return _Site(SitePaths(settings, openapi, sandbox, clock), measures)


class _Site:
    def __init__(self, resources: SitePaths, measures: RequestMetrics) -> None:
        self._resources = resources
        self._measures = measures
        self._table: dict[str, Maker] | None = None
        self._made: dict[str, Resource] = {}
        self._id_start = secrets.token_hex(6)
        self._id_count = itertools.count(1)
        self._log = structlog.get_logger()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - no path reads a body
        started = time.perf_counter()
        request_id = f"{self._id_start}-{next(self._id_count)}"
        route, reply = await self._reply(scope, request_id)
        headers = [*reply.headers, (b"x-request-id", request_id.encode())]
        if reply.status not in (204, 304):
            headers.append((b"content-length", b"%d" % len(reply.body)))
        body = b"" if scope["method"] == "HEAD" else reply.body
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        seconds = time.perf_counter() - started
        self._measures.observe(route, scope["method"], reply.status, seconds)
        self._log.info(
            "request",
            id=request_id,
            method=scope["method"],
            route=route,
            status=reply.status,
            ms=round(seconds * 1000, 2),
            bytes=len(reply.body),
        )

    async def _reply(self, scope: Scope, request_id: str) -> tuple[str, Reply]:
        """The route that the log names, and the answer; a fault of ours tells a reference only."""
        try:
            return await self._answer(scope)
        except Exception:  # noqa: BLE001 - whatever it is, the caller gets an answer
            self._log.exception("fault", reference=request_id, route="site")
            sentence = f"Something went wrong on our side. Reference: {request_id}\n"
            return "site", Reply(500, list(_PLAIN), sentence.encode())

    async def _answer(self, scope: Scope) -> tuple[str, Reply]:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        path, method = scope["path"], scope["method"]
        asked = RequestTarget(
            path=path,
            query_string=b"",
            accept_encoding=headers.get(b"accept-encoding", b""),
            if_none_match=headers.get(b"if-none-match"),
        )
        if self._table is None:
            # Reading the API's document and every static file is too long for the loop.
            self._table = await asyncio.to_thread(self._resources.table)
        maker = self._table.get(path)
        if maker is None:
            return "unknown", await self._missing(asked, headers.get(b"accept", b""))
        if method == "OPTIONS":
            return path, documents.preflight()
        if method not in _READS:
            allowed = [(b"allow", documents.METHODS)]
            sentence = b"This address can only be read: GET or HEAD.\n"
            return path, Reply(405, [*_PLAIN, *allowed], sentence)
        return path, (await self._resource(path, maker)).answer(asked)

    async def _resource(self, path: str, maker: Maker) -> Resource:
        if path == _NEVER_KEPT:
            return await asyncio.to_thread(maker)
        if path not in self._made:
            self._made[path] = await asyncio.to_thread(maker)
        return self._made[path]

    async def _missing(self, asked: RequestTarget, accept: bytes) -> Reply:
        if b"text/html" not in accept.lower():
            return Reply(
                404, list(_PLAIN), b"There is nothing here. Start at /llms.txt or /docs.\n"
            )
        return (await self._resource("", self._resources.missing)).answer(asked)
