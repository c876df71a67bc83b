"""Locks an account's library for one transaction."""

from bowerbird.errors import Code, Refusal
from bowerbird.storage.database import Transaction
from bowerbird.storage.libraries import LibraryStore, LockedLibrary


async def lock_library(
    store: LibraryStore, transaction: Transaction, account_id: int
) -> LockedLibrary:
    """Other writers of the same library wait until this transaction ends."""
    library = await store.lock(transaction, account_id)
    if library is None:
        raise Refusal(Code.NOT_FOUND, "The account no longer exists.")
    return library
