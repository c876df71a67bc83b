"""Work that tests kill: `python -m tests.crash.programs NAME ARGUMENTS`.

Each program works until it is killed, or until nothing is left to do.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from bowerbird.clock import system_clock
from bowerbird.connections.fetching import PublicFetcher
from bowerbird.jobs.account_jobs import link_jobs, media_jobs, source_jobs, webhook_jobs
from bowerbird.library import links
from bowerbird.library.bulk.changes import BulkChanges
from bowerbird.library.connections.connections import Connections
from bowerbird.library.connections.syncing import Sync
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.labels.suggestions import LabelSuggestions
from bowerbird.library.links import LinkReading
from bowerbird.library.media.keeping import Keeping
from bowerbird.library.media.kept import MediaPreferences
from bowerbird.library.rules import passes
from bowerbird.library.rules.matching import RuleNearness
from bowerbird.library.rules.running import RuleRuns
from bowerbird.library.upkeep.corrections import Reindexing
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.webhooks.delivering import Delivering
from bowerbird.storage.files import Files
from tests.crash import killing
from tests.crash.killing import Begin, Report, opened, settings_of_process, work_until
from tests.support.hosts.image_hosts import ImageHosts


def silent() -> None:
    """The report of a program whose test watches what it sends."""


async def index(report: Report) -> None:
    """Indexes the old posts of all accounts."""

    async def progress(_done: int, _total: int) -> None:
        report()

    async with opened() as (database, _):
        reindexing = Reindexing(database, system_clock, pause_s=0, posts_per_turn=20)
        while due := await reindexing.due_accounts(0, job_kind="reindex"):
            await reindexing.run(due[0], progress)


async def run_rules(report: Report) -> None:
    async def progress(_done: int, _total: int) -> None:
        report()

    passes.POSTS_PER_TURN = 20  # type: ignore[misc]
    async with opened() as (database, _):
        meaning = SemanticSearch(database)
        near = RuleNearness(LabelSuggestions(database, meaning).of_posts, meaning, system_clock)
        runs = RuleRuns(database, system_clock, near)
        while due := await runs.due_accounts(0):
            await runs.run(due[0], progress)


async def keep_images(
    port: int, folder: Path, report: Report = silent, *, lease_s: float = 1.0
) -> None:
    """The hosts of images are at the port, and their certificate is in the folder."""
    settings, hosts = settings_of_process(), ImageHosts(folder, port=port)
    async with opened() as (database, account):
        preferences = MediaPreferences(database, system_clock, settings)
        await preferences.switch(account, is_keeping=True)
        keeping = Keeping(database, Files(settings), system_clock, settings, hosts.fetcher)

        async def is_over() -> bool:
            state = await preferences.state(account)
            return bool(state.total and not state.waiting)

        jobs = media_jobs(database, keeping, system_clock)
        await work_until(is_over, database, jobs, report, lease_s)


async def read_links(port: int, folder: Path) -> None:
    # Hosts on loopback need not wait for a second.
    links.BETWEEN_REQUESTS = 20_000  # type: ignore[misc]
    settings, hosts = settings_of_process(), ImageHosts(folder, port=port)
    async with opened() as (database, account):
        reading = LinkReading(
            database,
            system_clock,
            settings,
            lambda: PublicFetcher(resolve=hosts.resolve, connect=hosts.connect),
        )

        async def is_over() -> bool:
            return not (await reading.counts(account)).waiting

        await work_until(is_over, database, link_jobs(database, reading, system_clock), silent, 1.0)


async def read_sources(report: Report = silent, *, lease_s: float = 2.0) -> None:
    settings = settings_of_process()
    async with opened() as (database, account):
        connections = Connections(database, system_clock)

        async def is_over() -> bool:
            [connection] = await connections.all(account.account_id)
            return connection.last_run_at is not None and not connection.run_id

        jobs = source_jobs(database, Sync(database, system_clock, settings), system_clock)
        await work_until(is_over, database, jobs, report, lease_s)


async def send_messages() -> None:
    async with opened() as (database, account):
        delivering = Delivering(database, system_clock, settings_of_process())

        async def is_over() -> bool:
            return account.account_id not in await delivering.due_accounts(0)

        jobs = webhook_jobs(database, delivering, system_clock)
        await work_until(is_over, database, jobs, silent, 1.0)


def change(change_id: str) -> Begin:
    """Makes or undoes a change of many posts."""
    return lambda database, account: BulkChanges(database, system_clock).finish(account, change_id)


def undo(run_id: str) -> Begin:
    return lambda database, account: ImportRuns(database, system_clock).undo(account, run_id)


# They print a line after each turn. After so many, they wait at the end of the next one.
_IN_TURNS: Final[dict[str, Callable[[Report], Awaitable[None]]]] = {
    "index": index,
    "run_rules": run_rules,
}
# They are killed again and again until they have finished, and print how often.
_WHOLE: Final = {"change": change, "undo": undo}


def main(name: str, *arguments: str) -> None:
    if name in _IN_TURNS:
        turns = int(arguments[0]) if arguments else None
        report = killing.up_to(turns, lambda: print("turn", flush=True))  # noqa: T201 - the test reads it
        asyncio.run(_run(_IN_TURNS[name](report)))
    elif name in _WHOLE:
        print(killing.until_finished(_WHOLE[name](*arguments)))  # noqa: T201 - the test reads it
    elif arguments:
        port, folder = arguments
        work = keep_images if name == "keep_images" else read_links
        asyncio.run(work(int(port), Path(folder)))
    else:
        asyncio.run(read_sources() if name == "read_sources" else send_messages())


async def _run(work: Awaitable[None]) -> None:
    await work


if __name__ == "__main__":
    main(*sys.argv[1:])
