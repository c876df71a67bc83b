"""Fills a library with generated posts, once; later runs find it and use it again.

A library is made anew when the generator, the schema or what is stored of a post has changed.
"""

import asyncio
import hashlib
import shutil
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from benchmarks import posts, scales
from benchmarks.scales import Scale
from bowerbird.clock import system_clock
from bowerbird.library.bookmarks.upsert import Upsert
from bowerbird.model.accounts import Account, Key, Membership
from bowerbird.model.keys import key_hash, new_account_id, new_key
from bowerbird.model.rendering import RENDER_VERSION
from bowerbird.search.tokens import index_text
from bowerbird.settings import Settings
from bowerbird.sources.own_json import read
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.accounts.keys import KeyStore
from bowerbird.storage.database import Database
from bowerbird.storage.opening import open_database

_MIGRATIONS: Final = Path(__file__).parents[1] / "src/bowerbird/storage/migrations/sqlite"
_SAMPLE: Final = 200


class Library(msgspec.Struct, frozen=True):
    """A filled data folder and a key for each of its accounts."""

    folder: Path
    keys: list[str]


def ready(scale: Scale) -> Library:
    """The library of this scale, made now if it does not stand yet."""
    folder = scale.folder / "library"
    made_from = [file.read_bytes() for file in sorted(_MIGRATIONS.glob("*.sql"))]
    made_from += [stored for post in posts.batch(0, 0, _SAMPLE) for stored in _stored(post)]
    return Library(folder, made_once(folder, made_from, lambda f: _fill(f, scale)))


def made_once(folder: Path, parts: Iterable[bytes], make: Callable[[Path], list[str]]) -> list[str]:
    """What `make` returned when it last filled the folder from parts like these."""
    made_from = hashlib.blake2b(b"".join(parts), digest_size=16).hexdigest()
    note = folder / "made.json"
    if note.exists():
        standing = msgspec.json.decode(note.read_bytes(), type=tuple[str, list[str]])
        if standing[0] == made_from:
            return standing[1]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    keys = make(folder)
    # Written last: a folder without it was left unfinished.
    note.write_bytes(msgspec.json.encode((made_from, keys)))
    return keys


def _stored(post: bytes) -> Iterator[bytes]:
    """What decides about the bytes that the library keeps of a post."""
    incoming = read(post).incoming
    yield incoming.post_json
    yield incoming.content_hash
    yield index_text([incoming.record.tweet_details.text]).encode()
    yield b"%d" % RENDER_VERSION


def _fill(folder: Path, scale: Scale) -> list[str]:
    return asyncio.run(_filled(folder, scale))


async def _filled(folder: Path, scale: Scale) -> list[str]:
    database = await open_database(Settings(data_dir=folder))
    try:
        opened = [await new_account(database, number) for number in range(scale.accounts)]
        intake = Upsert(database, system_clock)
        taking: Awaitable[object] = asyncio.sleep(0)
        for batch in scales.batches(scale, f"Filling the library ({scale.total:,} posts)"):
            arrivals = [read(post).incoming for post in batch.posts]
            # One batch is read while the writer's thread stores the one before.
            await taking
            taking = asyncio.ensure_future(intake.take(opened[batch.account][0], arrivals))
            await asyncio.sleep(0)
        await taking
    finally:
        await database.close()
    return [key for _, key in opened]


async def new_account(database: Database, number: int) -> tuple[Account, str]:
    account_id, now = new_account_id(), system_clock()
    email = f"reader{number}@example.com"
    store = AccountStore(database)
    await store.create(Membership(account_id, email, "pro", 0, now), email)
    key = new_key(account_id)
    await KeyStore(database).create(
        account_id, Key(f"key_{number}", "bench", now, None), key_hash(key)
    )
    account = await store.by_id(account_id, month=0)
    assert account
    return account, key
