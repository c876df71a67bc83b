"""What an agent spends on a wish: calls, and tokens counted as characters / 4."""

import json
from typing import Any

from tests.support.service import Member
from tests.support.toolcalls import result_of

CALLS, TOKENS = 3, 2_000


class Spent:
    """Counts the calls for a wish, and the characters that a model writes and reads."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.calls = 0
        self.characters = 0

    @property
    def tokens(self) -> float:
        return self.characters / 4

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await result_of(self.member, tool, **arguments)
        assert not result.get("isError"), result["content"]
        self.calls += 1
        sent = json.dumps({"name": tool, "arguments": arguments}, separators=(",", ":"))
        # The result has its content twice, as text and as an object; a model gets one of them.
        read = sum(len(part.get("text", "")) for part in result["content"])
        self.characters += len(sent) + read
        content: dict[str, Any] = result["structuredContent"]
        return content


class Wish(Spent):
    """Counts both forms of a result, as a client would that shows its model both."""

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        content = await super().call(tool, **arguments)
        self.characters += len(json.dumps(content, ensure_ascii=False))
        return content

    def require_cheap(self) -> None:
        assert self.calls <= CALLS
        assert self.tokens < TOKENS
