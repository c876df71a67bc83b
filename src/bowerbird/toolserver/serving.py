"""Puts the tool server together from the parts of the library that it offers."""

from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from bowerbird.library.account_state import AccountState
from bowerbird.library.bookmarks import Bookmarks
from bowerbird.library.calls import CallCounter
from bowerbird.library.digests import Digests
from bowerbird.library.exports import Exports
from bowerbird.library.labels import Labels
from bowerbird.library.marking import Marking
from bowerbird.library.views import Views
from bowerbird.settings import Settings
from bowerbird.toolserver import account, bookmarks, digests, exports, labels, views
from bowerbird.toolserver.calling import Calling
from bowerbird.toolserver.declared import Offered
from bowerbird.toolserver.endpoint import Answers, ToolServer
from bowerbird.toolserver.resources import Resources
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.measures import Measures
from bowerbird.wire.writes import Writes

_PORTS: Final = {"http": 80, "https": 443}


class ToolParts(Struct, frozen=True, kw_only=True):
    """What of the library the tools call."""

    bookmarks: Bookmarks
    marking: Marking
    labels: Labels
    views: Views
    exports: Exports
    digests: Digests
    state: AccountState
    writes: Writes
    # Called once a job is on disk, for a worker in the same process.
    wake_worker: Callable[[], None]


def tool_server(
    settings: Settings,
    parts: ToolParts,
    *,
    authenticate: Authenticator,
    calls: CallCounter,
    measures: Measures,
    note_use: Callable[[int], None] = lambda _: None,
) -> ToolServer:
    calling = Calling(offered(parts), calls, settings.upgrade_url)
    resources = Resources(parts.bookmarks, parts.views, parts.digests)

    def load() -> Answers:
        from bowerbird.toolserver import exchange, protocol  # noqa: PLC0415 - 1.3 s and 30 MB

        handlers = protocol.Handlers(calling, resources, settings.upgrade_url)
        schemas = {one.tool.name: one.tool.published()["inputSchema"] for one in calling.offered}
        return exchange.Exchange(protocol.server(handlers, settings.site_origin), schemas)

    return ToolServer(
        path_of(settings),
        load,
        authenticate=authenticate,
        origins=origins_of(settings),
        measures=measures,
        upgrade_url=settings.upgrade_url,
        note_use=note_use,
    )


def offered(parts: ToolParts) -> list[Offered]:
    """Every tool, in the order of the catalogue."""
    return [
        *bookmarks.offered(parts.bookmarks, parts.marking, parts.writes),
        *labels.offered(parts.labels, parts.writes),
        *views.offered(parts.views, parts.writes),
        *exports.offered(parts.exports, parts.writes, parts.wake_worker),
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
