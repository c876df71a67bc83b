"""Computes the missing vectors of an account. An interrupted build continues where it stopped.

A hash of the embedded text of a post says whether it has changed. Sweeps start builds of missing
vectors and remove unused ones.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bowerbird import errors
from bowerbird.clock import Clock, month_of
from bowerbird.library.access import plans
from bowerbird.model.accounts import Account
from bowerbird.model.words import PART_POSTS, NewVector, UnembeddedPost, VectorStoreState
from bowerbird.search.meaning.embedding import POST_THREADS, Embedder
from bowerbird.search.meaning.models import Models, needs_second_model
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.words.vectors import BuildProgress, VectorPart

if TYPE_CHECKING:
    from bowerbird.search.meaning.arrays import Floats

import hashlib

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.model import json_depth
from bowerbird.model.jobs import EMBEDDING
from bowerbird.model.posts.bookmarks import Post, check_open_fields, own_words
from bowerbird.model.posts.media import DOMAIN, attached_texts
from bowerbird.model.words import BUILD
from bowerbird.storage.stores import Service, TimedService
from bowerbird.storage.words.vectors import CurrentModels


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
    """The text of a stored post; empty if it cannot be decoded or a field has a wrong type.

    Without the names of authors and domains, it shows the language of the post.
    """
    try:
        post = msgspec.json.decode(json_depth.cut(rendering + b"}"), type=Post)
        check_open_fields(post.tweet_details)
    except msgspec.MsgspecError:
        return ""
    return _joined(post, has_names=has_names)


def _author(post: Post) -> str:
    # A post without any text is embedded by its author alone.
    return post.author_details.name or post.author_username


def _article_title(quoted: dict[str, Any]) -> str | None:
    return (quoted.get("article") or {}).get("title")


class StaleVectors(Service):
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
        for number, model, hash in await self._stores.vectors.text_hashes(
            transaction, account_id, numbers
        ):
            if number not in hashes:
                hashes[number] = hash_of(number)
            if hash != hashes[number]:
                stale.setdefault(model, []).append(number)
        await self._stores.vectors.mark_stale(transaction, account_id, stale)


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


class VectorSweeps(TimedService):
    def __init__(
        self, database: Database, models: Models, clock: Clock, pause_s: float = _PAUSE_S
    ) -> None:
        super().__init__(database, clock)
        self._models = models
        self._pause_s = pause_s
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
        while page := await self._stores.vectors.accounts_to_build(
            models, after, _ACCOUNTS_PER_PAGE
        ):
            pending += sum(max(account.missing, account.missing_second) for account in page)
            accounts = [account.account_id for account in page]
            await self._stores.jobs.add_for(accounts, JOB, EMBEDDING, self._clock())
            after = page[-1].account_id
        self.pending = pending

    async def remove_expired(self) -> None:
        """Removes vectors 30 days after the plan ended, and those of a replaced model."""
        now = self._clock()
        await self._stores.vectors.update_unpaid_since(now)
        models = self._models.identities
        if self._models.is_second_missing:
            # Its vectors look like those of a replaced model. They would serve again with it.
            models = (_NO_MODEL, _NO_MODEL)
        before, has_removed = now - _RETENTION, True
        while has_removed:
            has_removed = False
            page = await self._stores.vectors.expired(models, before, _ACCOUNTS_PER_PAGE)
            for account_id, expired in page:
                has_removed |= await self._remove(account_id, expired, models, before)

    async def _remove(
        self, account_id: int, expired: bytes, models: CurrentModels, before: int
    ) -> bool:
        """Removes a store in small transactions; False if nothing was left to remove."""

        async def work(transaction: Transaction) -> int:
            # Checked every time: if the account pays again, the remaining vectors stay.
            await self._stores.libraries.lock(transaction, account_id)
            if not await self._stores.vectors.is_expired(
                transaction, account_id, expired, models, before
            ):
                return 0
            return await self._stores.vectors.remove_some(
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


Progress = Callable[[int, int], Awaitable[None]]

# Half a second of work, which is the most that an interruption loses.
_BATCH: Final = 32 * POST_THREADS
# Looking for the language of a post takes 0.1 ms.
_EXAMINED: Final = 256
# A post that changes while it is embedded is embedded again in the next pass.
_MAX_PASSES: Final = 3
_LAST: Final = 2**63 - 1


class VectorBuilds(TimedService):
    def __init__(self, database: Database, models: Models, clock: Clock) -> None:
        super().__init__(database, clock)
        self._models = models
        # Totals since the process started, for the metrics.
        self.embedded = 0
        self.seconds = 0.0

    async def build(self, account_id: int, progress: Progress) -> int:
        """Embeds the posts without a vector; returns their number.

        The second model embeds all posts of an account as soon as one of them needs it: a query in
        any language then finds posts in every other.
        """
        embedder, second = self._models.current, self._models.second
        if embedder is None:
            raise plans.model_missing()
        embedded = await self._build(account_id, embedder, progress)
        await self._store_parts(account_id, embedder)
        if second is None or second.problem is not None:
            return embedded
        if await self._needs(account_id, embedder, second):
            embedded = max(embedded, await self._build(account_id, second, progress))
            await self._store_parts(account_id, second)
        return embedded

    async def _build(self, account_id: int, embedder: Embedder, progress: Progress) -> int:
        embedded = 0
        for _ in range(_MAX_PASSES):
            account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
            if account is None or account.is_free:
                break
            store = await self._get_or_create(account, embedder)
            if store.is_built and store.embedded >= account.total:
                break
            embedded += await self._pass(account, store, embedder, progress)
            await self._stores.vectors.mark_built(account_id, embedder.identity)
        return embedded

    async def _needs(self, account_id: int, embedder: Embedder, second: Embedder) -> bool:
        """Whether the account has vectors of the second model, or a post that needs them."""
        account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
        stores = {store.model: store for store in await self._stores.vectors.stores(account_id)}
        if account is None or account.is_free or second.identity in stores:
            return second.identity in stores
        store = stores.get(embedder.identity)
        if store is None:
            return False
        first = store.examined_below
        while posts := await self._stores.vectors.posts(account, first, _EXAMINED):
            if await asyncio.to_thread(_has_foreign, posts):
                return True
            first = posts[-1].number + 1
        if first > store.examined_below:
            await self._stores.vectors.mark_examined(account_id, store, first)
        return False

    async def _store_parts(self, account_id: int, embedder: Embedder) -> None:
        """Stores vectors together, which the first search after a start reads faster."""
        stores = await self._stores.vectors.stores(account_id)
        store = next((each for each in stores if each.model == embedder.identity), None)
        if store is None or not store.dimensions:
            return
        after = (0, 0)
        for written, number, posts in await self._stores.vectors.part_ends(account_id, store.model):
            last = (written, number)
            count = await self._stores.vectors.count_between(account_id, store.model, after, last)
            # Posts were deleted or embedded again since.
            if count != posts:
                await self._store_part(account_id, store, after, last, count)
            after = last
        end = (_LAST, _LAST)
        while (
            await self._stores.vectors.count_between(account_id, store.model, after, end)
            >= PART_POSTS
        ):
            after = await self._store_part(account_id, store, after, None, PART_POSTS)

    async def _store_part(
        self,
        account_id: int,
        store: VectorStoreState,
        after: tuple[int, int],
        last: tuple[int, int] | None,
        count: int,
    ) -> tuple[int, int]:
        """Stores the next rows together, up to `last`; returns the last row."""
        rows = []
        if count:
            rows = list(
                await self._stores.vectors.rows_since(account_id, store.model, after, count)
            )
        if last is not None:
            rows = [row for row in rows if (row[3], row[0]) <= last]
        end = last or (rows[-1][3], rows[-1][0])
        content = await asyncio.to_thread(_part, rows, store.dimensions)
        part = VectorPart(end[0], end[1], len(rows), content)

        async def work(transaction: Transaction) -> None:
            await self._stores.libraries.lock(transaction, account_id)
            await self._stores.vectors.put_part(transaction, account_id, store.model, part)

        await self._database.write(work)
        return end

    async def _get_or_create(self, account: Account, embedder: Embedder) -> VectorStoreState:
        for _ in range(2):
            for store in await self._stores.vectors.stores(account.account_id):
                if store.model == embedder.identity:
                    return store
            await self._stores.vectors.create(
                account.account_id, embedder.identity, embedder.name, self._clock()
            )
        raise errors.account_gone()

    async def _pass(
        self, account: Account, store: VectorStoreState, embedder: Embedder, progress: Progress
    ) -> int:
        """Goes through the bookmarks once, from the first number that may lack a vector."""
        embedded, first, is_complete = 0, store.complete_below, True
        complete_below = first
        while posts := await self._stores.vectors.missing(account, store.model, first, _BATCH):
            vectors, dimensions = await self._embed(embedder, posts)
            store = _with_dimensions(store, dimensions)
            first = posts[-1].number + 1
            complete_below = first if is_complete else complete_below
            build = BuildProgress(complete_below, store.invalidations)
            all_written = await self._write(account, store, vectors, build)
            if all_written is None:
                # The store was removed during this pass; the next pass creates a new one.
                break
            is_complete = all_written and is_complete
            embedded += len(posts)
            await progress(min(store.embedded + embedded, account.total), account.total)
        return embedded

    async def _embed(
        self, embedder: Embedder, posts: Sequence[UnembeddedPost]
    ) -> tuple[list[NewVector], int]:
        started = time.perf_counter()
        texts = await asyncio.to_thread(
            lambda: [text_of_rendering(post.rendering) for post in posts]
        )
        matrices = await embedder.embed_posts(texts)
        self.embedded += len(posts)
        self.seconds += time.perf_counter() - started
        vectors = await asyncio.to_thread(_pack, posts, texts, matrices)
        return vectors, max((matrix.shape[1] for matrix in matrices if len(matrix)), default=0)

    async def _write(
        self,
        account: Account,
        store: VectorStoreState,
        vectors: list[NewVector],
        build: BuildProgress,
    ) -> bool | None:
        async def work(transaction: Transaction) -> bool | None:
            await self._stores.libraries.lock(transaction, account.account_id)
            return await self._stores.vectors.put(
                transaction, account.account_id, store, vectors, build
            )

        return await self._database.write(work)


def _has_foreign(posts: Sequence[UnembeddedPost]) -> bool:
    texts = (text_of_rendering(post.rendering, has_names=False) for post in posts)
    return any(map(needs_second_model, texts))


def _part(rows: Sequence[Sequence[Any]], dimensions: int) -> bytes:
    from bowerbird.search.meaning.vectors import part_of  # noqa: PLC0415 - imports numpy

    return part_of([row[:3] for row in rows], dimensions)


def _pack(
    posts: Sequence[UnembeddedPost], texts: Sequence[str], matrices: "Sequence[Floats]"
) -> list[NewVector]:
    from bowerbird.search.meaning.vectors import pack  # noqa: PLC0415 - imports numpy

    return [
        NewVector(post.number, post.content_hash, text_hash(text), *pack(matrix))
        for post, text, matrix in zip(posts, texts, matrices, strict=True)
    ]


def _with_dimensions(store: VectorStoreState, dimensions: int) -> VectorStoreState:
    """The first vector decides. Vectors of another length cannot be compared with it."""
    if dimensions in (0, store.dimensions):
        return store
    if store.dimensions:
        raise plans.other_dimensions(dimensions, store.dimensions)
    return msgspec.structs.replace(store, dimensions=dimensions)
