"""How `bowerbird serve` stops, with one process and with several."""

import json
import os
import signal
import socket
from pathlib import Path

import httpx
import pytest

from tests.support import make, serving
from tests.support.serving import Server
from tests.support.waiting import PATIENCE_S, wait_until

# Together larger than the kernel buffers between the server and a client that does not read.
POST_TEXT = "x" * 120_000


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder whose library has large posts, and an API key for it."""
    folder = tmp_path_factory.mktemp("filled")
    with serving.serving(folder) as server:
        key = server.new_key()
        file = folder / "posts.json"
        posts = [make.post(text=POST_TEXT) for _ in range(100)]
        file.write_text(json.dumps(posts), encoding="utf-8")
        server.run("import", "you@example.com", str(file))
    return folder, key


def start_slow_download(server: Server, key: str) -> socket.socket:
    """Requests more than the kernel buffers, and reads only the first bytes."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", server.port))
    client.settimeout(PATIENCE_S)
    client.sendall(
        b"GET /v1/bookmarks?limit=100 HTTP/1.1\r\nHost: localhost\r\n"
        b"Connection: close\r\nAuthorization: Bearer " + key.encode() + b"\r\n\r\n"
    )
    assert client.recv(16).startswith(b"HTTP/1.1 200")
    return client


def read_to_the_end(client: socket.socket) -> int:
    total = 0
    while piece := client.recv(1 << 20):
        total += len(piece)
    client.close()
    return total


def test_a_current_request_is_finished(filled: tuple[Path, str]) -> None:
    folder, key = filled
    with serving.serving(folder) as server:
        client = start_slow_download(server, key)

        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not server.is_answering())
        assert server.process.poll() is None

        assert read_to_the_end(client) > 100 * len(POST_TEXT)
        assert server.process.wait(PATIENCE_S) == 0
    assert "Traceback" not in server.errors()


def test_a_client_that_never_reads_does_not_delay_the_stop_beyond_its_timeout(
    filled: tuple[Path, str],
) -> None:
    folder, key = filled
    with serving.serving(folder, stop_timeout_s=1) as server:
        client = start_slow_download(server, key)

        assert server.stop() == 0
        client.close()


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_an_idle_server_without_output(tmp_path: Path, name: signal.Signals) -> None:
    with serving.serving(tmp_path) as server:
        server.process.send_signal(name)

        assert server.process.wait(PATIENCE_S) == 0
    # The servers of tests have no models, and say so at some time after their start.
    assert [line for line in server.log() if line["event"] != "model_missing"] == []


def test_calls_just_before_the_stop_are_logged_and_count_towards_the_limit(
    tmp_path: Path,
) -> None:
    with serving.serving(tmp_path, free_calls_per_month=3) as server:
        server.run("account", "create", "free@example.com", "--plan", "free")
        key = server.run("key", "create", "free@example.com").splitlines()[-1]
        assert [server.get("/v1/bookmarks", key).status_code for _ in range(3)] == [200] * 3
        server.stop()
    assert [line["status"] for line in server.log() if line.get("status")][-3:] == [200] * 3

    with serving.serving(tmp_path, free_calls_per_month=3) as server:
        assert server.get("/v1/bookmarks", key).status_code == 402


def child_processes(server: Server) -> list[int]:
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in children.split()]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def metrics_of(server: Server, number: int) -> str:
    try:
        return serving.http.get(f"http://127.0.0.1:{server.admin_port + number}/metrics").text
    except httpx.TransportError:
        return ""


def test_all_processes_stop_when_the_first_is_killed(tmp_path: Path) -> None:
    with serving.serving(tmp_path, "--workers", "2") as server:
        wait_until(lambda: metrics_of(server, 1) != "")
        others = child_processes(server)
        assert len(others) == 1
        server.process.kill()
        wait_until(lambda: not any(map(is_alive, others)))


def test_all_processes_stop_when_another_is_killed(tmp_path: Path) -> None:
    with serving.serving(tmp_path, "--workers", "2") as server:
        wait_until(lambda: metrics_of(server, 1) != "")

        os.kill(child_processes(server)[0], signal.SIGKILL)

        assert server.process.wait(PATIENCE_S) == 1
    assert "A server process failed" in server.errors()
