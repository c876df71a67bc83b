"""Hands each request to the surface that serves its path."""

from collections.abc import Mapping
from functools import partial

from starlette.types import ASGIApp, Receive, Scope, Send

from bowerbird.library.access import caller
from bowerbird.wire.client_addresses import ClientAddresses


def by_path(
    single: Mapping[str, ASGIApp],
    surfaces: Mapping[str, ASGIApp],
    pages: ASGIApp,
    addresses: ClientAddresses,
) -> ASGIApp:
    """Single paths come first, then surfaces by prefix in the given order, then the pages."""

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        caller.set_address(partial(addresses.of, scope))
        path: str = scope["path"]
        if path in single:
            await single[path](scope, receive, send)
            return
        for prefix, surface in surfaces.items():
            if path.startswith(prefix) and path[len(prefix) :][:1] in ("", "/"):
                await surface(scope, receive, send)
                return
        await pages(scope, receive, send)

    return dispatch
