"""Serves /v1/sandbox: like the API, but for anybody, and therefore within bounds of its own."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import msgspec
from msgspec import Struct
from starlette.types import Receive, Scope, Send

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.model.accounts import Account
from bowerbird.openapi.sandbox_routes import PREFIX
from bowerbird.sandbox import simulation
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.sandbox.routes import routes
from bowerbird.settings import Settings
from bowerbird.wire import envelope, streaming
from bowerbird.wire.deprecation import Route
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.replies import Header, Reply
from bowerbird.wire.router import ApiRouter, Request
from bowerbird.wire.routes import ApiRoute

MOST_AT_ONCE: Final = 32
_HELD: Final = "bowerbird.held"
_RETRY_AFTER_S: Final = 1
_ENVIRONMENT: Final[Header] = (b"x-service-environment", b"sandbox")


class SandboxLimits(Struct, frozen=True):
    """How long a caller may take, in seconds: to send its body, and to take its answer."""

    body_s: float
    answer_s: float


LIMITS: Final = SandboxLimits(body_s=10, answer_s=30)


def build(
    settings: Settings,
    clock: Clock,
    calls: CallCounter,
    measures: RequestMetrics,
    limits: SandboxLimits = LIMITS,
    *,
    deprecations: Mapping[Route, list[Header]] | None = None,
) -> "SandboxRouter":
    fixtures = Fixtures()
    table = routes(fixtures, clock, settings)
    return SandboxRouter(
        table,
        fixtures,
        settings,
        calls=calls,
        measures=measures,
        limits=limits,
        deprecations=deprecations,
    )


class SandboxRouter(ApiRouter):
    def __init__(
        self,
        table: Sequence[ApiRoute],
        fixtures: Fixtures,
        settings: Settings,
        *,
        calls: CallCounter,
        measures: RequestMetrics,
        limits: SandboxLimits,
        deprecations: Mapping[Route, list[Header]] | None = None,
    ) -> None:
        async def authenticate(_: bytes | None) -> Account:
            return await fixtures.account()

        super().__init__(
            table,
            authenticate=authenticate,
            calls=calls,
            measures=measures,
            upgrade_url=settings.upgrade_url,
            deprecations=deprecations,
        )
        self._site_origin = settings.site_origin
        self._limits = limits
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Whoever takes its answer slowly holds a place, and loses it when it is too slow."""
        sending = streaming.in_time(send, self._limits.answer_s)
        with ExitStack() as held:
            try:
                await super().__call__({**scope, _HELD: held}, receive, sending)
            except streaming.NotTaken:
                self._log.info("not taken", route=PREFIX, limit_s=self._limits.answer_s)

    async def _reply(self, scope: Scope, receive: Receive, request: Request) -> Reply:
        reply = await super()._reply(scope, receive, request)
        headers = [*reply.headers, _ENVIRONMENT]
        if reply.body and not any(name == b"content-length" for name, _ in headers):
            # An answer that is broken off must not look like a whole one.
            headers.append((b"content-length", b"%d" % len(reply.body)))
        return msgspec.structs.replace(reply, headers=headers)

    async def _answer(self, scope: Scope, receive: Receive, request: Request) -> Reply:
        simulation.judge(scope["headers"], request.request_id.decode(), self._site_origin)
        scope[_HELD].enter_context(self._place())
        return await super()._answer(scope, _in_time(receive, self._limits.body_s), request)

    def _note(self, request: Request, reply: Reply, seconds: float) -> None:
        # The fixtures' account is nobody's, and has the number of a real one.
        request.account = None
        super()._note(request, reply, seconds)

    def _refusal(self, refused: Refusal) -> Reply:
        return envelope.marked_refusal(refused, self._upgrade_url)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """One of the places there are; held until the answer is sent."""
        if self._under_way >= MOST_AT_ONCE:
            raise Refusal(
                Code.RATE_LIMITED,
                f"The sandbox answers {MOST_AT_ONCE} requests at once and is full; "
                "try again in a second.",
                {"Retry-After": str(_RETRY_AFTER_S)},
            )
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1


def _in_time(receive: Receive, limit_s: float) -> Receive:
    """Gives up on a body that trickles in: whoever sends it holds a place."""
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
