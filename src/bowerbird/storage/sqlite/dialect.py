"""The SQL dialect and parameter formats of every SQLite library, in a file or in memory."""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import msgspec

from bowerbird.model.words import Match, WordQuery
from bowerbird.storage import queries
from bowerbird.storage.keyword_queries import counting_in_fts5, for_fts5

T = TypeVar("T")


class SqliteDialect:
    dialect: Final = "sqlite"

    def queries(self, resource: str) -> queries.Queries:
        return queries.load(resource, self.dialect)

    def match(self, query: WordQuery) -> Match:
        return for_fts5(query)

    def counting(self, words: Sequence[str]) -> str:
        return counting_in_fts5(words)

    def stored_words(self, index_text: str) -> str:
        return index_text

    async def computed(self, work: Callable[[], T]) -> T:
        # Transactions run on the thread of the writer.
        return work()

    def number_list(self, numbers: Sequence[int]) -> str:
        return msgspec.json.encode(numbers).decode()

    def text_list(self, texts: Sequence[str]) -> str:
        return msgspec.json.encode(texts).decode()
