"""The admin port, which serves `/metrics`.

It has no keys, so it must not answer a web page. A page can make its own name resolve to this
machine (DNS rebinding) and then reads what it likes; but the browser still sends that name as
`Host`. So only addresses, `localhost` and the configured name are accepted there.
"""

import asyncio
import ipaddress
from typing import Final
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

PATH: Final = "/metrics"


def metrics_app(configured_host: str, registry: CollectorRegistry) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        response = await _response(scope, configured_host, registry)
        await response(scope, receive, send)

    return app


async def _response(scope: Scope, configured_host: str, registry: CollectorRegistry) -> Response:
    headers = Headers(scope=scope)
    if not is_allowed(headers.get("host", ""), configured_host):
        return _refusal(
            403,
            "This Host is not allowed. Use an IP address, localhost, or the name in "
            "BOWERBIRD_ADMIN_HOST.",
        )
    if scope["path"] != PATH:
        return _refusal(404, f"The admin port has only {PATH}.")
    encode, content_type = choose_encoder(headers.get("accept", ""))
    # Off the event loop: there may be thousands of series.
    body = await asyncio.to_thread(encode, registry)
    return Response(body, headers={"content-type": content_type, "cache-control": "no-store"})


def is_allowed(sent: str, configured: str) -> bool:
    """Whether the value of `Host` cannot be the name of somebody else's web page."""
    if "@" in sent:
        return False
    try:
        name = urlsplit(f"//{sent}").hostname or ""
    except ValueError:
        return False
    if name in ("localhost", configured.lower()):
        return bool(name)
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _refusal(status: int, sentence: str) -> Response:
    return PlainTextResponse(f"{sentence}\n", status, headers={"cache-control": "no-store"})
