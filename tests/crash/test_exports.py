"""kill -9 in the middle of an export: it runs again, and its file is complete."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import make, serving
from tests.support.waiting import PATIENCE_S, wait_until

EMAIL = "you@example.com"
POSTS = 1_500
# Lease of the worker that is killed; 15 s in production.
LEASE_S = 1.5
DYING = """
import os, signal, sys
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.files import Files

from bowerbird.jobs.worker import Worker

# Shorter than in real life, so that nobody waits for it here.
moment, lease = sys.argv.pop(1), float(sys.argv.pop(1))
Worker.__init__.__kwdefaults__.update(lease_s=lease, heartbeat_s=0.5)
read, move = BookmarkStore.joined_contents, Files.move
pages = 0

async def joined_contents(self, account, numbers):
    global pages
    pages += 1
    if moment == "reading" and pages == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return await read(self, account, numbers)

async def move_and_die(self, name, source):
    await move(self, name, source)
    if moment == "written":
        os.kill(os.getpid(), signal.SIGKILL)

BookmarkStore.joined_contents, Files.move = joined_contents, move_and_die
from bowerbird.cli import main
main()
"""


@contextmanager
def process(environment: dict[str, str], *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield started
    finally:
        started.terminate()
        started.wait(PATIENCE_S)


def filled(environment: dict[str, str], folder: Path) -> tuple[str, list[str]]:
    """Creates an account with posts; returns its key and the post ids."""
    posts = [make.post() for _ in range(POSTS)]
    file = folder / "posts.json"
    file.write_text(json.dumps(posts))
    for command in (("account", "create", EMAIL), ("import", EMAIL, str(file))):
        serving.command(*command, environment=environment)
    key = serving.command("key", "create", EMAIL, environment=environment).split()[-1]
    return key, [post["post_id"] for post in posts]


def completed(client: httpx.Client, path: str) -> dict[str, Any]:
    def ended() -> dict[str, Any]:
        job: dict[str, Any] = client.get(path).json()["data"]
        return {} if job["status"] in ("pending", "processing") else job

    return wait_until(ended)


@pytest.mark.parametrize(
    ("settings", "command", "moment"),
    [
        ("sqlite", "serve", "reading"),
        ("sqlite", "serve", "written"),
        ("postgres", "serve", "reading"),
        ("postgres", "worker", "reading"),
    ],
    indirect=["settings"],
)
def test_an_export_completes_after_its_worker_is_killed(
    settings: dict[str, Any], command: str, moment: str, tmp_path: Path
) -> None:
    """`command` is the process that runs the export: a server, or a worker beside one."""
    port = serving.free_port()
    environment = serving.environment_of(**settings, port=port, admin_port=0)
    key, expected = filled(environment, tmp_path)
    dying = ("-c", DYING, moment, str(LEASE_S), command)
    origin = f"http://127.0.0.1:{port}"
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=origin, headers=headers, timeout=PATIENCE_S) as client:
        if command == "worker":
            with process(environment, "-m", "bowerbird", "serve", "--no-worker"):
                assert_complete(client, environment, dying, expected)
        else:
            assert_complete(client, environment, dying, expected)
    left = [path.name for path in (tmp_path / "data" / "files" / "exports").rglob("*.json")]
    assert len(left) == (2 if moment == "written" else 1)


def assert_complete(
    client: httpx.Client, environment: dict[str, str], dying: tuple[str, ...], expected: list[str]
) -> None:
    with process(environment, *dying) as first:
        path = start_export(client)
        assert first.wait(PATIENCE_S) == -signal.SIGKILL
    with process(environment, "-m", "bowerbird", dying[-1]):
        wait_for(client)
        job = completed(client, path)
        assert (job["status"], job["error"]) == ("completed", None)
        content = serving.http.get(job["download_url"].replace("localhost", "127.0.0.1")).content
    assert len(content) == job["file_size"]
    assert [post["post_id"] for post in json.loads(content)] == expected


def start_export(client: httpx.Client) -> str:
    wait_for(client)
    response = client.post("/v1/exports/json")
    assert response.status_code == 202, response.text
    return str(response.headers["location"])


def wait_for(client: httpx.Client) -> None:
    def is_there() -> bool:
        try:
            return client.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False

    wait_until(is_there)
