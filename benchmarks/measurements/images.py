"""Measures kept images: how long keeping them takes, and what they add to a page of the library."""

import asyncio
import gzip
import hashlib
import multiprocessing
import re
import shutil
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import msgspec
import uvloop

from benchmarks import bars, posts, servers, signed_in_library
from benchmarks.figures import Row, bar_row, number, per_one
from benchmarks.loads.client import Client
from benchmarks.options import Options
from bowerbird.clock import system_clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.imports.intake import Intake
from bowerbird.library.media.keeping import Keeping
from bowerbird.library.media.kept import MediaPreferences
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.model.accounts import Where
from bowerbird.settings import Settings
from bowerbird.sources.own_json import whole_post
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.files import Files
from bowerbird.storage.opening import open_database
from bowerbird.web.media import COOKIE, OFF
from tests.support.hosts.image_hosts import REDDIT, ImageHosts, X, image_hosts
from tests.support.posts import pictures

_POSTS, _IMAGES_PER_POST, _POSTS_PER_WRITE = 5_000, 2, 500
_IMAGES: Final = _POSTS * _IMAGES_PER_POST
# The first page of the library has images of X, which has small renditions of its originals.
_POSTS_PER_PAGE: Final = 30
_BYTES, _ORIGINAL_BYTES, _SMALL_BYTES = 30_000, 150_000, 24_000
_FIRST_SAVED: Final = datetime(2020, 1, 1, tzinfo=UTC)
_WARM_UPS, _VIEWS = 10, 80
_SRC: Final = re.compile(rb'src="(/media/\w+)"')


def measure(options: Options) -> Iterator[Row]:
    folder = options.work_folder / "images"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    ours, theirs = multiprocessing.Pipe()
    playing = multiprocessing.get_context("spawn").Process(target=_play, args=(folder, theirs))
    playing.start()
    try:
        token, seconds, cpu_seconds = uvloop.run(_keep(folder, ours.recv()))
    finally:
        playing.terminate()
        playing.join()
    yield bar_row(
        bars.KEPT_IMAGES,
        [seconds],
        cpu=per_one(cpu_seconds / _IMAGES, "image"),
        by_cpu=cpu_seconds,
        detail=f"{_POSTS:,} posts; the process that plays the hosts takes time of its own",
    )
    with servers.bowerbird(
        folder, options.log, log_level=options.log_level, keep_media="on"
    ) as server:
        server.wait_until_idle()
        yield from _page(server, token, options.rounds)
    shutil.rmtree(folder)


def _play(folder: Path, pipe: Connection) -> None:
    """The hosts, in a process of their own."""

    async def play() -> None:
        async with image_hosts(folder) as hosts:
            for post in range(_POSTS):
                for url in _urls(post):
                    size = _ORIGINAL_BYTES if X in url else _BYTES
                    hosts.put(url, _picture(url, size))
                    if X in url:
                        hosts.put(f"{url}?name=small", _picture(f"{url}?name=small", _SMALL_BYTES))
            pipe.send(hosts.port)
            await asyncio.Event().wait()

    asyncio.run(play())


_plain: Final = cache(pictures.png)


def _picture(url: str, size: int) -> bytes:
    """A picture that no other is equal to."""
    image = _plain(*((1200, 800) if size == _ORIGINAL_BYTES else (680, 453)))
    return image + hashlib.shake_128(url.encode()).digest(size - len(image))


def _urls(post: int) -> list[str]:
    is_first = post >= _POSTS - _POSTS_PER_PAGE
    place = f"{X}/media" if is_first else REDDIT
    return [f"https://{place}/{post}-{image}.png" for image in range(_IMAGES_PER_POST)]


async def _keep(folder: Path, port: int) -> tuple[str, float, float]:
    """The token of the session, and how long it took: by the clock, and of CPU."""
    settings = Settings(data_dir=folder)
    database = await open_database(settings)
    try:
        account_id, token = await _filled(database)
        hosts = ImageHosts(folder, port=port)
        keeping = Keeping(database, Files(settings), system_clock, settings, hosts.fetcher)

        async def report(_done: int, _total: int) -> None:
            pass

        started, cpu_started = time.perf_counter(), time.process_time()
        await keeping.run(account_id, report)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
        account = await AccountStore(database).by_id(account_id, month=0)
        assert account
        state = await MediaPreferences(database, system_clock, settings).state(account)
        if state.kept != _IMAGES:
            raise RuntimeError(f"{state.kept} of {_IMAGES} images are kept: {state}")
        return token, seconds, cpu_seconds
    finally:
        await database.close()


async def _filled(database: Database) -> tuple[int, str]:
    owner = await Accounts(database, system_clock).create("owner@example.com")
    account = await AccountStore(database).by_id(owner, month=0)
    assert account
    intake = Intake(database, system_clock)
    for first in range(0, _POSTS, _POSTS_PER_WRITE):
        batch = posts.batch(0, first, _POSTS_PER_WRITE)
        shown = [_with_images(post, first + place) for place, post in enumerate(batch)]
        await intake.take(account, [whole_post(post) for post in shown])
    sessions, where = Sessions(database, system_clock), Where("192.0.2.7", "Firefox on Linux")
    token = await database.write(lambda work: sessions.start(Writable(work, owner), "link", where))
    return owner, token


def _with_images(post: bytes, place: int) -> bytes:
    record: dict[str, Any] = msgspec.json.decode(post)
    attached = [{"type": "image", "url": url, "alt_text": "a bird"} for url in _urls(place)]
    saved_at = (_FIRST_SAVED + timedelta(hours=place)).isoformat(timespec="milliseconds")
    record |= {
        "sort_index": place << 20,
        "bookmarked_at": saved_at,
        "is_archived": False,
        "is_read": False,
    }
    record["tweet_details"]["attachments"] = attached
    record["tweet_details"]["quoted_tweet"] = None
    record["tweet_details"]["article"] = None
    record["author_details"].pop("profile_image", None)
    return msgspec.json.encode(record)


def _page(server: servers.Server, token: str, rounds: int) -> Iterator[Row]:
    session = signed_in_library.cookie(server.port, token)
    switch = f"{session}; {signed_in_library.cookie(server.port, OFF, COOKIE)}"
    asked = {
        "with": _request(server, "/library", session),
        "without": _request(server, "/library", switch),
    }
    costs: dict[str, list[float]] = {name: [] for name in asked}
    with Client(server.port) as client:
        for _ in range(rounds):
            for name, sent in asked.items():
                for _ in range(_WARM_UPS):
                    client.send(sent)
                before = server.cpu_seconds()
                for _ in range(_VIEWS):
                    client.send(sent)
                costs[name].append((server.cpu_seconds() - before) / _VIEWS * 1000)
        page = client.send(asked["with"]).body
        paths = _SRC.findall(gzip.decompress(page))
        files = [client.send(_request(server, path.decode(), session)).body for path in paths]
    pairs = zip(costs["with"], costs["without"], strict=True)
    detail = ", ".join(f"{number(statistics.median(of))} ms {name}" for name, of in costs.items())
    yield bar_row(bars.PAGE_IMAGES, [ours - other for ours, other in pairs], detail=detail)
    detail = f"{len(files)} renditions of {_SMALL_BYTES:,} bytes, and {len(page):,} of the page"
    yield bar_row(bars.PAGE_BYTES, [(len(page) + sum(map(len, files))) / 1_000_000], detail=detail)


def _request(server: servers.Server, path: str, cookies: str) -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: localhost:{server.port}\r\nAccept: text/html\r\n"
        f"Accept-Encoding: gzip\r\nCookie: {cookies}\r\n\r\n"
    ).encode()
