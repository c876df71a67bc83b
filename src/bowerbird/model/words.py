"""What a keyword search asks for, as a tree of our own: no engine's syntax, no user's character."""

from typing import Final

from msgspec import Struct

# Holds a place between fields. No word is a bare sigil, so no query can ask for it.
GAP: Final = "#"
# Bounds the work of a pasted page; its first words tell what it is about.
RANKING_MOST: Final = 16


class Term(Struct, frozen=True):
    """Tokens that must stand one after the other, or must not."""

    tokens: tuple[str, ...]
    is_prefix: bool = False
    is_excluded: bool = False


class WordQuery(Struct, frozen=True):
    terms: tuple[Term, ...]

    @property
    def ranking_tokens(self) -> list[str]:
        """The tokens whose number in a post makes its rank; of a prefix there may be many."""
        tokens = [
            token
            for term in self.terms
            if not term.is_excluded
            for token in (term.tokens[:-1] if term.is_prefix else term.tokens)
        ]
        return list(dict.fromkeys(tokens))[:RANKING_MOST]

    @property
    def is_empty(self) -> bool:
        """Whether the text held nothing to search for, such as punctuation alone."""
        return not self.terms


class Match(Struct, frozen=True):
    """The query in an engine's own language; None where there is nothing of the kind."""

    wanted: str | None
    unwanted: str | None
    # What the best matches hold often; the words alone, for one score on both engines.
    ranking: str | None = None
    # Where the counted words begin among the phrases of the ranking.
    ranking_start: int = 0
