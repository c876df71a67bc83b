"""Writes exactly once: what a keyed request does and the answer it got commit together.

A crash at any instant leaves both or neither, so a retry either replays the answer or does the
work for the first time.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.idempotency import KEPT_HOURS, IdempotencyStore, Kept
from bowerbird.wire import bodies, envelope
from bowerbird.wire.replies import JSON, PRIVATE, REPLAYED, Reply
from bowerbird.wire.routes import Call, Handler

Effect = Callable[[Transaction], Awaitable[Reply]]
CallEffect = Callable[[Transaction, Call], Awaitable[Reply]]

_KEY: Final = re.compile(rb"[\x21-\x7e]{1,255}")
_KEPT_HEADERS: Final = frozenset({b"location", b"retry-after"})
# An upgrade or a better moment must be able to succeed with the same key.
_NOT_KEPT: Final = frozenset({401, 402, 409, 413, 429})
_FAULT: Final = 500
_headers: Final = msgspec.json.Decoder(list[tuple[str, str]]).decode


class IdempotentWrites:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        upgrade_url: str,
    ) -> None:
        self._database = database
        self._store = IdempotencyStore(database)
        self._clock = clock
        self._upgrade_url = upgrade_url

    def handler(self, effect: CallEffect) -> Handler:
        """A handler that does nothing but write."""

        async def handle(call: Call) -> Reply:
            return await self.run(call, lambda transaction: effect(transaction, call))

        return handle

    async def run(self, call: Call, effect: Effect) -> Reply:
        """Runs `effect` in one transaction, or replays what it answered to the same key."""
        if call.idempotency_key is None:
            call.require_calls_left()
            return await self._database.write(effect)
        key = _checked(call.idempotency_key)
        fingerprint = _fingerprint(call)

        async def work(transaction: Transaction) -> Reply:
            kept = await self._claim(transaction, call, key, fingerprint)
            if kept is not None:
                return _replay(kept, fingerprint)
            call.require_calls_left()
            reply = await self._answer(transaction, effect)
            await self._keep(transaction, call.account.account_id, key, reply)
            return reply

        return await self._database.write(work)

    async def _claim(
        self, transaction: Transaction, call: Call, key: str, fingerprint: bytes
    ) -> Kept | None:
        now = self._clock()
        return await self._store.claim(
            transaction,
            call.account.account_id,
            key,
            fingerprint=fingerprint,
            now=now,
            oldest=now - KEPT_HOURS * 3_600 * MICROSECONDS,
        )

    async def _answer(self, transaction: Transaction, effect: Effect) -> Reply:
        """A refusal undoes the effect and is an answer like any other, if it is one to keep."""
        try:
            async with transaction.savepoint():
                return await effect(transaction)
        except Refusal as refused:
            if refused.status in _NOT_KEPT or refused.status >= _FAULT:
                raise
            return envelope.refusal(refused, self._upgrade_url)

    async def _keep(
        self, transaction: Transaction, account_id: int, key: str, reply: Reply
    ) -> None:
        headers = [
            (name.decode(), value.decode())
            for name, value in reply.headers
            if name in _KEPT_HEADERS
        ]
        await self._store.keep(
            transaction,
            account_id,
            key,
            status=reply.status,
            headers=msgspec.json.encode(headers).decode(),
            body=reply.body,
        )


def done(data: object, meta: object = None, status: int = 200) -> Reply:
    """The answer of a write."""
    return Reply(status, [JSON, *PRIVATE], envelope.success(data, meta))


def done_with(item: bytes) -> Reply:
    """The answer of a write that ends in an object which is JSON already."""
    return Reply(200, [JSON, *PRIVATE], envelope.success_of_one(item))


def _replay(kept: Kept, fingerprint: bytes) -> Reply:
    if kept.fingerprint != fingerprint:
        raise Refusal(
            Code.IDEMPOTENCY_KEY_REUSED,
            "Idempotency-Key: this key was used for another request; use a new one.",
        )
    headers = [(name.encode(), value.encode()) for name, value in _headers(kept.headers)]
    return Reply(kept.status, [JSON, *PRIVATE, *headers, REPLAYED], kept.body)


def _checked(key: bytes) -> str:
    if not _KEY.fullmatch(key):
        raise errors.invalid(
            "Idempotency-Key", "must be 1 to 255 visible ASCII characters without spaces"
        )
    return key.decode()


def _fingerprint(call: Call) -> bytes:
    """Equal for requests that mean the same: JSON is compared by value, not by its spaces."""
    try:
        body = msgspec.json.encode(bodies.as_json(call.body), order="sorted")
    except Refusal:
        body = call.body
    return hashlib.blake2b(
        b"\n".join((call.method.encode(), call.asked.path.encode(), body)), digest_size=16
    ).digest()
