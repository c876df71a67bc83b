"""The stdio package as a client meets it: a process that takes lines and gives lines."""

import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.tool_server import PUMP

PATIENCE_SECONDS = 20
Json = dict[str, Any]


class Pumped:
    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

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

    def answer(self) -> Json:
        found: Json = json.loads(self._lines.get(timeout=PATIENCE_SECONDS))
        return found

    def ask(self, method: str, request_id: Any = 1, **params: Any) -> Json:
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return self.answer()

    def has_said_nothing(self) -> bool:
        return self._lines.empty()

    def end(self) -> int:
        """Closes its input, as a client does when it ends; the code with which it ends itself."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(PATIENCE_SECONDS)


@contextmanager
def pumped(environment: dict[str, str], folder: Path) -> Iterator[Pumped]:
    with (folder / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            PUMP, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
        try:
            yield Pumped(process)
        finally:
            process.kill()
            process.wait()
            assert process.stdin
            assert process.stdout
            process.stdin.close()
            process.stdout.close()


class Odd:
    """A server that answers as a test says, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[dict[str, str], Json]] = []
        self.connections: set[tuple[str, int]] = set()
        self.status, self.kind, self.body = 200, "application/json", b""
        # An id whose answer waits until the client is gone, and what tells that it is.
        self.holds: Any = None
        self.saw_it_go = threading.Event()
        self.is_holding = threading.Event()

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        size = int(handler.headers["Content-Length"])
        message = json.loads(handler.rfile.read(size))
        self.asked.append((dict(handler.headers), message))
        self.connections.add(handler.client_address[:2])
        if self.holds is not None and message.get("id") == self.holds:
            self.is_holding.set()
            # Nothing more comes on the connection, except its end.
            handler.connection.recv(1)
            self.saw_it_go.set()
            return
        body = self.body or json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": {}})
        sent = body if isinstance(body, bytes) else body.encode()
        handler.send_response(self.status)
        handler.send_header("Content-Type", self.kind)
        handler.send_header("Content-Length", str(len(sent)))
        handler.end_headers()
        handler.wfile.write(sent)


@contextmanager
def odd_server() -> Iterator[tuple[str, Odd]]:
    odd = Odd()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            odd.take(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp", odd
    finally:
        server.shutdown()
        server.server_close()
