"""The library of the sandbox: sample posts, labels and Smart Views, loaded on the first request.

Ids and dates are fixed, so that a cursor, an ETag or an export id from one process is valid in
every other process. The sandbox has no model, because anybody may call it and a model takes memory
and time: posts are ranked by letters that they share with a term, always in the same order.
"""

import asyncio
import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bowerbird.library import demo
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.exports.links import SECRET
from bowerbird.library.imports.intake import Intake
from bowerbird.library.labels.labels import Labels
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.views.views import Views
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.words import VectorStoreState
from bowerbird.requests.fields import read_scalar
from bowerbird.requests.labels import LabelChange
from bowerbird.requests.views import NewView
from bowerbird.sources import own_json
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Reader, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.sign_in import SecretStore
from bowerbird.storage.sqlite.rehearsal import RehearsalDatabase

if TYPE_CHECKING:
    from bowerbird.search.meaning.arrays import Nearness


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
        posts = [own_json.whole_post(self._with_pictures(bytes(record))) for record in records]
        await Intake(database, _clock).take(account, posts)
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
    library = await LibraryStore(database).lock(transaction, account.account_id)
    changeset = await Changeset.open(database, library, wanted)
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


_STATE: Final = VectorStoreState(
    model=b"sandbox",
    name="sandbox",
    dimensions=1,
    embedded=1_000_000,
    complete_below=1_000_000,
    invalidations=0,
    generation=1,
    is_built=True,
)
_EVERYTHING: Final = BookmarkFilter(unread_only=False, hide_archived=False)
_FLOOR: Final = 0.4
# Longer terms are cut: the time of a ranking grows with them.
_MAX_CHARACTERS: Final = 300
_GRAM: Final = 3
_WORD: Final = re.compile(r"\w+")


class SandboxMeaning(SemanticSearch):
    """Ranks the fixtures without a model."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._texts: dict[int, str] = {}

    async def serving(self, account: Account) -> VectorStoreState | None:  # noqa: ARG002 - one account
        return _STATE

    async def required(
        self,
        account: Account,  # noqa: ARG002 - one account
        store: VectorStoreState | None,  # noqa: ARG002
    ) -> VectorStoreState | None:
        return _STATE

    async def require(
        self,
        account: Account,  # noqa: ARG002
        reader: Reader | None = None,  # noqa: ARG002 - nothing is read
    ) -> VectorStoreState | None:
        return _STATE

    async def nearness(
        self,
        account: Account,
        store: VectorStoreState,  # noqa: ARG002 - the only one
        text: str,
    ) -> "Nearness":
        from bowerbird.search.meaning.arrays import Nearness, np  # noqa: PLC0415 - imports numpy

        scores = await self.scores(account, text)
        numbers = np.array(sorted(scores), np.int64)
        found = np.array([scores[number] for number in numbers.tolist()], np.float32)
        return Nearness(numbers, found, _FLOOR)

    async def near(self, account: Account, text: str, candidates: Sequence[int]) -> tuple[int, ...]:
        """The candidates that a list with this term would contain."""
        scores = await self.scores(account, text)
        return tuple(number for number in candidates if scores.get(number, 0.0) >= _FLOOR)

    async def scores(self, account: Account, text: str) -> Mapping[int, float]:
        """A score from 0 to 1 for each post: the share of the term's rare letters in it."""
        if not self._texts:
            self._texts = await self._read(account)
        grams = set(_grams(text.casefold()[:_MAX_CHARACTERS]))
        found = {
            gram: {number for number, content in self._texts.items() if gram in content}
            for gram in grams
        }
        weights = {gram: math.log1p(len(self._texts) / (1 + len(found[gram]))) for gram in grams}
        total = sum(weights.values()) or 1.0
        return {
            number: sum(weight for gram, weight in weights.items() if number in found[gram]) / total
            for number in self._texts
        }

    async def _read(self, account: Account) -> dict[int, str]:
        numbers = await self._stores.bookmarks.numbers(account, _EVERYTHING, None)
        joined, _ = await self._stores.bookmarks.contents(account, list(numbers))
        posts: list[dict[str, Any]] = msgspec.json.decode(b"[" + joined + b"]")
        return dict(zip(numbers, map(_text_of, posts), strict=True))


def _text_of(post: dict[str, Any]) -> str:
    details = post["tweet_details"]
    article = details.get("article") or {}
    texts = (details["text"], article.get("title"), article.get("plain_text"))
    return " ".join(part for part in (*texts, *(post["tags"] or ())) if part).casefold()


def _grams(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if len(word) <= _GRAM:
            yield word
        yield from (word[at : at + _GRAM] for at in range(len(word) - _GRAM + 1))
