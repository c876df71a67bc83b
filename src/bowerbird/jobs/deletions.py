"""Finishes the deletion of accounts in the background."""

from typing import Final

from bowerbird.jobs.worker import Recurring
from bowerbird.library.accounts.deletion import AccountDeletion
from bowerbird.storage.database import Database
from bowerbird.storage.files.files import Files

EVERY_S: Final = 60.0


def recurring(database: Database, files: Files) -> Recurring:
    """Several workers may do it at the same time: removing what is gone changes nothing."""
    deletion = AccountDeletion(database)
    return Recurring("account deletions", EVERY_S, lambda: deletion.complete_all(files))
