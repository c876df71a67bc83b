"""The words of an account's posts, counted in the index itself."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import apsw

from bowerbird.library.bookmarks.writing.bookmark_row import stored_words
from bowerbird.model.accounts import Account
from bowerbird.model.words import ABBREVIATION, GAP, OTHER_FORM, STEM, UNCOUNTED, UNCOUNTED_END
from bowerbird.search.words.tokens import COUNTED_FORM
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.database import Database, Transaction, place_values
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.sqlite.database import FILE_NAME, SqliteDatabase
from bowerbird.storage.words.word_counts import WordCounts, occurrences

_SQLITE: Final = """
SELECT v.term, count(DISTINCT v.doc)
  FROM temp.vocabulary AS v
  JOIN bookmark AS b ON b.account_id = :account_id AND b.number = v.doc - :place
 WHERE v.doc BETWEEN :place AND :place_end AND b.word_form >= :form AND v.term <> :gap
 GROUP BY v.term
"""
_POSTGRES: Final = """
SELECT w.lexeme, count(*)
  FROM bookmark AS b
  JOIN keyword AS k ON k.account_id = b.account_id AND k.number = b.number
  CROSS JOIN unnest(k.words) AS w
 WHERE b.account_id = :account_id AND b.word_form >= :form AND w.lexeme <> :gap
 GROUP BY w.lexeme
"""
_POSTS: Final = """
SELECT count(*) FROM bookmark WHERE account_id = :account_id AND word_form >= :form
"""

_UNCOUNTED: Final = (*UNCOUNTED, UNCOUNTED_END)
_NUMBERS: Final = "SELECT number FROM bookmark WHERE account_id = :account_id ORDER BY number"


async def indexed(database: Database, account: Account, folder: Path) -> dict[str, int]:
    """In how many current posts each word occurs, and under '' how many posts there are."""
    values: dict[str, Any] = {"account_id": account.account_id, "form": COUNTED_FORM}
    counts = Counter({"": (await database.rows(_POSTS, values))[0][0]})
    values["gap"] = GAP
    if isinstance(database, SqliteDatabase):
        connection = apsw.Connection(str(folder / FILE_NAME))
        connection.execute(
            "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, keyword, instance)"
        )
        counts.update(dict(connection.execute(_SQLITE, {**values, **place_values(account)})))
        connection.close()
    else:
        counts.update(dict(map(tuple, await database.rows(_POSTGRES, values))))
    return {word: posts for word, posts in counts.items() if posts and word[:1] not in _UNCOUNTED}


def _aged(number: int, rendering: bytes) -> dict[str, Any]:
    words = (stored_words(rendering) or "").split()
    as_written = [word for word in words if word[0] not in (OTHER_FORM, STEM, *_UNCOUNTED)]
    return {"number": number, "words": " ".join(as_written), "word_form": 1}


async def age(database: Database, account: Account) -> None:
    """Leaves the posts as the previous release stored them: without other forms, not counted."""
    upserts, counts = UpsertStore(database), WordCounts(database)

    async def work(transaction: Transaction) -> None:
        values = {"account_id": account.account_id}
        library = await LibraryStore(database).lock(transaction, account.account_id)
        for (number,) in await transaction.rows(_NUMBERS, values):
            renderings = await counts.counted_renderings(library, [number], COUNTED_FORM)
            rows = [_aged(number, rendering) for rendering in renderings]
            await upserts.reword(library, rows, {})
        for statement in (
            "UPDATE bookmark SET word_form = 1 WHERE account_id = :account_id",
            "DELETE FROM word_count WHERE account_id = :account_id",
            "DELETE FROM word_change WHERE account_id = :account_id",
        ):
            await transaction.run(statement, values)

    await database.write(work)


async def age_parts(database: Database, account: Account) -> None:
    """Leaves the posts as 0.5.0 stored them: counted, but not found by parts."""
    end = f"{UNCOUNTED_END} "
    await _reword(database, account, COUNTED_FORM, lambda words: words.rpartition(end)[2])


async def age_addresses(database: Database, account: Account, older: Mapping[str, str]) -> None:
    """Leaves the posts as 0.8.0 stored them: other parts of addresses, nothing is explained."""

    def words_of_then(words: str) -> str:
        kept = [word for word in words.split() if not word.startswith(ABBREVIATION)]
        return " ".join(f"{word[0]}{older.get(word[1:], word[1:])}" for word in kept)

    await _reword(database, account, 3, words_of_then)


async def _reword(
    database: Database, account: Account, form: int, change: Callable[[str], str]
) -> None:
    upserts, counts = UpsertStore(database), WordCounts(database)

    async def work(transaction: Transaction) -> None:
        values = {"account_id": account.account_id}
        library = await LibraryStore(database).lock(transaction, account.account_id)
        for (number,) in await transaction.rows(_NUMBERS, values):
            stored = await counts.counted_renderings(library, [number], COUNTED_FORM)
            words = stored_words(stored[0]) or ""
            row = {"number": number, "words": change(words), "word_form": form}
            await upserts.reword(library, [row], occurrences([words]))
        await transaction.run("DELETE FROM abbreviation WHERE account_id = :account_id", values)

    await database.write(work)
