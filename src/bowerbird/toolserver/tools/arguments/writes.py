"""Writes of tools. They run in transactions and store their results like REST writes."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta, Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.model.accounts import Account
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools.arguments import reading
from bowerbird.toolserver.tools.tool import BoundTool, Tool, ToolCall, ToolResult
from bowerbird.wire.idempotency import Idempotency, Replay, Write
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.writes import fingerprint

T = TypeVar("T", bound=Struct)

KEY: Final = "idempotency_key"
IdempotencyKey = Annotated[
    Annotated[str, Meta(max_length=255)] | None,
    Meta(description="Any text; makes a retry safe."),
]
_encode: Final = msgspec.json.Encoder(order="sorted").encode


def bound(
    idempotency: Idempotency,
    tool: Tool,
    effect: Callable[[Transaction, Account, Any], Awaitable[Struct]],
    *,
    gate: Callable[[Account], None] = lambda _: None,
    prepare: Callable[[Account, Any], Awaitable[None]] | None = None,
) -> BoundTool:
    """A tool that writes: `effect` and `prepare` take the account and the arguments."""

    async def call_once(call: ToolCall) -> ToolResult:
        account = call.account
        return await run(
            *(idempotency, call, tool, tool.takes),
            lambda transaction, values: effect(transaction, account, values),
            gate=gate,
            prepare=None if prepare is None else lambda values: prepare(account, values),
        )

    return BoundTool(tool, call_once)


async def run(
    idempotency: Idempotency,
    call: ToolCall,
    tool: Tool,
    takes: type[T],
    effect: Callable[[Transaction, T], Awaitable[Struct]],
    *,
    gate: Callable[[Account], None] = lambda _: None,
    prepare: Callable[[T], Awaitable[None]] | None = None,
) -> ToolResult:
    """Runs `effect` once per key. Later calls with the key return the first result.

    `prepare` runs before the transaction, for reads that would delay other writes.
    """
    request = _admitted(call, tool, takes, gate)
    if prepare is not None and not isinstance(request, Refusal):
        await prepare(request)

    async def work(transaction: Transaction) -> Struct:
        # Raised in the transaction, because a refusal is stored under the key too.
        if isinstance(request, Refusal):
            raise request
        return await effect(transaction, request)

    key = _key(call) if KEY in tool.arguments else None
    result = await idempotency.run(
        Write(
            account_id=call.account.account_id,
            effect=work,
            to_reply=_to_reply,
            key=key,
            key_name=KEY,
            fingerprint=b"" if key is None else _fingerprint(call, tool),
            charge=call.charge,
        )
    )
    return _replayed(result) if isinstance(result, Replay) else ToolResult(result)


def _admitted(
    call: ToolCall, tool: Tool, takes: type[T], gate: Callable[[Account], None]
) -> T | Refusal:
    try:
        gate(call.account)
        return reading.read(tool, call, takes)
    except Refusal as refused:
        return refused


def _fingerprint(call: ToolCall, tool: Tool) -> bytes:
    sent = {name: value for name, value in call.sent.items() if name != KEY}
    # The name is included: a key that was used for one tool cannot be used for another.
    return fingerprint("POST", f"tool {tool.name}", _encode(sent))


def _to_reply(result: Struct | Refusal) -> Reply:
    if isinstance(result, Refusal):
        return envelope.refusal(Refusal(result.code, result.sentence), upgrade_url="")
    return Reply(200, [], envelope.success(result))


def _replayed(replay: Replay) -> ToolResult:
    answer: dict[str, Any] = msgspec.json.decode(replay.body)
    if not answer["status"]:
        raise Refusal(Code(answer["code"]), answer["error"])
    return ToolResult(answer["data"])


def _key(call: ToolCall) -> bytes | None:
    key = call.sent.get(KEY)
    if key is None:
        return None
    if not isinstance(key, str):
        raise errors.invalid(KEY, "must be a string")
    return key.encode("utf-8", "replace")
