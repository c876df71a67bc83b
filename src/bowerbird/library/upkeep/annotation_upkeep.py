"""Indexes the notes of earlier releases, and forgets what changes of notes have replaced."""

import asyncio
from typing import Final

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.library_lock import lock_library
from bowerbird.library.bookmarks.post_documents import PostDocuments
from bowerbird.library.bookmarks.writing.annotation_changes import KEPT_DAYS
from bowerbird.model.imports import Counts
from bowerbird.storage.bookmarks.annotations import AnnotationStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore

_KEPT: Final = KEPT_DAYS * 86_400 * MICROSECONDS
_ACCOUNTS_PER_PAGE: Final = 500
# A note may have 20,000 characters, so a transaction indexes only a few.
_NOTES_PER_TRANSACTION: Final = 20


class AnnotationUpkeep:
    def __init__(self, database: Database, pause_s: float) -> None:
        self._database = database
        self._store = AnnotationStore(database)
        self._libraries = LibraryStore(database)
        self._documents = PostDocuments(database)
        self._pause_s = pause_s

    async def run(self, now: int) -> None:
        while accounts := await self._store.accounts_to_index(_ACCOUNTS_PER_PAGE):
            for account_id in accounts:
                await self._index(account_id)
        before = now - _KEPT
        while accounts := await self._store.accounts_with_expired(before, _ACCOUNTS_PER_PAGE):
            for account_id in accounts:
                await self._forget(account_id, before)

    async def _index(self, account_id: int) -> None:
        async def some(transaction: Transaction) -> bool:
            numbers = await self._store.first_to_index(
                transaction, account_id, _NOTES_PER_TRANSACTION
            )
            if not numbers:
                return False
            try:
                opened = await lock_library(self._libraries, transaction, account_id)
            except Refusal as refused:
                # The account is being deleted.
                if refused.code is not Code.NOT_FOUND:
                    raise
            else:
                await self._documents.index(transaction, opened, numbers)
                await self._libraries.advance(transaction, opened, Counts())
            await self._store.delete_indexed(transaction, account_id, numbers[-1])
            return True

        has_more = True
        while has_more:
            has_more = await self._database.write(some)
            await asyncio.sleep(self._pause_s)

    async def _forget(self, account_id: int, before: int) -> None:
        async def work(transaction: Transaction) -> None:
            await self._store.delete_expired(transaction, account_id, before)

        await self._database.write(work)
        await asyncio.sleep(self._pause_s)
