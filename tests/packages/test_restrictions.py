"""bowerbird-mcp can be read-only, and can offer only some tools."""

from pathlib import Path

import pytest

from bowerbird.toolserver.assembly import TOOLS
from tests.packages.bridge_process import BridgeProcess, run, started
from tests.support.programs.tool_server import Running, stdio_environment
from tests.support.serving import free_port

READING = [tool.name for tool in TOOLS if tool.hints.is_read_only]
MARK = {"name": "update_bookmarks", "arguments": {"post_ids": ["1"], "is_read": True}}


def listed(bridge: BridgeProcess) -> list[str]:
    return [tool["name"] for tool in bridge.request("tools/list")["result"]["tools"]]


@pytest.mark.parametrize(
    ("query", "variables", "names"),
    [
        ("", {"SERVICE_READ_ONLY": "1"}, READING),
        ("?read_only=1", {}, READING),
        ("", {"SERVICE_TOOLS": "add_label, list_labels"}, ["list_labels", "add_label"]),
        (
            "?tools=add_label,list_labels&read_only=true",
            {"SERVICE_TOOLS": "add_label,list_labels,list_views"},
            ["list_labels"],
        ),
        ("?read_only=1&read_only=0", {}, READING),
        ("?read_only=%201", {}, READING),
        ("", {"SERVICE_READ_ONLY": "0"}, [tool.name for tool in TOOLS]),
        ("", {"SERVICE_TOOLS": ""}, [tool.name for tool in TOOLS]),
    ],
)
def test_server_and_bundled_catalogue_list_the_same_tools(
    there: Running, tmp_path: Path, query: str, variables: dict[str, str], names: list[str]
) -> None:
    down = f"http://127.0.0.1:{free_port()}/mcp"
    for address in (there.address, down):
        environment = stdio_environment(
            SERVICE_URL=address + query, SERVICE_TOKEN=there.key, **variables
        )
        with started(environment, tmp_path) as bridge:
            assert listed(bridge) == names


def test_a_read_only_process_cannot_write(there: Running, tmp_path: Path) -> None:
    environment = there.environment() | {"SERVICE_READ_ONLY": "true"}
    with started(environment, tmp_path) as bridge:
        result = bridge.request("tools/call", **MARK)["result"]

    assert result["isError"] is True
    assert "it is read-only" in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SERVICE_READ_ONLY", "yes"),
        ("SERVICE_TOOLS", "list labels"),
        ("SERVICE_TOOLS", ","),
        ("SERVICE_TOOLS", " , "),
    ],
)
def test_a_variable_that_is_not_understood_stops_the_start(name: str, value: str) -> None:
    ran = run(SERVICE_TOKEN="key", **{name: value})

    assert ran.returncode == 2
    assert f"{name}={value!r} must be" in ran.stderr


def test_an_unknown_tool_is_named_with_its_variable(there: Running, tmp_path: Path) -> None:
    down = f"http://127.0.0.1:{free_port()}/mcp"
    for address in (there.address, down):
        environment = stdio_environment(
            SERVICE_URL=address,
            SERVICE_TOKEN=there.key,
            SERVICE_TOOLS="search_bookmark,list_labels",
        )
        with started(environment, tmp_path) as bridge:
            first, second = bridge.request("tools/list", 1), bridge.request("tools/list", 2)
        written = (tmp_path / "stderr").read_text(encoding="utf-8")

        assert (
            "SERVICE_TOOLS: bowerbird-mcp knows no tool 'search_bookmark'. "
            "Did you mean 'search_bookmarks'?\n"
        ) in written
        if address == down:
            assert [tool["name"] for tool in first["result"]["tools"]] == ["list_labels"]
        else:
            problem = "tools: no tool is named 'search_bookmark'. Correct SERVICE_TOOLS."
            assert first["error"]["message"] == second["error"]["message"] == problem
            assert written.count(problem) == 1


def test_an_unknown_tool_in_the_address_is_named_with_its_variable(
    there: Running, tmp_path: Path
) -> None:
    environment = there.environment() | {"SERVICE_URL": f"{there.address}?tools=serch"}
    with started(environment, tmp_path) as bridge:
        error = bridge.request("tools/list")["error"]

    assert error["message"] == "tools: no tool is named 'serch'. Correct SERVICE_URL."


def test_check_works_on_a_restricted_connection(there: Running) -> None:
    variables = {"SERVICE_URL": there.address, "SERVICE_TOKEN": there.key}
    checked = run("--check", **variables, SERVICE_TOOLS="list_labels")

    assert (checked.returncode, checked.stderr) == (0, "")
