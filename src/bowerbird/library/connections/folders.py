"""Reads the folders of saved posts at X. Their names become labels of the posts in them."""

from typing import Final

import msgspec
import structlog
from msgspec import Struct

from bowerbird.clock import Clock, day_of
from bowerbird.connections.records import CursorRefused, ListPage, SourceProblem
from bowerbird.errors import Refusal
from bowerbird.library.connections.access import Access
from bowerbird.library.connections.costs import ChargedPosts
from bowerbird.library.ingest.page_reading import CapturedPage
from bowerbird.library.ingest.page_results import PageResult
from bowerbird.library.ingest.pages import IngestPages
from bowerbird.model.accounts import Account
from bowerbird.model.connections import Connection, Network
from bowerbird.model.ingest import EndReason
from bowerbird.sources.networks import list_pages
from bowerbird.sources.x import api2
from bowerbird.storage.connections import ConnectionStore
from bowerbird.storage.database import Database

FORMATS: Final = {
    Network.X: "x.api2",
    Network.MASTODON: list_pages.MASTODON,
    Network.BLUESKY: list_pages.BLUESKY,
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


class FolderReading:
    def __init__(self, database: Database, clock: Clock, pages: IngestPages) -> None:
        self._store = ConnectionStore(database)
        self._clock = clock
        self._pages = pages
        self._charged = ChargedPosts(database, clock)

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
            await self._store.note_folders(account.account_id, connection.connection_id, today)
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
            if not await self._charged.spend(account.account_id, connection, _POSTS_PER_PAGE):
                return None
            page = await access.ask(
                lambda tokens: access.x.folder(tokens, user_id, folders[0], cursor)
            )
            again = await self._charged.again(account.account_id, connection, page.payload)
            result = await self.take(account, connection, seq, page)
            await self._charged.give_back(
                account.account_id, connection, _POSTS_PER_PAGE, result.received - again
            )
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
        self, account: Account, connection: Connection, seq: int, page: ListPage
    ) -> PageResult:
        """Stores a page of the run of a connection."""
        captured = CapturedPage(
            format=FORMATS[connection.network],
            payload=page.payload,
            request_url=page.request_url,
            captured_at=self._clock(),
        )
        return _decode((await self._pages.take(account, connection.run_id, seq, captured)).body)

    async def _leave(self, account: Account, connection: Connection, place: FolderPlace) -> None:
        left = msgspec.json.encode(place).decode()
        await self._store.leave_folders(account.account_id, connection, left)


_decode_place: Final = msgspec.json.Decoder(FolderPlace | None).decode
