"""Attempts to sign in, and the sessions of browsers that they start.

The browser keeps an attempt in a cookie that the service has signed, so a stranger who starts
attempts stores nothing here, and every node can finish what another has started. An attempt is
valid for ten minutes and succeeds at most once. Sessions end one by one or all at once.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity
from bowerbird.library.accounts.tokens import Uses
from bowerbird.model import accounts
from bowerbird.model.accounts import ActivityKind, Session, SignedIn, Where
from bowerbird.model.keys import new_session_token, parse_session_token, token_hash
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.sign_in import Alive
from bowerbird.storage.stores import TimedService

MINUTES: Final = 10
_SECRET: Final = "sign-in attempts"  # noqa: S105 - the name of a secret
_LIFETIME: Final = MINUTES * 60 * MICROSECONDS
# The clock of the node that started an attempt or noted a proof may be ahead.
_SKEW: Final = 60 * MICROSECONDS
_MAX_LENGTH: Final = 3_800


class AttemptKind(StrEnum):
    PASSKEY_SIGN_IN = "passkey sign-in"
    PASSKEY_PROOF = "passkey proof"
    PASSKEY_REGISTRATION = "passkey registration"
    PASSKEY_SIGN_UP = "passkey sign-up"
    PROVIDER = "provider"
    # The person has signed in at a provider, and is asked whether to create an account.
    PROVIDER_SIGN_UP = "provider sign-up"
    # The person connects an account at X, whose saved posts the service reads.
    SOURCE = "source"


class ProvedIdentity(Struct, frozen=True, omit_defaults=True):
    """An account at a provider, whose holder has just signed in there."""

    issuer: str
    subject: str
    shown: str
    # Empty unless the provider has verified it.
    email: str = ""


class Attempt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    kind: AttemptKind
    started_at: int = 0
    # Makes every attempt different.
    number: str = ""
    # The signed-in account, or the one that a sign-up will create; 0 for a sign-in.
    account_id: int = 0
    # The challenge of a passkey, in base64url.
    challenge: str = ""
    provider: str = ""
    # sign-in, proof or connection
    purpose: str = ""
    state: str = ""
    nonce: str = ""
    verifier: str = ""
    # The token of an invitation.
    invitation: str = ""
    # The path to go to afterwards.
    next: str = ""
    # For SOURCE.
    connection_id: str = ""
    # For PROVIDER_SIGN_UP.
    identity: ProvedIdentity | None = None


class AttemptRefused(Refusal):
    """The attempt has expired, has succeeded before, or was started by another browser."""


class Attempts(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._keys: list[bytes] = []

    async def start(self, attempt: Attempt) -> str:
        """Returns the text for the cookie."""
        started = msgspec.structs.replace(
            attempt, started_at=self._clock(), number=secrets.token_urlsafe(9)
        )
        body = _encoded(msgspec.json.encode(started))
        keys = await self._signing_keys()
        return f"{body}.{_signature(keys[0], body)}"

    async def resume(self, cookie: str, kind: AttemptKind) -> Attempt:
        """The attempt in a cookie. Raises a refusal unless it is ours, of the kind, and recent."""
        body, _, signature = cookie.partition(".")
        if len(cookie) > _MAX_LENGTH or not cookie.isascii():
            raise _refused()
        keys = await self._signing_keys()
        if not any(hmac.compare_digest(_signature(key, body), signature) for key in keys):
            raise _refused()
        attempt = msgspec.json.decode(_decoded(body), type=Attempt)
        is_recent = -_SKEW <= self._clock() - attempt.started_at < _LIFETIME
        if attempt.kind is not kind or not is_recent:
            raise _refused()
        return attempt

    async def spend(self, transaction: Transaction, attempt: Attempt) -> None:
        """Marks an attempt as successful, in the transaction of its effect."""
        digest = hashlib.sha256(msgspec.json.encode(attempt)).digest()
        expires_at = attempt.started_at + _LIFETIME
        if not await self._stores.spent_attempts.spend(transaction, digest, expires_at):
            raise _refused()

    async def _signing_keys(self) -> list[bytes]:
        if not self._keys:
            self._keys = await self._stores.secrets.keys(_SECRET, self._clock())
        return self._keys


def _signature(key: bytes, body: str) -> str:
    return _encoded(hmac.new(key, body.encode(), hashlib.sha256).digest())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        raise _refused() from None


def _refused() -> AttemptRefused:
    return AttemptRefused(
        Code.INVALID_REQUEST, "This attempt has expired or was used already. Start again."
    )


IDLE_DAYS: Final = accounts.IDLE_DAYS
ABSOLUTE_DAYS: Final = accounts.ABSOLUTE_DAYS
# For this long after a proof the person need not prove again who they are.
PROOF_MINUTES: Final = 10
# The time of the last use is exact to this.
_USE_STEP: Final = 10 * 60 * MICROSECONDS
SESSIONS_MAX: Final = 50

SessionUses = Uses[tuple[int, str]]


class Sessions(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self.uses: SessionUses = Uses("session uses", self._stores.sessions.put_uses)

    async def start(self, library: Writable, method: str, where: Where) -> str:
        """Returns the token for the cookie. It cannot be read again: only its hash is stored."""
        now, token = self._clock(), new_session_token(library.account_id)
        session = Session(secrets.token_hex(8), method, where.device, where.address, now, now, now)
        await self._stores.sessions.make_room(library, self._alive(), SESSIONS_MAX - 1)
        if not await self._stores.sessions.insert(library, token_hash(token), session):
            raise Refusal(Code.NOT_FOUND, "The account no longer exists.")
        return token

    async def visitor(self, token: str) -> SignedIn | None:
        """None if the token is malformed, unknown, revoked or expired."""
        parsed = parse_session_token(token)
        if parsed is None:
            return None
        now = self._clock()
        found = await self._stores.sessions.by_token(
            parsed.account_id, parsed.session_hash, self._alive(), month_of(now)
        )
        if found is not None and found.session.last_used_at <= now - _USE_STEP:
            step = now // _USE_STEP * _USE_STEP
            self.uses.note((parsed.account_id, found.session.session_id), step)
        return found

    def is_proved(self, visitor: SignedIn) -> bool:
        """Whether the person proved recently who they are."""
        age = self._clock() - visitor.session.proved_at
        return -_SKEW <= age < PROOF_MINUTES * 60 * MICROSECONDS

    async def prove(
        self, transaction: Transaction, visitor: SignedIn, method: str, where: Where
    ) -> str:
        """Notes that the person has proved who they are; returns the session's new token."""
        account_id = visitor.account.account_id
        token = new_session_token(account_id)
        session = msgspec.structs.replace(
            visitor.session,
            proved_at=self._clock(),
            method=method,
            address=where.address,
            device=where.device,
        )
        if not await self._stores.sessions.replace_token(
            Writable(transaction, account_id), token_hash(token), session
        ):
            raise Refusal(Code.NOT_FOUND, "This session has ended. Sign in again.")
        return token

    async def all(self, account_id: int) -> Sequence[Session]:
        """The sessions that are alive, the one used last first."""
        return await self._stores.sessions.all(account_id, self._alive())

    async def sign_out(self, visitor: SignedIn) -> None:
        await self._end(visitor, visitor.session.session_id, ActivityKind.SIGNED_OUT)

    async def end_replaced(self, visitor: SignedIn) -> None:
        """Ends the session of a browser that has just signed in again."""
        account_id = visitor.account.account_id

        await self._transact(
            account_id,
            lambda library: self._stores.sessions.end(library, visitor.session.session_id),
        )

    async def end(self, visitor: SignedIn, session_id: str) -> None:
        await self._end(visitor, session_id, ActivityKind.SESSION_ENDED)

    async def end_others(self, visitor: SignedIn) -> int:
        """Ends all sessions of the account but this one; returns their number."""
        account_id = visitor.account.account_id
        entry = activity.entry(self._clock, ActivityKind.SESSIONS_ENDED)

        async def work(library: Writable) -> int:
            ended = await self._stores.sessions.end_others(library, visitor.session.session_id)
            if ended:
                await self._stores.activity.add(library, entry)
            return ended

        return await self._transact(account_id, work)

    async def _end(self, visitor: SignedIn, session_id: str, kind: ActivityKind) -> None:
        account_id = visitor.account.account_id
        unnamed = activity.entry(self._clock, kind)

        async def work(library: Writable) -> None:
            device = await self._stores.sessions.end(library, session_id)
            if device is not None:
                entry = msgspec.structs.replace(unnamed, detail=device)
                await self._stores.activity.add(library, entry)

        await self._transact(account_id, work)

    def _alive(self) -> Alive:
        return Alive.at(self._clock())
