"""Puts the tool server together from the parts of the library that it offers."""

from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.library.accounts.account_state import AccountState
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.digests.digests import Digests
from bowerbird.library.exports.exports import Exports
from bowerbird.library.labels.labels import Labels
from bowerbird.library.views.views import Views
from bowerbird.settings import Settings
from bowerbird.toolserver.protocol.http_endpoint import Answers, ToolServer
from bowerbird.toolserver.protocol.resources import Resources
from bowerbird.toolserver.protocol.tool_calls import ToolCalls
from bowerbird.toolserver.tools import account, bookmarks, digests, exports, labels, views
from bowerbird.toolserver.tools.tool import BoundTool
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.export_response import ExportAddresses
from bowerbird.wire.idempotency import Idempotency
from bowerbird.wire.metrics import RequestMetrics

_PORTS: Final = {"http": 80, "https": 443}


class ToolParts(Struct, frozen=True, kw_only=True):
    """What of the library the tools call."""

    bookmarks: Bookmarks
    flags: Flags
    labels: Labels
    views: Views
    exports: Exports
    digests: Digests
    state: AccountState
    idempotency: Idempotency
    export_addresses: ExportAddresses
    # Called once a job is on disk, for a worker in the same process.
    wake_worker: Callable[[], None]


def tool_server(
    settings: Settings,
    parts: ToolParts,
    *,
    authenticate: Authenticator,
    calls: CallCounter,
    measures: RequestMetrics,
    note_use: Callable[[int], None] = lambda _: None,
) -> ToolServer:
    calling = ToolCalls(offered(parts), calls, settings.upgrade_url)
    resources = Resources(parts.bookmarks, parts.views, parts.digests)

    def load() -> Answers:
        from bowerbird.toolserver.protocol import exchange, sdk_server  # noqa: PLC0415 - 1.3 s and 30 MB

        handlers = sdk_server.Handlers(calling, resources, settings.upgrade_url)
        schemas = {one.tool.name: one.tool.published()["inputSchema"] for one in calling.offered}
        return exchange.Exchange(sdk_server.server(handlers, settings.site_origin), schemas)

    return ToolServer(
        path_of(settings),
        load,
        authenticate=authenticate,
        origins=origins_of(settings),
        measures=measures,
        upgrade_url=settings.upgrade_url,
        note_use=note_use,
    )


def offered(parts: ToolParts) -> list[BoundTool]:
    """Every tool, in the order of the catalogue."""
    return [
        *bookmarks.offered(parts.bookmarks, parts.flags, parts.idempotency),
        *labels.offered(parts.labels, parts.idempotency),
        *views.offered(parts.views, parts.idempotency),
        *exports.offered(
            parts.exports, parts.export_addresses, parts.idempotency, parts.wake_worker
        ),
        *digests.offered(parts.digests),
        *account.offered(parts.state),
    ]


def path_of(settings: Settings) -> str:
    return urlsplit(settings.tool_server).path.rstrip("/") or "/"


def origins_of(settings: Settings) -> set[str]:
    """The origins of our own addresses, and those that the operator lets in."""
    own = (settings.api_origin, settings.site_origin, settings.tool_server)
    more = (origin.strip() for origin in settings.tool_origins.split(","))
    return {_origin(address) for address in (*own, *more) if address}


def _origin(address: str) -> str:
    """As a browser writes it: without the port that its scheme has anyway."""
    parts = urlsplit(address)
    port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname}{port}"
