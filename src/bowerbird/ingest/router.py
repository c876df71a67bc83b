"""Authenticates devices and keys, finds the handler of a path under /ingest/v1, and serves it."""

from collections.abc import Callable, Sequence
from typing import Final

from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.ingest.operations import PREFIX
from bowerbird.ingest.sending import FileHandlers, Sending
from bowerbird.library.accounts.tokens import Devices
from bowerbird.library.ingest.events import IngestEvents
from bowerbird.library.ingest.pages import IngestPages
from bowerbird.library.ingest.runs import IngestRuns
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


def _serve(
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


def ingest(
    services: Services,
    *,
    document: Callable[[], bytes],
    by_key: Authenticate,
    metrics: RequestMetrics,
) -> Pipeline:
    database, clock, settings = services.database, services.clock, services.settings
    runs, rates = IngestRuns(database, clock), services.rates
    sending = Sending(
        runs,
        IngestPages(database, clock, runs),
        IngestEvents(database, clock),
        labels=services.labels.listed,
        saving=services.saving,
        idempotency=services.idempotency,
        rates=rates,
        clock=clock,
        upgrade_url=settings.upgrade_url,
    )
    of_files = FileHandlers(
        services.file_jobs, services.uploads, rates=rates, api_origin=settings.api_origin
    )
    return _serve(
        [*sending.routes(), *of_files.routes()],
        document,
        authenticate=DeviceAuthenticator(services.devices, by_key, settings.site_origin),
        metrics=metrics,
        upgrade_url=settings.upgrade_url,
    )
