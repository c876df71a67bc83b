"""Measures the reader of X's web pages: from the JSON of a page to records, and into a library."""

import asyncio
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks import bars, library, posts
from benchmarks.figures import Rates, Row, bar_row, per_one
from benchmarks.options import Options
from bowerbird.clock import system_clock
from bowerbird.library.imports.intake import Intake
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.settings import Settings
from bowerbird.sources.found import FoundPost
from bowerbird.sources.x import graphql
from bowerbird.sources.x.pages import Operation, PageRequest
from bowerbird.storage.opening import open_database

_POSTS, _POSTS_PER_PAGE = 2_000, 20
_NOW: Final = 1_788_264_000_000_000
_FIRST_ID: Final = 2_090_000_000_000_000_000
_SAVED_AT_MS: Final = 1_788_200_000_000
_REQUEST: Final = PageRequest(operation=Operation.BOOKMARKS)
# Fields that the reader skips: a real post has 8.6 kB, most of it about the author and the sizes
# of images.
_SKIPPED: Final = {
    f"field_{number}": {"is_set": False, "count": number, "label": "x" * 40, "list": [number, {}]}
    for number in range(50)
}


def measure(options: Options) -> Iterator[Row]:
    pages = list(_pages())
    size = sum(map(len, pages)) / _POSTS
    _read(pages)
    parsed, stored = Rates(), Rates()
    for _ in range(options.rounds):
        started, cpu_started = time.perf_counter(), time.process_time()
        _read(pages)
        seconds = time.perf_counter() - started
        parsed.add(_POSTS, seconds, time.process_time() - cpu_started)
        stored.add(_POSTS, *asyncio.run(_store(pages, options.work_folder / "x")))
    detail = f"{_POSTS:,} posts of {size / 1000:.1f} kB, {_POSTS_PER_PAGE} per page"
    for bar, rates in ((bars.X_RECORDS, parsed), (bars.X_STORED, stored)):
        cpu = per_one(rates.cpu, "post")
        yield bar_row(bar, rates.per_second, cpu=cpu, by_cpu=1 / rates.cpu, detail=detail)


async def _store(pages: list[bytes], folder: Path) -> tuple[float, float]:
    """Into an empty library, with a transaction for each page. The seconds and those of CPU."""
    shutil.rmtree(folder, ignore_errors=True)
    database = await open_database(Settings(data_dir=folder))
    try:
        account, _ = await library.new_account(database, 0)
        run = await ImportRuns(database, system_clock).start(
            account, source="x", kind="full", client="benchmark"
        )
        intake = Intake(database, system_clock)
        new = 0
        started, cpu_started = time.perf_counter(), time.process_time()
        for page in pages:
            read = graphql.read_page(_REQUEST, page, _NOW).posts
            found = [post for post in read if isinstance(post, FoundPost)]
            new += (await intake.take(account, found, run_id=run.run_id)).counts.new
        seconds = time.perf_counter() - started
        cpu_seconds = time.process_time() - cpu_started
    finally:
        await database.close()
    shutil.rmtree(folder)
    if new != _POSTS:
        raise RuntimeError(f"The library has {new} of {_POSTS} posts.")
    return seconds, cpu_seconds


def _read(pages: list[bytes]) -> None:
    found = 0
    for page in pages:
        for post in graphql.read_page(_REQUEST, page, _NOW).posts:
            if isinstance(post, FoundPost):
                msgspec.json.encode(post.record)
                found += 1
    if found != _POSTS:
        raise RuntimeError(f"The reader found {found} of {_POSTS} posts.")


def _pages() -> Iterator[bytes]:
    records = [msgspec.json.decode(raw) for raw in posts.batch(0, 0, _POSTS)]
    for first in range(0, _POSTS, _POSTS_PER_PAGE):
        part = records[first : first + _POSTS_PER_PAGE]
        entries = [_entry(record, first + place) for place, record in enumerate(part)]
        instructions = [{"type": "TimelineAddEntries", "entries": entries}]
        timeline = {"timeline": {"instructions": instructions}}
        yield msgspec.json.encode({"data": {"bookmark_timeline_v2": timeline}})


def _entry(record: dict[str, Any], number: int) -> dict[str, Any]:
    result = _tweet(record, _FIRST_ID + number)
    if record["tweet_details"]["quoted_tweet"]:
        result["quoted_status_result"] = {"result": _tweet(record, _FIRST_ID + number + _POSTS)}
    return {
        "entryId": f"tweet-{_FIRST_ID + number}",
        "sortIndex": str((_SAVED_AT_MS - number) << 20),
        "content": {
            "itemContent": {"itemType": "TimelineTweet", "tweet_results": {"result": result}}
        },
    }


def _tweet(record: dict[str, Any], number: int) -> dict[str, Any]:
    author = record["author_details"]
    medium = {
        "type": "photo",
        "url": "https://t.co/medium",
        "media_url_https": "https://images.example.com/1.jpg",
        "original_info": {"width": 1200, "height": 800},
    }
    link = {"url": "https://t.co/link", "expanded_url": "https://www.example.com/a/page"}
    user = {
        "rest_id": record["author_id"],
        "core": {"screen_name": author["username"], "name": author["name"]},
        "avatar": {"image_url": author["profile_image"]},
        "legacy": _SKIPPED,
    }
    legacy = {
        "full_text": f"{record['tweet_details']['text']} https://t.co/link https://t.co/medium",
        "created_at": "Thu Aug 20 10:00:00 +0000 2026",
        "conversation_id_str": str(number),
        "favorite_count": number % 100,
        "entities": {"urls": [link]},
        "extended_entities": {"media": [medium]},
    }
    return {
        "__typename": "Tweet",
        "rest_id": str(number),
        "core": {"user_results": {"result": user}},
        "legacy": legacy,
        "views": {"count": "77"},
    }
