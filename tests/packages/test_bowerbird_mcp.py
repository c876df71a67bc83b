"""bowerbird-mcp: forwards messages between a client and the server."""

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bowerbird import __version__
from bowerbird.toolserver.assembly import TOOLS
from tests.packages.bridge_process import (
    INITIALIZE,
    NEWEST_META,
    BridgeProcess,
    fake_server,
    faked,
    run,
    started,
)
from tests.support.programs.tool_server import PACKAGE, Running, stdio_environment
from tests.support.waiting import PATIENCE_S, wait_until

LIST = {"name": "list_bookmarks", "arguments": {}}


@pytest.fixture
def bridge(there: Running, tmp_path: Path) -> Iterator[BridgeProcess]:
    with started(there.environment(), tmp_path) as process:
        yield process


@pytest.fixture
def keyless(tmp_path: Path) -> Iterator[BridgeProcess]:
    with started(stdio_environment(SERVICE_URL="https://birds.example/mcp"), tmp_path) as process:
        yield process


def test_responds_to_messages_and_exits_when_stdin_closes(
    bridge: BridgeProcess, there: Running
) -> None:
    initialized = bridge.request("initialize", **INITIALIZE)
    assert initialized["result"]["protocolVersion"] == "2025-06-18"
    bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    response = bridge.request("tools/call", "two", **LIST)

    assert response["id"] == "two"
    bookmarks = response["result"]["structuredContent"]["bookmarks"]
    assert [post["post_id"] for post in bookmarks] == there.post_ids[::-1]
    assert bridge.has_no_output()
    assert bridge.end() == 0


def test_pending_requests_get_responses_after_stdin_closes(bridge: BridgeProcess) -> None:
    for number in range(5):
        bridge.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": LIST})

    assert bridge.end() == 0
    assert {bridge.response()["id"] for _ in range(5)} == {0, 1, 2, 3, 4}


def test_an_invalid_line_gets_an_error_and_the_next_line_works(bridge: BridgeProcess) -> None:
    bridge.send_line(b"{not json")
    assert bridge.response()["error"]["code"] == -32700
    bridge.send_line(b"[]")
    assert bridge.response()["error"]["code"] == -32600
    bridge.send_line(b"[" * 100_000)
    assert bridge.response()["error"]["code"] == -32700
    bridge.send_line(b"")

    assert bridge.request("ping", 7)["id"] == 7


@pytest.mark.parametrize("length", [1_100_000, 5_000_000])
def test_a_message_that_is_too_large_gets_an_error_with_its_id(
    bridge: BridgeProcess, length: int
) -> None:
    response = bridge.request("tools/call", 8, name="list_bookmarks", arguments={"q": "x" * length})

    assert response["id"] == 8
    assert response["error"] == {
        "code": -32600,
        "message": "The message is larger than 1024 KiB.",
    }


def test_an_invalid_key_gets_the_error_of_the_server(there: Running, tmp_path: Path) -> None:
    with started(there.environment("bwr_wrong"), tmp_path) as bridge:
        response = bridge.request("initialize", 3, **INITIALIZE)
        assert "error" in bridge.request("tools/list", 4)

    assert response["id"] == 3
    keys = there.address.replace("/mcp", "/keys")
    assert response["error"]["message"] == (
        "UNAUTHORIZED: The API key is not valid, or was revoked. "
        f"Set SERVICE_TOKEN to a valid key: create one at {keys} (or at /keys of the website, "
        "if that has another address), or with `bowerbird key create`."
    )
    assert response["error"]["data"] == {"status": 401, "code": "UNAUTHORIZED"}
    written = (tmp_path / "stderr").read_text(encoding="utf-8")
    assert written.count(response["error"]["message"]) == 1
    assert "bwr_wrong" not in written


def test_sends_the_negotiated_version_of_an_older_client(tmp_path: Path) -> None:
    with faked(tmp_path) as (bridge, fake):
        fake.body = b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26"}}'
        bridge.request("initialize", **INITIALIZE)
        fake.body = b""
        bridge.request("tools/list", 2)

    first, second = (headers for headers, _ in fake.requests)
    assert "MCP-Protocol-Version" not in first
    assert second["MCP-Protocol-Version"] == "2025-03-26"
    assert second["Authorization"] == "Bearer key"


def test_headers_of_the_newest_version_repeat_the_message(tmp_path: Path) -> None:
    with faked(tmp_path) as (bridge, fake):
        bridge.request("tools/call", 1, name="list_bookmarks", arguments={}, _meta=NEWEST_META)
        bridge.request("resources/read", 2, uri="view://vögel", _meta=NEWEST_META)

    (first, _), (second, _) = fake.requests
    assert first["MCP-Protocol-Version"] == "2026-07-28"
    assert (first["Mcp-Method"], first["Mcp-Name"]) == ("tools/call", "list_bookmarks")
    assert second["Mcp-Name"] == "=?base64?dmlldzovL3bDtmdlbA==?="
    assert len(fake.connections) == 1, "one connection serves both requests"


def test_a_slow_call_does_not_block_others_and_can_be_cancelled(tmp_path: Path) -> None:
    with faked(tmp_path) as (bridge, fake):
        fake.held_id = "slow"
        bridge.send({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": LIST})
        assert fake.is_holding.wait(PATIENCE_S)

        assert bridge.request("ping", 2)["id"] == 2

        params = {"requestId": "slow"}
        bridge.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        assert fake.saw_disconnect.wait(PATIENCE_S), "the server sees the closed connection"
        assert bridge.request("ping", 3)["id"] == 3
        assert bridge.has_no_output(), "a cancelled request gets no response"
    wait_until(lambda: any(m["method"] == "notifications/cancelled" for _, m in fake.requests))


def test_notifications_of_an_event_stream_come_before_the_response(tmp_path: Path) -> None:
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    result = {"jsonrpc": "2.0", "id": 7, "result": {"content": []}}
    events = [f"event: message\r\ndata: {json.dumps(each)}\r\n\r\n" for each in (progress, result)]
    with faked(tmp_path) as (bridge, fake):
        fake.content_type, fake.body = "text/event-stream", ": ping\r\n\r\n".join(events).encode()
        assert bridge.request("tools/call", 7, **LIST) == progress
        assert bridge.response() == result
        fake.content_type, fake.body = "application/json", b""
        assert bridge.request("ping", 8)["id"] == 8

    assert len(fake.connections) == 1, "the connection stays open after a stream"


HTML, JSON = "text/html", "application/json"
NOT_A_RESPONSE = "The server returned a body that is not"
# Status, type and body of a response, and the beginning of the error that it becomes.
FAILURES = [
    (502, HTML, b"<h1>Bad gateway</h1>", "{} returned HTTP 502 with a web page: the service is"),
    (302, HTML, b" ", "{} returned HTTP 302 with an empty body. Check SERVICE_URL"),
    (
        *(200, HTML, b"<html><title>Sign\n in</title>"),
        "{} returned HTTP 200 with a web page titled 'Sign in'. Check SERVICE_URL",
    ),
    (
        *(404, HTML, b"<title>Not here</title>"),
        "There is no MCP server at {}: HTTP 404 (a web page titled 'Not here'). Check",
    ),
    (
        *(404, JSON, b'{"status":false,"code":"NOT_FOUND","error":"No such path."}'),
        "There is no MCP server at {}: HTTP 404 (NOT_FOUND: No such path.). Check",
    ),
    (405, "text/plain", b"no", "{} returned HTTP 405 with a body of type text/plain."),
    (200, JSON, b"{not\njson", NOT_A_RESPONSE),
    (200, JSON, b"null", NOT_A_RESPONSE),
    (200, JSON, b'{"id":"other","result":{}}', NOT_A_RESPONSE),
    (503, JSON, b'{"status":false,"code":"X","error":"Y."}', "X: Y."),
    (400, JSON, b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"Z"}}', "Z"),
]


def test_an_http_failure_becomes_an_error_with_the_id_of_the_request(tmp_path: Path) -> None:
    with faked(tmp_path) as (bridge, fake):
        for status, content_type, body, message in FAILURES:
            fake.status, fake.content_type, fake.body = status, content_type, body
            response = bridge.request("resources/list", "mine")
            assert response["id"] == "mine"
            assert response["error"]["message"].startswith(message.format(fake.address)), message


def test_lists_the_tools_without_a_key(keyless: BridgeProcess) -> None:
    initialized = keyless.request("initialize", **INITIALIZE)
    keyless.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    listed = keyless.request("tools/list", 2)

    assert initialized["result"]["protocolVersion"] == "2025-06-18"
    assert listed["result"]["tools"] == [tool.published() for tool in TOOLS]


def test_a_call_without_a_key_says_how_to_get_one(keyless: BridgeProcess) -> None:
    result = keyless.request("tools/call", **LIST)["result"]

    assert result["isError"] is True
    text = result["content"][0]["text"]
    assert "SERVICE_TOKEN" in text
    assert "https://birds.example/keys" in text
    assert keyless.request("resources/list", 2)["error"]["code"] == -32601


def test_supports_the_newest_version_without_a_key(keyless: BridgeProcess) -> None:
    found = keyless.request("server/discover", _meta=NEWEST_META)["result"]
    listed = keyless.request("tools/list", 2, _meta=NEWEST_META)["result"]

    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["resultType"] == listed["resultType"] == "complete"
    assert (listed["ttlMs"], listed["cacheScope"]) == (0, "private")


def test_check_reports_whether_server_and_key_work(there: Running) -> None:
    good = run("--check", SERVICE_URL=there.address, SERVICE_TOKEN=there.key)
    wrong = run("--check", SERVICE_URL=there.address, SERVICE_TOKEN="bwr_wrong")
    missing = run("--check", SERVICE_URL=there.address)

    assert (good.returncode, good.stdout) == (
        0,
        f"{there.address} answers, and the key works.\n",
    )
    assert wrong.returncode == missing.returncode == 1
    assert "UNAUTHORIZED" in wrong.stderr
    assert "Set SERVICE_TOKEN to a valid key" in wrong.stderr
    assert "SERVICE_TOKEN is not set" in missing.stderr


def test_check_fails_if_the_response_is_not_a_list_of_tools() -> None:
    with fake_server() as (address, fake):
        for body in (
            b"<h1>Sign in</h1>",
            b"null",
            b'{"jsonrpc":"2.0","id":1,"result":{"content":[], "isError": true}}',
        ):
            fake.body = body
            checked = run("--check", SERVICE_URL=address, SERVICE_TOKEN="key")
            assert (checked.returncode, checked.stdout) == (1, "")
            assert f"{address} returned {body.decode()}" in checked.stderr


def test_the_address_works_without_its_path(there: Running) -> None:
    address = there.address.removesuffix("/mcp")

    assert run("--check", SERVICE_URL=address, SERVICE_TOKEN=there.key).returncode == 0


@pytest.mark.parametrize(
    "address",
    ["birds", "ftp://birds", "http://", "http://birds:port", "http://birds/mcp#read_only=1"],
)
def test_an_invalid_address_is_reported_at_start(address: str) -> None:
    stopped = run(SERVICE_URL=address, SERVICE_TOKEN="key")

    assert stopped.returncode == 2
    assert "SERVICE_URL" in stopped.stderr
    assert stopped.stdout == ""


def test_unknown_arguments_are_refused() -> None:
    assert run("--sandbox").returncode == 2
    assert "SERVICE_TOKEN" in run("--help").stdout
    assert run("--version").stdout == f"{__version__}\n"


def test_imports_only_the_standard_library() -> None:
    modules = "\n".join(file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py"))
    names = {
        line.split()[1].split(".")[0]
        for line in modules.splitlines()
        if line.startswith(("import ", "from "))
    }

    assert names - {"bowerbird_mcp"} <= sys.stdlib_module_names


def test_all_files_of_the_package_agree_on_name_and_version() -> None:
    folder = PACKAGE.parent
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listing = json.loads((folder / "server.json").read_text(encoding="utf-8"))
    readme = (folder / "README.md").read_text(encoding="utf-8")

    assert project["dependencies"] == []
    assert project["scripts"] == {"bowerbird-mcp": "bowerbird_mcp.__main__:main"}
    assert listing["version"] == listing["packages"][0]["version"] == __version__
    assert listing["packages"][0]["identifier"] == project["name"]
    assert f"mcp-name: {listing['name']}" in readme
    assert len(listing["description"]) <= 100
