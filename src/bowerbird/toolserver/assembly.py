"""Builds the tool server from the parts of the library that its tools call."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.library.accounts.account_state import AccountState
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.bookmarks.highlights import Highlights
from bowerbird.library.bulk.requests import BulkRequests
from bowerbird.library.digests.digests import Digests
from bowerbird.library.exports.exports import Exports
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.imports.saving import Saving
from bowerbird.library.labels.labels import Labels
from bowerbird.library.statistics.facets import FacetCounts
from bowerbird.library.views.views import Views
from bowerbird.settings import Settings
from bowerbird.toolserver.protocol.http_endpoint import Answers, ToolServer
from bowerbird.toolserver.protocol.resources import Resources
from bowerbird.toolserver.protocol.tool_calls import PlainCalls, ToolCalls
from bowerbird.toolserver.tools import (
    account,
    bookmarks,
    bulk,
    digests,
    exports,
    facets,
    imports,
    label_edits,
    labels,
    notes,
    saving,
    views,
)
from bowerbird.toolserver.tools.tool import BoundTool, ToolCall, ToolResult
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.idempotency import Idempotency
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.responses import server_card
from bowerbird.wire.responses.export_response import ExportAddresses

if TYPE_CHECKING:
    from bowerbird.telemetry.traces import Traces

_PORTS: Final = {"http": 80, "https": 443}


class ToolParts(Struct, frozen=True, kw_only=True):
    """The parts of the library that the tools call."""

    bookmarks: Bookmarks
    flags: Flags
    facets: FacetCounts
    bulk: BulkRequests
    highlights: Highlights
    saving: Saving
    labels: Labels
    views: Views
    exports: Exports
    digests: Digests
    imports: ImportRuns
    state: AccountState
    idempotency: Idempotency
    export_addresses: ExportAddresses
    # Called after a job is committed, for a worker in the same process.
    wake_worker: Callable[[], None]


def tool_server(
    settings: Settings,
    parts: ToolParts,
    *,
    authenticate: Authenticator,
    calls: CallCounter,
    metrics: RequestMetrics,
    record_use: Callable[[int], None] = lambda _: None,
    traces: "Traces | None" = None,
) -> ToolServer:
    tools = bind(parts)
    if traces is not None:
        tools = [_traced(bound, traces) for bound in tools]
    tool_calls = ToolCalls(tools, calls, settings.upgrade_url)
    resources = Resources(parts.bookmarks, parts.views, parts.digests)

    def load() -> Answers:
        from bowerbird.toolserver.protocol import exchange, sdk_server  # noqa: PLC0415 - 1.3 s and 30 MB

        handlers = sdk_server.Handlers(tool_calls, resources, settings.upgrade_url)
        schemas = {tool.name: tool.published()["inputSchema"] for tool in tool_calls.tools}
        return exchange.Exchange(sdk_server.server(handlers, settings.site_origin), schemas)

    return ToolServer(
        path_of(settings),
        load,
        # The 401 must name the metadata of this resource, not of the API.
        authenticate=partial(authenticate, resource_path=server_card.tool_path(settings)),
        origins=origins_of(settings),
        metrics=metrics,
        upgrade_url=settings.upgrade_url,
        tool_names=frozenset(tool.name for tool in tool_calls.tools),
        answer_plainly=PlainCalls(tool_calls, settings.site_origin).answer,
        record_use=record_use,
    )


def bind(parts: ToolParts) -> list[BoundTool]:
    """All tools, in the order of the catalogue."""
    changes = bulk.BulkCalls(parts.bulk, parts.bookmarks, parts.idempotency, parts.wake_worker)
    return [
        *bookmarks.bind(parts.bookmarks),
        *facets.bind(parts.facets, parts.bookmarks),
        *bulk.bind(changes, parts.flags),
        *notes.bind(parts.flags, parts.highlights, parts.idempotency),
        *saving.bind(parts.saving, parts.idempotency),
        *labels.bind(parts.labels, changes, parts.idempotency),
        *label_edits.bind(parts.labels, changes),
        *views.bind(parts.views, parts.bookmarks, parts.idempotency),
        *exports.bind(
            parts.exports,
            parts.bookmarks,
            parts.export_addresses,
            parts.idempotency,
            parts.wake_worker,
        ),
        *digests.bind(parts.digests, parts.idempotency),
        *imports.bind(parts.imports, parts.idempotency),
        *account.bind(parts.state),
    ]


def _traced(bound: BoundTool, traces: "Traces") -> BoundTool:
    async def run(call: ToolCall) -> ToolResult:
        with traces.tool(bound.tool.name):
            return await bound.run(call)

    return msgspec.structs.replace(bound, run=run)


def path_of(settings: Settings) -> str:
    return urlsplit(settings.tool_server).path.rstrip("/") or "/"


def origins_of(settings: Settings) -> set[str]:
    """The origins of the service's own addresses, and those that the operator allows."""
    own = (settings.api_origin, settings.site_origin, settings.tool_server)
    more = (origin.strip() for origin in settings.tool_origins.split(","))
    return {_origin(address) for address in (*own, *more) if address}


def _origin(address: str) -> str:
    """The origin as a browser writes it: without the default port of its scheme."""
    parts = urlsplit(address)
    port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname}{port}"
