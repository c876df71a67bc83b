"""Download links: signed, so that they need no key, and short-lived.

The signature covers account, job and expiry. A forged link gets the same error code as an expired
one, with a different sentence.
"""

import base64
import hashlib
import hmac
from typing import Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.storage.database import Database
from bowerbird.storage.secrets import SecretStore

LIVES_S: Final = 300
SECRET: Final = "download links"  # noqa: S105 - its name
_ROTATED_S: Final = 30 * 86_400
_MAC_BYTES: Final = 20
_TOKEN_BYTES: Final = 8 + 8 + _MAC_BYTES


class Links:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._secrets = SecretStore(database)
        self._clock = clock

    async def token(self, account_id: int, job_id: str, expires_at: int) -> str:
        keys = await self._secrets.keys(SECRET, self._clock())
        claims = account_id.to_bytes(8, "big", signed=True) + expires_at.to_bytes(8, "big")
        token = claims + _mac(keys[0], claims, job_id)
        return base64.urlsafe_b64encode(token).decode().rstrip("=")

    async def account_of(self, token: str, job_id: str) -> int:
        """The account of the job. Raises a refusal if the link is forged or has expired."""
        raw = _decoded(token)
        claims, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
        keys = await self._secrets.keys(SECRET, self._clock())
        if len(raw) != _TOKEN_BYTES or not any(
            hmac.compare_digest(mac, _mac(key, claims, job_id)) for key in keys
        ):
            raise _refused("This download link is not valid")
        if int.from_bytes(claims[8:], "big") <= self._clock():
            raise _refused("This download link has expired")
        return int.from_bytes(claims[:8], "big", signed=True)

    async def rotate(self) -> None:
        """Creates a new key each month. The previous key stays valid longer than any link."""
        now = self._clock()
        await self._secrets.rotate(SECRET, now, now - _ROTATED_S * MICROSECONDS)


def _mac(key: bytes, claims: bytes, job_id: str) -> bytes:
    return hashlib.blake2b(claims + job_id.encode(), digest_size=_MAC_BYTES, key=key).digest()


def _decoded(token: str) -> bytes:
    try:
        return base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return b""


def _refused(sentence: str) -> Refusal:
    return Refusal(Code.LINK_EXPIRED, f"{sentence}. Poll the export for a new link.")
