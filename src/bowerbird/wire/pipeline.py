"""The steps that every HTTP request takes, on every surface: REST, sandbox, tool server, site."""

import itertools
import re
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import structlog
from msgspec import Struct
from starlette.types import ASGIApp, Receive, Scope, Send

from bowerbird import errors, logs
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import Maker
from bowerbird.wire import bodies
from bowerbird.wire.auth import ClientAddresses, maker_of
from bowerbird.wire.metrics import METHODS, RequestMetrics
from bowerbird.wire.responses import envelope, streaming
from bowerbird.wire.responses.replies import Header, Reply

_VALID: Final = re.compile(rb"[A-Za-z0-9_.:-]{1,128}")


class RequestIds:
    def __init__(self) -> None:
        self._start = secrets.token_hex(6)
        self._count = itertools.count(1)

    def of(self, headers: Mapping[bytes, bytes]) -> str:
        sent = headers.get(b"x-request-id")
        if sent is not None and _VALID.fullmatch(sent):
            return sent.decode()
        return f"{self._start}-{next(self._count)}"


MAX_HEADER_BYTES: Final = 32 * 1024
MAX_BODY_BYTES: Final = bodies.MAX_BYTES
# Where the scope of a request has the id of its account, once that is known.
ACCOUNT: Final = "bowerbird.account"
# nginx's status for a client that closed the connection before it had its response.
_CLIENT_LEFT: Final = 499

# Returns the account that the Authorization header names; raises a refusal otherwise.
Authenticate = Callable[[bytes | None], Awaitable[Account]]


class Request(Struct):
    """One request on its way through the pipeline."""

    scope: Scope
    # Reads the body. A surface may replace it, for example to limit the time.
    receive: Receive
    method: str
    path: str
    headers: dict[bytes, bytes]
    request_id: str
    # Label for log and metrics: a path template, never the path itself.
    route: str
    path_params: dict[str, Any]
    route_headers: Sequence[Header] = ()
    account: Account | None = None
    # Called once the response is sent, or the client has disconnected.
    on_end: Callable[[], None] | None = None
    # Free for the surface: its handler sets it, its `log_fields` reads it.
    state: Any = None

    def identify(self, account: Account) -> None:
        """Sets the account, and tells the server, which holds less of the bodies of strangers."""
        self.account = account
        self.scope[ACCOUNT] = account.account_id


# None means that the client disconnected before its response was ready.
Handler = Callable[[Request], Awaitable[Reply | None]]


class RoutedPath(Struct, frozen=True):
    """The operations of one path template."""

    route: str
    handlers: Mapping[str, Handler]
    allow: str
    is_public: bool = False
    # By method: sent with every response, refusals included.
    headers: Mapping[str, list[Header]] = {}
    max_body_bytes: int = MAX_BODY_BYTES


class Surface(Struct, frozen=True, kw_only=True):
    """The parts of the pipeline in which surfaces differ."""

    # Method and path of each operation, for comparison with the OpenAPI document.
    routes: Sequence[tuple[str, str]] = ()
    # The entry for a path and the values of its parameters.
    find: Callable[[str], tuple[RoutedPath | None, dict[str, Any]]]
    phrase_refusal: Callable[[Refusal, Request], Reply]
    extra_headers: Callable[[Request, Reply], Sequence[Header]]
    # Runs first, before the size of the headers is checked. May refuse, or reply by itself.
    on_arrival: Callable[[Request], Awaitable[Reply | None]] | None = None
    # Replies to OPTIONS. If None, OPTIONS is handled like any other method.
    preflight: Callable[[RoutedPath | None], Reply | None] = lambda _: None
    # None means that no key is needed.
    authenticate: Authenticate | None = None
    record_use: Callable[[int], None] = lambda _: None
    # Who makes the changes that its requests ask for.
    maker: Maker = Maker.SERVER
    reads_bodies: bool = True
    # Seconds in which the client must have received the whole response.
    response_limit_s: float | None = None
    # Logged until the caller is known and the path is found.
    initial_route: str = "unknown"
    metrics_route: Callable[[Request], str] | None = None
    log_fields: Callable[[Request], dict[str, Any]] | None = None


class Pipeline:
    """Serves one surface as an ASGI application."""

    def __init__(self, surface: Surface, metrics: RequestMetrics) -> None:
        self._surface = surface
        self._metrics = metrics
        self._ids = RequestIds()
        # Bound once: the lazy logger looks its configuration up for every line.
        self._log = structlog.get_logger().bind()

    @property
    def routes(self) -> Sequence[tuple[str, str]]:
        return self._surface.routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        headers: dict[bytes, bytes] = dict(scope["headers"])
        request = Request(
            scope,
            receive,
            scope["method"],
            scope["path"],
            headers,
            self._ids.of(headers),
            self._surface.initial_route,
            {},
        )
        authorization = headers.get(b"authorization")
        activity.set_maker(partial(maker_of, self._surface.maker, authorization))
        status, size = _CLIENT_LEFT, 0
        try:
            reply = await self._reply(request)
            if reply is not None:
                await self._send(request, reply, receive, send)
                status, size = reply.status, len(reply.body)
        except streaming.ResponseTimeout:
            limit_s = self._surface.response_limit_s
            self._log.info("response timeout", route=request.route, limit_s=limit_s)
        finally:
            if request.on_end is not None:
                request.on_end()
            self._record(request, status, size, time.perf_counter() - started)

    async def _reply(self, request: Request) -> Reply | None:
        try:
            return await self._handle(request)
        except Refusal as refused:
            # Without a cause, the line of the request says all there is to say.
            if refused.code is Code.SERVICE_UNAVAILABLE and refused.__cause__ is not None:
                cause = repr(refused.__cause__)
                self._log.error("unavailable", route=request.route, cause=cause)
            return self._surface.phrase_refusal(refused, request)
        except Exception:  # noqa: BLE001 - the caller gets a response to every fault
            self._log.exception("fault", reference=request.request_id, route=request.route)
            return self._surface.phrase_refusal(envelope.fault(request.request_id), request)

    async def _handle(self, request: Request) -> Reply | None:
        surface = self._surface
        if surface.on_arrival is not None:
            reply = await surface.on_arrival(request)
            if reply is not None:
                return reply
        path, request.path_params = surface.find(request.path)
        if path is not None and path.headers:
            request.route_headers = path.headers.get(request.method, ())
        _check_header_size(request)
        if request.method == "OPTIONS" and (reply := surface.preflight(path)) is not None:
            return reply
        if surface.authenticate is not None and (path is None or not path.is_public):
            account = await surface.authenticate(request.headers.get(b"authorization"))
            request.identify(account)
            surface.record_use(account.account_id)
        return await self._handler(path, request)(request)

    def _handler(self, path: RoutedPath | None, request: Request) -> Handler:
        if path is None:
            raise Refusal(Code.NOT_FOUND, f"No such path: {errors.shown(request.path)}.")
        request.route = path.route
        handler = path.handlers.get(request.method)
        if handler is None:
            raise _not_allowed(request.method, path.allow)
        if self._surface.reads_bodies:
            _check_body_size(request.headers.get(b"content-length"), path.max_body_bytes)
        return handler

    async def _send(self, request: Request, reply: Reply, receive: Receive, send: Send) -> None:
        surface = self._surface
        if surface.response_limit_s is not None:
            send = streaming.in_time(send, surface.response_limit_s)
        headers = [
            *reply.headers,
            *request.route_headers,
            *surface.extra_headers(request, reply),
            (b"x-request-id", request.request_id.encode()),
        ]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        if reply.stream is not None:
            await self._stream(reply.stream, receive, send, request)
        else:
            body = b"" if request.method == "HEAD" else reply.body
            await send({"type": "http.response.body", "body": body})

    async def _stream(
        self, pieces: AsyncIterator[bytes], receive: Receive, send: Send, request: Request
    ) -> None:
        try:
            await streaming.send_all(pieces, receive, send, is_head=request.method == "HEAD")
        except streaming.ResponseTimeout:
            raise
        except Exception:  # noqa: BLE001 - the status is sent; only the missing end shows the fault
            self._log.exception("broken off", reference=request.request_id)

    def _record(self, request: Request, status: int, size: int, seconds: float) -> None:
        surface = self._surface
        named = surface.metrics_route
        route = request.route if named is None else named(request)
        self._metrics.observe(route, request.method, status, seconds)
        # Keys, texts and cursors are never logged.
        logs.write_request(
            {
                "id": request.request_id,
                "method": request.method,
                "route": request.route,
                **({} if surface.log_fields is None else surface.log_fields(request)),
                "status": status,
                "ms": round(seconds * 1000, 2),
                "bytes": size,
                "account": request.account.account_id if request.account else None,
            }
        )


def _not_allowed(method: str, allow: str) -> Refusal:
    name = method if method in METHODS else errors.shown(method)
    use = " or ".join(allow.rsplit(", ", 1))
    return Refusal(
        Code.METHOD_NOT_ALLOWED, f"Method {name} is not allowed; use {use}.", {"Allow": allow}
    )


def _check_header_size(request: Request) -> None:
    if sum([len(name) + len(value) for name, value in request.scope["headers"]]) > MAX_HEADER_BYTES:
        raise Refusal(
            Code.INVALID_REQUEST,
            f"The request's headers are larger than {MAX_HEADER_BYTES // 1024} KiB.",
        )


def _check_body_size(content_length: bytes | None, most: int) -> None:
    if content_length is None:
        return
    if not content_length.isdigit():
        raise errors.invalid("Content-Length", "must be a whole number of bytes")
    # Digits are counted first: int() refuses text of thousands of digits.
    digits = content_length.lstrip(b"0")
    if len(digits) > len(str(most)) or int(digits or b"0") > most:
        raise bodies.too_large(most)


def by_path(
    single: Mapping[str, ASGIApp],
    surfaces: Mapping[str, ASGIApp],
    pages: ASGIApp,
    addresses: ClientAddresses,
) -> ASGIApp:
    """Single paths come first, then surfaces by prefix in the given order, then the pages."""

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        activity.set_address(partial(addresses.of, scope))
        path: str = scope["path"]
        if path in single:
            await single[path](scope, receive, send)
            return
        for prefix, surface in surfaces.items():
            if path.startswith(prefix) and path[len(prefix) :][:1] in ("", "/"):
                await surface(scope, receive, send)
                return
        await pages(scope, receive, send)

    return dispatch
