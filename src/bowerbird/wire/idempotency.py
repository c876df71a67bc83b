"""Writes that run exactly once: the effect of a keyed request commits together with its answer.

After a crash either both are stored or neither is. So a retry either replays the answer or runs the
write for the first time.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock, seconds_left_of_day
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.access.call_allowance import CallCharge
from bowerbird.library.access.turns import Unfinished
from bowerbird.requests import limits
from bowerbird.storage.daily_use import DayUse
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.idempotency import RETENTION_HOURS, IdempotencyStore, StoredAnswer
from bowerbird.wire.responses.replies import Header, Reply

T = TypeVar("T")

_KEY: Final = re.compile(rb"[\x21-\x7e]{1,255}")
_STORED_HEADERS: Final = frozenset({b"location", b"retry-after"})
# A retry with the same key must be able to succeed after an upgrade or a pause.
_NOT_STORED: Final = frozenset({401, 402, 409, 413, 429})
_SERVER_ERROR: Final = 500
_headers: Final = msgspec.json.Decoder(list[tuple[str, str]]).decode


Effect = Callable[[Transaction], Awaitable[T | Unfinished[T]]]


class Write(NamedTuple, Generic[T]):
    """One write: the account, its key, and its effect."""

    account_id: int
    # A large edit needs several transactions: each but the last returns the rest of the work.
    effect: Effect[T]
    # How the answer is stored under the key. A refusal is stored, then raised.
    to_reply: Callable[[T | Refusal], Reply]
    key: bytes | None = None
    # The caller's name for the key: a header or an argument.
    key_name: str = "Idempotency-Key"
    # Equal for requests that mean the same.
    fingerprint: bytes = b""
    # The call that a free account pays for, unless the request is a replay.
    charge: CallCharge | None = None


class Replay(NamedTuple):
    """The stored answer of the first request with a key."""

    status: int
    headers: list[Header]
    body: bytes


_Other = Refusal | Replay


class Idempotency:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = IdempotencyStore(database)
        self._clock = clock

    async def run(self, write: Write[T]) -> T | Replay:
        """The result of the effect, or the stored answer of the first request with this key."""
        if write.key is None:
            _require_calls_left(write)
            return await turns.run(
                self._database,
                lambda transaction: _paid(transaction, write, write.effect),
                write.account_id,
            )
        key = _checked(write.key, write.key_name)

        async def first(transaction: Transaction) -> T | _Other | Unfinished[T | _Other]:
            return await self._turn(transaction, write, key)

        result: T | _Other = await turns.run(self._database, first, write.account_id)
        if isinstance(result, Refusal):
            raise result
        return result

    async def _turn(
        self, transaction: Transaction, write: Write[T], key: str, rest: Effect[T] | None = None
    ) -> T | _Other | Unfinished[T | _Other]:
        """The first turn of a write, or one that does the rest of it."""
        claimed = await self._claim(transaction, write, key)
        if isinstance(claimed, StoredAnswer):
            return _replay(claimed, write)
        if rest is None:
            self._require_room(write, claimed)
            _require_calls_left(write)
        result = await _result(transaction, write, rest or write.effect)
        if isinstance(result, Unfinished):
            # There is no answer to store yet. After a crash, a retry does the rest of the work.
            await self._store.release(transaction, write.account_id, key)
            return Unfinished(lambda later: self._turn(later, write, key, result.rest))
        await self._keep(transaction, write, key, write.to_reply(result))
        return result

    async def _claim(
        self, transaction: Transaction, write: Write[T], key: str
    ) -> StoredAnswer | DayUse:
        now = self._clock()
        try:
            return await self._store.claim(
                transaction,
                write.account_id,
                key,
                fingerprint=write.fingerprint,
                now=now,
                oldest=now - RETENTION_HOURS * 3_600 * MICROSECONDS,
            )
        except Refusal as refused:
            if refused.code is not Code.IDEMPOTENCY_IN_PROGRESS:
                raise
            sentence = f"{write.key_name}: {refused.sentence}"
            raise Refusal(refused.code, sentence, refused.headers) from refused

    def _require_room(self, write: Write[T], used: DayUse) -> None:
        """Refuses before anything is written: a key that cannot be stored cannot be honoured."""
        if used.uses >= limits.KEYED_ANSWERS_PER_DAY:
            stored = f"{limits.KEYED_ANSWERS_PER_DAY:,} responses"
        elif used.bytes >= limits.KEYED_BYTES_PER_DAY:
            stored = f"{limits.KEYED_BYTES_PER_DAY // 1_000_000:,} MB of responses"
        else:
            return
        raise Refusal(
            Code.IDEMPOTENCY_LIMIT,
            f"{write.key_name}: this account has stored {stored} today (UTC), the maximum. Nothing "
            "was changed. Retry tomorrow, or without a key.",
            {"Retry-After": str(seconds_left_of_day(self._clock()))},
        )

    async def _keep(
        self, transaction: Transaction, write: Write[T], key: str, reply: Reply
    ) -> None:
        headers = [
            (name.decode(), value.decode())
            for name, value in reply.headers
            if name in _STORED_HEADERS
        ]
        await self._store.keep(
            transaction,
            write.account_id,
            key,
            status=reply.status,
            headers=msgspec.json.encode(headers).decode(),
            body=reply.body,
            now=self._clock(),
        )


def _require_calls_left(write: Write[T]) -> None:
    if write.charge is not None:
        write.charge.require_left()


async def _paid(transaction: Transaction, write: Write[T], effect: Effect[T]) -> T | Unfinished[T]:
    """The effect, paid in its own last transaction: a refused one costs nothing."""
    result = await effect(transaction)
    if isinstance(result, Unfinished):
        return Unfinished(lambda later: _paid(later, write, result.rest))
    if write.charge is not None:
        await write.charge.pay(transaction)
    return result


async def _result(
    transaction: Transaction, write: Write[T], effect: Effect[T]
) -> T | Refusal | Unfinished[T]:
    """A refusal undoes the effect. Most refusals are stored and replayed like any answer."""
    try:
        async with transaction.savepoint():
            return await _paid(transaction, write, effect)
    except Refusal as refused:
        if refused.status in _NOT_STORED or refused.status >= _SERVER_ERROR:
            raise
        return refused


def _replay(stored: StoredAnswer, write: Write[T]) -> Replay:
    if stored.fingerprint != write.fingerprint:
        raise Refusal(
            Code.IDEMPOTENCY_KEY_REUSED,
            f"{write.key_name}: this key was used for another request; use a new one.",
        )
    headers = [(name.encode(), value.encode()) for name, value in _headers(stored.headers)]
    return Replay(stored.status, headers, stored.body)


def _checked(key: bytes, name: str) -> str:
    if not _KEY.fullmatch(key):
        raise errors.invalid(name, "must be 1 to 255 visible ASCII characters without spaces")
    return key.decode()
