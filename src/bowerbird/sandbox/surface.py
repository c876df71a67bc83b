"""Serves /v1/sandbox: like the API, but for anybody, and therefore within bounds of its own."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec
from starlette.types import Receive, Scope

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.calls import CallCounter
from bowerbird.model.accounts import Account
from bowerbird.sandbox import simulation
from bowerbird.sandbox.endpoints import endpoints
from bowerbird.sandbox.fixtures import Fixtures
from bowerbird.settings import Settings
from bowerbird.wire import envelope
from bowerbird.wire.calls import Endpoint
from bowerbird.wire.measures import Measures
from bowerbird.wire.replies import Header, Reply
from bowerbird.wire.surface import Request, Surface

MOST_AT_ONCE: Final = 32
BODY_LIMIT_S: Final = 10.0
_RETRY_AFTER_S: Final = 1
_ENVIRONMENT: Final[Header] = (b"x-service-environment", b"sandbox")


def build(
    settings: Settings,
    clock: Clock,
    calls: CallCounter,
    measures: Measures,
    body_limit_s: float = BODY_LIMIT_S,
) -> "SandboxSurface":
    fixtures = Fixtures()
    table = endpoints(fixtures, clock, settings)
    return SandboxSurface(
        table, fixtures, settings, calls=calls, measures=measures, body_limit_s=body_limit_s
    )


class SandboxSurface(Surface):
    def __init__(
        self,
        table: Sequence[Endpoint],
        fixtures: Fixtures,
        settings: Settings,
        *,
        calls: CallCounter,
        measures: Measures,
        body_limit_s: float,
    ) -> None:
        async def authenticate(_: bytes | None) -> Account:
            return await fixtures.account()

        super().__init__(
            table,
            authenticate=authenticate,
            calls=calls,
            measures=measures,
            upgrade_url=settings.upgrade_url,
        )
        self._site_origin = settings.site_origin
        self._body_limit_s = body_limit_s
        self._under_way = 0

    async def _reply(self, scope: Scope, receive: Receive, request: Request) -> Reply:
        reply = await super()._reply(scope, receive, request)
        return msgspec.structs.replace(reply, headers=[*reply.headers, _ENVIRONMENT])

    async def _answer(self, scope: Scope, receive: Receive, request: Request) -> Reply:
        simulation.judge(request.headers, request.request_id.decode(), self._site_origin)
        with self._place():
            return await super()._answer(scope, _in_time(receive, self._body_limit_s), request)

    def _refusal(self, refused: Refusal) -> Reply:
        return envelope.marked_refusal(refused, self._upgrade_url)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """One of the places there are; held until the answer is made."""
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
