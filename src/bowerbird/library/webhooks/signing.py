"""The secrets of a webhook and the signatures made with them, by the Standard Webhooks rules.

Two secrets are valid for a day after one was replaced, so that no receiver misses a message.
"""

import base64
import hashlib
import hmac
import secrets
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.connections.records import CannotOpen, NoKey, Sealer
from bowerbird.errors import Code, Refusal
from bowerbird.model.events import FORMER_SECRET, Webhook

PREFIX: Final = "whsec_"
_BYTES: Final = 32


class Secrets(Struct, frozen=True, array_like=True):
    current: str
    # "" if it was never replaced.
    former: str = ""

    def __repr__(self) -> str:
        return "Secrets()"


_decode: Final = msgspec.json.Decoder(Secrets).decode


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def replaced(old: Secrets | None) -> Secrets:
    """Another secret. Of the older ones, the last is kept."""
    return Secrets(new_secret(), "" if old is None else old.current)


def headers(
    found: Secrets, hook: Webhook, message_id: str, body: bytes, now: int
) -> dict[str, str]:
    """The three headers of a message, with a signature per valid secret."""
    valid = [found.current]
    if found.former and hook.rotated_at is not None and now < hook.rotated_at + FORMER_SECRET:
        valid.append(found.former)
    seconds = str(now // MICROSECONDS)
    signed = b".".join((message_id.encode(), seconds.encode(), body))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(_signature(secret, signed) for secret in valid),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


class SecretVault:
    """Encrypts secrets for the database, as the access to sources."""

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer

    def seal(self, found: Secrets, account_id: int, webhook_id: str) -> bytes:
        """Bound to the webhook: copied to another one, they cannot be decrypted."""
        try:
            return self._sealer.seal(msgspec.json.encode(found), _place(account_id, webhook_id))
        except NoKey as problem:
            raise Refusal(
                Code.SERVICE_UNAVAILABLE,
                f"This server cannot store secrets of webhooks: {problem}. Tell its operator.",
            ) from None

    def open(self, account_id: int, hook: Webhook) -> Secrets | None:
        """None if the key is another one."""
        try:
            return _decode(self._sealer.open(hook.sealed, _place(account_id, hook.webhook_id)))
        except (CannotOpen, msgspec.MsgspecError):
            return None


def _place(account_id: int, webhook_id: str) -> str:
    return f"{account_id}/webhook/{webhook_id}"
