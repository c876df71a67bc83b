"""The inspector's command line: strict schema checks, over HTTP and the stdio package."""

import json
from pathlib import Path
from typing import Any

import pytest

from bowerbird.toolserver.assembly import TOOLS
from tests.support.programs import node
from tests.support.programs.tool_server import STDIO_COMMAND, Running

# A program of others, which takes seconds to start.
pytestmark = pytest.mark.slow

INSPECTOR = "@modelcontextprotocol/inspector/clients/cli/build/index.js"


def inspected(there: Running, way: str, folder: Path, *words: str) -> tuple[Any, str]:
    """The JSON output of the inspector, and its warnings."""
    if way == "http":
        target = [there.address, "--transport", "http"]
        target += ["--header", f"Authorization: Bearer {there.key}"]
    else:
        # The inspector does not pass its own environment on.
        known = there.environment()
        names = ("PYTHONPATH", "SERVICE_URL", "SERVICE_TOKEN")
        target = [word for name in names for word in ("-e", f"{name}={known[name]}")] + [
            *STDIO_COMMAND
        ]
    ran = node.run(
        INSPECTOR,
        *target,
        *words,
        *("--format", "json"),
        HOME=str(folder),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout), ran.stderr


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_strict_mode_finds_nothing_in_our_schemas(there: Running, tmp_path: Path, era: str) -> None:
    words = ("--method", "tools/list", "--strict", "--protocol-era", era)

    listed, complaints = inspected(there, "http", tmp_path, *words)

    tools = listed.get("result", listed)["tools"]
    assert [tool["name"] for tool in tools] == [tool.name for tool in TOOLS]
    assert "Warning" not in complaints
    assert "Error" not in complaints


def test_a_tool_can_be_called_through_the_stdio_package(there: Running, tmp_path: Path) -> None:
    words = ("--method", "tools/call", "--tool-name", "list_bookmarks", "--tool-arg", "limit=1")

    called, _ = inspected(there, "stdio", tmp_path, *words)

    result = called.get("result", called)
    assert result["structuredContent"]["bookmarks"][0]["post_id"] == there.post_ids[-1]
