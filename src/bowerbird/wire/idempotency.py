"""Writes that run exactly once: the effect of a keyed request commits together with its answer.

After a crash either both are stored or neither is. So a retry either replays the answer or runs the
write for the first time.

A large edit needs several transactions. Its answer commits with the last one. Until then the key is
claimed: the same request gets 409, another request 422. After a crash the claim stays, and a retry
takes it over when its lease has ended, or at once in the process of the first request. It does the
rest of the edit.
"""

import re
import secrets
from collections.abc import Awaitable, Callable
from itertools import count
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
from bowerbird.storage.idempotency import (
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


class _Claim(NamedTuple, Generic[T]):
    """A running request with a key."""

    write: Write[T]
    key: str
    holder: str


class Idempotency:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = IdempotencyStore(database)
        self._clock = clock
        # Names this process in the claims of its requests, and the requests that it runs.
        self._process = secrets.token_hex(8)
        self._requests = count(1)
        self._running: set[str] = set()

    async def run(self, write: Write[T]) -> T | Replay:
        """The result of the effect, or the stored answer of the first request with this key."""
        if write.key is None:
            _require_calls_left(write)
            return await turns.run(
                self._database,
                lambda transaction: _paid(transaction, write),
                write.account_id,
            )
        holder = f"{self._process} {next(self._requests)}"
        claim = _Claim(write, _checked(write.key, write.key_name), holder)

        self._running.add(holder)
        try:
            # Not a function with annotations: those of an inner function are computed in each call.
            result: T | _Other = await turns.run(
                self._database,
                lambda transaction: self._turn(transaction, claim),
                write.account_id,
            )
        finally:
            self._running.discard(holder)
        if isinstance(result, Refusal):
            raise result
        return result

    async def _turn(
        self, transaction: Transaction, claim: _Claim[T], rest: Effect[T] | None = None
    ) -> T | _Other | Unfinished[T | _Other]:
        """The first turn of a write, or one that does the rest of it."""
        write, key = claim.write, claim.key
        claimed = await self._claim(transaction, claim)
        if isinstance(claimed, StoredAnswer):
            return _replay(claimed)
        if rest is None:
            if claimed is not None:
                self._require_room(write, claimed)
            _require_calls_left(write)
        # The rest pays by itself in its last turn.
        result = await _result(transaction, rest or (lambda first: _paid(first, write)))
        if isinstance(result, Unfinished):
            await self._store.renew(
                transaction, write.account_id, key, holder=claim.holder, now=self._clock()
            )
            return Unfinished(lambda later: self._turn(later, claim, result.rest), result.before)
        await self._keep(transaction, write, key, write.to_reply(result))
        return result

    async def _claim(
        self, transaction: Transaction, claim: _Claim[T]
    ) -> StoredAnswer | DayUse | None:
        """The stored answer; or what the account has stored today, if the key is new.

        None if the key is claimed already, by this request or by one that has ended.
        """
        now = self._clock()
        write = claim.write
        try:
            found = await self._store.claim(
                transaction,
                write.account_id,
                claim.key,
                fingerprint=write.fingerprint,
                now=now,
                oldest=now - RETENTION_HOURS * 3_600 * MICROSECONDS,
            )
        except InProgressError as error:
            raise _in_progress(write) from error
        if isinstance(found, DayUse):
            return found
        _require_same_request(found, write)
        if found.holder is None:
            return found
        if found.holder != claim.holder and not self._has_ended(found, now):
            raise _in_progress(write)
        return None

    def _has_ended(self, claimed: StoredAnswer, now: int) -> bool:
        """Whether the request that claimed a key has ended without an answer.

        What runs in another process is unknown, so its claim counts until it expires.
        """
        holder = claimed.holder or ""
        if holder.startswith(self._process):
            return holder not in self._running
        return claimed.is_expired(now)

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


async def _paid(
    transaction: Transaction, write: Write[T], rest: Effect[T] | None = None
) -> T | Unfinished[T]:
    """The effect or the rest of it, paid in its last transaction: a refused one costs nothing."""
    result = await (rest or write.effect)(transaction)
    if isinstance(result, Unfinished):
        return Unfinished(lambda later: _paid(later, write, result.rest), result.before)
    if write.charge is not None:
        await write.charge.pay(transaction)
    return result


async def _result(transaction: Transaction, effect: Effect[T]) -> T | Refusal | Unfinished[T]:
    """A refusal undoes the effect. Most refusals are stored and replayed like any answer."""
    try:
        async with transaction.savepoint():
            return await effect(transaction)
    except Refusal as refused:
        if refused.status in _NOT_STORED or refused.status >= _SERVER_ERROR:
            raise
        return refused


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
