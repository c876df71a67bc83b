"""REST writes: a request is decoded and checked first, then runs in one transaction.

`save_handler` saves posts and links, for /v1/bookmarks and /ingest/v1/bookmarks.

If-Match and If-Unmodified-Since: a write is refused if somebody changed its resource since. The
ETag of one resource has two halves: the state of the resource alone, which If-Match compares, and
the rest of the answer, such as its encoding. So a write is refused exactly if its own resource is
another one than the client has seen, whatever else has changed in the library. A resource has one
`State`: its GET makes the ETag from it, and `Writes` compares it before a change.
"""

import hashlib
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET, Struct

from bowerbird import errors
from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bulk.requests import shown
from bowerbird.library.imports.saving import PreparedSave, Saved, Saving, summary
from bowerbird.model import instants
from bowerbird.model.accounts import Account
from bowerbird.requests import decoding, filters
from bowerbird.requests.fields import gates_for
from bowerbird.requests.filters import FlagFilters
from bowerbird.requests.saving import SaveRequest
from bowerbird.storage.database import Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.wire import bodies
from bowerbird.wire.idempotency import Idempotency, Replay, Write
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.envelope import BatchMeta
from bowerbird.wire.responses.replies import JSON, PRIVATE, REPLAYED, Reply, State
from bowerbird.wire.routes import Call, Handler

T = TypeVar("T", bound=Struct)
R = TypeVar("R")

Gate = Callable[[Account], None]
"""Refuses an account whose plan does not include an operation."""
Precheck = Callable[[Transaction, Call], Awaitable[None]]
"""Raises the refusals of an operation that come before the mistakes in its body."""
Wait = Callable[[Call, Reply | Replay], Awaitable[Reply | None]]
"""Waits for the job that a write has started; the answer then, if it is another one."""
_ABSENT: Final[tuple[object, ...]] = (None, "", [])
"""Values that mean that a field was not sent."""
_ABSENT_JSON: Final = tuple(map(msgspec.json.encode, _ABSENT))

Current = Callable[[Transaction, Call], Awaitable[State]]
"""Reads the resource that a call changes. No other write changes it until the transaction ends."""


async def _no_check(_: Transaction, __: Call) -> None:
    pass


def _answer(made: object) -> Reply:
    return made if isinstance(made, Reply) else done(made)


class Writes:
    def __init__(self, idempotency: Idempotency, upgrade_url: str) -> None:
        self._idempotency = idempotency
        self._libraries = LibraryStore(idempotency.database)
        self._upgrade_url = upgrade_url

    def handler(
        self,
        change: Callable[..., Awaitable[Any]],
        kind: type[Struct] | None = None,
        gate: Gate = lambda _: None,
        *,
        reply: Callable[[Any], Reply] = _answer,
        precheck: Precheck = _no_check,
        prepare: Callable[..., Awaitable[object]] | None = None,
        wait: Wait | None = None,
        current: Current | None = None,
        after: Callable[[object], None] = lambda _: None,
    ) -> Handler:
        """A handler for a write; `kind` is the type of its body, if any, and `gate` the plan check.

        `change` takes the transaction, the account, the ids in the path, the body, and what
        `prepare` returned unless that is None. `reply` makes the answer of its result; without it,
        the result is the data of the answer, or the whole answer. `prepare` takes the same
        arguments except the transaction and runs before it, for reads that would delay other
        writes; a refusal that it returns is raised in the transaction, where it is stored under
        the key. `after` takes what `prepare` returned, once the write is committed. `precheck`
        runs only if the body is invalid: for a valid one, `change` has the same check. `current`
        reads the resource that the conditions of the request are about.
        """

        async def handle(call: Call) -> Reply:
            request, fingerprint = await _off_loop(
                call, lambda: (_request(call, kind, gate), _fingerprint(call))
            )
            given: tuple[object, ...] = (call.account, *call.path_params.values())
            ready = None
            if not isinstance(request, Refusal):
                given = (*given, *request)
                if prepare is not None and (ready := await prepare(*given)) is not None:
                    given = (*given, ready)

            async def run(transaction: Transaction) -> Reply:
                if isinstance(request, Refusal):
                    if request.code is Code.INVALID_REQUEST:
                        await precheck(transaction, call)
                    raise request
                await self._check(transaction, call, current)
                if isinstance(ready, Refusal):
                    raise ready
                return reply(await change(transaction, *given))

            answer = await self.once(
                *(call.account.account_id, run),
                key=call.idempotency_key,
                fingerprint=fingerprint,
                charge=call.charge,
                wait=None if wait is None else partial(wait, call),
            )
            after(ready)
            return answer

        return handle

    async def _check(self, transaction: Transaction, call: Call, current: Current | None) -> None:
        if current is not None and is_conditional(call):
            await self._libraries.lock(transaction, call.account.account_id)
            check(call, await current(transaction, call))

    async def once(
        self, account_id: int, effect: Callable[[Transaction], Awaitable[Reply]], **how: Any
    ) -> Reply:
        """The answer to a write, or the stored one of its first request; `how` as in `Write`."""
        write: Write[Reply] = Write(account_id, effect, self._to_reply, **how)
        result = await self._idempotency.run(write)
        if isinstance(result, Replay):
            return Reply(result.status, [JSON, *PRIVATE, *result.headers, REPLAYED], result.body)
        return result

    def _to_reply(self, result: Reply | Refusal) -> Reply:
        if isinstance(result, Refusal):
            return envelope.refusal(result, self._upgrade_url)
        if result.stored is not None:
            return msgspec.structs.replace(result, body=result.stored)
        return result


def current_of(
    find: Callable[..., Awaitable[R]],
    state: Callable[[R], State],
    gate: Gate = lambda _: None,
) -> Current:
    """What the conditions of a write are about: `find` takes the account, ids and transaction."""

    async def current(transaction: Transaction, call: Call) -> State:
        gate(call.account)
        return state(await find(call.account, *call.path_params.values(), transaction))

    return current


def _request(call: Call, kind: type[Struct] | None, gate: Gate) -> tuple[Struct, ...] | Refusal:
    """The body of a write that takes one, or why it is refused."""
    if kind is None:
        return ()
    request = admitted(call.account, call.body, kind, gate)
    return request if isinstance(request, Refusal) else (request,)


async def what_was_prepared(*given: object) -> object:
    """The change of a write that only answers with what `prepare` returned."""
    return given[-1]


async def result_of(reading: Awaitable[R]) -> R | Refusal:
    """For `prepare`: a refusal is raised in the transaction then."""
    try:
        return await reading
    except Refusal as refused:
        return refused


def admitted(account: Account, body: bytes, kind: type[T], gate: Gate) -> T | Refusal:
    """The request in a body, or why it is refused: by the plan first, then by its shape."""
    try:
        gate(account)
        return _decoded(account, body, kind)
    except Refusal as refused:
        return refused


def _decoded(account: Account, body: bytes, kind: type[T]) -> T:
    try:
        request = decoding.decode(body, kind)
    except Refusal:
        # The plan is checked first, so an invalid body is read again for its fields.
        plans.check_fields(account, gates_for(kind, sent_fields(body)))
        raise
    if isinstance(request, FlagFilters):
        plans.check_fields(account, gates_for(kind, filters.sent(request)))
    else:
        plans.check_fields(account, gates_for(kind, _set_fields(request)))
    return request


def _set_fields(request: Struct) -> list[str]:
    """The fields of a request that have a value, by their names on the wire."""
    named = zip(request.__struct_fields__, request.__struct_encode_fields__, strict=True)
    return [wire_name for name, wire_name in named if getattr(request, name) not in _ABSENT]


def sent_fields(body: bytes) -> list[str]:
    """The fields that a body has with a value, valid or not."""
    fields = decoding.raw_fields(body) or {}
    return [name for name, value in fields.items() if bytes(value) not in _ABSENT_JSON]


def done(data: object, meta: object = None, status: int = 200) -> Reply:
    """The answer to a write."""
    return Reply(status, [JSON, *PRIVATE], envelope.success(data, meta))


def created(data: object, path: str) -> Reply:
    """The answer to a write that has created what is at `path`."""
    return done(data, status=201).with_headers((b"location", path.encode()))


def done_with(item: bytes, meta: Struct | None = None) -> Reply:
    """The answer to a write whose result is already JSON."""
    return Reply(200, [JSON, *PRIVATE], envelope.success_of_one(item, meta))


def fingerprint(method: str, path: str, body: bytes) -> bytes:
    """Equal for equivalent requests: JSON is compared by value, not by its whitespace."""
    try:
        meaning = msgspec.json.encode(decoding.as_json(body), order="sorted")
    except Refusal:
        meaning = body
    return hashlib.blake2b(
        b"\n".join((method.encode(), path.encode(), meaning)), digest_size=16
    ).digest()


def _fingerprint(call: Call) -> bytes:
    if call.idempotency_key is None:
        return b""
    return fingerprint(call.method, call.target.path, call.body)


async def _off_loop(call: Call, work: Callable[[], R]) -> R:
    account_id = call.account.account_id
    return await bodies.off_loop(len(call.body), account_id, work, is_continuing=True)


def save_handler(saving: Saving, writes: Writes) -> Handler:
    def prepare(account: Account, request: SaveRequest) -> Awaitable[PreparedSave]:
        return saving.prepare(account, request.items, request.labels or ())

    def save(
        transaction: Transaction, account: Account, _: SaveRequest, prepared: PreparedSave
    ) -> Awaitable[Saved]:
        return saving.save(transaction, account, prepared)

    return writes.handler(save, SaveRequest, reply=_reply, prepare=prepare)


def _reply(saved: Saved) -> Reply:
    result, row = saved
    meta = BatchMeta(summary(result.results), UNSET if row is None else shown(row))
    return done(result, meta, 207 if result.failed else 200)


_HALVES: Final = b"."


def is_conditional(call: Call) -> bool:
    return call.if_match is not None or call.if_unmodified_since is not None


def check(call: Call, state: State) -> None:
    """Refuses a write whose condition is not met."""
    if call.if_match is not None:
        if not _is_among(state.tag, call.if_match):
            raise _failed("If-Match", "has another ETag now")
    elif call.if_unmodified_since is not None:
        text = call.if_unmodified_since.decode("latin-1").strip()
        if not _is_unmodified(text, state.changed_at):
            changed = instants.with_offset(state.changed_at)
            raise _failed("If-Unmodified-Since", f"was changed at {changed}")


def _is_among(state: bytes, if_match: bytes) -> bool:
    # A weak tag never matches: two answers with it may differ.
    tags = [part.strip() for part in if_match.split(b",")]
    return b"*" in tags or any(
        tag.startswith(b'"') and tag.strip(b'"').partition(_HALVES)[0] == state for tag in tags
    )


def _is_unmodified(text: str, changed_at: int) -> bool:
    moment = instants.parse(text)
    if moment is not None:
        return changed_at <= moment
    try:
        seconds = int(parsedate_to_datetime(text).timestamp())
    except (ValueError, OverflowError):
        raise errors.invalid(
            "If-Unmodified-Since",
            "must be a date of HTTP, or a time such as updated_at, got " + errors.shown(text),
        ) from None
    # A date of HTTP has no fractions of a second.
    return changed_at // MICROSECONDS <= seconds


def _failed(header: str, why: str) -> Refusal:
    return Refusal(
        Code.PRECONDITION_FAILED,
        f"{header}: the resource {why}. Nothing was changed. Get it again, then decide whether to "
        "repeat the change.",
    )
