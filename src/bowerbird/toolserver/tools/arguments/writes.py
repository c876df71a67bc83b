"""Writes of tools. They run in transactions and store their results like REST writes."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta, Struct

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.model.accounts import Account
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools.arguments import reading
from bowerbird.toolserver.tools.tool import BoundTool, Tool, ToolCall, ToolResult
from bowerbird.wire.idempotency import Replay, Write
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.writes import fingerprint

R = TypeVar("R")

KEY: Final = "idempotency_key"
IdempotencyKey = Annotated[
    Annotated[str, Meta(max_length=255)] | None,
    Meta(description="Any text; makes a retry safe."),
]
_encode: Final = msgspec.json.Encoder(order="sorted").encode


def bound(
    services: Services,
    tool: Tool,
    effect: Callable[..., Awaitable[R]],
    *,
    gate: Callable[[Account], None] = lambda _: None,
    prepare: Callable[[Account, Any], Awaitable[object]] | None = None,
    shown: Callable[[R], Struct] | None = None,
    wakes: bool = False,
    counts: Callable[[Mapping[str, Any]], bool] = lambda _: True,
) -> BoundTool:
    """A tool that writes once per key. Later calls with the key return the first result.

    `effect` takes the transaction, the account and the arguments. `prepare` runs before the
    transaction, for reads that would delay other writes, and `effect` takes its result too.
    `shown` makes the result of the tool. `wakes`: a worker may have something to do then.
    """

    async def run(call: ToolCall) -> ToolResult:
        account, request = call.account, _admitted(call, tool.takes, gate)
        prepared: tuple[object, ...] = ()
        if prepare is not None and not isinstance(request, Refusal):
            prepared = (await prepare(account, request),)

        async def work(transaction: Transaction) -> Struct:
            # Raised in the transaction, because a refusal is stored under the key too.
            if isinstance(request, Refusal):
                raise request
            result: Any = await effect(transaction, account, request, *prepared)
            return result if shown is None else shown(result)

        key = _key(call) if KEY in tool.arguments else None
        result = await services.idempotency.run(
            Write(
                account_id=account.account_id,
                effect=work,
                to_reply=_to_reply,
                key=key,
                key_name=KEY,
                fingerprint=b"" if key is None else _fingerprint(call, tool),
                charge=call.charge,
            )
        )
        if wakes:
            services.wake_worker()
        return _replayed(result) if isinstance(result, Replay) else ToolResult(result)

    return BoundTool(tool, run, counts)


def _admitted(
    call: ToolCall, takes: type[Struct], gate: Callable[[Account], None]
) -> Struct | Refusal:
    try:
        gate(call.account)
        return reading.read(call, takes)
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
