"""Serves a table of routes under one prefix: key, path, size, handler, envelope, log line.

The order of refusals is fixed: 401, then 404 and 405 for the path, then 413, then the handler's.
"""

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
import structlog
from msgspec import Struct
from starlette.routing import compile_path
from starlette.types import Receive, Scope, Send

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.model.accounts import Account
from bowerbird.wire import bodies, envelope, streaming
from bowerbird.wire.answer_cache import RequestTarget
from bowerbird.wire.deprecation import Route
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.replies import CORS, PREFLIGHT, REPLAYED, Header, Reply
from bowerbird.wire.request_ids import RequestIds
from bowerbird.wire.routes import NOBODY, ApiRoute, Call

MOST_BODY_BYTES: Final = bodies.MOST_BYTES
MOST_HEADER_BYTES: Final = 32 * 1024
_LONGEST_SIZE: Final = len(str(MOST_BODY_BYTES))
_ANY_METHOD: Final = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
_WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_KEYED: Final = frozenset({"POST", "PUT", "PATCH"})
# Who calls, by the Authorization header; raises a refusal for nobody we know.
Authenticate = Callable[[bytes | None], Awaitable[Account]]


class _Path(Struct, frozen=True):
    pattern: re.Pattern[str]
    template: str
    endpoints: dict[str, ApiRoute]
    # By method: what tells the callers of a deprecated route.
    notices: dict[str, list[Header]]

    @property
    def allow(self) -> str:
        return ", ".join([*self.endpoints, "OPTIONS"])

    @property
    def is_public(self) -> bool:
        return all(endpoint.is_public for endpoint in self.endpoints.values())


class Request(Struct):
    """What the log line tells of a request. Keys, texts and cursors have no place in it."""

    method: str
    path: str
    headers: dict[bytes, bytes]
    header_bytes: int
    request_id: bytes
    template: str = "unknown"
    account: Account | None = None
    notices: Sequence[Header] = ()


class ApiRouter:
    def __init__(
        self,
        endpoints: Sequence[ApiRoute],
        *,
        authenticate: Authenticate,
        calls: CallCounter,
        measures: RequestMetrics,
        upgrade_url: str,
        deprecations: Mapping[Route, list[Header]] | None = None,
        note_use: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.routes = [(endpoint.method, endpoint.path) for endpoint in endpoints]
        self._paths = _paths(endpoints, deprecations or {})
        self._authenticate = authenticate
        self._calls = calls
        self._measures = measures
        self._upgrade_url = upgrade_url
        self._note_use = note_use
        # Bound once: the lazy logger would look its configuration up for every line.
        self._log = structlog.get_logger().bind()
        self._ids = RequestIds()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = self._request(scope)
        reply = await self._reply(scope, receive, request)
        headers = [*reply.headers, *request.notices, *CORS, (b"x-request-id", request.request_id)]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        if reply.stream is not None:
            await self._stream(reply.stream, receive, send, request)
        else:
            body = b"" if request.method == "HEAD" else reply.body
            await send({"type": "http.response.body", "body": body})
        self._note(request, reply, time.perf_counter() - started)

    async def _stream(
        self, pieces: AsyncIterator[bytes], receive: Receive, send: Send, request: Request
    ) -> None:
        try:
            await streaming.send_all(pieces, receive, send, is_head=request.method == "HEAD")
        except streaming.NotTaken:
            raise
        except Exception:  # noqa: BLE001 - the answer has begun; its missing end tells the caller
            self._log.exception("broken off", reference=request.request_id.decode())

    async def _reply(self, scope: Scope, receive: Receive, request: Request) -> Reply:
        try:
            return await self._answer(scope, receive, request)
        except Refusal as refused:
            if refused.code is Code.SERVICE_UNAVAILABLE:
                cause = refused.__cause__
                self._log.error("unavailable", route=request.template, cause=repr(cause))
            return self._refusal(refused)
        except Exception:  # noqa: BLE001 - whatever it is, the caller gets the envelope
            reference = request.request_id.decode()
            self._log.exception("fault", reference=reference, route=request.template)
            return self._refusal(envelope.fault(reference))

    def _refusal(self, refused: Refusal) -> Reply:
        return envelope.refusal(refused, self._upgrade_url)

    async def _answer(self, scope: Scope, receive: Receive, request: Request) -> Reply:
        path, path_params = self._find(request.path)
        if path is not None:
            request.notices = path.notices.get(request.method, ())
        _check_header_size(request.header_bytes)
        if request.method == "OPTIONS":
            return _preflight(path)
        account = NOBODY
        if path is None or not path.is_public:
            key = request.headers.get(b"authorization")
            account = request.account = await self._authenticate(key)
            self._note_use(account.account_id)
        if path is None:
            raise Refusal(Code.NOT_FOUND, f"There is nothing at {errors.shown(request.path)}.")
        request.template = path.template
        endpoint = _endpoint(path, request.method)
        _check_size(request.headers.get(b"content-length"))
        query_string = scope["query_string"]
        is_counted = account.is_free and endpoint.counts(query_string)
        asked = RequestTarget(
            path=request.path,
            query_string=query_string,
            accept_encoding=request.headers.get(b"accept-encoding", b""),
            if_none_match=request.headers.get(b"if-none-match"),
        )
        call = Call(
            account,
            request.method,
            asked,
            path_params,
            range=request.headers.get(b"range"),
            if_range=request.headers.get(b"if-range"),
        )
        if request.method in _WRITES:
            call = await _with_body(call, request, receive)
        if is_counted:
            call = self._charged(call)
        reply = await endpoint.handle(call)
        if is_counted and reply.status < 300 and REPLAYED not in reply.headers:  # noqa: PLR2004 - 304 costs nothing
            self._calls.add(account)
        return reply

    def _charged(self, call: Call) -> Call:
        """Refuses a used up month; of a write only once it is known to be no replay."""
        if call.method not in _WRITES:
            self._calls.check(call.account)
            return call
        return msgspec.structs.replace(
            call, require_calls_left=lambda: self._calls.check(call.account)
        )

    def _request(self, scope: Scope) -> Request:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        return Request(
            method=scope["method"],
            path=scope["path"],
            headers=headers,
            header_bytes=len(b"".join(map(b"".join, scope["headers"]))),
            request_id=self._ids.of(headers),
        )

    def _find(self, text: str) -> tuple[_Path | None, dict[str, Any]]:
        for path in self._paths:
            if match := path.pattern.fullmatch(text):
                return path, match.groupdict()
        return None, {}

    def _note(self, request: Request, reply: Reply, seconds: float) -> None:
        self._measures.observe(request.template, request.method, reply.status, seconds)
        self._log.info(
            "request",
            id=request.request_id.decode(),
            method=request.method,
            route=request.template,
            status=reply.status,
            ms=round(seconds * 1000, 2),
            bytes=len(reply.body),
            account=request.account.account_id if request.account else None,
        )


def _paths(
    endpoints: Sequence[ApiRoute], deprecations: Mapping[Route, list[Header]]
) -> list[_Path]:
    paths: dict[str, _Path] = {}
    for endpoint in endpoints:
        if endpoint.path not in paths:
            pattern, _, _ = compile_path(endpoint.path)
            paths[endpoint.path] = _Path(pattern, endpoint.path, {}, {})
        path = paths[endpoint.path]
        for method in ("GET", "HEAD") if endpoint.method == "GET" else (endpoint.method,):
            path.endpoints[method] = endpoint
            if notices := deprecations.get((endpoint.method, endpoint.path)):
                path.notices[method] = notices
    # A fixed path comes before one with a part that fits anything.
    return sorted(paths.values(), key=lambda path: "{" in path.template)


def _endpoint(path: _Path, method: str) -> ApiRoute:
    endpoint = path.endpoints.get(method)
    if endpoint is None:
        raise Refusal(
            Code.METHOD_NOT_ALLOWED,
            f"{errors.shown(method)} is not possible here; {path.allow} is.",
            {"Allow": path.allow},
        )
    return endpoint


def _check_header_size(size: int) -> None:
    if size > MOST_HEADER_BYTES:
        raise Refusal(
            Code.INVALID_REQUEST,
            f"The request's headers are larger than {MOST_HEADER_BYTES // 1024} KiB.",
        )


def _check_size(content_length: bytes | None) -> None:
    if content_length is None:
        return
    if not content_length.isdigit():
        raise errors.invalid("Content-Length", "must be a whole number of bytes")
    # Its digits are compared first: Python refuses to read a number of thousands of them.
    digits = content_length.lstrip(b"0")
    if len(digits) > _LONGEST_SIZE or int(digits or b"0") > MOST_BODY_BYTES:
        raise Refusal(
            Code.PAYLOAD_TOO_LARGE,
            f"The body is larger than {MOST_BODY_BYTES // 1024} KiB.",
        )


async def _with_body(call: Call, request: Request, receive: Receive) -> Call:
    encoding = request.headers.get(b"content-encoding", b"")
    key = request.headers.get(b"idempotency-key") if request.method in _KEYED else None
    return msgspec.structs.replace(
        call, body=await bodies.read(receive, encoding), idempotency_key=key
    )


def _preflight(path: _Path | None) -> Reply:
    """For an unknown path too: a browser shows its 404 only behind a preflight that allowed it."""
    methods = (path.allow if path else _ANY_METHOD).encode()
    headers = [(b"allow", methods), (b"access-control-allow-methods", methods), *PREFLIGHT]
    return Reply(204, headers)
