"""The tools of a running server, called as an MCP client would."""

from itertools import count
from typing import Any

import httpx

Json = dict[str, Any]


class LibraryTools:
    def __init__(self, address: str, key: str) -> None:
        self._address = address
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Accept": "application/json, text/event-stream",
        }
        self._ids = count(1)

    def instructions(self) -> str:
        client = {"name": "agent-trial", "version": "1"}
        sent = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        text: str = self._ask("initialize", sent)["instructions"]
        return text

    def listed(self) -> list[Json]:
        tools: list[Json] = self._ask("tools/list", {})["tools"]
        return tools

    def call(self, name: str, arguments: Json) -> str:
        """The text of the result, or of the refusal: what a model reads."""
        # In strict mode, null stands for an argument that is not sent.
        sent = {name: value for name, value in arguments.items() if value is not None}
        answer = self._answer("tools/call", {"name": name, "arguments": sent})
        if "error" in answer:
            return f"ERROR: {answer['error']['message']}"
        return "\n".join(part.get("text", "") for part in answer["result"]["content"])

    def content(self, name: str, arguments: Json) -> Json:
        found: Json = self._ask("tools/call", {"name": name, "arguments": arguments})
        content: Json = found["structuredContent"]
        return content

    def _ask(self, method: str, params: Json) -> Json:
        result: Json = self._answer(method, params)["result"]
        return result

    def _answer(self, method: str, params: Json) -> Json:
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        sent = httpx.post(self._address, json=message, headers=self._headers, timeout=60)
        answer: Json = sent.raise_for_status().json()
        return answer
