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
# Limits the work for a query that is a pasted page; its rarest words decide.
MAX_RANKING_WORDS: Final = 16


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
    # Sentences about what the parser did not understand.
    hints: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[Term, ...]:
        return self.terms

    @property
    def wanted_terms(self) -> tuple[Term, ...]:
        return tuple(term for term in self.terms if not term.is_excluded)

    @property
    def limits(self) -> "WordQuery | None":
        """The parts that wanted words have no share in. A search by meaning respects these."""
        terms = tuple(term for term in self.terms if term.is_excluded)
        return WordQuery(terms) if terms else None

    @property
    def is_empty(self) -> bool:
        """Whether the query has no terms, for example because it is only punctuation."""
        return not self.terms


class Match(Struct, frozen=True):
    """A query in the syntax of a search engine. A part is None if the query has no such terms."""

    wanted: str | None
    unwanted: str | None
