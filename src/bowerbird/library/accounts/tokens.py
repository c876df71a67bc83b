"""What API keys and devices share: a name, an id, and a secret of which only the hash is stored."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Final

from bowerbird.errors import Code, Refusal, shown
from bowerbird.model.keys import key_hash

_MAX_NAME_LENGTH: Final = 100
_ID_BYTES: Final = 4

Revoke = Callable[[str, bytes], Awaitable[str | None]]
"""Revokes by id or hash; returns the id, or None if no active token has either."""


class NotLive(Refusal):
    """The account has no such key or device, or it was revoked."""


def new_id() -> str:
    return secrets.token_hex(_ID_BYTES)


def checked_name(kind: str, name: str) -> str:
    """The name on one line. `kind` is "key" or "device"."""
    name = " ".join(name.split())
    if len(name) > _MAX_NAME_LENGTH or not name.isprintable():
        raise Refusal(
            Code.INVALID_REQUEST,
            f"A {kind} name can have at most {_MAX_NAME_LENGTH} printable characters.",
        )
    return name


async def revoke(
    kind: str, prefix: str, token_or_id: str, refusal: type[NotLive], revoke: Revoke
) -> str:
    """Revokes a token by its text or id from the next request on; returns its id."""
    text = token_or_id.strip()
    revoked = None
    # Tokens and ids are printable ASCII. PostgreSQL rejects some other characters.
    if text.isascii() and text.isprintable():
        revoked = await revoke(text, key_hash(text))
    if revoked is None:
        # The error does not repeat the token: it may be valid for another account.
        named = f"That {kind}" if text.startswith(prefix) else f"{kind.capitalize()} {shown(text)}"
        raise refusal(Code.NOT_FOUND, f"{named} is not an active {kind} of this account.")
    return revoked
