"""What an agent spends on a wish: calls, and tokens counted as characters / 4."""

import json
from typing import Any

from tests.support.service import Member
from tests.support.toolcalls import result_of

CALLS, TOKENS = 3, 2_000


class Wish:
    """Counts the calls that a wish takes, and the characters of requests and results."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self.calls = 0
        self.characters = 0

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await result_of(self._member, tool, **arguments)
        assert not result.get("isError"), result["content"]
        self.calls += 1
        sent = {"name": tool, "arguments": arguments}
        # The result has its content twice: as text and as an object.
        self.characters += len(json.dumps(sent)) + len(json.dumps(result, ensure_ascii=False))
        content: dict[str, Any] = result["structuredContent"]
        return content

    def require_cheap(self) -> None:
        assert self.calls <= CALLS
        assert self.characters / 4 < TOKENS
