"""A library in a temporary folder, filled and embedded for one measurement of search."""

import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from rich.progress import track

from benchmarks import library
from bowerbird.clock import system_clock
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.searching.explaining import NOT_CLOSE
from bowerbird.library.imports.intake import Intake
from bowerbird.library.upkeep.corrections import Reindexing
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import RELEVANCE
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.sources.own_json import whole_post
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.opening import open_database

_CHUNK: Final = 1_000


class Found(NamedTuple):
    post_ids: list[str]
    total: int
    is_relaxed: bool
    is_close: bool


class SearchableLibrary(NamedTuple):
    bookmarks: Bookmarks
    account: Account

    async def search(self, terms: dict[str, str], limit: int) -> Found:
        query = ListQuery(**{"sort_by": RELEVANCE, **terms}, limit=limit)
        page = await self.bookmarks.list(self.account, query)
        posts = msgspec.json.decode(b"[%b]" % page.body)
        post_ids = [post["post_id"] for post in posts]
        return Found(post_ids, page.total_count, page.is_relaxed, page.reason != NOT_CLOSE)


@asynccontextmanager
async def filled(posts: Sequence[bytes]) -> AsyncIterator[SearchableLibrary]:
    """`posts` have the format of the API."""
    with tempfile.TemporaryDirectory() as folder:
        database = await open_database(Settings(data_dir=Path(folder)))
        models = local_models()
        try:
            account, _ = await library.new_account(database, 0)
            intake = Intake(database, system_clock)
            for first in track(range(0, len(posts), _CHUNK), description="Importing"):
                chunk = posts[first : first + _CHUNK]
                await intake.take(account, [whole_post(post) for post in chunk])
            await Reindexing(database, system_clock).run(account.account_id, _ignore)
            builds = VectorBuilds(database, models, system_clock)
            await builds.build(account.account_id, _print_progress)
            current = await AccountStore(database).by_id(account.account_id, 0)
            assert current
            yield SearchableLibrary(Bookmarks(database, SemanticSearch(database, models)), current)
        finally:
            await models.close()
            await database.close()


def local_models() -> Models:
    name = "BOWERBIRD_MODEL_DIR"
    given = {name: os.environ[name]} if name in os.environ else {}
    return Models(Settings.from_env(given), is_low_priority=False)


async def _ignore(_done: int, _total: int) -> None:
    """Counting the words of a few posts takes no time."""


async def _print_progress(done: int, total: int) -> None:
    print(f"\rEmbedding {done:,} of {total:,}", end="" if done < total else "\n", flush=True)
