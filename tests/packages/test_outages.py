"""The bridge: outages, invalid input and batches."""

import json
import os
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bowerbird.toolserver.assembly import TOOLS
from bowerbird_mcp import configuration
from bowerbird_mcp.connections import Call, CallFailedError, Connections
from tests.packages.bridge_process import (
    INITIALIZE,
    NEWEST_META,
    BridgeProcess,
    fake_server,
    faked,
    started,
)
from tests.support.programs.tool_server import PACKAGE, Running, stdio_environment
from tests.support.serving import free_port
from tests.support.waiting import PATIENCE_S

COUNT = {"name": "count_bookmarks", "arguments": {}}


def test_a_client_can_start_while_the_service_is_down(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{free_port()}/mcp"
    with started(stdio_environment(SERVICE_URL=address, SERVICE_TOKEN="key"), tmp_path) as bridge:
        initialized = bridge.request("initialize", 1, **INITIALIZE)
        bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        listed = bridge.request("tools/list", 2)
        called = bridge.request("tools/call", 3, **COUNT)
        newest = bridge.request("server/discover", 4, _meta=NEWEST_META)
        others = [
            bridge.request(method, 5, name="weekly_review")["error"]["message"]
            for method in ("prompts/get", "resources/list", "resources/read")
        ]
        again = bridge.request("tools/call", 6, **COUNT)

    assert initialized["result"]["protocolVersion"] == "2025-06-18"
    assert listed["result"]["tools"] == [tool.published() for tool in TOOLS]
    assert called["result"]["isError"] is True
    assert f"Cannot reach {address}: " in called["result"]["content"][0]["text"]
    assert newest["result"]["supportedVersions"] == ["2026-07-28"]
    assert all(other.startswith(f"Cannot reach {address}: ") for other in others)
    assert again["result"]["isError"] is True
    written = (tmp_path / "stderr").read_text(encoding="utf-8")
    assert written.count(f"Cannot reach {address}: ") == 1


def test_the_bundled_catalogue_responds_as_the_server_does(there: Running, tmp_path: Path) -> None:
    down = f"http://127.0.0.1:{free_port()}/mcp"
    responses = []
    for address in (there.address, down):
        environment = stdio_environment(SERVICE_URL=address, SERVICE_TOKEN=there.key)
        with started(environment, tmp_path) as bridge:
            initialized = bridge.request("initialize", 1, **INITIALIZE)["result"]
            found = bridge.request("server/discover", 2, _meta=NEWEST_META)["result"]
            prompts = bridge.request("prompts/list", 3)["result"]
            templates = bridge.request("resources/templates/list", 4)["result"]
            newest = bridge.request("prompts/list", 5, _meta=NEWEST_META)["result"]
        del initialized["serverInfo"]
        described = {name: found[name] for name in ("capabilities", "instructions")}
        responses.append((initialized, described, prompts, templates, newest["prompts"]))

    assert responses[0] == responses[1]
    assert newest["ttlMs"] == 0, "the server may respond differently when it is back"


def test_a_problem_is_written_to_stderr_once_until_it_is_solved(tmp_path: Path) -> None:
    with faked(tmp_path) as (bridge, fake):
        for status in (503, 503, 503, 200, 503, 503):
            fake.status = status
            bridge.request("tools/call", **COUNT)

    written = (tmp_path / "stderr").read_text(encoding="utf-8")
    assert written.count("the service is down") == 2


def test_calls_work_once_the_service_is_up(tmp_path: Path) -> None:
    with faked(tmp_path) as (bridge, fake):
        fake.status, fake.content_type, fake.body = 503, "text/html", b"<h1>Starting</h1>"
        started_with = bridge.request("initialize", 1, **INITIALIZE)["result"]
        assert "result" in bridge.request("tools/list", 2)
        assert "the service is down" in bridge.request("tools/call", 3, **COUNT)["error"]["message"]
        fake.status, fake.content_type, fake.body = 200, "application/json", b""

        assert bridge.request("tools/call", 4, **COUNT)["result"] == {}

    headers, _ = fake.requests[-1]
    assert headers["MCP-Protocol-Version"] == started_with["protocolVersion"]


@pytest.mark.parametrize(
    ("retry_after", "advice"),
    [("30", "Retry after 30 s."), ("Wed, 21 Oct 2026 07:28:00 GMT", "07:28:00 GMT.")],
)
def test_the_time_to_wait_is_kept(retry_after: str, advice: str, tmp_path: Path) -> None:
    with faked(tmp_path) as (bridge, fake):
        fake.status, fake.headers = 429, {"Retry-After": retry_after}
        fake.body = b'{"status":false,"code":"RATE_LIMITED","error":"Too many requests."}'
        enveloped = bridge.request("tools/call", 1, **COUNT)["error"]
        fake.body = b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"Wait."}}'
        of_protocol = bridge.request("tools/call", 2, **COUNT)["error"]

    assert enveloped["message"].startswith("RATE_LIMITED: Too many requests. Retry after ")
    assert enveloped["message"].endswith(advice)
    assert enveloped["data"]["retry_after"] == of_protocol["data"]["retry_after"] == retry_after
    assert of_protocol["message"] == "Wait."


def test_a_redirect_names_the_other_address(tmp_path: Path) -> None:
    with faked(tmp_path) as (bridge, fake):
        fake.status, fake.headers = 301, {"Location": "https://birds.example/mcp"}
        error = bridge.request("tools/call", 1, **COUNT)["error"]

    assert error["message"] == (
        f"{fake.address} redirects to https://birds.example/mcp. Set SERVICE_URL to that address."
    )


def test_another_path_of_the_service_is_not_an_mcp_server(there: Running, tmp_path: Path) -> None:
    address = there.address.replace("/mcp", "/v1/mcp")
    environment = stdio_environment(SERVICE_URL=address, SERVICE_TOKEN=there.key)
    with started(environment, tmp_path) as bridge:
        error = bridge.request("initialize", 1, **INITIALIZE)["error"]

    assert error["message"].startswith(f"There is no MCP server at {address}: HTTP 404 (")
    assert error["message"] in (tmp_path / "stderr").read_text(encoding="utf-8")


def test_a_byte_order_mark_before_a_message_is_ignored(there: Running, tmp_path: Path) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
    with started(there.environment(), tmp_path) as bridge:
        bridge.send_line(b"\xef\xbb\xbf" + json.dumps(message).encode())

        assert bridge.response()["result"]["protocolVersion"] == "2025-06-18"


@pytest.mark.parametrize("is_compiled", [False, True])
def test_running_does_not_change_the_installed_files(*, is_compiled: bool, tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(PACKAGE, tmp_path / "site", ignore=ignored)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(tmp_path / "site")
    if is_compiled:
        compiling = [sys.executable, "-m", "compileall", "-q", str(tmp_path / "site")]
        subprocess.run(compiling, check=True, timeout=120)
    before = sorted((tmp_path / "site").rglob("*"))

    for start in (["-m", "bowerbird_mcp"], ["-c", "import bowerbird_mcp.__main__ as m; m.main()"]):
        ran = subprocess.run(
            [sys.executable, *start, "--version"], env=environment, check=True, timeout=120
        )
        assert ran.returncode == 0

    assert sorted((tmp_path / "site").rglob("*")) == before
    assert any(file.suffix == ".pyc" for file in before) == is_compiled


HALF_SURROGATE = rb'{"jsonrpc":"2.0","id":"\ud800","method":"tools/list"}'

DEEPLY_NESTED = b'{"jsonrpc":"2.0","id":%b,"method":"tools/list"}' % (b"[" * 900 + b"]" * 900)


@pytest.mark.parametrize(
    "address", [f"http://{'a' * 70}.example/mcp", "http://127.0.0.1:1/v\u00f6gel"]
)
def test_every_request_to_an_unusable_address_gets_an_error(address: str, tmp_path: Path) -> None:
    with started(stdio_environment(SERVICE_URL=address, SERVICE_TOKEN="key"), tmp_path) as bridge:
        assert bridge.request("resources/list", 1)["error"]["code"] == -32000
        assert bridge.request("resources/list", 2)["id"] == 2


@pytest.mark.parametrize("token", ["", "key"])
def test_an_invalid_id_gets_a_response(token: str, tmp_path: Path) -> None:
    with fake_server() as (address, _):
        variables = {"SERVICE_URL": address, **({"SERVICE_TOKEN": token} if token else {})}
        with started(stdio_environment(**variables), tmp_path) as bridge:
            bridge.send_line(HALF_SURROGATE)
            assert bridge.response()["id"] == "\ud800"
            bridge.send_line(DEEPLY_NESTED)
            bridge.response()
            assert bridge.request("ping", 2)["id"] == 2
            assert bridge.end() == 0


def test_a_negotiated_version_that_cannot_be_a_header_does_not_stop_requests(
    tmp_path: Path,
) -> None:
    with faked(tmp_path) as (bridge, fake):
        fake.body = rb'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"a\r\nb\u00f6"}}'
        bridge.request("initialize", protocolVersion="2025-06-18")
        fake.body = b""
        assert bridge.request("tools/list", 2)["id"] == 2


def test_cancelling_a_finished_call_does_not_close_the_connection_of_another() -> None:
    with fake_server() as (address, fake):
        fake.held_id = 2
        settings = configuration.read({"SERVICE_URL": address, "SERVICE_TOKEN": "key"})
        connections, first, second = Connections(settings), Call(), Call()
        connections.post(b'{"id":1}', {}, first)

        def hold() -> None:
            with suppress(CallFailedError):
                connections.post(b'{"id":2}', {}, second)

        other = threading.Thread(target=hold)
        other.start()
        assert fake.is_holding.wait(PATIENCE_S)
        assert len(fake.connections) == 1, "both calls use the same connection"

        first.cancel()

        is_still_connected = not fake.saw_disconnect.wait(0.3)
        second.cancel()
        other.join()
        assert is_still_connected


def test_the_connection_of_a_cancelled_call_is_not_used_again() -> None:
    with fake_server() as (address, _):
        settings = configuration.read({"SERVICE_URL": address, "SERVICE_TOKEN": "key"})
        connections, cancelled = Connections(settings), Call()
        cancelled.cancel()

        with pytest.raises(CallFailedError):
            connections.post(b'{"id":1}', {}, cancelled)

        assert connections.post(b'{"id":2}', {}, Call())[0] == 200
        connections.close()


CLIENT = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}

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
