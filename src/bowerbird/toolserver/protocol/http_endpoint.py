"""The HTTP endpoint of the tool server: checks the Origin, takes one message, sends one response.

Authentication is the API's, and so are its 401 responses. The protocol code is loaded after the
server has started, or with the first authenticated message.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from typing import Any, Final

import msgspec
from starlette.types import Receive, Scope, Send

from bowerbird.errors import Code, Refusal
from bowerbird.model.bulk import Maker
from bowerbird.requests import limits
from bowerbird.toolserver.protocol import tool_calls
from bowerbird.toolserver.protocol.tool_calls import ToolCaller
from bowerbird.wire import bodies
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Authenticate, Pipeline, Request, RoutedPath, Surface
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import JSON, PREFLIGHT, PRIVATE, Header, Reply
from bowerbird.wire.router import unless_gone

# To the body and the headers of a message.
Answer = Callable[[bytes, Sequence[Header], ToolCaller], Coroutine[Any, Any, Reply]]

_ALLOW: Final = "POST, OPTIONS"
_HEADERS: Final = (
    b"Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "
    b"Mcp-Session-Id, Last-Event-ID, X-Request-Id, X-MCP-Readonly, X-MCP-Read-Only, X-MCP-Tools"
)
# A client of the protocol expects these as JSON-RPC errors.
_MESSAGE_FAULTS: Final = frozenset({Code.INVALID_REQUEST, Code.PAYLOAD_TOO_LARGE})


class ToolServer:
    def __init__(
        self,
        path: str,
        load: Callable[[], Answer],
        *,
        authenticate: Authenticate,
        origins: Collection[str],
        metrics: RequestMetrics,
        upgrade_url: str,
        tool_names: Collection[str] = (),
        record_use: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.path = path
        # With a slash too: some clients and proxies add one.
        self.paths = (path, path.rstrip("/") + "/")
        self._load = load
        self._loaded: Answer | None = None
        self._loading = asyncio.Lock()
        self._origins = {origin.encode() for origin in origins}
        self._upgrade_url = upgrade_url
        self._tool_names = tool_names
        routed = RoutedPath(path, {"POST": self._handle}, _ALLOW)
        surface = Surface(
            find=lambda found: (routed if found in self.paths else None, {}),
            phrase_refusal=self._phrase_refusal,
            extra_headers=lambda request, _: _cors(request.headers.get(b"origin"), self._origins),
            on_arrival=self._check_origin,
            preflight=lambda _: Reply(204, [(b"allow", _ALLOW.encode())]),
            authenticate=authenticate,
            # A tool call counts as a use of the API version that the tools are built on.
            record_use=record_use,
            maker=Maker.AGENT,
            initial_route=path,
            metrics_route=lambda request: f"{path} {_log_fields(request)['called']}",
            log_fields=_log_fields,
        )
        self._pipeline = Pipeline(surface, metrics)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return self._pipeline(scope, receive, send)

    async def _check_origin(self, request: Request) -> Reply | None:
        origin = request.headers.get(b"origin")
        if origin is None or origin in self._origins:
            return None
        return failure(403, None, INVALID_REQUEST, "Requests from this Origin are not allowed.")

    def _phrase_refusal(self, refused: Refusal, _: Request) -> Reply:
        if refused.code in _MESSAGE_FAULTS:
            return failure(refused.status, None, INVALID_REQUEST, refused.sentence)
        return envelope.refusal(refused, self._upgrade_url)

    async def _handle(self, request: Request) -> Reply | None:
        if refused := _unreadable(request.headers):
            return refused
        selection = tool_calls.read_selection(
            request.scope.get("query_string", b""), request.scope["headers"], self._tool_names
        )
        assert request.account is not None
        encoding = request.headers.get(b"content-encoding", b"")
        body = await bodies.read_json(
            request.receive,
            encoding,
            request.account.account_id,
            max_values=limits.TOOL_VALUES_MAX,
        )
        caller = request.state = ToolCaller(request.account, request.request_id, selection)
        answer = self._loaded or await self._first()
        answering = answer(body, request.scope["headers"], caller)
        return await unless_gone(request.receive, answering, lambda: not caller.is_writing)

    async def load(self) -> None:
        """Loads the protocol code before the first message needs it."""
        await self._first()

    async def _first(self) -> Answer:
        async with self._loading:
            if self._loaded is None:
                # On a thread, so that the event loop handles other requests until then.
                self._loaded = await asyncio.to_thread(self._load)
            return self._loaded


def _log_fields(request: Request) -> dict[str, Any]:
    caller: ToolCaller | None = request.state
    if caller is None:
        return {"called": "unknown", "refused": ""}
    return {"called": caller.called, "refused": caller.refused}


def _unreadable(headers: dict[bytes, bytes]) -> Reply | None:
    """Refuses a body that is not JSON, and a client that does not accept JSON."""
    kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
    if kind != b"application/json":
        return failure(415, None, INVALID_REQUEST, "Content-Type must be application/json.")
    accepted = {
        part.split(b";")[0].strip().lower() for part in headers.get(b"accept", b"").split(b",")
    }
    if not accepted & {b"", b"*/*", b"application/*", b"application/json"}:
        return failure(406, None, INVALID_REQUEST, "Accept must include application/json.")
    return None


def _cors(origin: bytes | None, allowed: Collection[bytes]) -> list[Header]:
    """Headers with which a browser lets a page of an allowed origin call."""
    if origin is None or origin not in allowed:
        return []
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-allow-methods", b"POST"),
        (b"access-control-allow-headers", _HEADERS),
        (b"access-control-expose-headers", b"WWW-Authenticate, X-Request-Id"),
        *(header for header in PREFLIGHT if header[0] == b"access-control-max-age"),
    ]


encoded: Final = msgspec.json.Encoder().encode
INVALID_REQUEST: Final = -32600


def reply(status: int, message: dict[str, Any]) -> Reply:
    return Reply(status, [JSON, *PRIVATE], encoded(message))


def failure(status: int, request_id: Any, code: int, message: str, data: Any = None) -> Reply:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return reply(status, {"jsonrpc": "2.0", "id": request_id, "error": error})
