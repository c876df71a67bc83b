"""Measures what it costs to highlight the words of a search in a page of long texts."""

import asyncio
import random
import shutil
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from benchmarks import bars, library, posts, servers
from benchmarks.figures import Row, Times, bar_row
from benchmarks.loads import load
from benchmarks.loads.client import Client
from benchmarks.options import Options
from benchmarks.vocabulary import FUNCTION_WORDS, latin
from bowerbird.clock import system_clock
from bowerbird.library.imports.intake import Intake
from bowerbird.settings import Settings
from bowerbird.sources.own_json import whole_post
from bowerbird.storage.opening import open_database

_POSTS: Final = 200
_PAGE: Final = 20
_WORDS: Final = 500
_ROUNDS: Final = 40


def measure(options: Options) -> Iterator[Row]:
    folder = options.work_folder / "long-texts"
    shutil.rmtree(folder, ignore_errors=True)
    key = asyncio.run(_fill(folder))
    plain, marked = Times(), Times()
    with (
        servers.bowerbird(folder, options.log, answer_cache_mb=0, tool_preload="off") as server,
        Client(server.port) as client,
    ):
        server.wait_until_idle()
        for number in range(_ROUNDS):
            word = FUNCTION_WORDS[number % len(FUNCTION_WORDS)]
            path = f"/v1/bookmarks?limit={_PAGE}&q={word}&is_unread_only=false"
            for times, query in ((plain, ""), (marked, "&highlight=true")):
                load.add_request(times, server, client, f"{path}{query}", key)
    shutil.rmtree(folder)
    added = [
        (with_marks - without) * 1000
        for with_marks, without in zip(marked.cpu_seconds, plain.cpu_seconds, strict=True)
    ]
    whole = statistics.median(marked.cpu_seconds) * 1000
    detail = (
        f"{_PAGE} posts with articles of {_WORDS:,} words; the whole request {whole:.1f} ms of "
        f"CPU, {marked.percentile(50):.1f} ms by the clock; median of {_ROUNDS}"
    )
    yield bar_row(bars.HIGHLIGHT, added, detail=detail)


async def _fill(folder: Path) -> str:
    database = await open_database(Settings(data_dir=folder))
    try:
        account, key = await library.new_account(database, 0)
        rng, language = random.Random("long texts"), latin()
        incoming = []
        for post in posts.batch(0, 0, _POSTS):
            record = msgspec.json.decode(post)
            words = language.phrase(rng, _WORDS)
            # Anywhere in the text, as in a real one: the first match may be far from its start.
            words[rng.randrange(_WORDS)] = rng.choice(FUNCTION_WORDS)
            record["tweet_details"]["article"] = {"title": "t", "plain_text": " ".join(words)}
            incoming.append(whole_post(msgspec.json.encode(record)))
        await Intake(database, system_clock).take(account, incoming)
    finally:
        await database.close()
    return key
