"""The parts of the MCP messages that the bridge must understand."""

import base64
import json
import re
from typing import Any, Final

Json = dict[str, Any]

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INTERNAL_ERROR: Final = -32603
# JSON-RPC reserves this range for errors that an implementation defines.
UNREACHABLE: Final = -32000
# The only revision with batches.
BATCHES: Final = "2025-03-26"
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
_NAME_PARAMETERS: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN_ASCII: Final = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")


def encoded(message: Any) -> bytes:
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        # JSON can represent half of a surrogate pair, UTF-8 cannot.
        return json.dumps(message, separators=(",", ":")).encode()


def failure(request_id: Any, code: int, text: str, data: Any = None) -> Json:
    error: Json = {"code": code, "message": text}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def result(request_id: Any, value: Json) -> Json:
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def is_request(message: Json) -> bool:
    return "method" in message and "id" in message


def is_notification(encoded_message: bytes) -> bool:
    try:
        message = json.loads(encoded_message)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and "method" in message and "id" not in message


def is_response_to(request_id: Any, message: Any) -> bool:
    if not isinstance(message, dict) or message.get("id") != request_id:
        return False
    return ("result" in message) != ("error" in message)


def version_in(message: Json) -> str | None:
    """The protocol version that messages of the newest version contain."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None


def version_header(version: str) -> dict[str, str]:
    return {"MCP-Protocol-Version": _header_value(version)}


def headers_of(message: Json, negotiated: str | None) -> dict[str, str]:
    """The MCP headers. In the newest version they repeat parts of the message."""
    version = version_in(message)
    if version is None:
        is_first = message.get("method") == "initialize"
        return {} if negotiated is None or is_first else version_header(negotiated)
    method = message.get("method")
    if not isinstance(method, str):
        return version_header(version)
    headers = {**version_header(version), "Mcp-Method": _header_value(method)}
    params = message.get("params")
    name = params.get(_NAME_PARAMETERS.get(method, "")) if isinstance(params, dict) else None
    return {**headers, "Mcp-Name": _header_value(name)} if isinstance(name, str) else headers


def _header_value(text: str) -> str:
    """Encodes everything but plain ASCII as base64, because a header cannot contain it."""
    if _PLAIN_ASCII.fullmatch(text) and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="
