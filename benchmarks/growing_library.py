"""A library with accounts of 10,000 and 100,000 posts, which later runs reuse."""

import asyncio
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

from rich.progress import track

from benchmarks import library, posts
from benchmarks.library import Library
from benchmarks.scales import Scale
from bowerbird.clock import system_clock
from bowerbird.library.imports.intake import Intake
from bowerbird.settings import Settings
from bowerbird.sources.own_json import whole_post
from bowerbird.storage.database import Database
from bowerbird.storage.opening import open_database

_BATCH: Final = 2_000


def prepare(scale: Scale) -> Library:
    """One key per account, the smallest account first."""
    folder = scale.folder / "growing"
    inputs = [*library.stored_form(), repr(scale.growing).encode()]
    keys = library.fill_once(folder, inputs, lambda f: asyncio.run(_fill(f, scale.growing)))
    return Library(folder, keys)


async def _fill(folder: Path, sizes: tuple[int, ...]) -> list[str]:
    database = await open_database(Settings(data_dir=folder))
    try:
        with ProcessPoolExecutor(1) as pool:
            return [await _fill_account(database, pool, *each) for each in enumerate(sizes)]
    finally:
        await database.close()


async def _fill_account(
    database: Database, pool: ProcessPoolExecutor, number: int, size: int
) -> str:
    account, key = await library.new_account(database, number)
    intake = Intake(database, system_clock)
    waiting = pool.submit(posts.batch, number, 0, _BATCH)
    for first in track(range(0, size, _BATCH), description=f"Filling an account ({size:,} posts)"):
        batch = waiting.result()
        # Generated while this batch is stored.
        waiting = pool.submit(posts.batch, number, first + _BATCH, _BATCH)
        await intake.take(account, [whole_post(post) for post in batch])
    return key
