"""The import under which the posts of a run are listed, and with which they are undone."""

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.ingest.runs import IngestRuns
from bowerbird.model.accounts import Account
from bowerbird.model.imports import RunState as ImportState
from bowerbird.model.ingest import IngestRun, RunState
from bowerbird.storage.database import Database
from bowerbird.storage.ingest.runs import IngestRunStore


class RunImports:
    def __init__(self, database: Database, clock: Clock, runs: IngestRuns) -> None:
        self._runs = runs
        self._store = IngestRunStore(database)
        self._imports = ImportRuns(database, clock)

    async def of_run(self, account: Account, run: IngestRun) -> str:
        """The import that takes the posts of a run.

        It starts with the first post that changes something, so that empty ones are not listed.
        A run that goes on after an interruption stays one import. After an undo it gets another.
        """
        if run.import_id and await self._imports.reopen(account, run.import_id):
            return run.import_id
        started = await self._imports.start(
            account,
            source=run.source,
            kind=run.kind,
            client=run.client,
            source_user_id=run.source_user_id,
        )
        if await self._store.set_import(
            account.account_id, run.run_id, started.run_id, run.import_id
        ):
            return started.run_id
        # Another page was faster, or the run is finished.
        await self._imports.finish(account, started.run_id)
        current = await self._runs.find(account, run.run_id)
        if current.state == RunState.FINISHED:
            raise finished()
        return current.import_id

    async def takes_posts(self, account: Account, import_id: str) -> bool:
        try:
            found = await self._imports.get(account, import_id)
        except Refusal:
            # An account lists only its latest imports.
            return False
        return found.state in (ImportState.RUNNING, ImportState.INTERRUPTED)


def finished() -> Refusal:
    return Refusal(Code.RUN_FINISHED, "This run is finished. Start a new one.")
