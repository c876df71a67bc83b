"""bowerbird-mcp when the service is down, misconfigured or busy."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bowerbird.toolserver.tools.catalogue import TOOLS
from tests.packages.bridge_process import INITIALIZE, NEWEST_META, faked, started
from tests.support.serving import free_port
from tests.support.tool_server import PACKAGE, Running, stdio_environment

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
