"""Forwards messages from stdin to the server and its responses to stdout, concurrently."""

import json
import queue
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, Any, Final

from bowerbird_mcp import bundled, http_failures
from bowerbird_mcp.configuration import Configuration
from bowerbird_mcp.connections import Call, CallFailedError, Connections
from bowerbird_mcp.http_failures import Answer
from bowerbird_mcp.messages import (
    BATCHES,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    UNREACHABLE,
    Json,
    encoded,
    failure,
    headers_of,
    is_request,
    is_response_to,
    version_header,
)
from bowerbird_mcp.problems import ProblemLog, log

_MAX_WORKERS: Final = 16
# How long to wait for the last responses after stdin has ended.
_DRAIN_S: Final = 10.0
# The server's own limit.
_MAX_BYTES: Final = 1024 * 1024
_TOO_LARGE: Final = f"The message is larger than {_MAX_BYTES // 1024} KiB."
# Some clients write it before the first message.
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_OK: Final = 200
_ACCEPTED: Final = 202


class Bridge:
    def __init__(self, configuration: Configuration, output: IO[bytes]) -> None:
        self._configuration = configuration
        self._connections = Connections(configuration)
        self._output = output
        self._output_lock = threading.Lock()
        self._queue: queue.SimpleQueue[tuple[bytes, Json | list[Any]]] = queue.SimpleQueue()
        self._problems = ProblemLog()
        self._changed = threading.Condition()
        self._workers = 0
        self._unfinished = 0
        self._calls: dict[Any, Call] = {}
        # The result of `initialize`. Messages of the newest version contain their version instead.
        self._negotiated_version: str | None = None

    def run(self, lines: Iterable[bytes]) -> None:
        """Forwards messages until the lines end."""
        for line in lines:
            message = line.removeprefix(_BYTE_ORDER_MARK)
            if message.strip():
                self._handle(message)
        deadline = time.monotonic() + _DRAIN_S
        with self._changed:
            while self._unfinished and time.monotonic() < deadline:
                self._changed.wait(deadline - time.monotonic())

    def _handle(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._write(encoded(failure(None, PARSE_ERROR, "The line is not valid JSON.")))
            return
        if isinstance(message, list) and message and self._negotiated_version == BATCHES:
            self._handle_batch(line, message)
        elif not isinstance(message, dict):
            text = f"Send one JSON-RPC message per line. Only revision {BATCHES} has batches."
            self._write(encoded(failure(None, INVALID_REQUEST, text)))
        elif len(line.strip()) > _MAX_BYTES:
            # The server would close the connection before it has read the whole message.
            if is_request(message):
                self._refuse(message, INVALID_REQUEST, _TOO_LARGE)
        elif self._configuration.token:
            self._enqueue(line, message)
        elif is_request(message):
            self._respond_without_key(message)

    def _handle_batch(self, line: bytes, batch: list[Any]) -> None:
        if len(line.strip()) > _MAX_BYTES:
            self._write(encoded(failure(None, INVALID_REQUEST, _TOO_LARGE)))
        elif self._configuration.token:
            self._add_work(line, batch)
        else:
            problem = bundled.how_to_get_a_key(self._configuration)
            self._write_batch(
                [
                    encoded(bundled.respond(request, self._configuration, problem))
                    for request in _requests_in(batch)
                ]
            )

    def _respond_without_key(self, message: Json) -> None:
        try:
            problem = bundled.how_to_get_a_key(self._configuration)
            response = encoded(bundled.respond(message, self._configuration, problem))
        except Exception as error:  # noqa: BLE001 - one message must not stop the others
            self._refuse(message, INTERNAL_ERROR, _internal_error(error))
        else:
            if message["method"] == "initialize":
                self._remember_version(response)
            self._write(response)

    def _refuse(self, message: Json, code: int, text: str) -> None:
        request_id = message["id"]
        # An invalid id may be a value that cannot be encoded again, such as a very deep list.
        valid_id = request_id if _is_id(request_id) else None
        self._write(encoded(failure(valid_id, code, text)))

    def _enqueue(self, line: bytes, message: Json) -> None:
        if message.get("method") == "notifications/cancelled":
            self._cancel(message)
        if is_request(message):
            self._calls[_key(message["id"])] = Call()
        self._add_work(line, message)

    def _add_work(self, line: bytes, message: Json | list[Any]) -> None:
        with self._changed:
            self._unfinished += 1
            if self._unfinished > self._workers and self._workers < _MAX_WORKERS:
                self._workers += 1
                threading.Thread(target=self._work, daemon=True).start()
        self._queue.put((line, message))

    def _cancel(self, message: Json) -> None:
        params = message.get("params")
        request_id = params.get("requestId") if isinstance(params, dict) else None
        call = self._calls.get(_key(request_id))
        if call is not None:
            call.cancel()

    def _work(self) -> None:
        while True:
            line, message = self._queue.get()
            try:
                if isinstance(message, list):
                    self._forward_batch(line, message)
                else:
                    self._forward(line, message)
            except Exception as error:  # noqa: BLE001 - one message must not stop the others
                log(_internal_error(error))
            finally:
                with self._changed:
                    self._unfinished -= 1
                    self._changed.notify_all()

    def _forward(self, line: bytes, message: Json) -> None:
        request_id = message.get("id")
        call = self._calls.get(_key(request_id)) or Call()
        try:
            headers = headers_of(message, self._negotiated_version)
            answer = self._connections.post(line.strip(), headers, call, self._write)
            response = self._response(message, answer)
        except CallFailedError as error:
            self._problems.report(str(error))
            response = self._without_server(message, str(error))
        except Exception as error:  # noqa: BLE001 - every request must get a response
            log(_internal_error(error))
            response = encoded(failure(request_id, INTERNAL_ERROR, _internal_error(error)))
        finally:
            self._calls.pop(_key(request_id), None)
        if is_request(message) and not call.is_cancelled:
            self._write(response)

    def _forward_batch(self, line: bytes, batch: list[Any]) -> None:
        requests = _requests_in(batch)
        try:
            answer = self._connections.post(line.strip(), version_header(BATCHES), Call())
            if answer.status == _OK and (responses := _list_in(answer.body)):
                self._problems.end()
                self._write(encoded(responses))
            else:
                self._write_batch([self._response(request, answer) for request in requests])
        except CallFailedError as error:
            self._problems.report(str(error))
            self._write_batch([self._without_server(each, str(error)) for each in requests])
        except Exception as error:  # noqa: BLE001 - every request must get a response
            log(_internal_error(error))
            for request in requests:
                self._refuse(request, INTERNAL_ERROR, _internal_error(error))

    def _write_batch(self, responses: list[bytes]) -> None:
        if sent := list(filter(None, responses)):
            self._write(b"[" + b",".join(sent) + b"]")

    def _response(self, message: Json, answer: Answer) -> bytes:
        """The server's response as one line with the id of its request."""
        if answer.status == _ACCEPTED:
            self._problems.end()
            return b""
        if answer.status == _OK and answer.content_type == "application/json":
            self._problems.end()
            if message.get("method") == "initialize":
                self._remember_version(answer.body)
            return _one_line(message.get("id"), answer.body)
        sentence = http_failures.sentence(answer, self._configuration)
        if answer.status in http_failures.DOWN and message.get("method") in bundled.STARTING:
            self._problems.report(sentence)
            return self._without_server(message, sentence)
        error = http_failures.as_error(message.get("id"), answer, self._configuration)
        if error["error"].get("message") == sentence:
            # The problem is not in the message but in the key, the address or the server.
            self._problems.report(sentence)
        return encoded(error)

    def _without_server(self, message: Json, problem: str) -> bytes:
        """The response while the server is down, so that a client can start before it."""
        if not is_request(message):
            return b""
        response = encoded(bundled.respond(message, self._configuration, problem, UNREACHABLE))
        if message["method"] == "initialize":
            self._remember_version(response)
        return response

    def _remember_version(self, body: bytes) -> None:
        with suppress(ValueError, KeyError, TypeError):
            self._negotiated_version = str(json.loads(body)["result"]["protocolVersion"])

    def _write(self, line: bytes) -> None:
        with self._output_lock:
            self._output.write(line + b"\n")
            self._output.flush()


def _requests_in(batch: list[Any]) -> list[Json]:
    return [
        message
        for message in batch
        if isinstance(message, dict) and is_request(message) and _is_id(message["id"])
    ]


def _list_in(body: bytes) -> list[Any]:
    """The responses to a batch; empty if the body has none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return []
    return value if isinstance(value, list) else []


def _one_line(request_id: Any, body: bytes) -> bytes:
    """The body as one line, or an error if it does not respond to this request."""
    usual_start = b'{"jsonrpc":"2.0","id":%b,' % encoded(request_id)
    if body.startswith(usual_start) and body.endswith(b"}") and b"\n" not in body:
        return body
    try:
        response = json.loads(body)
    except (ValueError, RecursionError):
        response = None
    if is_response_to(request_id, response):
        return encoded(response)
    text = "The server returned a body that is not a response to this request."
    return encoded(failure(request_id, UNREACHABLE, text))


def _internal_error(error: Exception) -> str:
    return f"bowerbird-mcp failed: {type(error).__name__}: {error}"


def _key(request_id: Any) -> Any:
    """A hashable key for a valid id, None for any other value."""
    return (type(request_id).__name__, request_id) if _is_id(request_id) else None


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
