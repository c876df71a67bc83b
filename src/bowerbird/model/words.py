"""A parsed keyword query, independent of the syntax of any search engine."""

from typing import Final

from msgspec import Struct

# A token between fields, so that no phrase crosses them. No word is a bare sigil, so no query
# matches it.
GAP: Final = "#"
# Limits the work for a query that is a pasted page; its first words decide.
MAX_RANKING_TOKENS: Final = 16


class Term(Struct, frozen=True):
    """A sequence of tokens that a post must contain, or must not."""

    tokens: tuple[str, ...]
    is_prefix: bool = False
    is_excluded: bool = False


class WordQuery(Struct, frozen=True):
    terms: tuple[Term, ...]

    @property
    def ranking_tokens(self) -> list[str]:
        """The tokens that are counted to rank a post. Prefixes are not, as they match many."""
        tokens = [
            token
            for term in self.terms
            if not term.is_excluded
            for token in (term.tokens[:-1] if term.is_prefix else term.tokens)
        ]
        return list(dict.fromkeys(tokens))[:MAX_RANKING_TOKENS]

    @property
    def is_empty(self) -> bool:
        """Whether the query has no terms, for example because it is only punctuation."""
        return not self.terms


class Match(Struct, frozen=True):
    """A query in the syntax of a search engine. A part is None if the query has no such terms."""

    wanted: str | None
    unwanted: str | None
    # The expression to rank by. Only its single words count, so that both engines rank alike.
    ranking: str | None = None
    # The index of the first counted word among the phrases of the ranking.
    ranking_start: int = 0
