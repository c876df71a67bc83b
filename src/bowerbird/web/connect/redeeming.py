"""POST /connect/redeem: an extension trades a connect code for a device token.

The code is the proof, and cookies play no part. Pages are refused, also those without an origin of
their own: they could use up the tries of their visitors.
"""

from typing import Any, Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.accounts.connect_codes import ConnectCodes
from bowerbird.requests import decoding, limits
from bowerbird.requests.ingest import RedeemRequest
from bowerbird.settings import Settings
from bowerbird.wire import bodies, router
from bowerbird.wire.auth import ClientAddresses, network_of
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Pipeline, Request, RoutedPath, Surface
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import CORS, JSON, Reply

PATH: Final = "/connect/redeem"
_EXTENSIONS: Final = (b"chrome-extension://", b"moz-extension://", b"safari-web-extension://")


class ConnectedResponse(Struct, frozen=True, kw_only=True):
    """The only answer that has the token."""

    token: str
    device_id: str
    # Empty if the account has no address.
    email: str
    ingest_url: str
    library_url: str
    keys_url: str


def surface(
    settings: Settings,
    codes: ConnectCodes,
    addresses: ClientAddresses,
    metrics: RequestMetrics,
) -> Pipeline:
    async def redeem(request: Request) -> Reply:
        origin = request.headers.get(b"origin")
        if origin is not None and not origin.startswith(_EXTENSIONS):
            raise Refusal(Code.INVALID_REQUEST, "A page cannot use a connect code.")
        if b"content-encoding" in request.headers:
            raise errors.invalid("Content-Encoding", "must be absent")
        body = await bodies.read(request.receive, limits.REDEEM_BYTES_MAX)
        network = network_of(addresses.of(request.scope))
        codes.count_try(network)
        decoding.check_excess(body)
        sent = decoding.decode(body, RedeemRequest)
        connected = await codes.redeem(sent.code, sent.name, network)
        answer = ConnectedResponse(
            token=connected.token,
            device_id=connected.device_id,
            email=connected.email,
            ingest_url=f"{settings.api_origin}/ingest/v1",
            library_url=f"{settings.site_origin}/library",
            keys_url=settings.register_url,
        )
        headers = [JSON, (b"cache-control", b"no-store")]
        return Reply(200, headers, envelope.success(answer))

    routed = RoutedPath(
        PATH, {"POST": redeem}, "POST, OPTIONS", max_body_bytes=limits.REDEEM_BYTES_MAX
    )

    def find(_: str) -> tuple[RoutedPath | None, dict[str, Any]]:
        return routed, {}

    return Pipeline(
        Surface(
            find=find,
            phrase_refusal=lambda refused, _: envelope.refusal(refused, settings.upgrade_url),
            extra_headers=lambda _request, _reply: CORS,
            preflight=router.preflight,
        ),
        metrics,
    )
