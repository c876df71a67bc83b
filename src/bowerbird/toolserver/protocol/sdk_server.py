"""The protocol's server, made with its SDK from our own tools, prompts and resources.

Imported at the first need only: the SDK costs more than a second and 30 MB.
"""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from bowerbird import __version__, errors
from bowerbird.errors import Code, Refusal
from bowerbird.toolserver.protocol import instructions
from bowerbird.toolserver.protocol.prompts import PROMPTS, Prompt
from bowerbird.toolserver.protocol.resources import TEMPLATES, Resources
from bowerbird.toolserver.protocol.tool_calls import ToolCaller, ToolCalls
from bowerbird.toolserver.tools import refusals
from bowerbird.wire import server_card

if TYPE_CHECKING:
    from bowerbird.toolserver.tools.tool import Json

_HOUR_MS: Final = 3_600_000
# The same for every account, and changed by a release only.
_PUBLIC: Final = CacheHint(_HOUR_MS, "public")
_NOBODY_ELSES: Final = CacheHint(0, "private")
_FAULT: Final = 500
# Of the revisions up to 2025-11-25; the newest calls it a wrong parameter.
_RESOURCE_NOT_FOUND: Final = -32002
_Page = types.PaginatedRequestParams | None
_Context = ServerRequestContext[Any, ToolCaller]


class Handlers:
    """What the server answers to each method. The caller comes with the request."""

    def __init__(
        self, calling: ToolCalls, resources: Resources, upgrade_url: str, *, prompts: Any = PROMPTS
    ) -> None:
        self._calling = calling
        self._resources = resources
        self._upgrade_url = upgrade_url
        self._tools = [one.tool.published() for one in calling.offered]
        self._prompts: dict[str, Prompt] = {prompt.name: prompt for prompt in prompts}

    async def list_tools(self, _: _Context, params: _Page) -> Any:
        _only_one_page(params)
        return {"resultType": "complete", "tools": self._tools}

    async def call_tool(self, context: _Context, params: types.CallToolRequestParams) -> Any:
        result = await self._calling.run(_caller(context), params.name, params.arguments or {})
        if result is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {errors.shown(params.name)}")
        return result

    async def list_prompts(self, _: _Context, params: _Page) -> Any:
        _only_one_page(params)
        published = [prompt.published() for prompt in self._prompts.values()]
        return {"resultType": "complete", "prompts": published}

    async def get_prompt(self, _: _Context, params: types.GetPromptRequestParams) -> Any:
        prompt = self._prompts.get(params.name)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {errors.shown(params.name)}")
        try:
            return prompt.filled(params.arguments or {})
        except Refusal as refused:
            raise MCPError(types.INVALID_PARAMS, refused.sentence) from None

    async def list_resources(self, context: _Context, params: _Page) -> Any:
        account = _caller(context).account
        listed = self._resources.listed(account, params.cursor if params else None)
        shown = await self._unless_refused(context, self._calling.charged(account, listed))
        made: Json = {"resultType": "complete", "resources": shown.resources}
        return {**made, "nextCursor": shown.next_cursor} if shown.next_cursor else made

    async def list_templates(self, _: _Context, params: _Page) -> Any:
        _only_one_page(params)
        return {"resultType": "complete", "resourceTemplates": list(TEMPLATES)}

    async def read_resource(
        self, context: _Context, params: types.ReadResourceRequestParams
    ) -> Any:
        uri = str(params.uri)
        account = _caller(context).account
        content = await self._unless_refused(
            context, self._calling.charged(account, self._resources.read(account, uri)), uri
        )
        shown: Json = {"uri": uri, "mimeType": content.media_type, "text": content.text}
        return {"resultType": "complete", "contents": [shown]}

    async def complete(self, context: _Context, params: types.CompleteRequestParams) -> Any:
        values: list[str] = []
        if getattr(params.ref, "uri", None) == "view://{slug}" and params.argument.name == "slug":
            account = _caller(context).account
            values = await self._resources.slugs(account, params.argument.value)
        completion = {"values": values, "total": len(values), "hasMore": False}
        return {"resultType": "complete", "completion": completion}

    async def _unless_refused(
        self, context: _Context, answer: Awaitable[Any], uri: str | None = None
    ) -> Any:
        try:
            return await answer
        except Refusal as refused:
            is_missing = refused.code is Code.NOT_FOUND and uri is not None
            code = types.INTERNAL_ERROR if refused.status >= _FAULT else types.INVALID_PARAMS
            if is_missing and context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
                code = _RESOURCE_NOT_FOUND
            sentence = refusals.sentence(refused, self._upgrade_url)
            raise MCPError(code, sentence, {"uri": uri} if is_missing else None) from None


def server(handlers: Handlers, site_url: str) -> "Server[Any]":
    made: Server[Any] = Server(
        "bowerbird",
        version=__version__,
        title=server_card.TITLE,
        description=server_card.DESCRIPTION,
        instructions=instructions.INSTRUCTIONS,
        website_url=site_url,
        cache_hints={
            "tools/list": _PUBLIC,
            "prompts/list": _PUBLIC,
            "resources/templates/list": _PUBLIC,
            "server/discover": _PUBLIC,
            "resources/list": _NOBODY_ELSES,
            "resources/read": _NOBODY_ELSES,
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
    # Spans are for those who export them; a call pays for them either way.
    made.middleware.clear()
    return made


def _only_one_page(params: _Page) -> None:
    """Of a list that is one page: nobody was given a cursor for another."""
    if params is not None and params.cursor is not None:
        cursor = errors.shown(params.cursor)
        raise MCPError(types.INVALID_PARAMS, f"cursor: {cursor} was not given out for this list.")


def _caller(context: _Context) -> ToolCaller:
    assert context.request is not None
    return context.request
