"""Short functions for tool calls; each result is checked against the tool's output schema."""

import json
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs

from tests.support.service import Member

TOOLS = Path(__file__).parents[2] / "spec" / "tools"
NEWEST = "2026-07-28"
OLDER = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_ids = count(1)


def message(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """A request of the newest revision."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    whole = {**(params or {}), "_meta": meta}
    return {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": whole}


def headers_of(sent: dict[str, Any]) -> dict[str, str]:
    """The headers in which the newest revision repeats fields of the message."""
    params = sent.get("params", {})
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": NEWEST,
        "Mcp-Method": sent["method"],
    }
    name = params.get("uri" if sent["method"] == "resources/read" else "name")
    return headers if name is None else {**headers, "Mcp-Name": name}


async def post(client: httpx.AsyncClient, sent: dict[str, Any], **headers: str) -> httpx.Response:
    return await client.post("/mcp", json=sent, headers={**headers_of(sent), **headers})


async def ask(member: Member, method: str, **params: Any) -> dict[str, Any]:
    """The result of a method."""
    response = await post(member.client, message(method, params))
    answer: dict[str, Any] = response.json()
    assert response.status_code == 200, response.text
    result: dict[str, Any] = answer["result"]
    return result


async def result_of(member: Member, tool: str, **arguments: Any) -> dict[str, Any]:
    """The result of a call, successful or refused."""
    result = await ask(member, "tools/call", name=tool, arguments=arguments)
    if not result.get("isError"):
        _validator(tool).validate(result["structuredContent"])
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result


async def call(member: Member, tool: str, **arguments: Any) -> dict[str, Any]:
    """The answer of a tool; fails if the call is refused."""
    result = await result_of(member, tool, **arguments)
    assert not result.get("isError"), result["content"]
    content: dict[str, Any] = result["structuredContent"]
    return content


async def refusal(member: Member, tool: str, **arguments: Any) -> str:
    """The error message of a tool; fails if the call succeeds."""
    result = await result_of(member, tool, **arguments)
    assert result["isError"] is True, result
    assert "structuredContent" not in result
    text: str = result["content"][0]["text"]
    return text


async def ids(member: Member, tool: str, **arguments: Any) -> list[str]:
    answer = await call(member, tool, **arguments)
    return [post["post_id"] for post in answer["bookmarks"]]


def published(tool: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((TOOLS / f"{tool}.json").read_text(encoding="utf-8"))
    return found


@cache
def _validator(tool: str) -> Any:
    return jsonschema_rs.Draft202012Validator(published(tool)["outputSchema"])
