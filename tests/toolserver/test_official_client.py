"""The official Python client, over HTTP and through the stdio package, in both eras."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ResourceTemplateReference, TextResourceContents

from bowerbird.toolserver.protocol.prompts import PROMPTS
from tests.support.programs.tool_server import STDIO_COMMAND, Running

pytestmark = pytest.mark.anyio
TOOLS = sorted(file.stem for file in (Path(__file__).parents[2] / "spec" / "tools").glob("*.json"))
ERAS = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28", "auto": "2026-07-28"}


@asynccontextmanager
async def connected(there: Running, way: str, era: str) -> AsyncIterator[Client]:
    if way == "stdio":
        command = StdioServerParameters(
            command=STDIO_COMMAND[0], args=list(STDIO_COMMAND[1:]), env=there.environment()
        )
        async with Client(command, mode=era) as client:
            yield client
        return
    headers = {"Authorization": f"Bearer {there.key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(there.address, http_client=http), mode=era) as client,
    ):
        yield client


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["http", "stdio"])
async def test_the_client_can_use_tools_and_resources(there: Running, way: str, era: str) -> None:
    async with connected(there, way, era) as client:
        assert client.protocol_version == ERAS[era]
        assert "data" in (client.instructions or "") or era == "2026-07-28"

        listed = await client.list_tools()
        assert sorted(tool.name for tool in listed.tools) == TOOLS

        answer = await client.call_tool("list_bookmarks", {"limit": 2})
        assert answer.is_error in (False, None)
        assert answer.structured_content is not None
        shown = [post["post_id"] for post in answer.structured_content["bookmarks"]]
        assert shown == there.post_ids[:0:-1]

        refused = await client.call_tool("list_bookmarks", {"limit": 0})
        assert refused.is_error is True
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("rule_the_world", {})

        await client.call_tool("create_view", {"name": f"Owls {way} {era}"})

        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert prompts == {prompt.name for prompt in PROMPTS}
        topic = await client.get_prompt("research_topic", {"topic": "owls"})
        assert "'owls'" in str(topic.messages[0].content)

        resources = {str(one.uri) for one in (await client.list_resources()).resources}
        view = f"view://owls-{way}-{era}"
        assert view in resources
        (content,) = (await client.read_resource(f"bookmark://{there.post_ids[0]}")).contents
        assert isinstance(content, TextResourceContents)
        assert there.post_ids[0] in content.text
        with pytest.raises(MCPError, match="NOT_FOUND"):
            await client.read_resource("bookmark://404")

        reference = ResourceTemplateReference(type="ref/resource", uri="view://{slug}")
        asked = {"name": "slug", "value": f"owls-{way}-{era}"}
        found = await client.complete(reference, asked)
        assert found.completion.values == [f"owls-{way}-{era}"]
