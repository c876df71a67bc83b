"""The SDK's server with our tools, prompts and resources.

Not imported with the rest of the server, because the SDK takes a second and 30 MB to load.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeVar

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from bowerbird import __version__, errors
from bowerbird.errors import Code, Refusal
from bowerbird.toolserver.protocol import prompts
from bowerbird.toolserver.protocol.prompts import PROMPTS, TEMPLATES, Prompt, Resources
from bowerbird.toolserver.protocol.tool_calls import ToolCaller, ToolCalls
from bowerbird.toolserver.tools.results import guidance
from bowerbird.wire.responses import documents

if TYPE_CHECKING:
    from bowerbird.toolserver.tools.tool import Json

T = TypeVar("T")

_HOUR_MS: Final = 3_600_000
# For lists that are the same for every account and change only with a release.
_PUBLIC: Final = CacheHint(_HOUR_MS, "public")
_PRIVATE: Final = CacheHint(0, "private")
_SERVER_ERROR: Final = 500
_PROGRESS_EVERY_S: Final = 2
# Used by revisions up to 2025-11-25; the newest uses "invalid params".
_RESOURCE_NOT_FOUND: Final = -32002
_Page = types.PaginatedRequestParams | None
_Context = ServerRequestContext[Any, ToolCaller]


class Handlers:
    """One handler per method of the protocol."""

    def __init__(self, tool_calls: ToolCalls, resources: Resources, upgrade_url: str) -> None:
        self._tool_calls = tool_calls
        self._resources = resources
        self._upgrade_url = upgrade_url
        self._tools = [(tool, tool.published()) for tool in tool_calls.tools]
        self._prompts: dict[str, Prompt] = {prompt.name: prompt for prompt in PROMPTS}

    async def list_tools(self, context: _Context, params: _Page) -> Any:
        _reject_cursor(params)
        selection = _caller(context).selection
        tools = [published for tool, published in self._tools if selection.allows(tool)]
        # A restriction can be in a header, so that the URL alone does not identify the list.
        scope = {} if selection.is_everything else {"cacheScope": "private"}
        return {"resultType": "complete", "tools": tools, **scope}

    async def call_tool(self, context: _Context, params: types.CallToolRequestParams) -> Any:
        running = self._tool_calls.run(_caller(context), params.name, params.arguments or {})
        result = await _with_progress(context, running, params)
        if result is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {errors.shown(params.name)}")
        return result

    async def list_prompts(self, _: _Context, params: _Page) -> Any:
        _reject_cursor(params)
        published = [prompt.published() for prompt in self._prompts.values()]
        return {"resultType": "complete", "prompts": published}

    async def get_prompt(self, _: _Context, params: types.GetPromptRequestParams) -> Any:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {errors.shown(params.name)}")
        try:
            return prompt.render(params.arguments or {})
        except Refusal as refused:
            raise MCPError(types.INVALID_PARAMS, refused.sentence) from None

    async def list_resources(self, context: _Context, params: _Page) -> Any:
        account = _caller(context).account
        listing = self._resources.list(account, params.cursor if params else None)
        page = await self._checked(context, listing)
        result: Json = {"resultType": "complete", "resources": page.resources}
        return {**result, "nextCursor": page.next_cursor} if page.next_cursor else result

    async def list_templates(self, _: _Context, params: _Page) -> Any:
        _reject_cursor(params)
        return {"resultType": "complete", "resourceTemplates": list(TEMPLATES)}

    async def read_resource(
        self, context: _Context, params: types.ReadResourceRequestParams
    ) -> Any:
        uri = str(params.uri)
        account = _caller(context).account
        reading = self._resources.read(account, uri)
        content = await self._checked(context, self._tool_calls.charge(account, reading), uri)
        contents = [{"uri": uri, "mimeType": content.media_type, "text": content.text}]
        return {"resultType": "complete", "contents": contents}

    async def complete(self, context: _Context, params: types.CompleteRequestParams) -> Any:
        values: Sequence[str] = []
        if getattr(params.ref, "uri", None) == "view://{slug}" and params.argument.name == "slug":
            account = _caller(context).account
            values = await self._resources.complete_slug(account, params.argument.value)
        completion = {"values": values, "total": len(values), "hasMore": False}
        return {"resultType": "complete", "completion": completion}

    async def _checked(self, context: _Context, work: Awaitable[T], uri: str | None = None) -> T:
        """The result of the work. A refusal becomes an error of the protocol."""
        try:
            return await work
        except Refusal as refused:
            is_missing = refused.code is Code.NOT_FOUND and uri is not None
            is_fault = refused.status >= _SERVER_ERROR
            code = types.INTERNAL_ERROR if is_fault else types.INVALID_PARAMS
            if is_missing and context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
                code = _RESOURCE_NOT_FOUND
            sentence = guidance.sentence(refused, self._upgrade_url)
            raise MCPError(code, sentence, {"uri": uri} if is_missing else None) from None


def server(handlers: Handlers, site_url: str) -> "Server[Any]":
    built: Server[Any] = Server(
        "bowerbird",
        version=__version__,
        title=documents.TITLE,
        description=documents.DESCRIPTION,
        instructions=prompts.INSTRUCTIONS,
        website_url=site_url,
        cache_hints={
            "tools/list": _PUBLIC,
            "prompts/list": _PUBLIC,
            "resources/templates/list": _PUBLIC,
            "server/discover": _PUBLIC,
            "resources/list": _PRIVATE,
            "resources/read": _PRIVATE,
        },
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_completion=handlers.complete,
    )
    # The default middleware records trace spans, which nothing exports.
    built.middleware.clear()
    return built


async def _with_progress(
    context: _Context, work: Awaitable[T], call: types.CallToolRequestParams
) -> T:
    """Reports that a call still runs, if its client asked for progress, so that it waits longer."""
    meta = (context.params or {}).get("_meta")
    if not isinstance(meta, dict) or "progressToken" not in meta:
        return await work
    reporting = asyncio.create_task(_report(context, call))
    try:
        return await work
    finally:
        reporting.cancel()


async def _report(context: _Context, call: types.CallToolRequestParams) -> None:
    # A call with this argument ends by then; the duration of others is unknown.
    wait_s = (call.arguments or {}).get("wait_s")
    total = wait_s if type(wait_s) is int else None
    for seconds in count(_PROGRESS_EVERY_S, _PROGRESS_EVERY_S):
        await asyncio.sleep(_PROGRESS_EVERY_S)
        message = f"{call.name} has been running for {seconds} seconds."
        if total is not None:
            message = f"{call.name} has waited {seconds} of at most {total} seconds."
        await context.session.report_progress(seconds, total, message)


def _reject_cursor(params: _Page) -> None:
    """For a list that has only one page."""
    if params is not None and params.cursor is not None:
        cursor = errors.shown(params.cursor)
        raise MCPError(types.INVALID_PARAMS, f"cursor: {cursor} is not from this list.")


def _caller(context: _Context) -> ToolCaller:
    assert context.request is not None
    return context.request
