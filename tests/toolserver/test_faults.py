"""Internal errors: the caller gets a reference without details, the log gets the exception."""

from collections.abc import MutableMapping
from typing import Any

import pytest
from mcp.server.lowlevel import Server

from bowerbird.errors import Refusal, unavailable
from bowerbird.toolserver.protocol.exchange import Exchange
from bowerbird.toolserver.protocol.prompts import Resources
from bowerbird.toolserver.protocol.tool_calls import ToolCaller, ToolCalls
from bowerbird.toolserver.tools.account import GET
from bowerbird.toolserver.tools.tool import BoundTool, ToolCall, ToolResult
from tests.support.in_turn import in_turn
from tests.support.service import Service

pytestmark = pytest.mark.anyio

Logged = list[MutableMapping[str, Any]]
DETAILS = "table bookmark has no column"


async def broken(_: ToolCall) -> ToolResult:
    raise RuntimeError(DETAILS)


async def unavailable_database(_: ToolCall) -> ToolResult:
    raise unavailable("The database is away.", 7)


async def called(service: Service, run: Any) -> tuple[str, ToolCaller]:
    calling = ToolCalls([BoundTool(GET, run)], service.app.calls, "http://x/upgrade")
    caller = ToolCaller(await service.alice.account(), "the-reference")
    result = await calling.run(caller, GET.name, {})
    assert result is not None
    assert result["isError"] is True
    return result["content"][0]["text"], caller


async def test_a_crashing_tool_returns_a_reference(service: Service, logged: Logged) -> None:
    said, caller = await called(service, broken)

    assert said.startswith("INTERNAL_ERROR: ")
    assert "the-reference" in said
    assert DETAILS not in said
    assert caller.refused == "INTERNAL_ERROR"
    (line,) = (line for line in logged if line["event"] == "fault")
    assert line["reference"] == "the-reference"
    assert line["exc_info"]


async def test_a_database_that_is_away_says_when_to_retry(service: Service, logged: Logged) -> None:
    said, _ = await called(service, unavailable_database)

    assert said == ("SERVICE_UNAVAILABLE: The database is away. Wait 7 seconds and call again.")
    assert [line["event"] for line in logged] == ["unavailable"]


async def test_a_crashing_handler_is_an_internal_error(service: Service, logged: Logged) -> None:
    async def list_tools(_: Any, __: Any) -> Any:
        raise RuntimeError(DETAILS)

    server: Server[Any] = Server("broken", on_list_tools=list_tools)
    caller = ToolCaller(await service.alice.account(), "the-reference")
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'

    reply = await Exchange(server, {}).answer(body, [], caller)

    assert reply.status == 200
    assert b"-32603" in reply.body
    assert b"the-reference" in reply.body
    assert DETAILS.encode() not in reply.body
    assert any(line["event"] == "fault" for line in logged)


@in_turn("uri", ["bookmark:1", "bookmark://", "http://x", "view://a b", ""])
async def test_an_invalid_resource_uri_is_rejected(service: Service, uri: str) -> None:
    # The stores are not needed: an invalid URI is rejected before any lookup.
    resources = Resources(None, None, None)  # type: ignore[arg-type] # never used

    with pytest.raises(Refusal, match="No resource"):
        await resources.read(await service.alice.account(), uri)
