"""Writes of tools: the same transactions and kept answers as the API's own writes have."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.bodies import Body
from bowerbird.storage.database import Transaction
from bowerbird.toolserver import arguments
from bowerbird.toolserver.declared import Answer, Asked, Tool
from bowerbird.wire import answers
from bowerbird.wire.calls import Call
from bowerbird.wire.replies import REPLAYED, Reply
from bowerbird.wire.writes import Writes, done

Effect = Callable[[Transaction, Body], Awaitable[Any]]
"""Does the work and returns what the tool answers. Reads its arguments when it calls the body."""

KEY: Final = "idempotency_key"
_encode: Final = msgspec.json.Encoder(order="sorted").encode


async def written(writes: Writes, asked: Asked, tool: Tool, effect: Effect) -> Answer:
    """Runs `effect` once; a second call with the same key gets the first one's answer."""

    def body() -> dict[str, Any]:
        return arguments.read(tool, asked.sent)

    async def work(transaction: Transaction) -> Reply:
        return done(await effect(transaction, body))

    reply = await writes.run(_call(asked, tool), work)
    answer = msgspec.json.decode(reply.body)
    if not answer["status"]:
        raise Refusal(Code(answer["code"]), answer["error"])
    return Answer(answer["data"], is_replay=REPLAYED in reply.headers)


def _call(asked: Asked, tool: Tool) -> Call:
    sent = {name: value for name, value in asked.sent.items() if name != KEY}
    return Call(
        asked.account,
        "POST",
        # A key used for one tool is another request for every other tool.
        answers.Asked(f"tool {tool.name}", b"", b"", None),
        {},
        body=_encode(sent),
        idempotency_key=_key(asked) if KEY in tool.arguments else None,
        require_calls_left=asked.require_calls_left,
    )


def _key(asked: Asked) -> bytes | None:
    key = asked.sent.get(KEY)
    if key is None:
        return None
    if not isinstance(key, str):
        raise errors.invalid(KEY, "must be a string")
    return key.encode("utf-8", "replace")
