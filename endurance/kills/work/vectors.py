"""A build of vectors that is killed: it continues, and gives the vectors of an undisturbed one."""

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bowerbird.cli.context import opened_library, settings_from_environment
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.storage.database import Transaction
from bowerbird.storage.words.vectors import VectorStore
from endurance.kills.trials import EMAIL, Kind, Library, Trial
from tests.crash.killing import Moment, Report
from tests.support import make
from tests.support.hosts.embedding_service import WIDTH, embedding_service

_POSTS: Final = 600
_ROWS: Final = "SELECT number, model, text_hash, scales, vectors FROM vector ORDER BY number"


def _play_service(_: Path, ready: Callable[[dict[str, Any], Any], None]) -> None:
    with embedding_service() as service:
        options = {"url": service.url, "key": service.key, "model": "tiny"}
        ready({f"embedding_{name}": value for name, value in options.items()}, None)
        threading.Event().wait()


def _fill(library: Library) -> list[tuple[Any, ...]]:
    """Returns the vectors of an undisturbed build, and leaves none of them."""
    posts = [make.post(text=f"bird {n} near tree {n % 50}") for n in range(_POSTS)]
    file = library.folder / "posts.json"
    file.write_text(json.dumps(posts))
    library.command("import", EMAIL, str(file))
    asyncio.run(_build(lambda: None))
    vectors = asyncio.run(_vectors(library.settings))
    asyncio.run(_forget(library.settings))
    return vectors


def _embed(trial: Trial) -> None:
    trial.until_finished(lambda report: asyncio.run(_build(report)), Moment(0, 2, 0.02))
    assert asyncio.run(_vectors(trial.settings)) == trial.state


async def _build(report: Report) -> None:
    """Does what `bowerbird embed` does."""
    settings = settings_from_environment()
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        models = Models(settings, is_low_priority=False)

        async def progress(_done: int, _total: int) -> None:
            report()

        try:
            builds = VectorBuilds(opened.database, models, system_clock)
            await builds.build(account.account_id, progress)
        finally:
            await models.close()


async def _vectors(settings: Settings) -> list[tuple[Any, ...]]:
    async with opened_library(settings) as opened:
        account = await Accounts(opened.database, system_clock).find(EMAIL)
        (store,) = await VectorStore(opened.database).stores(account.account_id)
        assert (store.embedded, store.is_built, store.dimensions) == (_POSTS, True, WIDTH)
        rows = [tuple(row) for row in await opened.database.rows(_ROWS, {})]
        assert len(rows) == _POSTS
        return rows


async def _forget(settings: Settings) -> None:
    async def work(transaction: Transaction) -> None:
        for table in ("vector", "vector_store"):
            await transaction.run(f"DELETE FROM {table}", {})  # noqa: S608 - two fixed names

    async with opened_library(settings) as opened:
        await opened.database.write(work)


EMBEDDING: Final = Kind(_embed, _fill, stand_in=_play_service)
