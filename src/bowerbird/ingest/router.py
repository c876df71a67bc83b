"""Authenticates devices and keys, finds the handler of a path under /ingest/v1, and serves it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from bowerbird.errors import Code, Refusal
from bowerbird.ingest.operations import PREFIX
from bowerbird.library.accounts.tokens import Devices
from bowerbird.model.accounts import Account
from bowerbird.model.keys import DEVICE_PREFIX
from bowerbird.wire import router
from bowerbird.wire.auth import bearer_token, unauthorized
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import (
    MAX_BODY_BYTES,
    Authenticate,
    Pipeline,
    Request,
    Surface,
)
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import CORS, Reply
from bowerbird.wire.router import Router, Served
from bowerbird.wire.routes import NOBODY, Operation


class DeviceAuthenticator:
    """A revoked token stops working at once: every request reads its device."""

    def __init__(self, devices: Devices, by_key: Authenticate, site_origin: str) -> None:
        self._devices = devices
        self._by_key = by_key
        self._site_origin = site_origin

    async def __call__(self, header: bytes | None) -> Account:
        token = "" if header is None else bearer_token(header)
        if not token:
            problem = "No device token was sent" if header is None else "The header has no token"
            sentence = (
                f"{problem}; send a device token, or an API key, as Authorization: Bearer <TOKEN>."
            )
            raise unauthorized(sentence, self._site_origin, is_bad_token=False)
        if not token.startswith(DEVICE_PREFIX):
            return await self._account_of_key(header)
        caller = await self._devices.caller(token)
        if caller is None:
            sentence = "The device token is not valid."
            if await self._devices.is_revoked(token):
                sentence = "The device was revoked. Connect it again to send more posts."
            raise unauthorized(sentence, self._site_origin, is_bad_token=True)
        return caller

    async def _account_of_key(self, header: bytes | None) -> Account:
        try:
            return await self._by_key(header)
        except Refusal as refused:
            if refused.code is not Code.UNAUTHORIZED:
                raise
            sentence = "The device token or API key is not valid, or was revoked."
            raise Refusal(refused.code, sentence, refused.headers) from None


DOCUMENT: Final = f"{PREFIX}/openapi.json"


IngestHandler = Callable[[Account, Request], Awaitable[Reply]]


def served_by(
    operation: Operation, handle: IngestHandler, max_body_bytes: int = MAX_BODY_BYTES
) -> Served:
    """The operation with its handler, which receives the body itself."""

    async def run(request: Request) -> Reply:
        return await handle(request.account or NOBODY, request)

    return Served(
        method=operation.method, path=operation.path, handle=run, max_body_bytes=max_body_bytes
    )


def serve(
    routes: Sequence[Served],
    document: Callable[[], bytes],
    *,
    authenticate: Authenticate,
    metrics: RequestMetrics,
    upgrade_url: str,
) -> Pipeline:
    """`document` returns the OpenAPI document, which needs no token."""
    surface = Surface(
        routes=[(route.method, route.path) for route in routes],
        find=Router([*routes, _document(document)], ("OPTIONS",)).find,
        phrase_refusal=lambda refused, _: envelope.refusal(refused, upgrade_url),
        extra_headers=lambda _request, _reply: CORS,
        preflight=router.preflight,
        authenticate=authenticate,
    )
    return Pipeline(surface, metrics)


def _document(document: Callable[[], bytes]) -> Served:
    async def handle(_: Request) -> Reply:
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-cache")]
        return Reply(200, headers, document())

    return Served(
        method="GET", path=DOCUMENT, handle=handle, is_public=True, max_body_bytes=MAX_BODY_BYTES
    )
