"""The tool server in `bowerbird serve`: log, metrics, loading of the SDK, disconnects."""

import json
import socket
from typing import Any

import pytest

from tests.support import serving
from tests.support.programs.tool_server import Running
from tests.support.serving import Server
from tests.support.waiting import wait_until

SECRET = "private-words"


def called(there: Running, tool: str, arguments: dict[str, Any], name: str) -> dict[str, Any]:
    sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    response = serving.http.post(
        there.address,
        json={**sent, "params": {"name": tool, "arguments": arguments}},
        headers={"Authorization": f"Bearer {there.key}", "X-Request-Id": name},
        timeout=120,
    )
    result: dict[str, Any] = response.json()["result"]
    return result


def line_of(there: Running, name: str) -> dict[str, Any]:
    wait_until(lambda: f'"{name}"' in there.server.errors())
    (line,) = (line for line in there.server.log() if line.get("id") == name)
    return line


def test_a_call_is_logged_as_one_line_without_its_arguments(there: Running) -> None:
    called(there, "search_bookmarks", {"query": SECRET}, "said-1")
    called(there, "list_bookmarks", {"limit": 0, "q": SECRET}, "said-2")

    good, refused = line_of(there, "said-1"), line_of(there, "said-2")

    assert (good["called"], good["refused"], good["status"]) == ("search_bookmarks", "", 200)
    assert (refused["called"], refused["refused"]) == ("list_bookmarks", "INVALID_REQUEST")
    assert good["ms"] > 0
    assert good["account"]
    for secret in (SECRET, there.key, "owls"):
        assert secret not in there.server.errors()


def test_metrics_contain_tool_names_but_no_text_from_callers(there: Running) -> None:
    called(there, "list_labels", {}, "measured")
    serving.http.post(
        there.address,
        json={"jsonrpc": "2.0", "id": 1, "method": SECRET},
        headers={"Authorization": f"Bearer {there.key}"},
    )

    metrics = serving.http.get(f"http://127.0.0.1:{there.server.admin_port}/metrics").text

    assert 'route="/mcp list_labels",status="200"' in metrics
    assert SECRET not in metrics


def test_a_call_ends_when_its_client_disconnects(there: Running) -> None:
    job = called(there, "create_export", {"format": "pdf"}, "begun")["structuredContent"]
    call = {"name": "get_export", "arguments": {"job_id": job["job_id"], "wait_s": 25}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {there.key}\r\n"
        f"Content-Type: application/json\r\nX-Request-Id: gone\r\n"
        f"Expect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", there.server.port), timeout=90) as client:
        client.sendall(head.encode())
        # The server sends 100 when it reads the body; the call has started by then.
        assert client.recv(100).startswith(b"HTTP/1.1 100 ")
        client.sendall(body.encode())

    line = line_of(there, "gone")

    assert (line["status"], line["called"]) == (499, "get_export")
    assert line["ms"] < 10_000


@pytest.fixture
def idle(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with serving.serving(tmp_path_factory.mktemp("idle")) as server:
        yield server


@pytest.fixture
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with serving.serving(tmp_path_factory.mktemp("preloaded"), tool_preload="on") as server:
        yield server


def has_loaded_the_sdk(server: Server) -> bool:
    maps = f"/proc/{server.process.pid}/maps"
    with open(maps, encoding="utf-8") as file:  # noqa: PTH123 - a kernel file
        return "pydantic_core" in file.read()


@pytest.mark.slow
def test_the_sdk_is_loaded_soon_after_a_start_and_the_first_call_uses_it(preloaded: Server) -> None:
    # Loaded in the background as soon as the server listens.
    wait_until(lambda: "tools loaded" in preloaded.errors())
    headers = {"Authorization": f"Bearer {preloaded.new_key()}"}
    call = {"name": "list_bookmarks", "arguments": {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    assert has_loaded_the_sdk(preloaded)

    address = f"http://127.0.0.1:{preloaded.port}/mcp"
    first = serving.http.post(address, json=message, headers=headers, timeout=120)

    assert first.json()["result"]["isError"] is False


@pytest.mark.slow
def test_without_preloading_the_first_call_with_a_valid_key_loads_the_sdk(idle: Server) -> None:
    address = f"http://127.0.0.1:{idle.port}/mcp"
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert serving.http.post(address, json=message).status_code == 401
    assert not has_loaded_the_sdk(idle)

    headers = {"Authorization": f"Bearer {idle.new_key()}"}
    assert serving.http.post(address, json=message, headers=headers, timeout=120).status_code == 200
    assert has_loaded_the_sdk(idle)
