"""Answers the messages of the protocol, of any revision.

The SDK's server handles the message, and the SDK validates the headers of the newest revision.
The SDK's sessions and streams are not used: no state outlives a request. See docs/adr/0017.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
import structlog
from mcp.server.connection import Connection
from mcp.server.runner import serve_one
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    X_MCP_HEADER_KEY,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
    validate_mcp_param_headers,
)
from mcp.shared.jsonrpc_dispatcher import (
    handler_exception_to_error_data,
    progress_token_from_params,
)
from mcp.shared.message import ServerMessageMetadata
from mcp_types import methods
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from bowerbird.errors import Refusal
from bowerbird.requests import decoding
from bowerbird.toolserver.protocol import event_streams
from bowerbird.toolserver.protocol.event_streams import EVENT_STREAM, Channel
from bowerbird.toolserver.protocol.http_endpoint import failure, reply
from bowerbird.toolserver.protocol.tool_calls import ToolCaller
from bowerbird.toolserver.tools.results.quoted_text import shown_text
from bowerbird.toolserver.tools.tool import Json
from bowerbird.wire import bodies
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import JSON, PRIVATE, Header, Reply

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

_ACCEPTED: Final = Reply(202, [(b"content-length", b"0")])
# The only revision with batches. A client without a version header may speak it.
_WITH_BATCHES: Final = "2025-03-26"
MAX_BATCH: Final = 20
# A batch is one request to everybody else, so it may cost little more than one.
MAX_BATCH_REQUESTS: Final = 5
MAX_BATCH_CALLS: Final = 2
_CALL: Final = "tools/call"
# It is repeated in every notification about a call.
MAX_TOKEN_CHARS: Final = 200
_LARGEST_TOKEN: Final = 2**63 - 1


class _Rejected(Exception):  # noqa: N818 - an error response of the protocol, not a fault
    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class _Budget:
    """Counts the requests of a batch that run. A tool may cost much more than other methods."""

    def __init__(self) -> None:
        self._requests, self._calls = MAX_BATCH_REQUESTS, MAX_BATCH_CALLS

    def takes(self, value: Any) -> bool:
        """Whether a message may run. Only requests count, and only those that run."""
        if not isinstance(value, dict) or "id" not in value:
            return True
        is_call = value.get("method") == _CALL
        if not self._requests or (is_call and not self._calls):
            return False
        self._requests -= 1
        self._calls -= is_call
        return True


class Exchange:
    def __init__(self, server: "Server[Any]", input_schemas: Mapping[str, Json]) -> None:
        self._server = server
        # Only schemas with header arguments: searching a schema takes longer than all other checks.
        self._mirrored = {
            name: schema
            for name, schema in input_schemas.items()
            if X_MCP_HEADER_KEY in str(schema)
        }
        self._log = structlog.get_logger().bind()
        _redirect_sdk_log()

    async def answer(self, body: bytes, headers: Sequence[Header], caller: ToolCaller) -> Reply:
        named = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
        try:
            value = await bodies.off_loop(
                len(body), caller.account.account_id, lambda: _value(body), is_continuing=True
            )
            if isinstance(value, list) and _may_batch(named):
                return await self._batch(value, named, headers, caller)
        except _Rejected as rejected:
            return _rejection(rejected, None)
        return await self._single(value, named, headers, caller)

    async def _batch(
        self,
        values: list[Any],
        named: Mapping[str, str],
        headers: Sequence[Header],
        caller: ToolCaller,
    ) -> Reply:
        """Answers several messages one after another. Notifications get no response."""
        if not 0 < len(values) <= MAX_BATCH:
            raise _Rejected(types.INVALID_REQUEST, f"A batch must have 1 to {MAX_BATCH} messages.")
        responses = []
        budget = _Budget()
        plain = {**named, "accept": "application/json"}
        for value in values:
            if not budget.takes(value):
                sentence = (
                    f"Only {MAX_BATCH_REQUESTS} requests of a batch run, {MAX_BATCH_CALLS} of them "
                    f"{_CALL}. Send this one alone."
                )
                reply = _rejection(_Rejected(types.INVALID_REQUEST, sentence), value["id"])
            elif isinstance(value, dict) and value.get("method") == "initialize":
                rejected = _Rejected(types.INVALID_REQUEST, "initialize must not be in a batch.")
                reply = _rejection(rejected, value.get("id"))
            else:
                reply = await self._single(value, plain, headers, caller)
            responses += [reply.body] if reply.body else []
        caller.called = "batch"
        if not responses:
            return _ACCEPTED
        return Reply(200, [JSON, *PRIVATE], b"[" + b",".join(responses) + b"]")

    async def _single(
        self,
        value: Any,
        named: Mapping[str, str],
        headers: Sequence[Header],
        caller: ToolCaller,
    ) -> Reply:
        request_id: Any = None
        try:
            message = _message(value)
            if "id" not in message or "method" not in message:
                return _acknowledged(message, named)
            request_id = message["id"]
            _check_request(message)
            called = message["method"]
            caller.called = called if called in methods.SPEC_CLIENT_METHODS else "unknown"
            connection = self._connection(message, named, headers)
            channel = Channel(
                request_id,
                ServerMessageMetadata(request_context=caller),
                message.get("params"),
                accepts_stream=_accepts_stream(named),
            )
            serving = self._served(message, connection, channel, caller)
            return await event_streams.answered(channel, serving, lambda: not caller.is_writing)
        except _Rejected as rejected:
            return _rejection(rejected, request_id)

    def _connection(
        self, message: Json, headers: Mapping[str, str], raw: Sequence[Header]
    ) -> Connection:
        """The sender's revision and capabilities. Older revisions send only a version header."""
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        is_bare = message["method"] == "initialize" or not _has_envelope(message)
        if is_bare and (version is None or version in HANDSHAKE_PROTOCOL_VERSIONS):
            return Connection.from_envelope(version or types.DEFAULT_NEGOTIATED_VERSION, None, None)
        if is_bare and version is not None:
            # The sender may support older revisions, so the error lists all of them.
            _raise(unsupported_protocol_version_rejection(version, KNOWN_PROTOCOL_VERSIONS))
        texts = [(n.decode("latin-1"), v.decode("latin-1")) for n, v in raw]
        if duplicated := find_duplicated_routing_header(texts):
            raise _Rejected(types.HEADER_MISMATCH, f"{duplicated} header appears more than once")
        route = classify_inbound_request(message, headers=headers)
        if isinstance(route, InboundLadderRejection):
            raise _Rejected(route.code, route.message, route.data)
        self._check_mirrored(message, headers)
        return Connection.from_envelope(
            route.protocol_version, route.client_info, route.client_capabilities
        )

    def _check_mirrored(self, message: Json, headers: Mapping[str, str]) -> None:
        """Checks that arguments which are repeated in headers have the same values there."""
        params = message["params"]
        schema = self._mirrored.get(str(params.get("name")))
        arguments = params.get("arguments") or {}
        is_call = message["method"] == _CALL and isinstance(arguments, dict)
        if is_call and schema is not None:
            _raise(validate_mcp_param_headers(schema, arguments, headers))

    async def _served(
        self, message: Json, connection: Connection, channel: Channel, caller: ToolCaller
    ) -> Reply:
        request_id, method = message["id"], message["method"]
        is_older = connection.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
        try:
            result = await serve_one(
                self._server,
                channel,
                method,
                message.get("params"),
                connection=connection,
                lifespan_state=None,
            )
        except Exception as raised:  # noqa: BLE001 - becomes an error response; faults are logged
            error = _invalid_params(raised) or handler_exception_to_error_data(raised)
            if error is None:
                error = self._fault(caller)
            # In older revisions the response to a well-formed request always has status 200.
            status = 200 if is_older else ERROR_CODE_HTTP_STATUS.get(error.code, 200)
            data = _shown(error.data)
            return failure(status, request_id, error.code, shown_text(error.message), data)
        return reply(200, {"jsonrpc": "2.0", "id": request_id, "result": result})

    def _fault(self, caller: ToolCaller) -> types.ErrorData:
        self._log.exception("fault", reference=caller.request_id, route=caller.called)
        sentence = envelope.fault(caller.request_id).sentence
        return types.ErrorData(code=types.INTERNAL_ERROR, message=sentence)


def _invalid_params(error: Exception) -> types.ErrorData | None:
    """An error that names the first invalid parameter. The SDK's own error does not name it."""
    if not isinstance(error, ValidationError):
        return None
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "params"
    sentence = f"Invalid request parameters: {place[:80]}: {first['msg']}."
    return types.ErrorData(code=types.INVALID_PARAMS, message=sentence)


def _shown(data: Any) -> Any:
    """The data of an error, which may repeat what the client sent, without hidden characters."""
    if isinstance(data, dict):
        return {name: _shown(value) for name, value in data.items()}
    return shown_text(data) if isinstance(data, str) else data


def _rejection(rejected: _Rejected, request_id: Any) -> Reply:
    status = ERROR_CODE_HTTP_STATUS.get(rejected.code, 400)
    known_id = request_id if _is_id(request_id) else None
    return failure(status, known_id, rejected.code, rejected.message, rejected.data)


def _may_batch(headers: Mapping[str, str]) -> bool:
    return headers.get(MCP_PROTOCOL_VERSION_HEADER, _WITH_BATCHES) == _WITH_BATCHES


def _accepts_stream(headers: Mapping[str, str]) -> bool:
    accepted = headers.get("accept", "").lower().split(",")
    return EVENT_STREAM.decode() in (kind.partition(";")[0].strip() for kind in accepted)


def _value(body: bytes) -> Any:
    try:
        return decoding.parse(body)
    except Refusal as refused:
        raise _Rejected(types.PARSE_ERROR, f"Parse error: {refused.sentence}") from None


def _message(value: Any) -> Json:
    if isinstance(value, list):
        sentence = f"Only revision {_WITH_BATCHES} has batches. Send the messages one by one."
        raise _Rejected(types.INVALID_REQUEST, sentence)
    if not isinstance(value, dict):
        raise _Rejected(
            types.INVALID_REQUEST, "The body must be one JSON-RPC request or notification."
        )
    return value


def _acknowledged(message: Json, headers: Mapping[str, str]) -> Reply:
    """Accepts a notification and ignores it: without sessions it has no effect."""
    is_notification = isinstance(message.get("method"), str) and "id" not in message
    is_response = "method" not in message and ("result" in message or "error" in message)
    version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    is_older = version is None or version in HANDSHAKE_PROTOCOL_VERSIONS
    if message.get("jsonrpc") != "2.0" or not (is_notification or (is_response and is_older)):
        raise _Rejected(
            types.INVALID_REQUEST, "The body must be one JSON-RPC request or notification."
        )
    if not is_older:
        assert version is not None
        _raise(unsupported_protocol_version_rejection(version))
    return _ACCEPTED


def _check_request(message: Json) -> None:
    params = message.get("params", {})
    if message.get("jsonrpc") != "2.0":
        raise _Rejected(types.INVALID_REQUEST, 'jsonrpc must be "2.0".')
    if not _is_id(message["id"]):
        raise _Rejected(types.INVALID_REQUEST, "id must be a string or a whole number.")
    if not isinstance(message["method"], str):
        raise _Rejected(types.INVALID_REQUEST, "method must be a string.")
    if not isinstance(params, dict):
        raise _Rejected(types.INVALID_REQUEST, "params must be an object.")
    if not _is_short(progress_token_from_params(params)):
        raise _Rejected(
            types.INVALID_PARAMS,
            f"_meta.progressToken must be a string of at most {MAX_TOKEN_CHARS} characters, "
            "or a whole number of at most 64 bits.",
        )


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_short(token: str | int | None) -> bool:
    if isinstance(token, str):
        return len(token) <= MAX_TOKEN_CHARS
    return token is None or -_LARGEST_TOKEN - 1 <= token <= _LARGEST_TOKEN


def _has_envelope(message: Json) -> bool:
    """Whether the message has the metadata of the newest revision."""
    meta = (message.get("params") or {}).get("_meta")
    return isinstance(meta, dict) and types.PROTOCOL_VERSION_META_KEY in meta


def _raise(rejection: InboundLadderRejection | None) -> None:
    if rejection is not None:
        raise _Rejected(rejection.code, rejection.message, rejection.data)


class _SdkLog(logging.Handler):
    """Writes the SDK's log lines to our log, without their values, which may be private."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger().warning("protocol", says=str(record.msg), of=record.name)


def _redirect_sdk_log() -> None:
    sdk = logging.getLogger("mcp")
    if not sdk.handlers:
        sdk.addHandler(_SdkLog(logging.WARNING))
        sdk.propagate = False
