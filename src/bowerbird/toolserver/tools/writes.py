"""Writes of tools: the same transactions and kept answers as the API's own writes have."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.bodies import Body
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import arguments
from bowerbird.toolserver.tools.tool import Tool, ToolCall, ToolResult
from bowerbird.wire import answer_cache
from bowerbird.wire.idempotency import IdempotentWrites, done
from bowerbird.wire.replies import REPLAYED, Reply
from bowerbird.wire.routes import Call

Effect = Callable[[Transaction, Body], Awaitable[Any]]
"""Does the work and returns what the tool answers. Reads its arguments when it calls the body."""

KEY: Final = "idempotency_key"
_encode: Final = msgspec.json.Encoder(order="sorted").encode


async def written(
    writes: IdempotentWrites, asked: ToolCall, tool: Tool, effect: Effect
) -> ToolResult:
    """Runs `effect` once; a second call with the same key gets the first one's answer."""

    def body() -> dict[str, Any]:
        return arguments.read(tool, asked.sent)

    async def work(transaction: Transaction) -> Reply:
        return done(await effect(transaction, body))

    reply = await writes.run(_call(asked, tool), work)
    answer = msgspec.json.decode(reply.body)
    if not answer["status"]:
        raise Refusal(Code(answer["code"]), answer["error"])
    return ToolResult(answer["data"], is_replay=REPLAYED in reply.headers)


def _call(asked: ToolCall, tool: Tool) -> Call:
    sent = {name: value for name, value in asked.sent.items() if name != KEY}
    return Call(
        asked.account,
        "POST",
        # A key used for one tool is another request for every other tool.
        answer_cache.RequestTarget(f"tool {tool.name}", b"", b"", None),
        {},
        body=_encode(sent),
        idempotency_key=_key(asked) if KEY in tool.arguments else None,
        require_calls_left=asked.require_calls_left,
    )


def _key(asked: ToolCall) -> bytes | None:
    key = asked.sent.get(KEY)
    if key is None:
        return None
    if not isinstance(key, str):
        raise errors.invalid(KEY, "must be a string")
    return key.encode("utf-8", "replace")
