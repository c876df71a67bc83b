"""What all accounts share, for the operator, who may stop it."""

from collections.abc import Sequence
from typing import Final

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal, shown
from bowerbird.library.access.activity import Activity
from bowerbird.model.accounts import ActivityKind
from bowerbird.model.shares import Share
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.shares import ShareStore

PER_PAGE: Final = 20
_LATEST: Final = (2**63 - 1, "")


class ShareOverview:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = ShareStore(database)
        self._activity = Activity(database, clock)
        self._clock = clock

    async def page(self, before: tuple[int, str] = _LATEST) -> Sequence[Share]:
        """The newest first, and one more than a page if there are more."""
        return await self._store.page(before, PER_PAGE + 1)

    async def all(self) -> list[Share]:
        found: list[Share] = []
        before = _LATEST
        while page := await self._store.page(before, PER_PAGE):
            found += page
            before = (page[-1].created_at, page[-1].share_id)
        return found

    def state(self, share: Share) -> str:
        if share.is_stopped:
            return "stopped"
        return "open" if share.is_open(self._clock()) else "closed"

    async def stop(self, share_id: str, *, is_stopped: bool = True) -> None:
        """Stops a share of any account at once, or allows it again. Its account sees that."""
        kind = ActivityKind.SHARE_FORBIDDEN if is_stopped else ActivityKind.SHARE_ALLOWED

        async def work(transaction: Transaction) -> bool:
            if not share_id.isascii() or not share_id.isalnum():
                return False
            found = await self._store.stop(
                transaction, share_id, self._clock(), is_stopped=is_stopped
            )
            if found is None:
                return False
            account_id, choices = found
            detail = f"“{choices.title}”" if choices.title else ""
            await self._activity.add(transaction, account_id, self._activity.entry(kind, detail))
            return True

        if not await self._database.write(work):
            raise Refusal(Code.NOT_FOUND, f"No share has the id {shown(share_id)}.")
