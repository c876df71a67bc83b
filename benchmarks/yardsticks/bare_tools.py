"""A bare tool server: the server and transport of the SDK, with a constant result for every call.

    python -m benchmarks.yardsticks.bare_tools PORT RESULT

RESULT is a JSON file with the result of a real call.
"""

import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import msgspec
import uvloop
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from benchmarks.yardsticks import serving


async def main(port: int, result_json: bytes) -> None:
    answer = msgspec.json.decode(result_json)
    result = types.CallToolResult.model_validate(answer)
    schema = {"type": "object", "properties": {}}

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        tool = types.Tool(name="list_bookmarks", input_schema=schema)
        return types.ListToolsResult(tools=[tool])

    async def call_tool(_: Any, __: Any) -> types.CallToolResult:
        return result

    server: Server[Any] = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/mcp":
            await manager.handle_request(scope, receive, send)
        else:
            await PlainTextResponse("ready")(scope, receive, send)

    async with manager.run():
        await serving.serve(app, port)


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), Path(sys.argv[2]).read_bytes()))
