"""Carries messages from stdin to the server, and its answers to stdout, several at a time."""

import json
import queue
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, Any, Final

from bowerbird_mcp import keyless
from bowerbird_mcp.configuration import Configuration
from bowerbird_mcp.connections import Connections, Exchange, Gone
from bowerbird_mcp.messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    UNREACHABLE,
    Json,
    encoded,
    failure,
    headers_of,
    is_answer_to,
    is_request,
)

_MOST_AT_ONCE: Final = 16
# What is under way when stdin ends still gets its answer, if it comes soon.
_LAST_S: Final = 10.0
# What the server takes at most.
_MOST_BYTES: Final = 1024 * 1024
_TOO_LARGE: Final = f"The message is larger than {_MOST_BYTES // 1024} KiB."
_OK: Final = 200
_ACCEPTED: Final = 202


class Pump:
    def __init__(self, configuration: Configuration, output: IO[bytes]) -> None:
        self._configuration = configuration
        self._connections = Connections(configuration)
        self._output = output
        self._writing = threading.Lock()
        self._waiting: queue.SimpleQueue[tuple[bytes, Json]] = queue.SimpleQueue()
        self._counting = threading.Condition()
        self._workers = 0
        self._unfinished = 0
        self._under_way: dict[Any, Exchange] = {}
        # What an older client and the server agreed on; the newest says it in each message.
        self._negotiated: str | None = None

    def run(self, lines: Iterable[bytes]) -> None:
        """Until the lines end."""
        for line in lines:
            if line.strip():
                self._take(line)
        deadline = time.monotonic() + _LAST_S
        with self._counting:
            while self._unfinished and time.monotonic() < deadline:
                self._counting.wait(deadline - time.monotonic())

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._write(encoded(failure(None, PARSE_ERROR, "This line is not JSON.")))
            return
        if not isinstance(message, dict):
            text = "Send one JSON-RPC message a line."
            self._write(encoded(failure(None, INVALID_REQUEST, text)))
        elif len(line.strip()) > _MOST_BYTES:
            # The server would close the connection while it is still being told.
            if is_request(message):
                self._refuse(message, INVALID_REQUEST, _TOO_LARGE)
        elif self._configuration.token:
            self._hand_over(line, message)
        elif is_request(message):
            self._answer_without_key(message)

    def _answer_without_key(self, message: Json) -> None:
        try:
            answer = encoded(keyless.answer(message, self._configuration))
        except Exception as error:  # noqa: BLE001 - one message must not stop the others
            self._refuse(message, INTERNAL_ERROR, _failed_here(error))
        else:
            self._write(answer)

    def _refuse(self, message: Json, code: int, text: str) -> None:
        request_id = message["id"]
        # An id that is none may be anything, such as a nest too deep to be written again.
        known_id = request_id if _is_id(request_id) else None
        self._write(encoded(failure(known_id, code, text)))

    def _hand_over(self, line: bytes, message: Json) -> None:
        if message.get("method") == "notifications/cancelled":
            self._give_up(message)
        if is_request(message):
            self._under_way[_key(message["id"])] = Exchange()
        with self._counting:
            self._unfinished += 1
            if self._unfinished > self._workers and self._workers < _MOST_AT_ONCE:
                self._workers += 1
                threading.Thread(target=self._work, daemon=True).start()
        self._waiting.put((line, message))

    def _give_up(self, message: Json) -> None:
        params = message.get("params")
        cancelled = params.get("requestId") if isinstance(params, dict) else None
        exchange = self._under_way.get(_key(cancelled))
        if exchange is not None:
            exchange.give_up()

    def _work(self) -> None:
        while True:
            line, message = self._waiting.get()
            try:
                self._carry(line, message)
            except Exception as error:  # noqa: BLE001 - one message must not stop the others
                note(_failed_here(error))
            finally:
                with self._counting:
                    self._unfinished -= 1
                    self._counting.notify_all()

    def _carry(self, line: bytes, message: Json) -> None:
        request_id = message.get("id")
        exchange = self._under_way.get(_key(request_id)) or Exchange()
        try:
            headers = headers_of(message, self._negotiated)
            status, kind, body = self._connections.post(line.strip(), headers, exchange)
            answer = self._answer(message, status, kind, body)
        except Gone as gone:
            note(str(gone))
            answer = encoded(failure(request_id, UNREACHABLE, str(gone)))
        except Exception as error:  # noqa: BLE001 - whatever it is, no request waits for ever
            note(_failed_here(error))
            answer = encoded(failure(request_id, INTERNAL_ERROR, _failed_here(error)))
        finally:
            self._under_way.pop(_key(request_id), None)
        if is_request(message) and not exchange.is_given_up:
            self._write(answer)

    def _answer(self, message: Json, status: int, kind: str, body: bytes) -> bytes:
        """The server's answer as one line that carries the id of its request."""
        if status == _ACCEPTED:
            return b""
        if status == _OK and kind == "application/json":
            if message.get("method") == "initialize":
                self._remember(body)
            return _one_line(message.get("id"), body)
        return encoded(_failed(message.get("id"), status, body))

    def _remember(self, body: bytes) -> None:
        with suppress(ValueError, KeyError, TypeError):
            self._negotiated = str(json.loads(body)["result"]["protocolVersion"])

    def _write(self, line: bytes) -> None:
        with self._writing:
            self._output.write(line + b"\n")
            self._output.flush()


def _one_line(request_id: Any, body: bytes) -> bytes:
    """The body, if it is an answer to this request; nobody would wait for another."""
    usual = b'{"jsonrpc":"2.0","id":%b,' % encoded(request_id)
    if body.startswith(usual) and body.endswith(b"}") and b"\n" not in body:
        return body
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if is_answer_to(request_id, said):
        return encoded(said)
    return encoded(failure(request_id, UNREACHABLE, "The server's answer is none to this request."))


def _failed_here(error: Exception) -> str:
    return f"A message failed: {type(error).__name__}: {error}"


def _failed(request_id: Any, status: int, body: bytes) -> Json:
    """A failure of HTTP as the protocol tells it, in the server's own words where it has some."""
    try:
        said = json.loads(body)
    except ValueError:
        said = None
    if isinstance(said, dict) and isinstance(said.get("error"), dict):
        return {**said, "id": request_id}
    if isinstance(said, dict) and isinstance(said.get("code"), str):
        text = f"{said['code']}: {said.get('error', '')}"
        return failure(request_id, UNREACHABLE, text, {"status": status, "code": said["code"]})
    return failure(
        request_id, UNREACHABLE, f"The server answered HTTP {status}.", {"status": status}
    )


def _key(request_id: Any) -> Any:
    """1 and "1" are different ids; what is neither text nor number is none."""
    return (type(request_id).__name__, request_id) if _is_id(request_id) else None


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def note(text: str) -> None:
    """To stderr: stdout belongs to the protocol."""
    sys.stderr.write(f"bowerbird-mcp: {text}\n")
    sys.stderr.flush()
