"""Stores the last day on which an account called a version, and whether it was told of its end."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final

from bowerbird.model.accounts import NoticeState, SunsetRecipient
from bowerbird.storage.database import Store

_PAGE: Final = 500


class SunsetNoticeStore(Store):
    resource = "sunset_notices"

    async def callers(self, version: str, first_day: int) -> AsyncIterator[SunsetRecipient]:
        """Every account that called the version on that day or later, by account id."""
        values = {"version": version, "first_day": first_day, "limit": _PAGE}
        after = -(2**63)
        while True:
            rows = await self._read_slowly("callers_of_version", **values, after=after)
            for row in rows:
                yield SunsetRecipient(*row)
            if len(rows) < _PAGE:
                return
            after = rows[-1][0]

    async def claim(self, caller: SunsetRecipient, version: str, now: int) -> bool:
        """False if another run has claimed the notice or completed it."""
        values = {
            "account_id": caller.account_id,
            "version": version,
            "state": NoticeState.SENDING.value,
            "now": now,
        }
        if caller.state is None:
            return bool(await self._write("claim", None, **values))
        seen = {"seen_state": caller.state, "seen_at": caller.changed_at}
        return bool(await self._write("claim_again", None, **values, **seen))

    async def complete(
        self, caller: SunsetRecipient, version: str, state: NoticeState, now: int
    ) -> None:
        values = {"account_id": caller.account_id, "version": version}
        await self._write("complete", None, **values, state=state.value, now=now)

    async def release(self, caller: SunsetRecipient, version: str) -> None:
        """Undoes a claim whose email was certainly not sent, so that the next run retries."""
        await self._write("release", None, account_id=caller.account_id, version=version)


class VersionUseStore(Store):
    resource = "version_use"

    async def versions(self, account_id: int, first_day: int) -> Sequence[str]:
        """The versions that the account called on that day or later."""
        values = {"account_id": account_id, "first_day": first_day}
        return [row[0] for row in await self._read("versions", **values)]

    async def callers(self, first_day: int) -> Sequence[tuple[str, int, int]]:
        """Version, number of accounts that called it since that day, and day of the last call."""
        rows = await self._read_slowly("callers", first_day=first_day)
        return [(version, count, last_day) for version, count, last_day in rows]

    async def put(self, uses: Mapping[tuple[int, str], int]) -> None:
        """Takes (account, version) -> day. A day older than the stored one changes nothing."""
        rows = [
            {"account_id": account_id, "version": version, "last_day": day}
            for (account_id, version), day in sorted(uses.items())
        ]
        await self._database.write(lambda transaction: transaction.run_many(self._sql["put"], rows))
