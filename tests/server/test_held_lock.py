"""Another process holds the write lock, such as an import that was stopped with Ctrl-Z."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support import serving
from tests.support.serving import Server
from tests.support.waiting import PATIENCE_S, wait_until

HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "rb")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def stopped_holder(server: Server) -> Iterator[subprocess.Popen[bytes]]:
    """A process that was stopped while it held the lock."""
    lock = server.folder / "data" / "write.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout
        assert holder.stdin
        assert holder.stdout.readline() == b"held\n"
        holder.send_signal(signal.SIGSTOP)
        try:
            yield holder
        finally:
            holder.send_signal(signal.SIGCONT)
            holder.stdin.close()


def write(server: Server, key: str) -> httpx.Response:
    return serving.http.post(
        f"http://127.0.0.1:{server.port}/v1/views",
        json={"name": "Nests"},
        headers={"Authorization": f"Bearer {key}"},
        timeout=PATIENCE_S,
    )


def waits_for_lock(server: Server) -> bool:
    """Whether a thread of the server waits for a file lock, as the kernel lists it."""
    waiting = [line.split() for line in Path("/proc/locks").read_text("ascii").splitlines()]
    return any(words[1] == "->" and words[5] == str(server.process.pid) for words in waiting)


def events(server: Server, *names: str) -> list[str]:
    return [line["event"] for line in server.log() if line["event"] in names]


def test_writes_get_503_and_the_log_says_when_it_began_and_ended(tmp_path: Path) -> None:
    with serving.serving(tmp_path) as server:
        key = server.new_key()
        server.run("account", "plan", "you@example.com", "pro")
        with stopped_holder(server):
            answers = [write(server, key) for _ in range(4)]
            ready = server.get("/readyz")
            reads = server.get("/v1/bookmarks", key).status_code

        for answer in answers:
            assert answer.status_code == 503
            assert int(answer.headers["Retry-After"]) > 0
            assert "Another process has held write.lock for" in answer.json()["error"]
        assert ready.status_code == 503
        assert "Another process has held write.lock for" in ready.text
        assert reads == 200
        wait_until(lambda: server.get("/readyz").status_code == 200)
        assert write(server, key).status_code == 201
        wait_until(lambda: "write_lock_released" in server.errors())
        names = ("write_lock_held", "write_lock_released")
        assert events(server, *names, "unavailable") == list(names)
        assert server.stop() == 0


@pytest.mark.parametrize("moment", ["idle", "during a write"])
def test_the_server_stops_while_the_lock_is_held(tmp_path: Path, moment: str) -> None:
    with serving.serving(tmp_path) as server:
        key = server.new_key()
        server.run("account", "plan", "you@example.com", "pro")
        with stopped_holder(server), ThreadPoolExecutor(1) as thread:
            # Readiness finds the lock without a write.
            wait_until(lambda: server.get("/readyz").status_code == 503)
            if moment == "during a write":
                writing = thread.submit(write, server, key)
                wait_until(lambda: waits_for_lock(server))
            assert server.stop() == 0
            if moment == "during a write":
                assert writing.result().status_code == 503
    assert "Traceback" not in server.errors()
