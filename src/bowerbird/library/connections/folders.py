"""Reads the folders of saved posts at X. Their names become labels of the posts in them."""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
import structlog

from bowerbird.clock import Clock, day_of
from bowerbird.connections.records import CursorRefused, ListPage, SourceProblem, Tokens
from bowerbird.errors import Refusal
from bowerbird.library.connections.access import Access
from bowerbird.library.ingest.page_reading import CapturedPage
from bowerbird.library.ingest.page_results import PageResult
from bowerbird.library.ingest.pages import IngestPages
from bowerbird.model.accounts import Account
from bowerbird.model.connections import Connection
from bowerbird.model.ingest import IngestRun
from bowerbird.sources.x import api2
from bowerbird.storage.connections import ConnectionStore
from bowerbird.storage.database import Database

# X allows 50 requests in 15 minutes.
_REQUESTS_MAX: Final = 40
# A page of a folder has up to so many posts, which X may charge for.
_POSTS_PER_PAGE: Final = 100
_decode: Final = msgspec.json.Decoder(PageResult).decode
Ask = Callable[[Tokens, str], Awaitable[ListPage]]


class FolderReading:
    def __init__(self, database: Database, clock: Clock, pages: IngestPages) -> None:
        self._store = ConnectionStore(database)
        self._clock = clock
        self._pages = pages

    async def read(
        self, account: Account, connection: Connection, run: IngestRun, seq: int, access: Access
    ) -> None:
        """Whatever goes wrong, the posts themselves are stored, and the next day tries again."""
        turn = _Turn(self, account, connection, run, seq=seq, access=access)
        try:
            await turn.read_all()
        except (SourceProblem, CursorRefused, Refusal) as problem:
            structlog.get_logger().warning("folders not read", cause=repr(problem))

    async def take(self, account: Account, run: IngestRun, seq: int, page: ListPage) -> PageResult:
        captured = CapturedPage(
            format="x.api2",
            payload=page.payload,
            request_url=page.request_url,
            captured_at=self._clock(),
        )
        return _decode((await self._pages.take(account, run.run_id, seq, captured)).body)

    async def spend(self, account: Account, connection: Connection, posts: int) -> bool:
        today, connection_id = day_of(self._clock()), connection.connection_id
        if posts < 0:
            await self._store.give_back(account.account_id, connection_id, today, -posts)
            return True
        return await self._store.spend(account.account_id, connection_id, today, posts)


class _Turn:
    """The requests for one connection, of which there are only so many."""

    def __init__(
        self,
        reading: FolderReading,
        account: Account,
        connection: Connection,
        run: IngestRun,
        *,
        seq: int,
        access: Access,
    ) -> None:
        self._reading = reading
        self._account = account
        self._connection = connection
        self._run = run
        self._seq = seq
        self._access = access
        self._requests = 0

    async def read_all(self) -> None:
        x, user_id = self._access.x, self._connection.source_user_id
        found = list[str]()
        for payload in await self._listed(
            lambda tokens, cursor: x.folders(tokens, user_id, cursor), posts=0
        ):
            found += [one.id for one in api2.read_folders(payload).folders]
        for folder_id in found:
            await self._listed(
                lambda tokens, cursor, folder_id=folder_id: x.folder(  # type: ignore[misc]
                    tokens, user_id, folder_id, cursor
                ),
                posts=_POSTS_PER_PAGE,
            )

    async def _listed(self, request: Ask, posts: int) -> list[bytes]:
        """The pages of a list, each of which is stored in the run."""
        payloads, cursor = list[bytes](), ""
        while self._requests < _REQUESTS_MAX:
            if posts and not await self._reading.spend(self._account, self._connection, posts):
                break
            self._requests += 1
            page = await self._access.ask(
                lambda tokens, cursor=cursor: request(tokens, cursor)  # type: ignore[misc]
            )
            result = await self._reading.take(self._account, self._run, self._seq, page)
            if posts:
                unused = max(posts - result.received, 0)
                await self._reading.spend(self._account, self._connection, -unused)
            self._seq += 1
            payloads.append(page.payload)
            if not result.cursor_out or result.cursor_out == cursor:
                break
            cursor = result.cursor_out
        return payloads
