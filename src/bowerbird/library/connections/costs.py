"""What X charges for the posts that a connection reads, as its price list says.

Prices of August 2026: each post $0.005, or $0.001 if the app belongs to the X account whose
bookmarks it reads. X charges a post once per UTC day. The list also has $0.010 per user; posts
come with their authors, and X does not say whether it charges for these.
"""

from decimal import Decimal
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock, day_of
from bowerbird.model.connections import Connection
from bowerbird.model.ingest import IngestRun
from bowerbird.storage.connections import ConnectionStore
from bowerbird.storage.database import Database
from bowerbird.storage.ingest.runs import IngestRunStore
from bowerbird.storage.ingest.source_posts import SourcePostStore

PER_POST: Final = Decimal("0.005")
PER_OWNED_POST: Final = Decimal("0.001")
PER_USER: Final = Decimal("0.010")
# X does not say how many posts are saved. With an empty library, the estimate is for so many.
_EXAMPLE: Final = 1_000


class Estimate(Struct, frozen=True):
    posts: int
    # In dollars.
    cost: str
    owned_cost: str
    # In addition, if X charges for authors and each post has another one.
    authors_cost: str


def of_posts(posts: int) -> Estimate:
    prices = (PER_POST, PER_OWNED_POST, PER_USER)
    return Estimate(posts, *(_dollars(posts * price) for price in prices))


def of_first_run(posts_in_library: int) -> Estimate:
    """The list at X may have as many posts as the library, if they came from there."""
    return of_posts(posts_in_library or _EXAMPLE)


def _dollars(amount: Decimal) -> str:
    return f"${amount:,.2f}"


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
        self._store = ConnectionStore(database)
        self._runs = IngestRunStore(database)

    async def spend(self, account_id: int, connection: Connection, posts: int) -> bool:
        """Counts the posts of a page before it is read; False if they are too many for the day."""
        today = day_of(self._clock())
        return await self._store.spend(account_id, connection.connection_id, today, posts)

    async def give_back(
        self, account_id: int, connection: Connection, posts: int, charged: int = 0
    ) -> None:
        """X has charged for fewer posts of the page than were counted."""
        unused = posts - min(max(charged, 0), posts)
        if unused:
            today = day_of(self._clock())
            await self._store.give_back(account_id, connection.connection_id, today, unused)

    async def again(self, account_id: int, connection: Connection, payload: bytes) -> int:
        """How many posts of an answer of X were read before today. Ask before it is stored."""
        try:
            post_ids = {one.id for one in _decode(payload).data}
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return 0
        if not post_ids:
            return 0
        today = day_of(self._clock())
        seen = await self._posts.seen(self._database, account_id, connection.user, sorted(post_ids))
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
