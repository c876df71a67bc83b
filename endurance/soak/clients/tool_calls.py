"""Calls of the tool server."""

import itertools
import json
import time
from typing import Any, Final

from endurance.soak.clients.client import Answer, Client
from endurance.soak.findings import Criterion

_HEADERS: Final = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
_TRIES: Final = 60
_ids = itertools.count(1)


def message(tool: str, arguments: dict[str, Any]) -> bytes:
    params = {"name": tool, "arguments": arguments}
    whole = {"jsonrpc": "2.0", "id": next(_ids), "method": "tools/call", "params": params}
    return json.dumps(whole).encode()


def sent(client: Client, kind: str, message: bytes) -> Answer:
    """Repeats a call that a tool refuses as temporarily unavailable, which is a 200 here."""
    for _ in range(_TRIES):
        answer = client.send(kind, "POST", "/mcp", message, headers=_HEADERS)
        result = answer.json["result"]
        if not result.get("isError"):
            return answer
        text = result["content"][0]["text"]
        if not text.startswith(("SERVICE_UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS")):
            client.findings.add(Criterion.ERRORS, f"{kind}: {text}")
        time.sleep(1)
    raise AssertionError(f"{kind}: refused {_TRIES} times")


def content(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = answer.json["result"]["structuredContent"]
    return found
