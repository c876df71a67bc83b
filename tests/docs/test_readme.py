"""The commands of the README work unchanged, and its sample response is the real one."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import serving
from tests.support.serving import Server
from tests.support.waiting import wait_until

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(console|sh|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOCAL = "http://localhost:8080"
# Blocks with these texts need another service.
ELSEWHERE = ("postgresql://",)


def blocks(language: str) -> list[str]:
    found = BLOCK.findall(README.read_text(encoding="utf-8"))
    return [body for kind, body in found if kind == language]


def exchanges() -> list[tuple[str, str]]:
    """The commands of the console blocks, each with the output shown below it."""
    found = []
    for body in blocks("console"):
        for piece in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, _, shown = piece.partition("\n")
            found.append((command, shown.strip()))
    return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server that `make serve` runs, in a folder like the reader's checkout."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / ".venv").symlink_to(Path(sys.prefix))
    command = (".venv/bin/bowerbird",)
    with serving.serving(folder, command=command, data_dir="data") as running:
        yield running


@pytest.fixture(scope="module")
def key(server: Server) -> str:
    """The API key after running all commands of the README."""
    said = shell(server, "\n".join([*scripts(), "echo", 'echo "$KEY"']))
    return said.splitlines()[-1]


def scripts() -> list[str]:
    return [body for body in blocks("sh") if not any(other in body for other in ELSEWHERE)]


def shell(server: Server, script: str) -> str:
    """Runs a script as in a second terminal in the checkout; returns its output."""
    ran = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", here(server, script)],
        cwd=server.folder,
        env=server.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, f"{script}\n{ran.stderr}"
    return ran.stdout


def here(server: Server, text: str) -> str:
    return text.replace(LOCAL, f"http://localhost:{server.port}")


def test_the_first_command_prints_the_shown_output(server: Server) -> None:
    command, shown = exchanges()[0]

    assert command == "make serve"
    for line in shown.splitlines():
        # The token of a link is shown as an ellipsis.
        assert here(server, line).removesuffix("…") in server.output()


def test_the_first_request_returns_the_shown_response(server: Server, key: str) -> None:
    requests = [(command, shown) for command, shown in exchanges() if command.startswith("curl")]
    assert requests

    for command, shown in requests:
        answered = shell(server, f"export KEY={key}\n{command}")
        expected = json.loads(here(server, shown))
        own = expected["meta"].get("sandbox") is None
        for each in (answer := json.loads(answered)), expected:
            remove_moments(each, also_changed=own)
        assert answer == expected


def remove_moments(answer: dict[str, Any], *, also_changed: bool) -> None:
    """Removes the time of the import, which differs in every run. Posts of the sandbox have one."""
    for bookmark in answer["data"]:
        bookmark.pop("imported_at")
        if also_changed:
            bookmark.pop("updated_at")


def test_every_request_of_the_readme_succeeds(server: Server, key: str) -> None:
    asked = [line for body in scripts() for line in body.splitlines() if line.startswith("curl")]
    assert asked

    for command in asked:
        script = f"export KEY={key} API=http://localhost:{server.port}/v1\n{command}"
        answer = json.loads(shell(server, script))
        assert answer["status"] is True, command


@pytest.mark.parametrize("format", ["json", "csv", "pdf"])
def test_an_export_completes_in_the_folder_of_make_serve(
    server: Server, key: str, format: str
) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    address = f"http://127.0.0.1:{server.port}/v1/exports/{format}"
    job = serving.http.post(address, headers=headers).json()["data"]

    def ended() -> dict[str, Any]:
        shown: dict[str, Any] = server.get(f"/v1/exports/{job['job_id']}", key).json()["data"]
        return {} if shown["status"] in ("pending", "processing") else shown

    shown = wait_until(ended)

    assert shown["status"] == "completed", shown["error"]
