"""Writes that run exactly once: the effect of a keyed request commits together with its answer.

After a crash either both are stored or neither is. So a retry either replays the answer or runs the
write for the first time.

The effect may be the start of a job. The stored answer says so, until the request has waited for
the job and stores the answer that it gives. A retry waits in the same way.
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
from bowerbird.requests import limits
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.libraries import DayUse
from bowerbird.storage.upkeep.idempotency import (
    RETENTION_HOURS,
    IdempotencyStore,
    InProgressError,
    StoredAnswer,
)
from bowerbird.wire.responses.replies import Header, Reply

T = TypeVar("T")

_KEY: Final = re.compile(rb"[\x21-\x7e]{1,255}")
_STORED_HEADERS: Final = frozenset({b"location", b"retry-after"})
# A retry with the same key must be able to succeed after an upgrade or a pause.
_NOT_STORED: Final = frozenset({401, 402, 409, 412, 413, 429})
_SERVER_ERROR: Final = 500
_headers: Final = msgspec.json.Decoder(list[tuple[str, str]]).decode


class Write(NamedTuple, Generic[T]):
    """One write: the account, its key, and its effect."""

    account_id: int
    effect: Callable[[Transaction], Awaitable[T]]
    # How the answer is stored under the key. A refusal is stored, then raised.
    to_reply: Callable[[T | Refusal], Reply]
    key: bytes | None = None
    # The caller's name for the key: a header or an argument.
    key_name: str = "Idempotency-Key"
    # Equal for requests that mean the same.
    fingerprint: bytes = b""
    # The call that a free account pays for, unless the request is a replay.
    charge: CallCharge | None = None
    # Waits for the job that the effect has started; the answer then, if it is another one.
    wait: "Callable[[T | Replay], Awaitable[T | None]] | None" = None


class Replay(NamedTuple):
    """The stored answer of the first request with a key."""

    status: int
    headers: list[Header]
    body: bytes


_Other = Refusal | Replay


class Idempotency:
    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self._store = IdempotencyStore(database)
        self._clock = clock

    async def run(self, write: Write[T]) -> T | Replay:
        """The result of the effect, or the stored answer of the first request with this key."""
        if write.key is None:
            _require_calls_left(write)
        key = None if write.key is None else _checked(write.key, write.key_name)
        # Not a function with annotations: those of an inner function are computed in each call.
        result: T | _Other = await turns.run(
            self.database,
            lambda transaction: self._once(transaction, write, key),
            write.account_id,
        )
        if isinstance(result, Refusal):
            raise result
        later = None if write.wait is None else await write.wait(result)
        if later is None:
            return result
        if key is not None:
            await self._replace(write, key, write.to_reply(later))
        return later

    async def _once(self, transaction: Transaction, write: Write[T], key: str | None) -> T | _Other:
        if key is None:
            return await _paid(transaction, write)
        found = await self._claim(transaction, write, key)
        if isinstance(found, StoredAnswer):
            _require_same_request(found, write)
            # An earlier version stored keys without an answer, and was killed before it had one.
            if found.status:
                return _replay(found)
        else:
            self._require_room(write, found)
        _require_calls_left(write)
        result = await _result(transaction, write)
        await self._keep(transaction, write, key, write.to_reply(result))
        return result

    async def _claim(
        self, transaction: Transaction, write: Write[T], key: str
    ) -> StoredAnswer | DayUse:
        """The stored answer; or what the account has stored today, if the key is new."""
        now = self._clock()
        try:
            return await self._store.claim(
                Writable(transaction, write.account_id),
                key,
                fingerprint=write.fingerprint,
                now=now,
                oldest=now - RETENTION_HOURS * 3_600 * MICROSECONDS,
            )
        except InProgressError as error:
            raise _in_progress(write) from error

    async def _replace(self, write: Write[T], key: str, reply: Reply) -> None:
        """Stores the answer of a job that has ended, instead of that of its start."""
        headers = _stored_headers(reply)

        async def work(transaction: Transaction) -> None:
            await self._store.replace(
                Writable(transaction, write.account_id),
                key,
                status=reply.status,
                headers=headers,
                body=reply.body,
            )

        await self.database.write(work, write.account_id, is_continuing=True)

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
        await self._store.keep(
            Writable(transaction, write.account_id),
            key,
            status=reply.status,
            headers=_stored_headers(reply),
            body=reply.body,
            now=self._clock(),
        )


def _require_calls_left(write: Write[T]) -> None:
    if write.charge is not None:
        write.charge.require_left()


async def _paid(transaction: Transaction, write: Write[T]) -> T:
    """The effect, paid in its transaction: a refused one costs nothing."""
    result = await write.effect(transaction)
    if write.charge is not None:
        await write.charge.pay(transaction)
    return result


async def _result(transaction: Transaction, write: Write[T]) -> T | Refusal:
    """A refusal undoes the effect. Most refusals are stored and replayed like any answer."""
    try:
        async with transaction.savepoint():
            return await _paid(transaction, write)
    except Refusal as refused:
        if refused.status in _NOT_STORED or refused.status >= _SERVER_ERROR:
            raise
        return refused


def _stored_headers(reply: Reply) -> str:
    kept = [
        (name.decode(), value.decode()) for name, value in reply.headers if name in _STORED_HEADERS
    ]
    return msgspec.json.encode(kept).decode()


def _in_progress(write: Write[T]) -> Refusal:
    return Refusal(
        Code.IDEMPOTENCY_IN_PROGRESS,
        f"{write.key_name}: the first request with this key is still running.",
        {"Retry-After": "1"},
    )


def _require_same_request(stored: StoredAnswer, write: Write[T]) -> None:
    if stored.fingerprint != write.fingerprint:
        raise Refusal(
            Code.IDEMPOTENCY_KEY_REUSED,
            f"{write.key_name}: this key was used for another request; use a new one.",
        )


def _replay(stored: StoredAnswer) -> Replay:
    headers = [(name.encode(), value.encode()) for name, value in _headers(stored.headers)]
    return Replay(stored.status, headers, stored.body)


def _checked(key: bytes, name: str) -> str:
    if not _KEY.fullmatch(key):
        raise errors.invalid(name, "must be 1 to 255 visible ASCII characters without spaces")
    return key.decode()
