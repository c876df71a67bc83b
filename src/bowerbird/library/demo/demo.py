"""Fills an empty library with the demo, and removes it again."""

from typing import Final

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.demo import contents
from bowerbird.library.imports.intake import Intake
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.imports.undoing import FILLING, DemoRemoval
from bowerbird.library.views.views import Views
from bowerbird.lru import LruCache
from bowerbird.model.accounts import Account
from bowerbird.model.imports import DEMO, RunState
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.imports.runs import DemoStore, RunStore

SOURCE: Final = "Demo library"
_CACHED: Final = 4_096


class Demo:
    def __init__(self, database: Database, views: Views, clock: Clock) -> None:
        self._database = database
        self._views = views
        self._clock = clock
        self._runs = ImportRuns(database, clock)
        self._run_store = RunStore(database)
        self._intake = Intake(database, clock)
        self._removal = DemoRemoval(database, clock)
        self._renames = LabelRenames(database)
        self._store = DemoStore(database)
        self._present = LruCache(_CACHED)

    @property
    def size(self) -> int:
        """The number of its posts."""
        return contents.size()

    async def is_present(self, account: Account) -> bool:
        """Whether the library has posts of the demo. Read once per version of the library."""
        if not account.total:
            return False
        key = (account.account_id, account.epoch, account.version)
        present = self._present.get(key)
        if present is None:
            present = bool(await self._store.posts(self._database, account.account_id, 1))
            self._present.put(key, present)
        return bool(present)

    async def fill(self, account: Account) -> None:
        """Filling in the demo again changes nothing while it is there."""
        if await self._store.posts(self._database, account.account_id, 1):
            return
        if account.total:
            sentence = "The demo is for an empty library. This one has posts."
            raise Refusal(Code.INVALID_REQUEST, sentence)
        if await self._is_being_filled(account):
            return
        # An earlier demo may have left posts in the trash, which would not come back.
        await self.remove(account)
        run = await self._runs.start(account, source=SOURCE, kind=DEMO, client="website")
        found = contents.posts(self._clock())
        outcome = await self._intake.take(account, found, run_id=run.run_id)
        if outcome.counts.new and not account.is_free:
            await self._database.write(
                lambda transaction: self._create_view(transaction, account), account.account_id
            )
        await self._runs.finish(account, run.run_id)

    async def remove(self, account: Account) -> None:
        """Removes the demo, also weeks later and after changes. Idempotent."""
        account_id = account.account_id
        for run in await self._run_store.open_of_kind(account_id, DEMO):
            await self._runs.undo(account, run.run_id)

        async def rest(transaction: Transaction) -> int:
            await self._renames.lock(transaction, account_id)
            return await self._removal.remove(transaction, account_id, None)

        # Also if its run is not listed any more.
        await turns.run(self._database, rest, account_id)

    async def _is_being_filled(self, account: Account) -> bool:
        """Whether another request fills in the demo at this moment."""
        runs = await self._run_store.open_of_kind(account.account_id, DEMO)
        return any(
            run.state is RunState.RUNNING and run.started_at > self._clock() - FILLING
            for run in runs
        )

    async def _create_view(self, transaction: Transaction, account: Account) -> None:
        await self._views.create(transaction, account, contents.view())
