"""Runs bowerbird-mcp as a process, and a server for it whose responses a test can choose."""

import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.hosts.loopback import Handler, on_thread
from tests.support.programs.tool_server import STDIO_COMMAND, stdio_environment
from tests.support.waiting import PATIENCE_S

Json = dict[str, Any]


INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
NEWEST_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class BridgeProcess:
    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)

    def send(self, message: Any) -> None:
        self.send_line(json.dumps(message).encode())

    def send_line(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def response(self) -> Json:
        message: Json = json.loads(self._lines.get(timeout=PATIENCE_S))
        return message

    def request(self, method: str, request_id: Any = 1, **params: Any) -> Json:
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return self.response()

    def has_no_output(self) -> bool:
        return self._lines.empty()

    def end(self) -> int:
        """Closes stdin, as a client does when it exits, and returns the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        """Kills the process, and closes its output only after the last line was read."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()


def run(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """A process that gets no messages, after its end."""
    return subprocess.run(
        [*STDIO_COMMAND, *arguments],
        env=stdio_environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@contextmanager
def started(environment: dict[str, str], folder: Path) -> Iterator[BridgeProcess]:
    with (folder / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            STDIO_COMMAND,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        bridge = BridgeProcess(process)
        try:
            yield bridge
        finally:
            bridge.close()


class FakeServer:
    """Sends the response that a test chooses, and records the requests."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], Json]] = []
        self.connections: set[tuple[str, int]] = set()
        self.status, self.content_type, self.body = 200, "application/json", b""
        self.headers: dict[str, str] = {}
        self.address = ""
        # The id of a request that gets no response until the client closes the connection.
        self.held_id: Any = None
        self.is_holding = threading.Event()
        self.saw_disconnect = threading.Event()

    def handle(self, handler: Handler) -> None:
        message = json.loads(handler.body())
        self.requests.append((dict(handler.headers), message))
        self.connections.add(handler.client_address[:2])
        if self.held_id is not None and message.get("id") == self.held_id:
            self.is_holding.set()
            # Returns when the client closes the connection.
            handler.connection.recv(1)
            self.saw_disconnect.set()
            return
        body = self.body or json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": {}})
        content = body if isinstance(body, bytes) else body.encode()
        handler.answer(content, self.status, Content_Type=self.content_type, **self.headers)


@contextmanager
def fake_server() -> Iterator[tuple[str, FakeServer]]:
    fake = FakeServer()

    class Fake(Handler):
        protocol_version = "HTTP/1.1"

        def reply(self) -> None:
            fake.handle(self)

    with on_thread(Fake) as port:
        fake.address = f"http://127.0.0.1:{port}/mcp"
        yield fake.address, fake


@contextmanager
def faked(folder: Path) -> Iterator[tuple[BridgeProcess, FakeServer]]:
    """A bridge, and the server of the test to which it sends."""
    with fake_server() as (address, fake):
        environment = stdio_environment(SERVICE_URL=address, SERVICE_TOKEN="key")
        with started(environment, folder) as bridge:
            yield bridge, fake
