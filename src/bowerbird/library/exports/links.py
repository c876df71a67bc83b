"""Download links, how much an account may export, and where the files are.

Links are signed, so that they need no key, and short-lived. The signature covers account, job and
expiry. A forged link gets the same error code as an expired one, with a different sentence.

Exports and the bytes of their files are bounded per UTC day. Files are deleted after 24 hours, so
an account never has more than twice the bytes of a day.

Every node of the service stores its files in the same place. The first node writes a mark there and
stores it in the database. A node that finds a different mark uses a separate folder, where the
other nodes would not find its exports.
"""

import base64
import hashlib
import hmac
import secrets
from typing import Final

from bowerbird.clock import MICROSECONDS, Clock, day_of, seconds_left_of_day
from bowerbird.errors import Code, Refusal
from bowerbird.requests import limits
from bowerbird.settings import PREFIX, BadSetting
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.files import Files
from bowerbird.storage.libraries import EXPORTS, DailyUseStore
from bowerbird.storage.stores import TimedService

LIVES_S: Final = 300
SECRET: Final = "download links"  # noqa: S105 - its name
_ROTATED_S: Final = 30 * 86_400
_MAC_BYTES: Final = 20
_TOKEN_BYTES: Final = 8 + 8 + _MAC_BYTES


class Links(TimedService):
    async def token(self, account_id: int, job_id: str, expires_at: int) -> str:
        keys = await self._stores.secrets.keys(SECRET, self._clock())
        claims = account_id.to_bytes(8, "big", signed=True) + expires_at.to_bytes(8, "big")
        token = claims + _mac(keys[0], claims, job_id)
        return base64.urlsafe_b64encode(token).decode().rstrip("=")

    async def account_of(self, token: str, job_id: str) -> int:
        """The account of the job. Raises a refusal if the link is forged or has expired."""
        raw = _decoded(token)
        claims, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
        keys = await self._stores.secrets.keys(SECRET, self._clock())
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
        await self._stores.secrets.rotate(SECRET, now, now - _ROTATED_S * MICROSECONDS)


def _mac(key: bytes, claims: bytes, job_id: str) -> bytes:
    return hashlib.blake2b(claims + job_id.encode(), digest_size=_MAC_BYTES, key=key).digest()


def _decoded(token: str) -> bytes:
    try:
        return base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return b""


def _refused(sentence: str) -> Refusal:
    return Refusal(Code.LINK_EXPIRED, f"{sentence}. Poll the export for a new link.")


_MAX_SIZE: Final = f"{limits.EXPORT_BYTES_PER_DAY // 1_000_000_000:,} GB"


class DailyBounds(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._store = DailyUseStore(database, EXPORTS)

    async def start_one(self, library: Writable) -> None:
        """Counts an export; refuses it beyond a bound. The caller has locked the library."""
        day = day_of(self._clock())
        used = await self._store.used(library, day)
        if used.uses >= limits.EXPORTS_PER_DAY:
            raise self._refusal(
                Code.EXPORT_COUNT_LIMIT,
                f"This account has started {limits.EXPORTS_PER_DAY:,} exports today (UTC), the "
                "maximum. Retry tomorrow.",
            )
        if used.bytes >= limits.EXPORT_BYTES_PER_DAY:
            raise self._refusal(
                Code.EXPORT_SIZE_LIMIT,
                f"The exports of this account have written {_MAX_SIZE} of files today (UTC), the "
                "maximum. Retry tomorrow.",
            )
        await self._store.add(library, day, uses=1)

    async def bytes_left(self, account_id: int) -> int:
        used = await self._store.used(self._library(account_id), day_of(self._clock()))
        return max(0, limits.EXPORT_BYTES_PER_DAY - used.bytes)

    async def take_bytes(self, account_id: int, size: int) -> int:
        """Counts the bytes of a file and returns the day; refuses a file that does not fit."""
        day = day_of(self._clock())

        async def work(library: Writable) -> None:
            used = await self._store.add(library, day, size=size)
            if used.bytes > limits.EXPORT_BYTES_PER_DAY:
                raise self.too_large()

        await self._transact(account_id, work, is_service=True)
        return day

    async def give_back(self, account_id: int, day: int, size: int) -> None:
        """For a file that was not stored after all."""
        await self._transact(
            account_id, lambda library: self._store.give_back(library, day, size), is_service=True
        )

    def too_large(self) -> Refusal:
        """The refusal of a file, as the error of its export."""
        return self._refusal(
            Code.EXPORT_SIZE_LIMIT,
            f"The files of an account's exports may have {_MAX_SIZE} per day (UTC), and this one "
            "would exceed that. Export fewer posts, or retry tomorrow.",
        )

    def _refusal(self, code: Code, sentence: str) -> Refusal:
        return Refusal(code, sentence, {"Retry-After": str(seconds_left_of_day(self._clock()))})


_MARK: Final = "mark"
_PLACE: Final = "place of files"


class FilePlace(TimedService):
    def __init__(self, database: Database, files: Files, clock: Clock) -> None:
        super().__init__(database, clock)
        self._files = files

    async def require_shared(self) -> None:
        """Raises BadSetting if the place is not shared, and a refusal if it cannot be checked."""
        mark = await self._files.put_new(_MARK, secrets.token_hex(16).encode())
        if await self._stores.secrets.put_new(_PLACE, mark, self._clock()) != mark:
            raise BadSetting(
                f"The files of this library are not in {self._files.place}: other nodes store them "
                f"elsewhere. Set {PREFIX}FILES_URL to the same bucket or shared path on every "
                "node; if they moved for good, run: bowerbird migrate --files-moved"
            )

    async def forget(self) -> None:
        """Forgets the mark. The next node that starts sets it again."""
        await self._stores.secrets.delete(_PLACE)
