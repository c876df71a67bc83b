"""Removes a bookmark from a library completely, and updates the counters."""

from typing import Final

from bowerbird.model.accounts import Account
from bowerbird.storage.database import Database, Transaction, place_values
from bowerbird.storage.sqlite.database import SqliteDatabase

_FOUND: Final = """
SELECT number, is_read, is_archived FROM bookmark
 WHERE account_id = :account_id AND post_id = :post_id
"""
_SQLITE: Final = (
    "DELETE FROM content WHERE place = :place + :number",
    "DELETE FROM keyword WHERE rowid = :place + :number",
)
_POSTGRES: Final = (
    "DELETE FROM content WHERE account_id = :account_id AND number = :number",
    "DELETE FROM keyword WHERE account_id = :account_id AND number = :number",
)
_BOTH: Final = (
    """
    UPDATE vector_store SET embedded = embedded - 1
     WHERE account_id = :account_id
       AND model IN (SELECT model FROM vector
                      WHERE account_id = :account_id AND number = :number
                        AND length(text_hash) > 0)
    """,
    "DELETE FROM vector WHERE account_id = :account_id AND number = :number",
    "DELETE FROM bookmark_label WHERE account_id = :account_id AND number = :number",
    "DELETE FROM bookmark WHERE account_id = :account_id AND number = :number",
    """
    UPDATE library
       SET version = version + 1, total = total - 1, unread = unread - :unread,
           archived = archived - :archived, fresh = fresh - :fresh
     WHERE account_id = :account_id
    """,
)


async def remove(database: Database, account: Account, post_id: str) -> None:
    own = _SQLITE if isinstance(database, SqliteDatabase) else _POSTGRES

    async def work(transaction: Transaction) -> None:
        values = {"account_id": account.account_id, "post_id": post_id, **place_values(account)}
        rows = await transaction.rows(_FOUND, values)
        number, is_read, is_archived = rows[0]
        values |= {
            "number": number,
            "unread": int(not is_read),
            "archived": int(is_archived),
            "fresh": int(not is_read and not is_archived),
        }
        for statement in (*own, *_BOTH):
            await transaction.run(statement, values)

    await database.write(work)
