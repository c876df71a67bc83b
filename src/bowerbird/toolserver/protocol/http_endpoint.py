"""The address of the tool server: origin, key, size, one message, one answer, one log line.

The same keys and the same refusal of a wrong one as the API. The protocol's own part is loaded
with the first message that comes with a key.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

import structlog
from starlette.types import Receive, Scope, Send

from bowerbird.errors import Code, Refusal
from bowerbird.toolserver.protocol.messages import INVALID_REQUEST, failure
from bowerbird.toolserver.protocol.tool_calls import ToolCaller
from bowerbird.wire import bodies, envelope
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.replies import PREFLIGHT, Header, Reply
from bowerbird.wire.request_ids import RequestIds

# Below this nobody is asked whether the client is still there: most answers are sooner.
_SOON_S: Final = 0.05
_ALLOW: Final = (b"allow", b"POST, OPTIONS")
_HEADERS: Final = (
    b"Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "
    b"Mcp-Session-Id, Last-Event-ID, X-Request-Id"
)
_MOST_HEADER_BYTES: Final = 32 * 1024


class Answers(Protocol):
    """What answers a message, once it is loaded."""

    async def answer(self, body: bytes, headers: Sequence[Header], caller: ToolCaller) -> Reply: ...


class ToolServer:
    def __init__(
        self,
        path: str,
        load: Callable[[], Answers],
        *,
        authenticate: Authenticator,
        origins: Collection[str],
        measures: RequestMetrics,
        upgrade_url: str,
        note_use: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.path = path
        self._load = load
        self._loaded: Answers | None = None
        self._loading = asyncio.Lock()
        self._authenticate = authenticate
        self._origins = {origin.encode() for origin in origins}
        self._measures = measures
        self._upgrade_url = upgrade_url
        # The tools call the version that they are built on.
        self._note_use = note_use
        self._ids = RequestIds()
        self._log = structlog.get_logger().bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        headers: dict[bytes, bytes] = dict(scope["headers"])
        call = _Call(scope["method"], headers, self._ids.of(headers))
        reply = await self._reply(scope, receive, call)
        if reply is not None:
            shown = [*reply.headers, (b"x-request-id", call.request_id.encode())]
            shown += _cors(headers.get(b"origin"), self._origins)
            await send({"type": "http.response.start", "status": reply.status, "headers": shown})
            body = b"" if call.method == "HEAD" else reply.body
            await send({"type": "http.response.body", "body": body})
        self._note(call, reply, time.perf_counter() - started)

    async def _reply(self, scope: Scope, receive: Receive, call: "_Call") -> Reply | None:
        try:
            return await self._answer(scope, receive, call)
        except Refusal as refused:
            if refused.code is Code.SERVICE_UNAVAILABLE:
                self._log.error("unavailable", route=self.path, cause=repr(refused.__cause__))
            return envelope.refusal(refused, self._upgrade_url)
        except Exception:  # noqa: BLE001 - whatever it is, the caller gets the envelope
            self._log.exception("fault", reference=call.request_id, route=self.path)
            return envelope.refusal(envelope.fault(call.request_id), self._upgrade_url)

    async def _answer(self, scope: Scope, receive: Receive, call: "_Call") -> Reply | None:
        origin = call.headers.get(b"origin")
        if origin is not None and origin not in self._origins:
            return failure(403, None, INVALID_REQUEST, "Requests from this Origin are not served.")
        if call.method == "OPTIONS":
            return Reply(204, [_ALLOW])
        if len(b"".join(map(b"".join, scope["headers"]))) > _MOST_HEADER_BYTES:
            return failure(400, None, INVALID_REQUEST, "The request's headers are too large.")
        account = await self._authenticate(call.headers.get(b"authorization"))
        call.caller = ToolCaller(account, call.request_id)
        self._note_use(account.account_id)
        if call.method != "POST":
            raise Refusal(
                Code.METHOD_NOT_ALLOWED,
                "The tool server answers each POST by itself; it has no stream and no session.",
                {"Allow": "POST, OPTIONS"},
            )
        if refused := _unreadable(call.headers):
            return refused
        try:
            body = await bodies.read(receive, call.headers.get(b"content-encoding", b""))
        except Refusal as refusal:
            return failure(refusal.status, None, INVALID_REQUEST, refusal.sentence)
        answers = self._loaded or await self._first()
        return await _unless_gone(receive, answers.answer(body, scope["headers"], call.caller))

    async def _first(self) -> Answers:
        async with self._loading:
            if self._loaded is None:
                # On a thread: other requests are answered meanwhile.
                self._loaded = await asyncio.to_thread(self._load)
            return self._loaded

    def _note(self, call: "_Call", reply: Reply | None, seconds: float) -> None:
        # What a client closed before its answer is counted as servers use to.
        status = 499 if reply is None else reply.status
        caller = call.caller
        called = caller.called if caller else "unknown"
        self._measures.observe(f"{self.path} {called}", call.method, status, seconds)
        self._log.info(
            "request",
            id=call.request_id,
            method=call.method,
            route=self.path,
            called=called,
            refused=caller.refused if caller else "",
            status=status,
            ms=round(seconds * 1000, 2),
            bytes=0 if reply is None else len(reply.body),
            account=caller.account.account_id if caller else None,
        )


class _Call:
    """One request, as far as it is known."""

    __slots__ = ("caller", "headers", "method", "request_id")

    def __init__(self, method: str, headers: dict[bytes, bytes], request_id: str) -> None:
        self.method = method
        self.headers = headers
        self.request_id = request_id
        self.caller: ToolCaller | None = None


def _unreadable(headers: dict[bytes, bytes]) -> Reply | None:
    """Refuses a body of another kind, and a client that takes no JSON."""
    kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
    if kind != b"application/json":
        return failure(415, None, INVALID_REQUEST, "Content-Type must be application/json.")
    taken = {
        part.split(b";")[0].strip().lower() for part in headers.get(b"accept", b"").split(b",")
    }
    if not taken & {b"", b"*/*", b"application/*", b"application/json"}:
        return failure(406, None, INVALID_REQUEST, "Accept must name application/json.")
    return None


def _cors(origin: bytes | None, allowed: Collection[bytes]) -> list[Header]:
    """What a web page of an allowed origin needs to be let through by its browser."""
    if origin is None or origin not in allowed:
        return []
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-allow-methods", b"POST"),
        (b"access-control-allow-headers", _HEADERS),
        (b"access-control-expose-headers", b"WWW-Authenticate, X-Request-Id"),
        *(header for header in PREFLIGHT if header[0] == b"access-control-max-age"),
    ]


async def _unless_gone(receive: Receive, work: Coroutine[Any, Any, Reply]) -> Reply | None:
    """The answer; None, and nothing left running, when the client goes before it is there."""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait((task,), timeout=_SOON_S)
        if not task.done():
            await _either(task, _gone(receive))
        return task.result() if task.done() else None
    finally:
        if not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _either(task: "asyncio.Task[Reply]", other: Awaitable[None]) -> None:
    watching = asyncio.ensure_future(other)
    try:
        await asyncio.wait((task, watching), return_when=asyncio.FIRST_COMPLETED)
    finally:
        watching.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
