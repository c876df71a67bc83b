"""An account with connected sources, and the turns of its worker."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bowerbird.clock import MICROSECONDS
from bowerbird.connections.fetching import Fetcher
from bowerbird.jobs.account_jobs import source_jobs
from bowerbird.library.connections.connecting import BegunX, Connecting
from bowerbird.library.connections.connections import Connections
from bowerbird.library.connections.syncing import Sync
from bowerbird.model.arrival import IngestRun
from bowerbird.model.connections import Connection
from bowerbird.settings import Settings
from bowerbird.storage.database import Readable
from bowerbird.storage.ingest import IngestRunStore
from tests.support.hosts.networks import ALICE_TOKEN, APP_PASSWORD, Networks
from tests.support.service import Member


async def no_report(_done: int, _total: int) -> None:
    pass


@dataclass
class Desk:
    """The sources of one account."""

    member: Member
    networks: Networks
    folder: Path
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = {"data_dir": self.folder, **self.networks.settings, **self.options}
        self.settings = Settings(**named)
        database, clock = self.member.database, self.member.clock
        self.connections = Connections(database, clock)
        self.connecting = Connecting(database, clock, self.settings, self.connections)
        self.sync = Sync(database, clock, self.settings)
        self.jobs = source_jobs(database, self.sync, clock)

    @property
    def account_id(self) -> int:
        return self.member.account_id

    async def mastodon(self, token: str = ALICE_TOKEN) -> Connection:
        return await self.connecting.mastodon(self.account_id, self.networks.address, token)

    async def bluesky(self) -> Connection:
        return await self.connecting.bluesky(
            self.account_id, "@alice.test", APP_PASSWORD, self.networks.address
        )

    async def x(self, *, is_confirmed: bool = True) -> Connection:
        """Connects X as a browser would, and agrees to the cost, and to a run every hour."""
        begun = await self.connecting.begin_x(self.account_id, "client", "secret")
        connection = await self.back_from_x(begun)
        if is_confirmed:
            await self.bound(connection, connection.posts_per_day)
            await self.connections.run_now(self.account_id, connection.connection_id)
        return await self.one(connection)

    async def back_from_x(self, begun: BegunX) -> Connection:
        """The browser comes back with a code that X accepts."""
        state = begun.url.partition("state=")[2].partition("&")[0]
        self.networks.codes.add("code")
        query = {"state": state, "code": "code"}
        return await self.connecting.finish_x(self.account_id, begun.attempt, query)

    async def bound(
        self, connection: Connection, posts_per_day: int, interval_s: int = 3_600
    ) -> None:
        await self.connections.set_bounds(
            self.account_id,
            connection.connection_id,
            interval_s=interval_s,
            posts_per_day=posts_per_day,
        )

    async def run(self) -> None:
        """Everything that a worker would do now."""
        await self.sync.run(self.account_id, no_report)

    async def step(self, connection: Connection) -> bool:
        """One page."""
        async with Fetcher.of(self.settings) as fetcher:
            return await self.sync.step(self.account_id, connection.connection_id, fetcher)

    async def one(self, connection: Connection) -> Connection:
        return await self.connections.one(self.account_id, connection.connection_id)

    async def all(self) -> Sequence[Connection]:
        return await self.connections.all(self.account_id)

    async def runs(self) -> Sequence[IngestRun]:
        """The runs of the account, the last one first."""
        database, account_id = self.member.database, self.account_id
        sql = (
            "SELECT run_id FROM ingest_run WHERE account_id = :account_id ORDER BY started_at DESC"
        )
        rows = await database.rows(sql, {"account_id": account_id})
        found = [
            await IngestRunStore(database).get(Readable(database, account_id), one)
            for (one,) in rows
        ]
        return [run for run in found if run is not None]

    async def an_hour_later(self) -> None:
        """The next run of each source."""
        self.wait(3_600)
        await self.run()

    def wait(self, seconds: int) -> None:
        self.member.clock.now += seconds * MICROSECONDS

    async def texts(self) -> list[str]:
        """The texts of the library, the post that was saved last first."""
        found: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            answer = await self.member.listed(cursor=cursor, limit=100)
            found += [one["tweet_details"]["text"] for one in answer["data"]]
            cursor = answer["meta"]["next_cursor"]
        return found
