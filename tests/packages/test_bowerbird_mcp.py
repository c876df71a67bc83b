"""bowerbird-mcp: a pump between lines and the server, which never falls silent."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bowerbird import __version__
from bowerbird.toolserver.catalogue import TOOLS
from tests.packages.pumping import Pumped, odd_server, pumped
from tests.support.serving import free_port
from tests.support.tool_server import PACKAGE, PUMP, Running, pump_environment
from tests.support.waiting import wait_until

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
LIST = {"name": "list_bookmarks", "arguments": {}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture
def pump(there: Running, tmp_path: Path) -> Iterator[Pumped]:
    with pumped(there.environment(), tmp_path) as process:
        yield process


@pytest.fixture
def keyless(tmp_path: Path) -> Iterator[Pumped]:
    with pumped(pump_environment(SERVICE_URL="https://birds.example/mcp"), tmp_path) as process:
        yield process


def ran(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PUMP, *words],
        env=pump_environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )


def test_it_answers_lines_and_ends_with_its_input(pump: Pumped, there: Running) -> None:
    hello = pump.ask("initialize", **HELLO)
    assert hello["result"]["protocolVersion"] == "2025-06-18"
    pump.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    answer = pump.ask("tools/call", "two", **LIST)

    assert answer["id"] == "two"
    shown = answer["result"]["structuredContent"]["bookmarks"]
    assert [post["post_id"] for post in shown] == there.post_ids[::-1]
    assert pump.has_said_nothing()
    assert pump.end() == 0


def test_what_is_under_way_when_the_input_ends_is_still_answered(pump: Pumped) -> None:
    for number in range(5):
        pump.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": LIST})

    assert pump.end() == 0
    assert {pump.answer()["id"] for _ in range(5)} == {0, 1, 2, 3, 4}


def test_a_line_that_is_no_message_gets_an_answer_and_the_next_one_too(pump: Pumped) -> None:
    pump.send_line(b"{not json")
    assert pump.answer()["error"]["code"] == -32700
    pump.send_line(b"[]")
    assert pump.answer()["error"]["code"] == -32600
    pump.send_line(b"[" * 100_000)
    assert pump.answer()["error"]["code"] == -32700
    pump.send_line(b"")

    assert pump.ask("ping", 7)["id"] == 7


def test_a_message_that_is_too_large_is_refused_under_its_own_id(pump: Pumped) -> None:
    answer = pump.ask("tools/call", 8, name="list_bookmarks", arguments={"q": "x" * 1_100_000})

    assert answer["id"] == 8
    assert "larger than 1024 KiB" in answer["error"]["message"]


def test_a_wrong_key_is_told_with_the_servers_own_words(there: Running, tmp_path: Path) -> None:
    with pumped(there.environment("bwr_wrong"), tmp_path) as pump:
        answer = pump.ask("initialize", 3, **HELLO)

    assert answer["id"] == 3
    assert answer["error"]["message"].startswith("UNAUTHORIZED: ")
    assert answer["error"]["data"] == {"status": 401, "code": "UNAUTHORIZED"}
    assert "bwr_wrong" not in (tmp_path / "stderr").read_text(encoding="utf-8")


def test_an_older_clients_revision_is_remembered(tmp_path: Path) -> None:
    with odd_server() as (address, odd):
        environment = pump_environment(SERVICE_URL=address, SERVICE_TOKEN="key")
        odd.body = b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26"}}'
        with pumped(environment, tmp_path) as pump:
            pump.ask("initialize", **HELLO)
            odd.body = b""
            pump.ask("tools/list", 2)

    first, second = (headers for headers, _ in odd.asked)
    assert "MCP-Protocol-Version" not in first
    assert second["MCP-Protocol-Version"] == "2025-03-26"
    assert second["Authorization"] == "Bearer key"


def test_the_newest_revisions_headers_repeat_the_message(tmp_path: Path) -> None:
    with odd_server() as (address, odd):
        environment = pump_environment(SERVICE_URL=address, SERVICE_TOKEN="key")
        with pumped(environment, tmp_path) as pump:
            pump.ask("tools/call", 1, name="list_bookmarks", arguments={}, _meta=ENVELOPE)
            pump.ask("resources/read", 2, uri="view://vögel", _meta=ENVELOPE)

    (first, _), (second, _) = odd.asked
    assert first["MCP-Protocol-Version"] == "2026-07-28"
    assert (first["Mcp-Method"], first["Mcp-Name"]) == ("tools/call", "list_bookmarks")
    assert second["Mcp-Name"] == "=?base64?dmlldzovL3bDtmdlbA==?="
    assert len(odd.connections) == 1, "the connection is kept open"


def test_one_slow_call_does_not_hold_up_the_others_and_can_be_cancelled(tmp_path: Path) -> None:
    with odd_server() as (address, odd):
        odd.holds = "slow"
        environment = pump_environment(SERVICE_URL=address, SERVICE_TOKEN="key")
        with pumped(environment, tmp_path) as pump:
            pump.send({"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": LIST})
            assert odd.is_holding.wait(10)

            assert pump.ask("ping", 2)["id"] == 2

            params = {"requestId": "slow"}
            pump.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
            assert odd.saw_it_go.wait(10), "the server is told by the closed connection"
            assert pump.ask("ping", 3)["id"] == 3
            assert pump.has_said_nothing(), "a cancelled request has no answer"
    wait_until(lambda: any(m["method"] == "notifications/cancelled" for _, m in odd.asked))


@pytest.mark.parametrize(
    ("status", "kind", "body", "said"),
    [
        (502, "text/html", b"<h1>Bad gateway</h1>", "The server answered HTTP 502."),
        (302, "text/html", b"", "The server answered HTTP 302."),
        (200, "text/html", b"<h1>Sign in</h1>", "The server answered HTTP 200."),
        (200, "application/json", b"{not\njson", "The server's answer is none to this request."),
        (200, "application/json", b"null", "The server's answer is none to this request."),
        (200, "application/json", b'{"id":"other","result":{}}', "The server's answer is none to"),
        (503, "application/json", b'{"status":false,"code":"X","error":"Y."}', "X: Y."),
        (
            400,
            "application/json",
            b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"Z"}}',
            "Z",
        ),
    ],
)
def test_a_failure_of_http_is_an_error_with_the_right_id(
    tmp_path: Path, status: int, kind: str, body: bytes, said: str
) -> None:
    with odd_server() as (address, odd):
        odd.status, odd.kind, odd.body = status, kind, body or b" "
        environment = pump_environment(SERVICE_URL=address, SERVICE_TOKEN="key")
        with pumped(environment, tmp_path) as pump:
            answer = pump.ask("tools/list", "mine")

    assert answer["id"] == "mine"
    assert answer["error"]["message"].startswith(said)


def test_a_server_that_is_away_is_named_and_may_come_back(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{free_port()}/mcp"
    with pumped(pump_environment(SERVICE_URL=address, SERVICE_TOKEN="key"), tmp_path) as pump:
        answer = pump.ask("tools/list", 5)
        again = pump.ask("tools/list", 6)

    assert (answer["id"], again["id"]) == (5, 6)
    assert f"Cannot reach {address}" in answer["error"]["message"]
    assert "Cannot reach" in (tmp_path / "stderr").read_text(encoding="utf-8")


def test_without_a_key_it_stays_up_and_lists_the_tools(keyless: Pumped) -> None:
    hello = keyless.ask("initialize", **HELLO)
    keyless.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    listed = keyless.ask("tools/list", 2)

    assert hello["result"]["protocolVersion"] == "2025-06-18"
    assert listed["result"]["tools"] == [tool.published() for tool in TOOLS]


def test_without_a_key_a_call_says_what_is_missing_and_where_to_get_it(keyless: Pumped) -> None:
    result = keyless.ask("tools/call", **LIST)["result"]

    assert result["isError"] is True
    said = result["content"][0]["text"]
    assert "SERVICE_TOKEN" in said
    assert "https://birds.example/keys" in said
    assert keyless.ask("resources/list", 2)["error"]["code"] == -32601


def test_without_a_key_the_newest_revision_is_spoken_too(keyless: Pumped) -> None:
    found = keyless.ask("server/discover", _meta=ENVELOPE)["result"]
    listed = keyless.ask("tools/list", 2, _meta=ENVELOPE)["result"]

    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["resultType"] == listed["resultType"] == "complete"
    assert (listed["ttlMs"], listed["cacheScope"]) == (0, "private")


def test_check_says_whether_it_works(there: Running) -> None:
    good = ran("--check", SERVICE_URL=there.address, SERVICE_TOKEN=there.key)
    wrong = ran("--check", SERVICE_URL=there.address, SERVICE_TOKEN="bwr_wrong")
    missing = ran("--check", SERVICE_URL=there.address)

    assert (good.returncode, good.stdout) == (0, f"{there.address} answers, and the key works.\n")
    assert wrong.returncode == missing.returncode == 1
    assert "UNAUTHORIZED" in wrong.stderr
    assert "SERVICE_TOKEN is not set" in missing.stderr


@pytest.mark.parametrize(
    "body",
    [
        b"<h1>Sign in</h1>",
        b"{}",
        b"null",
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"No"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[], "isError": true}}',
    ],
)
def test_check_takes_no_other_page_for_the_server(body: bytes) -> None:
    with odd_server() as (address, odd):
        odd.body = body
        checked = ran("--check", SERVICE_URL=address, SERVICE_TOKEN="key")

    assert (checked.returncode, checked.stdout) == (1, "")
    assert f"{address} answered 200" in checked.stderr


def test_the_path_may_be_left_out_of_the_address(there: Running) -> None:
    address = there.address.removesuffix("/mcp")

    assert ran("--check", SERVICE_URL=address, SERVICE_TOKEN=there.key).returncode == 0


@pytest.mark.parametrize("address", ["birds", "ftp://birds", "http://", "http://birds:port"])
def test_an_address_that_is_none_stops_the_start(address: str) -> None:
    stopped = ran(SERVICE_URL=address, SERVICE_TOKEN="key")

    assert stopped.returncode == 2
    assert "SERVICE_URL" in stopped.stderr
    assert stopped.stdout == ""


def test_words_it_does_not_know_are_refused() -> None:
    assert ran("--sandbox").returncode == 2
    assert "SERVICE_TOKEN" in ran("--help").stdout
    assert ran("--version").stdout == f"{__version__}\n"


def test_it_needs_nothing_but_the_standard_library() -> None:
    modules = "\n".join(file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py"))
    names = {
        line.split()[1].split(".")[0]
        for line in modules.splitlines()
        if line.startswith(("import ", "from "))
    }

    assert names - {"bowerbird_mcp"} <= sys.stdlib_module_names


def test_its_files_name_one_release_and_one_name() -> None:
    folder = PACKAGE.parent
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listing = json.loads((folder / "server.json").read_text(encoding="utf-8"))
    readme = (folder / "README.md").read_text(encoding="utf-8")

    assert project["dependencies"] == []
    assert project["scripts"] == {"bowerbird-mcp": "bowerbird_mcp.command:main"}
    assert listing["version"] == listing["packages"][0]["version"] == __version__
    assert listing["packages"][0]["identifier"] == project["name"]
    assert f"mcp-name: {listing['name']}" in readme
    assert len(listing["description"]) <= 100
