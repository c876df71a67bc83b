"""bowerbird-mcp forwards batches of the only revision that has them."""

from pathlib import Path
from typing import Any

import pytest

from tests.packages.bridge_process import BridgeProcess, faked, started
from tests.support.serving import free_port
from tests.support.tool_server import Running, stdio_environment

CLIENT = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
COUNT = {"name": "count_bookmarks", "arguments": {}}
NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}
BATCH = [
    {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": COUNT},
    NOTE,
    {"jsonrpc": "2.0", "id": "x", "method": "ping"},
]


def initialized(bridge: BridgeProcess, version: str) -> BridgeProcess:
    bridge.request("initialize", 1, protocolVersion=version, **CLIENT)
    return bridge


def batch_response(bridge: BridgeProcess, batch: Any) -> Any:
    bridge.send(batch)
    return bridge.response()


def test_a_batch_gets_the_responses_of_the_server(there: Running, tmp_path: Path) -> None:
    with started(there.environment(), tmp_path) as bridge:
        initialized(bridge, "2025-03-26")
        called, pinged = batch_response(bridge, BATCH)
        empty = batch_response(bridge, [])
        bridge.send([NOTE])
        following = bridge.request("ping", 9)

    assert (called["id"], called["result"]["isError"]) == (7, False)
    assert pinged == {"jsonrpc": "2.0", "id": "x", "result": {}}
    assert empty["error"]["code"] == -32600
    assert following["id"] == 9, "a batch of notifications has no response"


@pytest.mark.parametrize("variables", [{}, {"SERVICE_TOKEN": "key"}])
def test_a_batch_is_answered_without_a_server(variables: dict[str, str], tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{free_port()}/mcp"
    with started(stdio_environment(SERVICE_URL=address, **variables), tmp_path) as bridge:
        initialized(bridge, "2025-03-26")
        called, pinged = batch_response(bridge, BATCH)

    assert (called["id"], called["result"]["isError"]) == (7, True)
    assert pinged == {"jsonrpc": "2.0", "id": "x", "result": {}}


def test_every_request_of_a_refused_batch_gets_the_error(tmp_path: Path) -> None:
    with faked(tmp_path) as (bridge, fake):
        fake.body = b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26"}}'
        initialized(bridge, "2025-03-26")
        fake.status = 400
        fake.body = b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"No."}}'
        refused = batch_response(bridge, BATCH)
        fake.status, fake.body = 200, b'[{"jsonrpc":"2.0"'
        invalid = batch_response(bridge, BATCH)

    assert [(each["id"], each["error"]["message"]) for each in refused] == [
        (7, "No."),
        ("x", "No."),
    ]
    assert [each["id"] for each in invalid] == [7, "x"]
    assert fake.requests[-1][0]["MCP-Protocol-Version"] == "2025-03-26"


def test_other_revisions_have_no_batches(there: Running, tmp_path: Path) -> None:
    with started(there.environment(), tmp_path) as bridge:
        initialized(bridge, "2025-06-18")
        refused = batch_response(bridge, BATCH)

    assert refused["error"] == {
        "code": -32600,
        "message": "Send one JSON-RPC message per line. Only revision 2025-03-26 has batches.",
    }
