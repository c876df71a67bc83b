"""A connection can be read-only, and can have only some of the tools."""

from typing import Any

import httpx
import pytest

from bowerbird.toolserver.tools.catalogue import TOOLS
from tests.support.in_turn import in_turn
from tests.support.service import Member, Service
from tests.support.toolcalls import headers_of, message

pytestmark = pytest.mark.anyio

RESTRICTING = "X-MCP-Readonly, X-MCP-Tools"
READING = [tool.name for tool in TOOLS if tool.hints.is_read_only]


async def asked(
    member: Member, address: str, method: str, *, params: Any = None, **headers: str
) -> httpx.Response:
    sent = message(method, params)
    return await member.client.post(address, json=sent, headers={**headers_of(sent), **headers})


async def listed(member: Member, address: str, **headers: str) -> list[str]:
    result = (await asked(member, address, "tools/list", **headers)).json()["result"]
    assert result["cacheScope"] == "private"
    return [tool["name"] for tool in result["tools"]]


async def called(
    member: Member, address: str, tool: str, arguments: Any, **headers: str
) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    result: dict[str, Any] = (
        await asked(member, address, "tools/call", params=params, **headers)
    ).json()["result"]
    return result


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("/mcp?read_only=1", {}),
        ("/mcp/?read_only=true", {}),
        ("/mcp", {"X-MCP-Readonly": "1"}),
        ("/mcp?read_only=0", {"X-MCP-Readonly": "true"}),
        ("/mcp", {"X-MCP-Read-Only": "1"}),
        ("/mcp", {"X_MCP_Readonly": "1"}),
    ],
)
async def test_a_read_only_connection_cannot_change_the_library(
    service: Service, address: str, headers: dict[str, str]
) -> None:
    alice = service.alice
    post_id = (await alice.save(text="an owl"))["post_id"]

    assert await listed(alice, address, **headers) == READING
    arguments = {"post_ids": [post_id], "is_read": True}
    refused = await called(alice, address, "update_bookmarks", arguments, **headers)
    counted = await called(alice, address, "count_bookmarks", {"is_unread_only": True}, **headers)

    assert refused["isError"] is True
    assert refused["content"][0]["text"] == (
        "The tool update_bookmarks is not available on this connection: it is read-only, and this "
        "tool changes the library. Tell the user."
    )
    assert counted["structuredContent"]["count"] == 1, "the post is still unread"


def unknown_header(name: str) -> str:
    return f"Unknown header '{name}'. Headers that restrict a connection: {RESTRICTING}."


@in_turn("name", ["X-MCP-Proxy-Auth", "X-MCP-Thread-Id", "X-MCP-Servers"])
async def test_other_headers_with_the_same_prefix_are_ignored(service: Service, name: str) -> None:
    response = await asked(service.alice, "/mcp", "tools/list", **{name: "1"})

    assert len(response.json()["result"]["tools"]) == len(TOOLS)


async def test_a_connection_can_have_only_some_tools(service: Service) -> None:
    alice = service.alice
    chosen = "/mcp?tools=list_labels,add_label,%20count_bookmarks"

    assert await listed(alice, chosen) == ["count_bookmarks", "list_labels", "add_label"]
    assert await listed(alice, f"{chosen}&read_only=1") == ["count_bookmarks", "list_labels"]
    assert await listed(alice, chosen, **{"X-MCP-Tools": "list_labels,get_account"}) == [
        "list_labels"
    ]
    assert (await called(alice, chosen, "list_labels", {}))["isError"] is False
    refused = await called(alice, chosen, "list_bookmarks", {})
    assert "its tools setting does not include it" in refused["content"][0]["text"]


@in_turn(
    ("query", "headers", "problem"),
    [
        ("read_onyl=1", {}, "Unknown parameter 'read_onyl'. Allowed: read_only, tools."),
        ("", {"X-MCP-Redonly": "1"}, unknown_header("x-mcp-redonly")),
        ("", {"X-MCP-Read": "1"}, unknown_header("x-mcp-read")),
        ("", {"X-MCP-Tool": "list_labels"}, unknown_header("x-mcp-tool")),
        ("", {"X-MCP-Exclude_Tools": "add_label"}, unknown_header("x-mcp-exclude_tools")),
        ("read_only=yes", {}, "read_only: must be 1 or 0."),
        ("read_only=", {}, "read_only: must be 1 or 0."),
        ("", {"X-MCP-Readonly": "on"}, "read_only: must be 1 or 0."),
        ("tools=", {}, "tools: must be names of tools, separated by commas."),
        ("tools=list_labels,sing", {}, "tools: no tool is named 'sing'."),
    ],
)
async def test_a_restriction_that_is_not_understood_is_refused(
    service: Service, query: str, headers: dict[str, str], problem: str
) -> None:
    response = await asked(service.alice, f"/mcp?{query}", "tools/list", **headers)

    assert response.status_code == 400
    assert response.json()["error"] == {"code": -32600, "message": problem}


async def test_the_whole_list_stays_public(service: Service) -> None:
    result = (await asked(service.alice, "/mcp", "tools/list")).json()["result"]

    assert [tool["name"] for tool in result["tools"]] == [tool.name for tool in TOOLS]
    assert result["cacheScope"] == "public"
