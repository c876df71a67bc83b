"""What a keyword search asks for, as a tree of our own: no engine's syntax, no user's character."""

from typing import Final

from msgspec import Struct

# Holds a place between fields. No word is a bare sigil, so no query can ask for it.
GAP: Final = "#"


class Term(Struct, frozen=True):
    """Tokens that must stand one after the other, or must not."""

    tokens: tuple[str, ...]
    is_prefix: bool = False
    is_excluded: bool = False


class WordQuery(Struct, frozen=True):
    terms: tuple[Term, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the text held nothing to search for, such as punctuation alone."""
        return not self.terms


class Match(Struct, frozen=True):
    """The query in an engine's own language; None where there is nothing of the kind."""

    wanted: str | None
    unwanted: str | None
