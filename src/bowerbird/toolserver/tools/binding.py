"""Tools with the functions that run them: arguments are read, writes run once per key."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta, Struct

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.model.accounts import Account
from bowerbird.requests import decoding, filter_values, schemas, sentences
from bowerbird.requests.fields import Gate, gates_for
from bowerbird.requests.filters import readers
from bowerbird.requests.limits import TEXT_MAX
from bowerbird.requests.schemas import Form
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import vocabulary
from bowerbird.toolserver.tools.results import guidance, quoted_text
from bowerbird.toolserver.tools.tool import BoundTool, Json, Tool, ToolCall, ToolResult
from bowerbird.toolserver.tools.vocabulary import published
from bowerbird.wire.idempotency import Replay, Write
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.writes import fingerprint

T = TypeVar("T", bound=Struct)

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")
_FLAGS: Final = {"true": True, "false": False}
_NAME: Final = re.compile(r"\w+")
_LABELS: Final = frozenset({"label", "labels", "label_name", "tag", "from", "into", "new_name"})
# Objects of the user's own, which have no names of labels.
_AS_SENT: Final = frozenset({"metadata", "posts"})
# What to send instead of an unknown field, if the tool has the named one: people send fields of a
# post as filters, and the words of a view as in a search.
_BASE_QUERY: Final = ("base_query", " Use base_query, an object with query in it.")
_INSTEAD: Final = {
    "is_read": ("hide_archived", " Use is:read in query, or is_unread_only."),
    "is_unread": ("hide_archived", " Use is_unread_only, or is:unread in query."),
    "is_archived": ("hide_archived", " Use is:archived in query, or hide_archived."),
    **dict.fromkeys(("query", "q"), _BASE_QUERY),
}
_UNKNOWN: Final = re.compile(
    r"(Unknown field '(.*?)'[^'?]*\.)(?: Did you mean \w+\?)? Allowed fields", re.DOTALL
)


def reads(
    tool: Tool,
    answer: Callable[[Account, Any], Awaitable[Struct]],
    *,
    gate: Callable[[Account], None] = lambda _: None,
    counts: Callable[[Mapping[str, Any]], bool] = lambda _: True,
) -> BoundTool:
    """A tool that reads: `answer` takes the account and the arguments."""

    async def run(call: ToolCall) -> ToolResult:
        gate(call.account)
        return ToolResult(await answer(call.account, read(call, tool.takes)))

    return BoundTool(tool, run, counts)


def read(call: ToolCall, takes: type[T], **gates: Gate) -> T:
    """The arguments of a call. The plan is checked first, by the arguments that were sent.

    `gates` has the plan gates that depend on the value of an argument.
    """
    sent = vocabulary.to_fields(_with_labels(call.sent), takes)
    check_plan(call.account, takes, sent, gates)
    # Of arguments that no tool lists too.
    fields: dict[str, Json] = {
        **schemas.parameters(takes),
        **schemas.inline(takes, Form.ARGUMENTS)["properties"],
    }
    values = {
        name: _normal(value, fields.get(name, {}).get("type"))
        for name, value in sent.items()
        # null means not sent, but an unknown argument is refused whatever its value.
        if value is not None or name not in takes.__struct_encode_fields__
    }
    try:
        _check_filters(values, takes)
        _check_lengths(fields, values)
        return decoding.convert(values, takes)
    except Refusal as refused:
        raise _as_sent(refused, vocabulary.names_sent(call.sent, takes)) from None


def check_plan(
    account: Account, takes: type[Struct], sent: Mapping[str, Any], gates: Mapping[str, Gate]
) -> None:
    fields = vocabulary.to_fields(sent, takes)
    needed = {_published_gate(n): gate for n, gate in gates_for(takes, named(fields)).items()}
    try:
        plans.check_fields(account, {**needed, **gates})
    except Refusal as refused:
        if refused.code is Code.FILTER_NOT_ALLOWED and "filter" in takes.__struct_fields__:
            raise guidance.no_selection(refused) from None
        raise


def _published_gate(name: str) -> str:
    """Also inside an object, and of a field in a query: `author: in q`."""
    return _NAME.sub(lambda found: published(found[0]), name)


def _with_labels(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with the names of labels as they are stored, not as results show them."""
    return {name: _stored(name, value) for name, value in sent.items()}


def _stored(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return quoted_text.read_name(value) if name in _LABELS else value
    if isinstance(value, list):
        return [_stored(name, item) for item in value]
    return _with_labels(value) if isinstance(value, dict) and name not in _AS_SENT else value


def named(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that were sent with a value."""
    return {name: value for name, value in sent.items() if value not in (None, "", [])}


def _normal(value: Any, kind: str | None) -> Any:
    """Models also write 20.0 or "20" for 20, and "true" for true."""
    if kind == "integer":
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and _WHOLE.fullmatch(value):
            return int(value)
    if kind == "boolean" and isinstance(value, str):
        return _FLAGS.get(value.lower(), value)
    return value


def _check_lengths(fields: Mapping[str, Json], values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        most = fields.get(name, {}).get("maxLength", TEXT_MAX)
        if name in fields and isinstance(value, str) and len(value) > most:
            raise errors.invalid(name, f"must have at most {most:,} characters, got {len(value):,}")


def _check_filters(sent: Any, takes: type[Struct], place: str = "") -> None:
    """Refuses filters with an empty text, also in the objects inside the arguments."""
    for number, item in enumerate(sent if isinstance(sent, list) else ()):
        _check_filters(item, takes, f"{place.removesuffix('.')}[{number}].")
    for name, value in sent.items() if isinstance(sent, dict) else ():
        is_filter = filter_values.plain_name(name) in readers(takes)
        if is_filter and isinstance(value, str) and not value.strip():
            raise errors.invalid(place + name, "is empty; leave it out if it should not filter")
        if (inner := vocabulary.struct_of(takes, name)) is not None:
            _check_filters(value, inner, f"{place}{name}.")


def _as_sent(refused: Refusal, names: Mapping[str, str]) -> Refusal:
    """Rewrites a refusal with the names of arguments that the client sent."""
    place, colon, problem = refused.sentence.partition(": ")
    if unknown := _UNKNOWN.fullmatch(place):
        # The names that are allowed follow the colon.
        allowed = [names.get(one, published(one)) for one in problem.rstrip(".").split(", ")]
        near = sentences.meant(unknown[2], allowed)
        other, meant = _INSTEAD.get(unknown[2], ("", ""))
        if other not in allowed:
            meant = f" Did you mean {near}?" if near else ""
        place = f"{unknown[1]}{meant} Allowed fields"
        problem = f"{', '.join(dict.fromkeys(allowed))}."
    else:
        place = _NAME.sub(lambda found: names.get(found[0], published(found[0])), place)
    return Refusal(refused.code, f"{place}{colon}{problem}", advice=refused.advice)


R = TypeVar("R")

KEY: Final = "idempotency_key"
IdempotencyKey = Annotated[
    Annotated[str, Meta(max_length=255)] | None,
    Meta(description="Any text; makes a retry safe."),
]
_encode: Final = msgspec.json.Encoder(order="sorted").encode


def writes(
    services: Services,
    tool: Tool,
    effect: Callable[..., Awaitable[R]],
    *,
    gate: Callable[[Account], None] = lambda _: None,
    given: Callable[[Any], tuple[Any, ...]] = lambda sent: (sent,),
    prepare: Callable[..., Awaitable[object]] | None = None,
    shown: Callable[[R], Struct] | None = None,
    wakes: bool = False,
    counts: Callable[[Mapping[str, Any]], bool] = lambda _: True,
) -> BoundTool:
    """A tool that writes once per key. Later calls with the key return the first result.

    `effect` takes the transaction, the account, what `given` makes of the arguments, and what
    `prepare` returned unless that is None. `prepare` takes the same arguments except the
    transaction and runs before it, for reads that would delay other writes. `shown` makes the
    result of the tool. `wakes`: a worker may have something to do then.
    """

    async def run(call: ToolCall) -> ToolResult:
        account, request = call.account, _admitted(call, tool.takes, gate)
        taken: tuple[object, ...] = ()
        if not isinstance(request, Refusal):
            taken = given(request)
            if prepare is not None and (ready := await prepare(account, *taken)) is not None:
                taken = (*taken, ready)

        async def work(transaction: Transaction) -> Struct:
            # Raised in the transaction, because a refusal is stored under the key too.
            if isinstance(request, Refusal):
                raise request
            result: Any = await effect(transaction, account, *taken)
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
        return read(call, takes)
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
