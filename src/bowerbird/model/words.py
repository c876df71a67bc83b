"""A parsed keyword query, independent of the syntax of any search engine."""

from typing import Final

from msgspec import Struct

# A token between fields, so that no phrase crosses them. No word is a bare sigil, so no query
# matches it.
GAP: Final = "#"
# Begin the tokens of an index that a post does not contain as written: another spelling of a word
# (joined, split, without its suffix), and the stem of a word. No text folds to these characters.
OTHER_FORM: Final = "\u2248"
STEM: Final = "\u223d"
STEM_WEIGHT: Final = 0.8
# Limits the work for a query that is a pasted page; its first words decide.
MAX_RANKING_TOKENS: Final = 16


class Form(Struct, frozen=True):
    """Another way to write a term. A post that contains it contains the term."""

    tokens: tuple[str, ...]
    # How much it counts when posts are ranked; the term as it was written counts 1.
    weight: float = 1.0
    is_prefix: bool = False
    # Otherwise the tokens may be anywhere in the post.
    is_phrase: bool = True


class Term(Struct, frozen=True):
    """A sequence of tokens that a post must contain, or must not."""

    tokens: tuple[str, ...]
    is_prefix: bool = False
    is_excluded: bool = False
    # Written in quotation marks: only exactly these words match.
    is_quoted: bool = False
    forms: tuple[Form, ...] = ()


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
