"""Notices that the embedded text of posts has changed, and starts builds of missing vectors.

Unused vectors are removed. A hash of the text says whether it has changed.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.turns import lock_library
from bowerbird.model import json_depth
from bowerbird.model.jobs import EMBEDDING
from bowerbird.model.posts.bookmarks import Post, own_words
from bowerbird.model.posts.media import DOMAIN, attached_texts
from bowerbird.model.words import BUILD
from bowerbird.search.meaning.embedding import Embedder
from bowerbird.search.meaning.models import Models
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.upkeep.jobs import JobStore
from bowerbird.storage.words.vectors import CurrentModels, VectorStore


def embedding_text(post: Post) -> str:
    """The author's own and quoted text, name and note, attachments; the text of an article last.

    Flags, labels and counts are left out: they change often and carry no meaning.
    """
    return _joined(post, has_names=True)


def _joined(post: Post, *, has_names: bool) -> str:
    details = post.tweet_details
    article, quoted = details.article or {}, details.quoted_tweet or {}
    fields = [article.get("title"), details.text, quoted.get("text"), _article_title(quoted)]
    fields += [_author(post) if has_names else None, *own_words(post)]
    attached = [*attached_texts(details.attachments), *attached_texts(quoted.get("attachments"))]
    fields += [text for field, text in attached if has_names or field != DOMAIN]
    fields += [article.get("plain_text") or article.get("preview_text")]
    return "\n".join(field for field in fields if field)


def text_hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def text_of_rendering(rendering: bytes, *, has_names: bool = True) -> str:
    """The text of a stored post; empty if the post cannot be decoded.

    Without the names of authors and domains, it shows the language of the post.
    """
    try:
        post = msgspec.json.decode(json_depth.cut(rendering + b"}"), type=Post)
    except msgspec.MsgspecError:
        return ""
    return _joined(post, has_names=has_names)


def _author(post: Post) -> str:
    # A post without any text is embedded by its author alone.
    return post.author_details.name or post.author_username


def _article_title(quoted: dict[str, Any]) -> str | None:
    return (quoted.get("article") or {}).get("title")


class StaleVectors:
    def __init__(self, database: Database) -> None:
        self._store = VectorStore(database)

    async def mark(
        self,
        transaction: Transaction,
        account_id: int,
        numbers: Sequence[int],
        hash_of: Callable[[int], bytes],
    ) -> None:
        """Marks the vectors whose text now has another hash. They serve until the next build.

        `hash_of` is only called for posts with a vector. The caller has locked the library.
        """
        if not numbers:
            return
        hashes: dict[int, bytes] = {}
        stale: dict[bytes, list[int]] = {}
        for number, model, hash in await self._store.text_hashes(transaction, account_id, numbers):
            if number not in hashes:
                hashes[number] = hash_of(number)
            if hash != hashes[number]:
                stale.setdefault(model, []).append(number)
        await self._store.mark_stale(transaction, account_id, stale)


JOB: Final = BUILD
BUILD_EVERY_S: Final = 10.0
REMOVE_EVERY_S: Final = 600.0
# How long the vectors of an account are kept after its paid plan ended.
RETENTION_DAYS: Final = 30
_RETENTION: Final = RETENTION_DAYS * 86_400 * MICROSECONDS
_ACCOUNTS_PER_PAGE: Final = 500
_REMOVED_PER_TRANSACTION: Final = 100
# Between two transactions, for other writers.
_PAUSE_S: Final = 0.02
_NO_MODEL: Final = b""


class VectorSweeps:
    def __init__(
        self, database: Database, models: Models, clock: Clock, pause_s: float = _PAUSE_S
    ) -> None:
        self._database = database
        self._models = models
        self._clock = clock
        self._pause_s = pause_s
        self._store = VectorStore(database)
        self._libraries = LibraryStore(database)
        self._jobs = JobStore(database)
        # Posts of paid accounts without a vector at the last sweep, for the metrics.
        self.pending = 0

    async def start_builds(self) -> None:
        """Adds a job for each paid account whose vectors are incomplete."""
        current, second = self._models.current, self._models.second
        if current is None or not await _is_usable(current):
            return
        models = (current.identity, _NO_MODEL)
        if second is not None and await _is_usable(second):
            models = (current.identity, second.identity)
        after, pending = 0, 0
        while page := await self._store.accounts_to_build(models, after, _ACCOUNTS_PER_PAGE):
            pending += sum(max(account.missing, account.missing_second) for account in page)
            accounts = [account.account_id for account in page]
            await self._jobs.add_for(accounts, JOB, EMBEDDING, self._clock())
            after = page[-1].account_id
        self.pending = pending

    async def remove_expired(self) -> None:
        """Removes vectors 30 days after the plan ended, and those of a replaced model."""
        now = self._clock()
        await self._store.update_unpaid_since(now)
        models = self._models.identities
        if self._models.is_second_missing:
            # Its vectors look like those of a replaced model. They would serve again with it.
            models = (_NO_MODEL, _NO_MODEL)
        before, has_removed = now - _RETENTION, True
        while has_removed:
            has_removed = False
            page = await self._store.expired(models, before, _ACCOUNTS_PER_PAGE)
            for account_id, expired in page:
                has_removed |= await self._remove(account_id, expired, models, before)

    async def _remove(
        self, account_id: int, expired: bytes, models: CurrentModels, before: int
    ) -> bool:
        """Removes a store in small transactions; False if nothing was left to remove."""

        async def work(transaction: Transaction) -> int:
            # Checked every time: if the account pays again, the remaining vectors stay.
            await lock_library(self._libraries, transaction, account_id)
            if not await self._store.is_expired(transaction, account_id, expired, models, before):
                return 0
            return await self._store.remove_some(
                transaction, account_id, expired, _REMOVED_PER_TRANSACTION
            )

        total, removed = 0, _REMOVED_PER_TRANSACTION
        while removed == _REMOVED_PER_TRANSACTION:
            try:
                removed = await self._database.write(work)
            except Refusal as refused:
                # The account was deleted since it was found.
                if refused.code is not Code.NOT_FOUND:
                    raise
                removed = 0
            total += removed
            await asyncio.sleep(self._pause_s)
        return total > 0


async def _is_usable(model: Embedder) -> bool:
    """After a failure, tests the model with one query instead of one job per account."""
    if model.problem is not None:
        try:
            await model.embed_query("?")
        except Refusal:
            return False
    return True
