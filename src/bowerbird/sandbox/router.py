"""Serves /v1/sandbox: the API's pipeline and routes without keys, on the fixtures.

A header simulates failures.
"""

import asyncio
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct
from starlette.types import Receive

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.clock import Clock
from bowerbird.errors import CATALOGUE, Code, Refusal
from bowerbird.images import hosts
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.library.bulk.requests import bulk_requests
from bowerbird.library.labels.labels import Labels
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.openapi.operations import OPERATIONS
from bowerbird.openapi.sandbox_routes import NONE, SIMULATED, moved
from bowerbird.requests import decoding
from bowerbird.rest import routes as rest_routes
from bowerbird.rest.serving import Rest
from bowerbird.sandbox.exports import SandboxExports
from bowerbird.sandbox.fixtures import Fixtures, SandboxMeaning
from bowerbird.settings import Settings
from bowerbird.storage.files import Files
from bowerbird.web import templating
from bowerbird.wire import bodies, router
from bowerbird.wire.auth import unauthorized
from bowerbird.wire.deprecation import Route
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Pipeline, Request, Surface
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.replies import CORS, ENVIRONMENT, Header, Reply
from bowerbird.wire.responses.streaming import ExportAddresses
from bowerbird.wire.router import ApiCalls
from bowerbird.wire.routes import ApiRoute, Call

_CACHE_BYTES: Final = 4 * 1024 * 1024
MAX_TOUCHED: Final = 1_000
MAX_ANSWER_BYTES: Final = 2 * 1024 * 1024


def routes(fixtures: Fixtures, clock: Clock, settings: Settings) -> list[ApiRoute]:
    database = fixtures.database
    services = Services(
        dataclasses.replace(settings, fetch_posts="off"),
        database,
        clock,
        files=Files(settings),
        models=None,
        meaning=SandboxMeaning(database),
        wake_worker=lambda: None,
    )
    services.labels = Labels(database, clock, is_sandbox=True)
    services.bulk = bulk_requests(
        *(database, clock, services.views, SemanticSearch(database)), wake=lambda: None
    )
    rest = Rest(
        services,
        AnswerCache(_CACHE_BYTES, finish=envelope.marked),
        SandboxExports(fixtures, clock),
        ExportAddresses(settings.api_origin, moved("/v1/exports")),
    )
    known = {(route.method, route.path): route for route in rest_routes.routes(rest)}
    found = [(one, known[one.method, one.path]) for one in OPERATIONS if one.is_in_sandbox]
    return [
        # The answer cache marks what it stores.
        msgspec.structs.replace(
            route if one.method == "GET" and one.is_tagged and not one.is_file else _marking(route),
            path=moved(one.path),
        )
        for one, route in found
    ]


def _marking(endpoint: ApiRoute) -> ApiRoute:
    async def handle(call: Call) -> Reply:
        # The sandbox stores nothing, so there is no answer to replay.
        await bodies.off_loop(
            len(call.body),
            call.account.account_id,
            lambda: _check_cost(call),
            is_continuing=True,
        )
        reply = await endpoint.handle(msgspec.structs.replace(call, idempotency_key=None))
        if reply.stream is not None:
            return reply
        if len(reply.body) > MAX_ANSWER_BYTES:
            raise errors.invalid(
                "operations", "would get an answer above the sandbox's limit of 2 MiB"
            )
        return msgspec.structs.replace(reply, body=envelope.marked(reply.body))

    return msgspec.structs.replace(endpoint, handle=handle)


def _check_cost(call: Call) -> None:
    """Anyone may call the sandbox, so its limit for a batch is lower than the API's."""
    # The handler refuses any other body.
    sent = (decoding.raw_fields(call.body) or {}).get("operations")
    operations = None if sent is None else decoding.parse(bytes(sent))
    touched = sum(map(_touched, operations)) if isinstance(operations, list) else 0
    if touched > MAX_TOUCHED:
        raise errors.invalid(
            "operations",
            f"change {touched:,} posts in total; the sandbox allows at most {MAX_TOUCHED:,}",
        )


def _touched(operation: Any) -> int:
    ids = operation.get("tweet_ids") if isinstance(operation, dict) else None
    return len(ids) if isinstance(ids, list) else 0


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
            for address, drawing in hosts.drawings_by_url().items()
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
