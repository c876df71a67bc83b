"""Attempts to sign in.

The browser keeps the attempt in a cookie that the service has signed, so a stranger who starts
attempts stores nothing here, and every node can finish what another has started. An attempt is
valid for ten minutes and succeeds at most once.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.sign_in import SecretStore, SpentAttemptStore

MINUTES: Final = 10
_SECRET: Final = "sign-in attempts"  # noqa: S105 - the name of a secret
_LIFETIME: Final = MINUTES * 60 * MICROSECONDS
# The clock of the node that started an attempt may be ahead.
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


class Attempts:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._secrets = SecretStore(database)
        self._spent = SpentAttemptStore(database)
        self._clock = clock
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
        if not await self._spent.spend(transaction, digest, expires_at):
            raise _refused()

    async def _signing_keys(self) -> list[bytes]:
        if not self._keys:
            self._keys = await self._secrets.keys(_SECRET, self._clock())
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
