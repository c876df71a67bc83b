"""docs/api.md, docs/rules.md and /auth.md: every command runs as it stands."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import serving
from tests.support.serving import Server

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/api.md").read_text(encoding="utf-8")
LOCAL = "http://localhost:8080"
BLOCK = re.compile(r"^```(console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving.serving(tmp_path_factory.mktemp("api")) as running:
        yield running


@pytest.fixture(scope="module")
def variables(server: Server) -> dict[str, str]:
    """Those that the page sets, after the import that it names."""
    key = server.new_key()
    (file,) = re.findall(r"`bowerbird import EMAIL (\S+)`", TEXT)
    server.run("import", "you@example.com", str(ROOT / file))
    named = dict(re.findall(r"^    export (\w+)=(\S+)$", TEXT, re.MULTILINE))
    assert named == {"API": f"{LOCAL}/v1", "KEY": "bwr_…"}
    return {"API": f"http://localhost:{server.port}/v1", "KEY": key}


def shell(script: str, variables: dict[str, str]) -> str:
    ran = subprocess.run(
        ["/bin/bash", "-eu", "-c", script],
        env={"PATH": os.environ["PATH"], **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, f"{script}\n{ran.stderr}"
    return ran.stdout


def answers(said: str) -> list[dict[str, Any]]:
    """The JSON objects of an output, with nothing between them."""
    found, decoder, place = [], json.JSONDecoder(), 0
    while place < len(said):
        one, place = decoder.raw_decode(said, place)
        found.append(one)
        place += len(said[place:]) - len(said[place:].lstrip())
    return found


def test_every_command_of_the_api_page_does_what_it_shows(variables: dict[str, str]) -> None:
    """From top to bottom: a later one may need what an earlier one has saved."""
    blocks = BLOCK.findall(TEXT)
    assert len(blocks) > 8
    for language, body in blocks:
        if language == "console":
            for piece in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, shown = piece.partition("\n")
                assert shell(command, variables).strip() == shown.strip(), command
            continue
        said = shell(body, variables)
        assert said, body
        if said.startswith("{"):
            found = answers(said)
            assert [one["status"] for one in found] == [True] * len(found), (body, said)
            assert all("failed" not in str(one["meta"]) for one in found), said
            # Except for what it shows about nothing, an example has a result.
            assert all(one["data"] for one in found if "dry_run" not in body), (body, said)
        else:
            assert len(said.split()) == 2, said


def test_the_rule_of_the_page_about_rules_is_created_as_shown(
    server: Server, variables: dict[str, str]
) -> None:
    page = (ROOT / "docs/rules.md").read_text(encoding="utf-8")
    ((_, body),) = BLOCK.findall(page)
    command, _, shown = body.removeprefix("$ ").rpartition("\n{")

    said = shell(command.replace(LOCAL, f"http://localhost:{server.port}"), variables)

    (created,), (expected,) = answers(said), answers("{" + shown)
    own = {name: created["data"][name] for name in ("rule_id", "created_at", "updated_at")}
    assert created == {**expected, "data": {**expected["data"], **own}}


def test_every_command_of_auth_md_works(server: Server, variables: dict[str, str]) -> None:
    page = serving.http.get(f"http://127.0.0.1:{server.port}/auth.md").text
    commands = re.findall(r"^    (curl .+)$", page, re.MULTILINE)

    assert len(commands) == 3
    for command in commands:
        (answer,) = answers(shell(command, {"SERVICE_TOKEN": variables["KEY"]}))
        assert answer["status"] is True
        assert answer["data"], command
    (tool_server,) = re.findall(r'^    (\{"mcpServers".+)$', page, re.MULTILINE)
    assert json.loads(tool_server)["mcpServers"]["bowerbird"]["url"].endswith("/mcp")
    assert "not search by meaning" not in page
