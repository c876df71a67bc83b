"""Finds the handler of a path; for the API, reads its body and charges the free plan.

Cancels the work on a response when its client disconnects.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from msgspec import Struct
from starlette.routing import compile_path
from starlette.types import Receive

from bowerbird.library.access.call_allowance import CallCharge, CallCounter
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import Maker
from bowerbird.requests import decoding
from bowerbird.wire import bodies
from bowerbird.wire.deprecation import Route
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Authenticate, Handler, Pipeline, Request, RoutedPath, Surface
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.responses.replies import CORS, PREFLIGHT, Header, Reply
from bowerbird.wire.routes import NOBODY, ApiRoute, Call

R = TypeVar("R")

# Most responses are ready sooner, and need no watch on the connection.
_WATCH_AFTER_S: Final = 0.05


async def unless_gone(
    receive: Receive, work: Awaitable[R], may_cancel: Callable[[], bool] = lambda: True
) -> R | None:
    """The result of `work`; None if the client disconnects first, and then `work` is cancelled.

    Only for requests whose body has been read or is not needed. `may_cancel` is asked when the
    client disconnects: a write must not be cancelled, because a part of it may be stored already.
    """
    task = asyncio.current_task()
    assert task is not None
    watch = _Watch(receive, task, may_cancel)
    start = asyncio.get_running_loop().call_later(_WATCH_AFTER_S, watch.start)
    try:
        return await work
    except asyncio.CancelledError:
        # If somebody else cancelled the request too, it is still cancelled.
        if watch.has_left and not task.uncancel():
            return None
        raise
    finally:
        start.cancel()
        watch.stop()


class _Watch:
    def __init__(
        self, receive: Receive, task: "asyncio.Task[Any]", may_cancel: Callable[[], bool]
    ) -> None:
        self._receive = receive
        self._task = task
        self._may_cancel = may_cancel
        self._watching: asyncio.Task[None] | None = None
        self.has_left = False

    def start(self) -> None:
        self._watching = asyncio.ensure_future(self._until_left())
        # Retrieve the exception; asyncio warns otherwise.
        self._watching.add_done_callback(lambda done: done.cancelled() or done.exception())

    def stop(self) -> None:
        if self._watching is not None:
            self._watching.cancel()

    async def _until_left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if self._may_cancel():
            self.has_left = True
            self._task.cancel()


if TYPE_CHECKING:
    import re

_ANY_METHOD: Final = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_KEYED: Final = frozenset({"POST", "PUT", "PATCH"})


class Served(Struct, frozen=True, kw_only=True):
    """One operation, with the function that serves it."""

    method: str
    path: str
    handle: Handler
    is_public: bool = False
    headers: list[Header] = []
    max_body_bytes: int


class Router:
    """Finds the operations of a path. Those for GET answer HEAD too.

    `more_methods` are allowed on every path, and the pipeline answers them.
    """

    def __init__(self, operations: Iterable[Served], more_methods: Sequence[str] = ()) -> None:
        by_path: dict[str, list[Served]] = {}
        for one in operations:
            by_path.setdefault(one.path, []).append(one)
        self._fixed: dict[str, RoutedPath] = {}
        self._patterns: list[tuple[re.Pattern[str], RoutedPath]] = []
        for path, served in by_path.items():
            routed = _routed(path, served, more_methods)
            if "{" in path:
                self._patterns.append((compile_path(path)[0], routed))
            else:
                self._fixed[path] = routed
        # The longest fixed beginning first: changes/{change_id} is not {post_id}/….
        self._patterns.sort(key=lambda one: -one[1].route.index("{"))

    def find(self, text: str) -> tuple[RoutedPath | None, dict[str, Any]]:
        if "\x00" in text:
            # PostgreSQL cannot store U+0000, so nothing has such a name.
            return None, {}
        if path := self._fixed.get(text):
            return path, {}
        for pattern, path in self._patterns:
            if match := pattern.fullmatch(text):
                return path, match.groupdict()
        return None, {}


def _routed(path: str, served: Sequence[Served], more_methods: Sequence[str]) -> RoutedPath:
    by_method = {
        method: one
        for one in served
        for method in (("GET", "HEAD") if one.method == "GET" else (one.method,))
    }
    return RoutedPath(
        path,
        {method: one.handle for method, one in by_method.items()},
        ", ".join([*by_method, *more_methods]),
        is_public=all(one.is_public for one in served),
        headers={method: one.headers for method, one in by_method.items() if one.headers},
        max_body_bytes=max(one.max_body_bytes for one in served),
    )


def api(
    endpoints: Sequence[ApiRoute],
    *,
    authenticate: Authenticate,
    calls: CallCounter,
    metrics: RequestMetrics,
    upgrade_url: str,
    deprecations: Mapping[Route, list[Header]] | None = None,
    record_use: Callable[[int], None] = lambda _: None,
) -> Pipeline:
    """The REST API."""
    surface = Surface(
        routes=[(route.method, route.path) for route in endpoints],
        find=ApiCalls(calls).router(endpoints, deprecations).find,
        phrase_refusal=lambda refused, _: envelope.refusal(refused, upgrade_url),
        extra_headers=lambda _request, _reply: CORS,
        preflight=preflight,
        authenticate=authenticate,
        record_use=record_use,
        maker=Maker.KEY,
    )
    return Pipeline(surface, metrics)


def preflight(path: RoutedPath | None) -> Reply:
    """Also answers for unknown paths; otherwise a browser hides their 404 from the page."""
    methods = (path.allow if path else _ANY_METHOD).encode()
    headers = [(b"allow", methods), (b"access-control-allow-methods", methods), *PREFLIGHT]
    return Reply(204, headers)


async def _nobody() -> Account:
    return NOBODY


class ApiCalls:
    """`keyless_account` gives the account for calls without a key, on paths that are not public."""

    def __init__(
        self,
        calls: CallCounter,
        *,
        keyless_account: Callable[[], Awaitable[Account]] = _nobody,
        max_body_bytes: int = bodies.MAX_BYTES,
    ) -> None:
        self._calls = calls
        self._max_body_bytes = max_body_bytes
        self._keyless_account = keyless_account

    def router(
        self,
        endpoints: Iterable[ApiRoute],
        deprecations: Mapping[Route, list[Header]] | None = None,
    ) -> Router:
        served = [
            Served(
                method=row.method,
                path=row.path,
                handle=partial(self._run_read if row.method == "GET" else self._run, row),
                is_public=row.is_public,
                headers=(deprecations or {}).get((row.method, row.path), []),
                max_body_bytes=self._max_body_bytes,
            )
            for row in endpoints
        ]
        return Router(served, ("OPTIONS",))

    async def _run_read(self, endpoint: ApiRoute, request: Request) -> Reply | None:
        """A write is not cancelled when its client disconnects: it may be stored already."""
        return await unless_gone(request.receive, self._run(endpoint, request))

    async def _run(self, endpoint: ApiRoute, request: Request) -> Reply:
        account = request.account
        if account is None:
            account = NOBODY if endpoint.is_public else await self._keyless_account()
        headers = request.headers
        query_string: bytes = request.scope["query_string"]
        known, ignored = decoding.split_query(query_string, endpoint.query)
        target = RequestTarget(
            path=request.path,
            query_string=known,
            accept_encoding=headers.get(b"accept-encoding", b""),
            if_none_match=headers.get(b"if-none-match"),
            ignored=ignored,
        )
        call = Call(
            account,
            request.method,
            target,
            request.path_params,
            range=headers.get(b"range"),
            if_range=headers.get(b"if-range"),
            if_match=headers.get(b"if-match"),
            if_unmodified_since=headers.get(b"if-unmodified-since"),
        )
        if request.method in WITH_BODY:
            call = await _with_body(call, request, self._max_body_bytes)
        if not (account.is_free and endpoint.counts(query_string)):
            return await endpoint.handle(call)
        if request.method in WITH_BODY:
            # A write checks and pays itself, once it is known that it is not a replay.
            charge = CallCharge(self._calls, account)
            return await endpoint.handle(msgspec.structs.replace(call, charge=charge))
        self._calls.check(account)
        reply = await endpoint.handle(call)
        if reply.status < 300:  # noqa: PLR2004 - 304 costs nothing
            await self._calls.charge(account)
        return reply


async def _with_body(call: Call, request: Request, most: int) -> Call:
    encoding = request.headers.get(b"content-encoding", b"")
    key = request.headers.get(b"idempotency-key") if request.method in _KEYED else None
    body = await bodies.read_json(request.receive, encoding, call.account.account_id, most)
    return msgspec.structs.replace(call, body=body, idempotency_key=key)
