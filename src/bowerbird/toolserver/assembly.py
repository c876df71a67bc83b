"""The tools in their order, and the server that runs them with the services of a library."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from bowerbird.assembly import Services
from bowerbird.settings import Settings
from bowerbird.toolserver.protocol.http_endpoint import Answer, ToolServer
from bowerbird.toolserver.protocol.prompts import Resources
from bowerbird.toolserver.protocol.tool_calls import ToolCalls
from bowerbird.toolserver.tools.tool import BoundTool, ToolCall, ToolResult
from bowerbird.wire.auth import Authenticator
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.responses import documents

if TYPE_CHECKING:
    from bowerbird.telemetry.traces import Traces
import json

from bowerbird.toolserver.tools import (
    account,
    bookmarks,
    bulk,
    changes,
    digests,
    exports,
    label_edits,
    labels,
    notes,
    rules,
    saving,
    searching,
    views,
)
from bowerbird.toolserver.tools.tool import Tool

_PORTS: Final = {"http": 80, "https": 443}


def tool_server(
    services: Services,
    *,
    authenticate: Authenticator,
    metrics: RequestMetrics,
    record_use: Callable[[int], None] = lambda _: None,
    traces: "Traces | None" = None,
) -> ToolServer:
    settings, tools = services.settings, bind(services)
    if traces is not None:
        tools = [_traced(bound, traces) for bound in tools]
    tool_calls = ToolCalls(tools, services.calls, settings.upgrade_url)
    resources = Resources(services.bookmarks, services.views, services.digests)

    def load() -> Answer:
        from bowerbird.toolserver.protocol import exchange, sdk_server  # noqa: PLC0415 - 1.3 s and 30 MB

        handlers = sdk_server.Handlers(tool_calls, resources, settings.upgrade_url)
        schemas = {tool.name: tool.published()["inputSchema"] for tool in tool_calls.tools}
        server = sdk_server.server(handlers, settings.site_origin)
        return exchange.Exchange(server, schemas).answer

    return ToolServer(
        path_of(settings),
        load,
        # The 401 must name the metadata of this resource, not of the API.
        authenticate=partial(authenticate, resource_path=documents.tool_path(settings)),
        origins=origins_of(settings),
        metrics=metrics,
        upgrade_url=settings.upgrade_url,
        tool_names=frozenset(tool.name for tool in tool_calls.tools),
        record_use=record_use,
    )


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


MODULES: Final = (
    *(searching, bookmarks, bulk, changes, notes, saving, labels, label_edits),
    *(views, rules, exports, digests, account),
)
TOOLS: Final[tuple[Tool, ...]] = tuple(
    value for module in MODULES for value in vars(module).values() if isinstance(value, Tool)
)


def bind(services: Services) -> list[BoundTool]:
    """All tools, in the order of the catalogue."""
    return [bound for module in MODULES for bound in module.bind(services)]


def published_files() -> dict[str, str]:
    """The text of each generated file by path: one per tool, and one for the stdio package."""
    files = {
        f"spec/tools/{tool.name}.json": json.dumps(tool.documented(), indent=2, ensure_ascii=False)
        + "\n"
        for tool in TOOLS
    }
    whole = json.dumps([tool.published() for tool in TOOLS], indent=1, ensure_ascii=False) + "\n"
    return {**files, "packages/bowerbird-mcp/src/bowerbird_mcp/tools.json": whole}


def table() -> str:
    """The table in docs/tools.md: the tools by what they may do."""
    names: dict[str, list[str]] = {"Read": [], "Add": [], "Change or remove": []}
    for tool in TOOLS:
        effect = "Change or remove" if tool.hints.is_destructive else "Add"
        names["Read" if tool.hints.is_read_only else effect].append(f"`{tool.name}`")
    rows = [f"| {effect} | {', '.join(listed)} |\n" for effect, listed in names.items()]
    return "| Effect | Tools |\n| --- | --- |\n" + "".join(rows)
