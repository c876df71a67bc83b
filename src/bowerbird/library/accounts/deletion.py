"""Deletes accounts: unusable at once, their rows removed afterwards in short transactions.

The first transaction removes keys, sessions, links and the library row. Whatever stops the rest, a
worker finds the account by its missing library row and finishes.
"""

from collections.abc import Callable
from typing import Final

import structlog

from bowerbird.errors import Code, Refusal
from bowerbird.model import jobs, media
from bowerbird.model.ingest import checked_files_of
from bowerbird.storage.accounts.account_removal import AccountRemoval, Losses
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files.files import Files

# Keeps a transaction below 20 ms, so that the writes of a running server do not wait.
# A post may have a long article and a hundred labels.
_ROWS_PER_TRANSACTION: Final = 50
_AT_ONCE: Final = 100

Progress = Callable[[int, int], None]


class OwnerStays(Refusal):
    """The owner cannot leave others without an owner."""


class AccountDeletion:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._store = AccountStore(database)

    async def start(self, account_id: int) -> None:
        """Makes the account unusable; a worker removes the rest."""
        removal = AccountRemoval(self._database, account_id)

        async def work(transaction: Transaction) -> None:
            await self.require_replaceable(transaction, account_id)
            await removal.hide_within(transaction)

        await self._database.write(work)

    async def require_replaceable(self, reader: Transaction | Database, account_id: int) -> None:
        """Refuses to delete the owner while there are other accounts."""
        is_owner = await self._store.owner(reader) == account_id
        if is_owner and await self._store.has_others(reader, account_id):
            raise OwnerStays(
                Code.INVALID_REQUEST,
                "You are the owner of this service, and other people have accounts. Make one of "
                "them the owner first, with: bowerbird account owner EMAIL",
            )

    async def obstacle(self, account_id: int) -> str:
        """Why the account cannot be deleted now, as a sentence; otherwise ""."""
        try:
            await self.require_replaceable(self._database, account_id)
        except OwnerStays as refused:
            return refused.sentence
        return ""

    async def losses(self, account_id: int) -> Losses:
        return await AccountRemoval(self._database, account_id).losses()

    async def complete(
        self, account_id: int, files: Files, progress: Progress = lambda _done, _total: None
    ) -> int:
        """Removes all data; returns the number of bookmarks. If interrupted, call it again."""
        removal = AccountRemoval(self._database, account_id)
        await removal.hide()
        done, total = 0, await removal.count()
        while removed := await removal.remove_bookmarks(_ROWS_PER_TRANSACTION):
            done += removed
            progress(done, total)
        while await removal.remove_other_rows(_ROWS_PER_TRANSACTION):
            pass
        await files.delete_under(jobs.folder_of(account_id))
        await files.delete_under(media.folder_of(account_id))
        await files.delete_under(checked_files_of(account_id))
        files.scratch.delete_of_account(account_id)
        await removal.finish()
        await removal.start_index_merge()
        while await removal.continue_index_merge():
            pass
        await removal.end()
        return done

    async def complete_all(self, files: Files) -> None:
        """Finishes the deletions that have started."""
        for account_id in await self._store.partly_deleted(_AT_ONCE):
            removed = await self.complete(account_id, files)
            structlog.get_logger().info("account deleted", account=account_id, bookmarks=removed)
