"""The SQL dialect and parameter formats of every SQLite library, in a file or in memory."""

from collections.abc import Sequence
from typing import Final

import msgspec

from bowerbird.model.words import Match, WordQuery
from bowerbird.storage import queries
from bowerbird.storage.keyword_queries import counting_in_fts5, for_fts5


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

    def number_list(self, numbers: Sequence[int]) -> str:
        return msgspec.json.encode(numbers).decode()

    def text_list(self, texts: Sequence[str]) -> str:
        return msgspec.json.encode(texts).decode()
