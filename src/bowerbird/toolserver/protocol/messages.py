"""HTTP responses that contain messages of the protocol."""

from typing import Any, Final

import msgspec

from bowerbird.wire.responses.replies import JSON, PRIVATE, Reply

encoded: Final = msgspec.json.Encoder().encode
INVALID_REQUEST: Final = -32600


def reply(status: int, message: dict[str, Any]) -> Reply:
    return Reply(status, [JSON, *PRIVATE], encoded(message))


def failure(status: int, request_id: Any, code: int, message: str, data: Any = None) -> Reply:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return reply(status, {"jsonrpc": "2.0", "id": request_id, "error": error})
