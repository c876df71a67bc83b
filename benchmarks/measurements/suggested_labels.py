"""Measures suggested labels: 100 posts in one call, in a library with 500 labels.

Every post has its own label, so that as many posts vote as can. Vectors are random, because their
values do not change how long a comparison takes. Every call asks for other posts.
"""

import asyncio
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from rich.progress import track

from benchmarks import bars, library, posts
from benchmarks.figures import Row, bar_row
from benchmarks.measurements.meaning import store_random_vectors
from benchmarks.options import Options
from benchmarks.vocabulary import rare_words
from bowerbird.clock import system_clock
from bowerbird.library.imports.intake import Intake
from bowerbird.library.labels.suggestions import LabelSuggestions
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.sources.own_json import whole_post
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.opening import open_database

_LABELS: Final = 500
_ASKED: Final = 100
_CALLS: Final = 20
_BATCH: Final = 2_000


def measure(options: Options) -> Iterator[Row]:
    settings = Settings(model_dir=os.environ.get("BOWERBIRD_MODEL_DIR", ""))
    models = Models(settings, is_low_priority=False)
    if models.current is None or models.second is None:
        raise RuntimeError("A model is not built. Build it with: bowerbird model")
    folder, size = options.scale.folder / "labels", options.scale.largest
    inputs = [*library.stored_form(), f"{size} {_LABELS}".encode(), models.current.identity]
    library.fill_once(folder, inputs, lambda f: asyncio.run(_fill(f, size, models)))
    yield asyncio.run(_suggest(folder, models))


async def _suggest(folder: Path, models: Models) -> Row:
    database = await open_database(Settings(data_dir=folder))
    try:
        suggestions = LabelSuggestions(database, SemanticSearch(database, models))
        accounts = AccountStore(database)
        account = await accounts.by_id((await accounts.all())[0].account_id, 0)
        assert account
        everything = BookmarkFilter(unread_only=False, hide_archived=False)
        ids = await BookmarkStore(database).post_ids(account, everything)
        random.Random("asked").shuffle(ids)
        cpu: list[float] = []
        for call in track(range(_CALLS + 1), description="Suggesting labels"):
            started = time.process_time()
            found = await suggestions.of_posts(account, ids[call * _ASKED : (call + 1) * _ASKED])
            cpu.append((time.process_time() - started) * 1000)
            assert len(found) == _ASKED
    finally:
        await database.close()
    # The first reads all vectors and embeds the names of labels.
    first, *others = cpu
    return bar_row(
        bars.SUGGESTED_LABELS,
        others,
        work=f"{bars.SUGGESTED_LABELS.name}, {account.total:,} posts, {_LABELS} labels",
        detail=f"{_CALLS} calls, {min(others):.0f} to {max(others):.0f} ms; "
        f"the first, which reads the vectors, {first:,.0f} ms",
    )


async def _fill(folder: Path, size: int, models: Models) -> list[str]:
    database = await open_database(Settings(data_dir=folder))
    labels = [f"{word} {n}" for n, word in enumerate(rare_words(random.Random("names"), _LABELS))]
    try:
        account, key = await library.new_account(database, 0)
        intake = Intake(database, system_clock)
        for first in track(range(0, size, _BATCH), description=f"Importing {size:,} posts"):
            batch = [msgspec.json.decode(each) for each in posts.batch(0, first, _BATCH)]
            for number, post in enumerate(batch):
                post["tags"] = [labels[(first + number) % _LABELS]]
            arriving = [whole_post(msgspec.json.encode(post)) for post in batch]
            await intake.take(account, arriving)
        await store_random_vectors(database, account, size, models)
    finally:
        await database.close()
    return [key]
