"""Serves HTTP/2 without TLS on a port of its own, for a reverse proxy that speaks it.

The main port speaks HTTP/1.1 only. This one is off unless it is set: it bounds headers and streams,
but leaves time-outs and the number of connections to the proxy.
"""

import asyncio
import contextlib
from typing import Final

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP2Settings
from granian.server.embed import Server
from starlette.types import ASGIApp, Receive, Scope, Send

from bowerbird.errors import Code, Refusal
from bowerbird.wire.request_ids import RequestIds
from bowerbird.wire.responses import unrouted

# URL and headers, as on the main port. Above it we answer, in the form of the API. granian cannot
# hold a URL of more than 65,534 bytes, and resets its stream.
MAX_HEAD_BYTES: Final = 64 * 1024
MAX_HEADERS: Final = 200
# Above this one granian answers, with an empty body. Counted after decompression: a few bytes of
# HTTP/2 can stand for megabytes of headers.
MAX_HEADER_BYTES: Final = 2 * MAX_HEAD_BYTES
_MAX_STREAMS: Final = 100
_MAX_CONNECTIONS: Final = 256
_PING_MS: Final = 30_000
_PING_TIMEOUT_S: Final = 20


async def serve(
    app: ASGIApp, address: str, port: int, *, stopping: asyncio.Event, stop_timeout_s: float
) -> None:
    """Serves until `stopping` is set, then lets current requests finish within the time-out."""
    server = Server(
        _refusing_large_heads(_with_joined_cookies(app)),
        address=address,
        port=port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http2,
        websockets=False,
        backpressure=_MAX_CONNECTIONS,
        http2_settings=HTTP2Settings(
            max_headers_size=MAX_HEADER_BYTES,
            max_concurrent_streams=_MAX_STREAMS,
            keep_alive_interval=_PING_MS,
            keep_alive_timeout=_PING_TIMEOUT_S,
        ),
        log_enabled=False,
    )
    serving = asyncio.create_task(server.serve())
    waiting = asyncio.create_task(stopping.wait())
    await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    server.stop()  # type: ignore[no-untyped-call] # granian has no annotation for it
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(serving, stop_timeout_s)


def _with_joined_cookies(app: ASGIApp) -> ASGIApp:
    """HTTP/2 may send every cookie in its own header (RFC 9113, 8.2.3); the app expects one."""

    async def joined(scope: Scope, receive: Receive, send: Send) -> None:
        headers = scope.get("headers", ())
        cookies = [value for name, value in headers if name == b"cookie"]
        if len(cookies) > 1:
            others = [(name, value) for name, value in headers if name != b"cookie"]
            scope = {**scope, "headers": [*others, (b"cookie", b"; ".join(cookies))]}
        await app(scope, receive, send)

    return joined


def _refusing_large_heads(app: ASGIApp) -> ASGIApp:
    ids = RequestIds()

    async def bounded(scope: Scope, receive: Receive, send: Send) -> None:
        headers = scope.get("headers", ())
        size = len(scope.get("raw_path") or b"") + len(scope.get("query_string", b""))
        size += sum([len(name) + len(value) for name, value in headers])
        if size <= MAX_HEAD_BYTES and len(headers) <= MAX_HEADERS:
            await app(scope, receive, send)
            return
        sentence = (
            f"The request's URL and headers are larger than {MAX_HEAD_BYTES // 1024} KiB."
            if size > MAX_HEAD_BYTES
            else f"The request has more than {MAX_HEADERS} headers."
        )
        reply = unrouted.refusal(Refusal(Code.INVALID_REQUEST, sentence), "", scope["path"])
        request_id = (b"x-request-id", ids.of(dict(headers)).encode())
        start = {"type": "http.response.start", "status": reply.status}
        await send({**start, "headers": [*reply.headers, request_id]})
        await send({"type": "http.response.body", "body": reply.body})

    return bounded
