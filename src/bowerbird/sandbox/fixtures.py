"""The library of the sandbox: sample posts, labels and Smart Views, loaded on the first request.

Ids and dates are fixed, so that a cursor, an ETag or an export id from one process is valid in
every other process.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

import msgspec

from bowerbird.library import demo
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.writing.changeset import Changesets
from bowerbird.library.bookmarks.writing.upsert import Upsert
from bowerbird.library.exports.links import SECRET
from bowerbird.library.labels.labels import Labels
from bowerbird.library.views.views import Views
from bowerbird.model.accounts import Account
from bowerbird.requests.fields import read_scalar
from bowerbird.requests.labels import LabelChange
from bowerbird.requests.views import NewView
from bowerbird.sources import own_json
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.sign_in.one_time_links import SecretStore
from bowerbird.storage.sqlite.rehearsal import RehearsalDatabase

_EMAIL: Final = "sandbox@example.com"
# 2026-10-10T06:00:00, after the last sample post was saved.
_CREATED_AT: Final = 1_791_612_000_000_000


class Fixtures:
    def __init__(self, pictures: Mapping[str, str] = MappingProxyType({})) -> None:
        """`pictures`: where the pictures of sample posts are really, by their addresses there."""
        self._pictures = pictures
        self.database = RehearsalDatabase()
        self._account: Account | None = None
        self._filling = asyncio.Lock()

    async def account(self) -> Account:
        """The only account of the sandbox. The first call fills its library."""
        if self._account is None:
            async with self._filling:
                if self._account is None:
                    self._account = await self.database.fill(self._fill)
        return self._account

    async def _fill(self, database: Database) -> Account:
        store = AccountStore(database)
        account = await demo.create_only(store, _EMAIL, _CREATED_AT)
        records = _read("posts", list[msgspec.Raw])
        posts = [own_json.read(self._with_pictures(bytes(record))).incoming for record in records]
        await Upsert(database, _clock).take(account, posts)
        await database.write(lambda transaction: _label_and_view(database, transaction, account))
        epoch = _epoch()
        # Not secret: a forged download link only leads to a file of public sample posts.
        await SecretStore(database).put_new(SECRET, epoch.to_bytes(32), _CREATED_AT)
        # A random epoch would make cursors and ETags of one process invalid in another.
        return msgspec.structs.replace(await demo.only_account(store), epoch=epoch)

    def _with_pictures(self, post: bytes) -> bytes:
        for address, place in self._pictures.items():
            post = post.replace(f'"{address}"'.encode(), f'"{place}"'.encode())
        return post


async def _label_and_view(database: Database, transaction: Transaction, account: Account) -> None:
    labels = Labels(database, _clock, is_sandbox=True)
    wanted = _read("labels", dict[str, Any])
    changeset = await Changesets(database).open(transaction, account.account_id, wanted)
    for name, metadata in wanted.items():
        label = changeset.label(name)
        assert label is not None, name
        change = LabelChange(metadata=metadata)
        await labels.update(transaction, account, str(label.label_id), change)
    views = Views(database, Bookmarks(database), _clock)
    for view in _read("views", list[NewView]):
        await views.add(transaction, account, view)


def _clock() -> int:
    return _CREATED_AT


def _epoch() -> int:
    content = b"".join(_bytes(name) for name in ("posts", "labels", "views"))
    return int.from_bytes(hashlib.blake2b(content, digest_size=7).digest())


def _read(name: str, kind: Any) -> Any:
    return msgspec.json.decode(_bytes(name), type=kind, dec_hook=read_scalar)


def _bytes(name: str) -> bytes:
    return (resources.files("bowerbird") / "fixtures" / f"{name}.json").read_bytes()
