"""Finds the pieces of a text, between spaces, that may match a query.

Most pieces of a page repeat, so each one is looked at once per page.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from bowerbird.model.words import Form
from bowerbird.search.words.index_forms import other_tokens
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS, fold

# About what each takes, in microseconds.
_OF_CHARACTER: Final = 0.03
_OF_FOLDED_CHARACTER: Final = 0.2
_OF_WORD: Final = 1.5
_OF_COMPOUND: Final = 30
# Of pieces that are not ASCII, per character.
_OF_LETTER: Final = 3
_OF_SIGN: Final = 9
_SIGNS: Final = '.,;:!?()"'


class MatchingPieces:
    """`cost` is about how many microseconds the pieces took so far."""

    def __init__(self, written: Sequence[Form], marked: Sequence[Form]) -> None:
        self._words = {_telling(form) for form in written if _is_word(form)}
        self._starts = {_telling(form) for form in written if not _is_word(form)}
        self._prefixes = tuple(form.tokens[0] for form in marked if form.is_prefix)
        self._others = {token for form in marked if not form.is_prefix for token in form.tokens}
        # By language, because the forms of a word depend on it.
        self._known: defaultdict[str, dict[str, bool]] = defaultdict(dict)
        self._missing: defaultdict[str, set[str]] = defaultdict(set)
        self.cost = 0.0

    def may_match(self, text: str, language: str) -> bool:
        """Whether a piece of the text may match."""
        missing = self._missing[language]
        new = set(text.split()) - missing
        self.cost += len(text) * _OF_CHARACTER
        if not new:
            return False
        if self._has_match(new, language):
            return True
        missing |= new
        return False

    def matches(self, piece: str, language: str) -> bool:
        """The same for one piece."""
        if piece in self._missing[language]:
            return False
        known = self._known[language]
        found = known.get(piece)
        if found is None:
            found = known[piece] = self._has_match((piece,), language)
            if not found:
                self._missing[language].add(piece)
        return found

    def _has_match(self, pieces: Iterable[str], language: str) -> bool:
        text = " ".join(pieces)
        folded = fold(text)
        self.cost += _OF_WORD if text.isascii() else len(text) * _OF_FOLDED_CHARACTER
        words = folded.replace("#", " ").replace("@", " ").split()
        # A word may be next to letters of a script without spaces.
        starts = self._starts if folded.isascii() else self._starts | self._words
        if not self._words.isdisjoint(words) or any(start in folded for start in starts):
            return True
        if not self._others and not self._prefixes:
            return False
        self.cost += sum(map(_cost, pieces))
        found = other_tokens([text], words, language)
        if not self._others.isdisjoint(found):
            return True
        return bool(self._prefixes) and any(token.startswith(self._prefixes) for token in found)


def _cost(piece: str) -> float:
    word = piece.strip(_SIGNS)
    if not word.isascii():
        return len(word) * (_OF_LETTER if word.isalpha() else _OF_SIGN)
    is_word = word.isalpha() and (word.islower() or word.istitle())
    return _OF_WORD if is_word or not word else _OF_COMPOUND


def _telling(form: Form) -> str:
    """The longest token: a phrase is only where all its tokens are."""
    return max(form.tokens, key=len)


def _is_word(form: Form) -> bool:
    """Whether this token is a whole word of ASCII letters."""
    token = _telling(form)
    is_prefix = form.is_prefix and token == form.tokens[-1]
    is_whole = not is_prefix and len(token) < MAX_TOKEN_CHARACTERS
    return is_whole and token.isascii() and token.isalnum()
