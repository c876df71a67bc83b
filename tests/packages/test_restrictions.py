"""bowerbird-mcp can be read-only, and can offer only some tools."""

import subprocess
from pathlib import Path

import pytest

from bowerbird.toolserver.tools.catalogue import TOOLS
from tests.packages.bridge_process import BridgeProcess, started
from tests.support.serving import free_port
from tests.support.tool_server import STDIO_COMMAND, Running, stdio_environment

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
        ("", {"SERVICE_READ_ONLY": "0"}, [tool.name for tool in TOOLS]),
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
    ("name", "value"), [("SERVICE_READ_ONLY", "yes"), ("SERVICE_TOOLS", "list labels")]
)
def test_a_variable_that_is_not_understood_stops_the_start(name: str, value: str) -> None:
    environment = stdio_environment(SERVICE_TOKEN="key", **{name: value})
    ran = subprocess.run(
        STDIO_COMMAND,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )

    assert ran.returncode == 2
    assert f"{name}={value!r} must be" in ran.stderr
