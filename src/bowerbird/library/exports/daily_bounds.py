"""How many exports an account may start, and how many bytes their files may have, per UTC day.

Files are deleted after 24 hours, so an account never has more than twice the bytes of a day.
"""

from typing import Final

from bowerbird.clock import Clock, day_of, seconds_left_of_day
from bowerbird.errors import Code, Refusal
from bowerbird.requests import limits
from bowerbird.storage.daily_use import EXPORTS, DailyUseStore
from bowerbird.storage.database import Database, Transaction

_MAX_SIZE: Final = f"{limits.EXPORT_BYTES_PER_DAY // 1_000_000_000:,} GB"


class DailyBounds:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = DailyUseStore(database, EXPORTS)
        self._clock = clock

    async def start_one(self, transaction: Transaction, account_id: int) -> None:
        """Counts an export; refuses it beyond a bound. The caller has locked the library."""
        day = day_of(self._clock())
        used = await self._store.used(transaction, account_id, day)
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
        await self._store.add(transaction, account_id, day, uses=1)

    async def bytes_left(self, account_id: int) -> int:
        used = await self._store.used(self._database, account_id, day_of(self._clock()))
        return max(0, limits.EXPORT_BYTES_PER_DAY - used.bytes)

    async def take_bytes(self, account_id: int, size: int) -> int:
        """Counts the bytes of a file and returns the day; refuses a file that does not fit."""
        day = day_of(self._clock())

        async def work(transaction: Transaction) -> None:
            used = await self._store.add(transaction, account_id, day, size=size)
            if used.bytes > limits.EXPORT_BYTES_PER_DAY:
                raise self.too_large()

        await self._database.write(work)
        return day

    async def give_back(self, account_id: int, day: int, size: int) -> None:
        """For a file that was not stored after all."""
        await self._database.write(lambda t: self._store.give_back(t, account_id, day, size))

    def too_large(self) -> Refusal:
        """The refusal of a file, as the error of its export."""
        return self._refusal(
            Code.EXPORT_SIZE_LIMIT,
            f"The files of an account's exports may have {_MAX_SIZE} per day (UTC), and this one "
            "would exceed that. Export fewer posts, or retry tomorrow.",
        )

    def _refusal(self, code: Code, sentence: str) -> Refusal:
        return Refusal(code, sentence, {"Retry-After": str(seconds_left_of_day(self._clock()))})
