"""Measures the pages of a signed-in person: CPU time per page, and reads of the database."""

import asyncio
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import httpx
from rich.progress import track

from benchmarks import bars, posts, servers
from benchmarks.figures import Row, bar_row
from benchmarks.loads.client import Answer, Client
from benchmarks.options import Options
from bowerbird import app
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.accounts.keys import Keys
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.writing.upsert import Upsert
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.library.views.edits import ViewEdits
from bowerbird.library.views.views import Views
from bowerbird.model.sign_in import Where
from bowerbird.requests.limits import PINNED_VIEWS_SHOWN
from bowerbird.requests.views import NewView, NewViewQuery
from bowerbird.settings import Settings
from bowerbird.sources.own_json import read
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction, Values
from bowerbird.storage.database import Row as DatabaseRow
from bowerbird.storage.jobs import JobStore
from bowerbird.storage.opening import open_database
from bowerbird.web.visits.cookies import CookieJar
from bowerbird.web.visits.visit import SESSION

# Add a page here when there is a new one.
PAGES: Final = {
    "/keys": bars.SIGNED_IN_PAGE,
    "/account": bars.SIGNED_IN_PAGE,
    "/activity": bars.SIGNED_IN_PAGE,
    "/operator": bars.SIGNED_IN_PAGE,
    "/digests": bars.SIGNED_IN_PAGE,
    # Counted once for each change of the library: this is the page that is shown again.
    "/statistics": bars.LIBRARY_PAGE,
    "/library": bars.LIBRARY_PAGE,
    "/library?density=compact": bars.LIBRARY_PAGE,
    "/library?q=thea": bars.SEARCH_PAGE,
    "/views": bars.LIBRARY_PAGE,
}
_POSTS_PER_WRITE: Final = 500
_ACCOUNTS, _KEYS, _JOBS = 40, 50, 40
_WARM_UPS: Final = 20
_VIEWS: Final = 400
# All that the sidebar shows, each with its count.
_SMART_VIEWS: Final = PINNED_VIEWS_SHOWN
_JAR_ORIGIN: Final = "http://localhost:{port}"


def measure(options: Options) -> Iterator[Row]:
    folder = options.work_folder / "signed-in"
    shutil.rmtree(folder, ignore_errors=True)
    token = asyncio.run(_fill(folder, options.scale.largest))
    reads = asyncio.run(_count_reads(folder, token))
    sizes: dict[float, str] = {}
    with servers.bowerbird(folder, options.log, log_level=options.log_level) as server:
        for page in PAGES:
            row, size = _cost(server, page, token, reads[page])
            sizes[size] = page
            yield row
    shutil.rmtree(folder)
    detail = f"the most of {', '.join(PAGES)}"
    yield bar_row(bars.SESSION_READS, [max(of for of, _ in reads.values())], detail=detail)
    yield bar_row(bars.PAGE_SIZE, [max(sizes)], detail=f"{sizes[max(sizes)]}, gzip")


async def _fill(folder: Path, count: int) -> str:
    """Creates a busy service; returns the token of the owner's session."""
    database = await open_database(Settings(data_dir=folder))
    try:
        accounts, sessions = Accounts(database, system_clock), Sessions(database, system_clock)
        owner = await accounts.create("owner@example.com")
        for number in range(_ACCOUNTS):
            await accounts.create(f"member{number}@example.com")
        for number in range(_KEYS):
            await Keys(database, system_clock).create(owner, f"Key {number}")

        async def work(transaction: Transaction) -> str:
            for _ in range(_JOBS):
                await JobStore(database).add(
                    transaction, owner, "errand", b"{}", priority=50, now=system_clock()
                )
            where = Where("192.0.2.7", "Firefox on Linux")
            return await sessions.start(transaction, owner, "link", where)

        token = await database.write(work)
        await _fill_library(database, owner, count)
        return token
    finally:
        await database.close()


async def _fill_library(database: Database, owner: int, count: int) -> None:
    account = await AccountStore(database).by_id(owner, month=0)
    assert account
    upsert = Upsert(database, system_clock)
    for first in track(range(0, count, _POSTS_PER_WRITE), description="Filling the library"):
        batch = posts.batch(0, first, _POSTS_PER_WRITE)
        await upsert.take(account, [read(post).incoming for post in batch])
    edits = ViewEdits(database, Views(database, Bookmarks(database), system_clock))
    for number in range(_SMART_VIEWS):
        query = NewViewQuery(q="thea", posted_from=f"20{number:02d}-01-01")
        await edits.create(account, NewView(name=f"View {number}", base_query=query))


class _Counting:
    """A database that counts its reads: all, and those by the token of a session."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.reads: list[Values] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def rows(self, sql: str, values: Values) -> Sequence[DatabaseRow]:
        self.reads.append(values)
        return await self._inner.rows(sql, values)

    async def slow_rows(self, sql: str, values: Values) -> Sequence[DatabaseRow]:
        self.reads.append(values)
        return await self._inner.slow_rows(sql, values)


async def _count_reads(folder: Path, token: str) -> dict[str, tuple[int, int]]:
    """Page -> reads for the session, and all reads, of its second view."""
    settings = Settings(data_dir=folder, model_dir="/dev/null")
    opened = await open_database(settings)
    database = _Counting(opened)
    origin = _JAR_ORIGIN.format(port=settings.port)
    found = {}
    try:
        service = app.build(settings, database, system_clock)
        transport = httpx.ASGITransport(service.asgi)
        headers = {"Cookie": _cookie(settings.port, token), "Accept": "text/html"}
        async with httpx.AsyncClient(
            transport=transport, base_url=origin, headers=headers
        ) as browser:
            for page in PAGES:
                await browser.get(page)
                database.reads.clear()
                (await browser.get(page)).raise_for_status()
                of_session = [values for values in database.reads if "session_hash" in values]
                found[page] = (len(of_session), len(database.reads))
    finally:
        await opened.close()
    return found


def _cost(
    server: servers.Server, page: str, token: str, reads: tuple[int, int]
) -> tuple[Row, float]:
    """The row and the size in KB."""
    request = (
        f"GET {page} HTTP/1.1\r\nHost: localhost:{server.port}\r\nAccept: text/html\r\n"
        f"Accept-Encoding: gzip\r\nCookie: {_cookie(server.port, token)}\r\n\r\n"
    ).encode()
    with Client(server.port) as client:
        for _ in range(_WARM_UPS):
            answer = _shown(client.send(request), page)
        before, started = server.cpu_seconds(), time.perf_counter()
        for _ in track(range(_VIEWS), description=f"Opening {page}"):
            answer = _shown(client.send(request), page)
        cost = (server.cpu_seconds() - before) / _VIEWS * 1000
        clock = (time.perf_counter() - started) / _VIEWS * 1000
    size = len(answer.body) / 1000
    detail = f"{clock:.2f} ms by the clock, {reads[1]} reads, {size:.1f} KB compressed"
    return bar_row(PAGES[page], [cost], work=f"signed-in page, {page}", detail=detail), size


def _shown(answer: Answer, page: str) -> Answer:
    if answer.status != 200:
        raise RuntimeError(f"{page} answered {answer.status}: {answer.body[:300]!r}")
    return answer


def _cookie(port: int, token: str) -> str:
    _, header = CookieJar(_JAR_ORIGIN.format(port=port)).write(SESSION, token)
    return header.decode().partition(";")[0]
