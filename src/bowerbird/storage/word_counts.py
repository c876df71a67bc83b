"""In how many posts of an account each word of the index occurs."""

from collections.abc import Collection

from bowerbird.model.accounts import Account
from bowerbird.model.words import Term, WordQuery
from bowerbird.storage.database import Database
from bowerbird.storage.places import place_values


class WordCounts:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("word_counts")

    async def of(self, account: Account, words: Collection[str]) -> dict[str, int]:
        """The number of posts per word; words that no post has are left out."""
        if not words:
            return {}
        asked = list(words)
        queries = [self._database.match(WordQuery((Term((word,)),))).wanted or "" for word in asked]
        values = {
            "account_id": account.account_id,
            "queries": self._database.text_list(queries),
            **place_values(account),
        }
        rows = await self._database.slow_rows(self._sql["counts"], values)
        return {asked[position]: posts for position, posts in rows if posts}

    async def total(self, account: Account) -> int:
        """The number of counted posts."""
        return account.total
