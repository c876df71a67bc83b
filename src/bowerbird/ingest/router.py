"""Finds the handler of a path under /ingest/v1, and serves the surface."""

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

from msgspec import Struct
from starlette.routing import compile_path
from starlette.types import Receive

from bowerbird.ingest.operations import PREFIX
from bowerbird.model.accounts import Account
from bowerbird.wire import router
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import (
    MAX_BODY_BYTES,
    Authenticate,
    Handler,
    Pipeline,
    Request,
    RoutedPath,
    Surface,
)
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import CORS, Reply
from bowerbird.wire.routes import NOBODY, Operation

DOCUMENT: Final = f"{PREFIX}/openapi.json"


class IngestCall(Struct, frozen=True):
    """One request as a handler sees it. The handler receives the body."""

    account: Account
    method: str
    path: str
    query_string: bytes
    path_params: dict[str, Any]
    headers: dict[bytes, bytes]
    receive: Receive


IngestHandler = Callable[[IngestCall], Awaitable[Reply]]


class IngestRoute(Struct, frozen=True):
    operation: Operation
    handle: IngestHandler
    max_body_bytes: int = MAX_BODY_BYTES


def serve(
    routes: Sequence[IngestRoute],
    document: Callable[[], bytes],
    *,
    authenticate: Authenticate,
    metrics: RequestMetrics,
    upgrade_url: str,
) -> Pipeline:
    """`document` returns the OpenAPI document, which needs no token."""
    paths = _paths(routes)
    paths.append(_document_path(document))
    surface = Surface(
        routes=[(route.operation.method, route.operation.path) for route in routes],
        find=partial(_find, [(compile_path(path.route)[0], path) for path in paths]),
        phrase_refusal=lambda refused, _: envelope.refusal(refused, upgrade_url),
        extra_headers=lambda _request, _reply: CORS,
        preflight=router.preflight,
        authenticate=authenticate,
    )
    return Pipeline(surface, metrics)


def _find(
    patterns: Sequence[tuple[re.Pattern[str], RoutedPath]], text: str
) -> tuple[RoutedPath | None, dict[str, Any]]:
    for pattern, path in patterns:
        if match := pattern.fullmatch(text):
            return path, match.groupdict()
    return None, {}


def _paths(routes: Sequence[IngestRoute]) -> list[RoutedPath]:
    by_path: dict[str, list[IngestRoute]] = {}
    for route in routes:
        by_path.setdefault(route.operation.path, []).append(route)
    paths = []
    for template, rows in by_path.items():
        handlers: dict[str, Handler] = {}
        for row in rows:
            is_read = row.operation.method == "GET"
            for method in ("GET", "HEAD") if is_read else (row.operation.method,):
                handlers[method] = partial(_run, row.handle)
        allow = ", ".join([*handlers, "OPTIONS"])
        most = max(row.max_body_bytes for row in rows)
        paths.append(RoutedPath(template, handlers, allow, max_body_bytes=most))
    return paths


async def _run(handle: IngestHandler, request: Request) -> Reply:
    call = IngestCall(
        account=request.account or NOBODY,
        method=request.method,
        path=request.path,
        query_string=request.scope["query_string"],
        path_params=request.path_params,
        headers=request.headers,
        receive=request.receive,
    )
    return await handle(call)


def _document_path(document: Callable[[], bytes]) -> RoutedPath:
    async def handle(_: Request) -> Reply:
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-cache")]
        return Reply(200, headers, document())

    return RoutedPath(
        DOCUMENT, {"GET": handle, "HEAD": handle}, "GET, HEAD, OPTIONS", is_public=True
    )
