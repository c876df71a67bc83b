"""What only connections to X have: what X charges for posts, and folders that become labels.

Prices of August 2026: each post $0.005, or $0.001 if the app belongs to the X account whose
bookmarks it reads. X charges a post once per UTC day. The list also has $0.010 per user; posts
come with their authors, and X does not say whether it charges for these.
"""

from decimal import Decimal
from typing import Final

import msgspec
import structlog
from msgspec import Struct

from bowerbird.clock import Clock, day_of
from bowerbird.connections.records import CursorRefused, ListPage, SourceProblem
from bowerbird.errors import Refusal
from bowerbird.library.connections.access import Access
from bowerbird.library.ingest import page_reading
from bowerbird.library.ingest.page_reading import CapturedPage
from bowerbird.library.ingest.pages import IngestPages, PageResult
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import EndReason, IngestRun
from bowerbird.model.connections import Connection, Network
from bowerbird.sources.x import api2
from bowerbird.storage.database import Database
from bowerbird.storage.stores import TimedService

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
    return Estimate(posts, *(f"${posts * price:,.2f}" for price in prices))


def of_first_run(posts_in_library: int) -> Estimate:
    """The list at X may have as many posts as the library, if they came from there."""
    return of_posts(posts_in_library or _EXAMPLE)


# The client of the runs of this service. Posts that the extension read were free.
CLIENT: Final = "Bowerbird"


class _Post(Struct, frozen=True):
    id: str


class _Page(Struct, frozen=True):
    data: list[_Post] = []


_decode_ids: Final = msgspec.json.Decoder(_Page).decode


def _is_charged(run: IngestRun | None, today: int) -> bool:
    if run is None or run.device_id or run.client != CLIENT:
        return False
    return day_of(run.updated_at) == today


FORMATS: Final = {
    Network.X: "x.api2",
    Network.MASTODON: page_reading.MASTODON,
    Network.BLUESKY: page_reading.BLUESKY,
}
# X allows 50 requests in 15 minutes.
_REQUESTS_MAX: Final = 40
# A page of a folder has up to so many posts, which X may charge for.
_POSTS_PER_PAGE: Final = 100
_decode: Final = msgspec.json.Decoder(PageResult).decode


class FolderPlace(Struct, frozen=True):
    """Where the reading goes on. It is stored after each page."""

    run_id: str
    # Why the run ends afterwards.
    reason: str
    # Folders whose posts are not read yet. The first one is being read, unless `is_listing`.
    folders: list[str] = []
    is_listing: bool = True
    cursor: str = ""
    requests: int = 0


class ListReading(TimedService):
    """Stores the pages of a list, counts what X charges for them, and reads the folders of X."""

    def __init__(self, database: Database, clock: Clock, pages: IngestPages) -> None:
        super().__init__(database, clock)
        self._pages = pages

    async def spend(self, account_id: int, connection: Connection, posts: int) -> bool:
        """Counts the posts of a page before it is read; False if they are too many for the day."""
        today = day_of(self._clock())
        return await self._stores.connections.spend(account_id, connection, today, posts)

    async def give_back(
        self, account_id: int, connection: Connection, posts: int, charged: int = 0
    ) -> None:
        """X has charged for fewer posts of the page than were counted."""
        unused = posts - min(max(charged, 0), posts)
        if unused:
            today = day_of(self._clock())
            await self._stores.connections.give_back(account_id, connection, today, unused)

    async def _again(self, account_id: int, connection: Connection, payload: bytes) -> int:
        """How many posts of an answer of X were read before today. Ask before it is stored."""
        try:
            post_ids = {one.id for one in _decode_ids(payload).data}
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return 0
        if not post_ids:
            return 0
        today = day_of(self._clock())
        library = self._library(account_id)
        seen = await self._stores.source_posts.seen(library, connection.user, sorted(post_ids))
        runs = {
            run_id: await self._stores.ingest_runs.get(library, run_id)
            for run_id, at in set(seen.values())
            if run_id and day_of(at) == today
        }
        return sum(
            day_of(at) == today and _is_charged(runs.get(run_id), today)
            for run_id, at in seen.values()
        )

    def place(self, connection: Connection) -> FolderPlace | None:
        """Where the run of the connection has left its folders; None if it reads the list."""
        try:
            found = _decode_place(connection.folders_left or "null")
        except (msgspec.MsgspecError, ValueError):
            return None
        return found if found is not None and found.run_id == connection.run_id else None

    async def start(self, account: Account, connection: Connection, reason: EndReason) -> None:
        await self._leave(account, connection, FolderPlace(connection.run_id, reason))

    async def step(
        self, account: Account, connection: Connection, seq: int, access: Access, place: FolderPlace
    ) -> bool:
        """Reads one page; False if it was the last one.

        Whatever goes wrong, the posts themselves are stored, and the next day tries again.
        """
        try:
            following = await self._read(account, connection, seq, access, place)
        except (SourceProblem, CursorRefused, Refusal) as problem:
            structlog.get_logger().warning("folders not read", cause=repr(problem))
            following = None
        if following is None:
            today = day_of(self._clock())
            await self._stores.connections.note_folders(account.account_id, connection, today)
            return False
        await self._leave(account, connection, following)
        return True

    async def _read(
        self, account: Account, connection: Connection, seq: int, access: Access, place: FolderPlace
    ) -> FolderPlace | None:
        user_id, cursor, folders = connection.source_user_id, place.cursor, place.folders
        if place.is_listing:
            page = await access.ask(lambda tokens: access.x.folders(tokens, user_id, cursor))
            result = await self.take(account, connection, seq, page)
            found = [one.id for one in api2.read_folders(page.payload).folders]
            folders = [*folders, *found][:_REQUESTS_MAX]
        else:
            if not await self.spend(account.account_id, connection, _POSTS_PER_PAGE):
                return None
            page = await access.ask(
                lambda tokens: access.x.folder(tokens, user_id, folders[0], cursor)
            )
            result = await self.take(account, connection, seq, page, counted=_POSTS_PER_PAGE)
        following = msgspec.structs.replace(place, folders=folders, requests=place.requests + 1)
        if result.cursor_out and result.cursor_out != cursor:
            following = msgspec.structs.replace(following, cursor=result.cursor_out)
        else:
            left = folders if place.is_listing else folders[1:]
            following = msgspec.structs.replace(
                following, cursor="", is_listing=False, folders=left
            )
        is_done = not (following.is_listing or following.folders)
        return None if is_done or following.requests >= _REQUESTS_MAX else following

    async def take(
        self, account: Account, connection: Connection, seq: int, page: ListPage, counted: int = 0
    ) -> PageResult:
        """Stores a page of the run of a connection. `counted`: the posts that X may charge for."""
        again = 0
        if counted:
            again = await self._again(account.account_id, connection, page.payload)
        captured = CapturedPage(
            format=FORMATS[connection.network],
            payload=page.payload,
            request_url=page.request_url,
            captured_at=self._clock(),
        )
        answer = await self._pages.take(account, connection.run_id, seq, captured)
        result = _decode(answer.body)
        if counted:
            charged = result.received - again
            await self.give_back(account.account_id, connection, counted, charged)
        return result

    async def _leave(self, account: Account, connection: Connection, place: FolderPlace) -> None:
        left = msgspec.json.encode(place).decode()
        await self._stores.connections.leave_folders(account.account_id, connection, left)


_decode_place: Final = msgspec.json.Decoder(FolderPlace | None).decode
