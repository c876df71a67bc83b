"""Keeps pages that no reader understood for a week, and reads them again."""

import asyncio
import secrets
from typing import Final

import structlog
import zstandard
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.library.imports.intake import Intake, ItemResult
from bowerbird.library.ingest import page_reading
from bowerbird.library.ingest.page_reading import CapturedPage
from bowerbird.model.accounts import Account
from bowerbird.model.ingest import KeptPage
from bowerbird.requests import limits
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.ingest.kept_pages import KeptPageStore
from bowerbird.storage.ingest.runs import IngestRunStore
from bowerbird.storage.ingest.source_posts import SourcePostStore

_LEVEL: Final = 6
_MAX_PROBLEM: Final = 500


class ReadAgain(Struct, frozen=True):
    """What reading the kept pages of an account again has given."""

    pages: int = 0
    # Pages that can be read now. They are not kept any longer.
    read: int = 0
    new: int = 0
    changed: int = 0


class KeptPages:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._store = KeptPageStore(database)
        self._posts = SourcePostStore(database)
        self._runs = IngestRunStore(database)
        self._intake = Intake(database, clock)

    async def prepared(
        self, account: Account, run_id: str, seq: int, page: CapturedPage, problem: str
    ) -> KeptPage | None:
        """The page to keep, compressed; None if the account has kept as much as it may."""
        body = await asyncio.to_thread(zstandard.ZstdCompressor(_LEVEL).compress, page.payload)
        count, size = await self._store.usage(self._database, account.account_id)
        if count >= limits.KEPT_PAGES_MAX or size + len(body) > limits.KEPT_BYTES_MAX:
            structlog.get_logger().warning("page not kept", account=account.account_id)
            return None
        return KeptPage(
            kept_id=secrets.token_hex(16),
            run_id=run_id,
            seq=seq,
            op=page.op,
            request_url=page.request_url,
            format=page.format,
            captured_at=page.captured_at,
            problem=problem[:_MAX_PROBLEM],
            body=body,
            created_at=self._clock(),
        )

    async def keep(self, transaction: Transaction, account: Account, page: KeptPage) -> None:
        await self._store.insert(transaction, account.account_id, page)

    async def read_again(self, account: Account, import_id: str | None = None) -> ReadAgain:
        """Reads every kept page with the current readers; forgets those that can be read."""
        pages, read, new, changed, after = 0, 0, 0, 0, ""
        while kept := await self._store.next(account.account_id, after):
            after, pages = kept.kept_id, pages + 1
            results = await self._read_one(account, kept, import_id)
            if results is not None:
                read += 1
                new += results.count(ItemResult.NEW)
                changed += results.count(ItemResult.CHANGED)
        return ReadAgain(pages, read, new, changed)

    async def _read_one(
        self, account: Account, kept: KeptPage, import_id: str | None
    ) -> list[ItemResult] | None:
        """None if the page still cannot be read."""
        page = await asyncio.to_thread(_captured, kept)
        request = page_reading.request_of(page)
        folder_id = "" if request is None else request.folder_id
        name = await self._posts.folder(account.account_id, folder_id) if folder_id else ""
        read = await asyncio.to_thread(page_reading.read, page, self._clock(), name)
        if read.unreadable or (folder_id and not name):
            return None
        results: list[ItemResult] = []
        if read.lists_saved_posts and read.posts:
            outcome = await self._intake.take(account, read.posts, run_id=import_id)
            results = [result for _, result in outcome.results]
        run = await self._runs.get(self._database, account.account_id, kept.run_id)

        async def work(transaction: Transaction) -> None:
            for folder in read.folders:
                await self._posts.put_folder(
                    transaction, account.account_id, folder.id, folder.name
                )
            # Not as seen by its run: a later run may have seen the post since.
            if run is None or read.is_own or not read.lists_saved_posts:
                return
            for post_id in read.listed_ids:
                await self._posts.change(
                    transaction,
                    account.account_id,
                    run.user,
                    post_id,
                    at=kept.captured_at,
                    is_saved=True,
                )

        await self._database.write(work, account.account_id)
        await self._store.delete(account.account_id, kept.kept_id)
        return results


def _captured(kept: KeptPage) -> CapturedPage:
    payload = zstandard.ZstdDecompressor().decompress(
        kept.body, max_output_size=limits.INGEST_PAGE_BYTES_MAX
    )
    return CapturedPage(
        format=kept.format,
        payload=payload,
        op=kept.op,
        request_url=kept.request_url,
        captured_at=kept.captured_at,
    )
