"""Fills a library with generated posts once; later runs reuse it.

It is filled again when the generator, the schema or the stored form of a post has changed.
"""

import asyncio
import hashlib
import shutil
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from benchmarks import posts, scales
from benchmarks.scales import Scale
from bowerbird.clock import system_clock
from bowerbird.library.imports.intake import Intake
from bowerbird.model.accounts import Account, Key, Membership
from bowerbird.model.keys import key_hash, new_account_id, new_key
from bowerbird.model.posts.bookmarks import RENDER_VERSION
from bowerbird.search.words.tokens import index_text
from bowerbird.settings import Settings
from bowerbird.sources.own_json import read, whole_post
from bowerbird.storage import migrations
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.accounts.credentials import KeyStore
from bowerbird.storage.database import Database, Writable
from bowerbird.storage.opening import open_database

_SAMPLE: Final = 200


class Library(msgspec.Struct, frozen=True):
    """A filled data folder and a key for each of its accounts."""

    folder: Path
    keys: list[str]


def prepare(scale: Scale) -> Library:
    """The library of this scale. Fills it if it does not exist yet."""
    folder = scale.folder / "library"
    return Library(folder, fill_once(folder, stored_form(), lambda f: _fill(f, scale)))


@cache
def stored_form() -> list[bytes]:
    """The tables and a sample of what is stored in them. When it changes, libraries are filled."""
    tables = [migration.sql.encode() for migration in migrations.available("sqlite")]
    return tables + [stored for post in posts.batch(0, 0, _SAMPLE) for stored in _stored(post)]


def fill_once(
    folder: Path, inputs: Iterable[bytes], fill: Callable[[Path], list[str]]
) -> list[str]:
    """Calls `fill` unless it filled the folder from the same inputs before; returns the keys."""
    digest = hashlib.blake2b(b"".join(inputs), digest_size=16).hexdigest()
    record = folder / "filled.json"
    if record.exists():
        filled = msgspec.json.decode(record.read_bytes(), type=tuple[str, list[str]])
        if filled[0] == digest:
            return filled[1]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    keys = fill(folder)
    # Written last, so that a folder without it is incomplete.
    record.write_bytes(msgspec.json.encode((digest, keys)))
    return keys


def _stored(post: bytes) -> Iterator[bytes]:
    """The data that decides which bytes the library stores for a post."""
    incoming = read(post).incoming
    yield incoming.post_json
    yield incoming.content_hash
    yield index_text([incoming.record.tweet_details.text]).encode()
    yield b"%d" % RENDER_VERSION


def _fill(folder: Path, scale: Scale) -> list[str]:
    return asyncio.run(_fill_async(folder, scale))


async def _fill_async(folder: Path, scale: Scale) -> list[str]:
    database = await open_database(Settings(data_dir=folder))
    try:
        accounts = [await new_account(database, number) for number in range(scale.accounts)]
        intake = Intake(database, system_clock)
        writing: Awaitable[object] = asyncio.sleep(0)
        for batch in scales.batches(scale, f"Filling the library ({scale.total:,} posts)"):
            incoming = [whole_post(post) for post in batch.posts]
            # Parses this batch while the writer thread stores the previous one.
            await writing
            writing = asyncio.ensure_future(intake.take(accounts[batch.account][0], incoming))
            await asyncio.sleep(0)
        await writing
    finally:
        await database.close()
    return [key for _, key in accounts]


async def new_account(database: Database, number: int) -> tuple[Account, str]:
    account_id, now = new_account_id(), system_clock()
    email = f"reader{number}@example.com"
    store = AccountStore(database)
    await store.create(Membership(account_id, email, "pro", 0, now), email)
    key = new_key(account_id)
    stored, keys = Key(f"key_{number}", "bench", now, None), KeyStore(database)
    await database.write(
        lambda within: keys.create(Writable(within, account_id), stored, key_hash(key))
    )
    account = await store.by_id(account_id, month=0)
    assert account
    return account, key
