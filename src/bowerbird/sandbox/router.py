"""Serves /v1/sandbox: the API's pipeline without keys. A header simulates failures."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from starlette.types import Receive

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import CATALOGUE, Code, Refusal
from bowerbird.images import drawings
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.openapi.sandbox_routes import NONE, SIMULATED
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.sandbox.routes import routes
from bowerbird.settings import Settings
from bowerbird.web import templating
from bowerbird.wire import router
from bowerbird.wire.auth import unauthorized
from bowerbird.wire.deprecation import Route
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Pipeline, Request, Surface
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import CORS, ENVIRONMENT, Header, Reply
from bowerbird.wire.router import ApiCalls
from bowerbird.wire.routes import ApiRoute

_HEADER: Final = b"x-service-sandbox-error"
_SIMULATED_RETRY_AFTER_S: Final = 30


def judge(headers: Iterable[Header], reference: str, site_origin: str) -> None:
    """Raises the error that the header requests, if any. Of several values the first one counts."""
    lowered = [(name.lower(), value) for name, value in headers]
    sent = [value.decode("latin-1").strip() for name, value in lowered if name == _HEADER]
    values = [value for value in sent if value != NONE]
    if not values:
        return
    for value in values:
        if value not in SIMULATED:
            raise errors.invalid(
                "X-Service-Sandbox-Error",
                f"unknown value {errors.shown(value)}. Valid values: {', '.join(SIMULATED)}",
            )
    has_key = any(name == b"authorization" for name, _ in lowered)
    raise _simulated(SIMULATED[values[0]], reference, site_origin, has_key=has_key)


def _simulated(code: Code, reference: str, site_origin: str, *, has_key: bool) -> Refusal:
    sentence = f"Simulated failure: {CATALOGUE[code].when}."
    if code is Code.UNAUTHORIZED:
        return unauthorized(sentence, site_origin, is_bad_token=has_key)
    if code is Code.RATE_LIMITED:
        return Refusal(code, sentence, {"Retry-After": str(_SIMULATED_RETRY_AFTER_S)})
    if code is Code.INTERNAL_ERROR:
        sentence = f"{sentence} Reference: {reference}."
    return Refusal(code, sentence)


MAX_CONCURRENT: Final = 32
MAX_BODY_BYTES: Final = 64 * 1024
_RETRY_AFTER_S: Final = 1


class SandboxLimits(Struct, frozen=True):
    """Seconds that a client may take to send its body and to receive its response."""

    body_s: float
    response_s: float


LIMITS: Final = SandboxLimits(body_s=10, response_s=30)


def build(
    settings: Settings,
    clock: Clock,
    calls: CallCounter,
    metrics: RequestMetrics,
    limits: SandboxLimits = LIMITS,
    *,
    deprecations: Mapping[Route, list[Header]] | None = None,
) -> Pipeline:
    # The samples name a host that does not exist, so that no stranger's server is ever asked.
    paths = templating.paths()
    fixtures = Fixtures(
        {
            address: settings.site_origin + paths[drawing.file]
            for address, drawing in drawings.by_url().items()
        }
    )
    return serve(
        routes(fixtures, clock, settings),
        fixtures,
        settings,
        calls=calls,
        metrics=metrics,
        limits=limits,
        deprecations=deprecations,
    )


def serve(
    table: Sequence[ApiRoute],
    fixtures: Fixtures,
    settings: Settings,
    *,
    calls: CallCounter,
    metrics: RequestMetrics,
    limits: SandboxLimits = LIMITS,
    deprecations: Mapping[Route, list[Header]] | None = None,
) -> Pipeline:
    # Not an authenticator: the log must not name the fixtures' account, which may share its
    # number with a real one.
    api = ApiCalls(calls, keyless_account=fixtures.account, max_body_bytes=MAX_BODY_BYTES)
    surface = Surface(
        routes=[(route.method, route.path) for route in table],
        find=api.router(table, deprecations).find,
        phrase_refusal=lambda refused, _: envelope.marked_refusal(refused, settings.upgrade_url),
        extra_headers=_extra_headers,
        on_arrival=_Entrance(settings.site_origin, limits.body_s),
        preflight=router.preflight,
        response_limit_s=limits.response_s,
    )
    return Pipeline(surface, metrics)


class _Entrance:
    """Sends the simulated failures, and limits the requests under way and the time of a body."""

    def __init__(self, site_origin: str, body_limit_s: float) -> None:
        self._site_origin = site_origin
        self._body_limit_s = body_limit_s
        self._under_way = 0

    async def __call__(self, request: Request) -> None:
        judge(request.scope["headers"], request.request_id, self._site_origin)
        if request.method not in router.WITH_BODY:
            self._enter(request)
            return
        self._require_room()
        receive = _in_time(request.receive, self._body_limit_s)

        async def received() -> Any:
            message = await receive()
            is_whole = message["type"] == "http.request" and not message.get("more_body", False)
            if is_whole and request.on_end is None:
                self._enter(request)
            return message

        request.receive = received

    def _enter(self, request: Request) -> None:
        self._require_room()
        self._under_way += 1
        request.on_end = self._leave

    def _require_room(self) -> None:
        if self._under_way >= MAX_CONCURRENT:
            raise Refusal(
                Code.RATE_LIMITED,
                f"The sandbox handles {MAX_CONCURRENT} requests at the same time and is full; "
                "try again in a second.",
                {"Retry-After": str(_RETRY_AFTER_S)},
            )

    def _leave(self) -> None:
        self._under_way -= 1


def _extra_headers(_: Request, reply: Reply) -> Sequence[Header]:
    if not reply.body or any(name == b"content-length" for name, _ in reply.headers):
        return (ENVIRONMENT, *CORS)
    # Without its length, a response that is cut off looks complete.
    return (ENVIRONMENT, (b"content-length", b"%d" % len(reply.body)), *CORS)


def _in_time(receive: Receive, limit_s: float) -> Receive:
    """Refuses a body that arrives too slowly."""
    deadline = asyncio.get_running_loop().time() + limit_s

    async def received() -> Any:
        try:
            async with asyncio.timeout_at(deadline):
                return await receive()
        except TimeoutError:
            raise errors.invalid(
                "body", f"took longer than {limit_s:g} seconds to arrive"
            ) from None

    return received
