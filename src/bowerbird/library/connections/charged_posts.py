"""Finds out which posts X has charged for already: it charges a post once per UTC day."""

from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock, day_of
from bowerbird.model.connections import Connection
from bowerbird.model.ingest import IngestRun
from bowerbird.storage.database import Database
from bowerbird.storage.ingest.runs import IngestRunStore
from bowerbird.storage.ingest.source_posts import SourcePostStore

# The client of the runs of this service. Posts that the extension read were free.
CLIENT: Final = "Bowerbird"


class _Post(Struct, frozen=True):
    id: str


class _Page(Struct, frozen=True):
    data: list[_Post] = []


_decode: Final = msgspec.json.Decoder(_Page).decode


class ChargedPosts:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._posts = SourcePostStore(database)
        self._runs = IngestRunStore(database)

    async def again(self, account_id: int, connection: Connection, payload: bytes) -> int:
        """How many posts of an answer of X were read before today. Ask before it is stored."""
        try:
            post_ids = {one.id for one in _decode(payload).data}
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return 0
        if not post_ids:
            return 0
        today = day_of(self._clock())
        seen = await self._posts.last_seen(account_id, connection.user, sorted(post_ids))
        runs = {
            run_id: await self._runs.get(self._database, account_id, run_id)
            for run_id, at in set(seen.values())
            if run_id and day_of(at) == today
        }
        return sum(
            day_of(at) == today and _is_charged(runs.get(run_id), today)
            for run_id, at in seen.values()
        )


def _is_charged(run: IngestRun | None, today: int) -> bool:
    if run is None or run.device_id or run.client != CLIENT:
        return False
    return day_of(run.updated_at) == today
