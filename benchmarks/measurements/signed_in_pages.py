"""Measures the pages of a signed-in person: CPU time per page, and reads of the database."""

import asyncio
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import httpx
from rich.progress import track

from benchmarks import bars, servers, signed_in_library
from benchmarks.figures import Row, bar_row
from benchmarks.loads.client import Answer, Client
from benchmarks.options import Options
from bowerbird import app
from bowerbird.clock import system_clock
from bowerbird.settings import Settings
from bowerbird.storage.database import Database, Values
from bowerbird.storage.database import Row as DatabaseRow
from bowerbird.storage.opening import open_database

# Add a page here when there is a new one.
PAGES: Final = {
    "/keys": bars.SIGNED_IN_PAGE,
    "/account": bars.SIGNED_IN_PAGE,
    "/activity": bars.SIGNED_IN_PAGE,
    "/operator": bars.SIGNED_IN_PAGE,
    "/digests": bars.SIGNED_IN_PAGE,
    # Counted once for each change of the library: this is the page that is shown again.
    "/statistics": bars.SIGNED_IN_PAGE,
    "/library": bars.SIGNED_IN_PAGE,
    "/library?density=compact": bars.SIGNED_IN_PAGE,
    "/library?q=thea": bars.SEARCH_PAGE,
    "/views": bars.SIGNED_IN_PAGE,
}
_WARM_UPS: Final = 20
_VIEWS: Final = 400


def measure(options: Options) -> Iterator[Row]:
    folder = options.work_folder / "signed-in"
    shutil.rmtree(folder, ignore_errors=True)
    token = asyncio.run(signed_in_library.fill(folder, options.scale.largest))
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
    origin = signed_in_library.origin(settings.port)
    found = {}
    try:
        service = app.build(settings, database, system_clock)
        transport = httpx.ASGITransport(service.asgi)
        headers = {"Cookie": signed_in_library.cookie(settings.port, token), "Accept": "text/html"}
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
        f"Accept-Encoding: gzip\r\nCookie: {signed_in_library.cookie(server.port, token)}\r\n\r\n"
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
