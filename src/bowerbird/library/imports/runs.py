"""STAND-IN until the real runs are merged."""

from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.model.accounts import Account
from bowerbird.storage.database import Database


class Run(Struct, frozen=True, kw_only=True):
    run_id: str
    undo_until: int = 0


class ImportRuns:
    def __init__(self, database: Database, clock: Clock) -> None:
        pass

    async def start(
        self, account: Account, *, source: str, kind: str, client: str, source_user_id: str = ""
    ) -> Run:
        return Run(run_id="run_1")

    async def finish(self, account: Account, run_id: str, reason: str) -> None:
        pass
