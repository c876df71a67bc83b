"""Finds the pieces of a text, between spaces, that may match a query.

Most pieces of a page repeat, so each one is looked at once per page.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from bowerbird.model.words import Form
from bowerbird.search.words.index_forms import forms_of_words, other_tokens
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS, fold

# About what each takes, in microseconds.
_OF_CHARACTER: Final = 0.03
_OF_FOLDED_CHARACTER: Final = 0.2
_OF_WORD: Final = 1.5
# To choose the ASCII pieces, per piece.
_OF_CHOICE: Final = 0.1
# To search a word for a part.
_OF_PART: Final = 0.1
# To locate a piece: per place, or per character of the section.
_OF_PLACE: Final = 2
_OF_LOCATED_CHARACTER: Final = 0.1
_OF_COMPOUND: Final = 30
# Of pieces that are not ASCII, per character.
_OF_LETTER: Final = 3
_OF_SIGN: Final = 9
# How many new pieces are looked at together.
_TOGETHER: Final = 10
# Up to so many places are looked up one by one. A piece can also be inside many longer ones.
_FEW_PLACES: Final = 8
_NOT_BLANK: Final = re.compile(r"\S+")
_SIGNS: Final = '.,;:!?()"'
# A word with punctuation around it, which has only the forms of the word. The index looks at a name
# with two vowels that may be an umlaut in another way, and at .NET.
_word: Final = re.compile(
    r"""[("]*((?![A-Z][a-z]*(?:[aou]e|aa))[A-Za-z][a-z]*)[.,;:!?)"]*""", re.ASCII
).fullmatch
_starts: Final = str.startswith


class MatchingPieces:
    """`cost` is about how many microseconds the pieces took so far."""

    def __init__(self, written: Sequence[Form], marked: Sequence[Form]) -> None:
        self._words = {_telling(form) for form in written if _is_word(form)}
        self._starts = {_telling(form) for form in written if not _is_word(form)}
        self._prefixes = tuple(form.tokens[0] for form in marked if form.is_prefix)
        self._others = {token for form in marked if not form.is_prefix for token in form.tokens}
        # By language, because the forms of a word depend on it.
        self._matching: defaultdict[str, set[str]] = defaultdict(set)
        self._missing: defaultdict[str, set[str]] = defaultdict(set)
        self.cost = 0.0
        # Whether a piece can match by another form, which depends on the language.
        self.has_other_forms = bool(self._others or self._prefixes)

    def may_match(self, text: str, language: str) -> bool:
        """Whether a piece of the text may match."""
        missing = self._missing[language]
        new = set(text.split()) - missing
        self.cost += len(text) * _OF_CHARACTER
        if not new:
            return False
        if not self._matching[language].isdisjoint(new):
            return True
        if self.has_other_forms:
            unusual = self._look_at_words(new, language)
            if not self._matching[language].isdisjoint(new):
                return True
        else:
            unusual = new if text.isascii() else self._look_at_ascii(new, language)
        if unusual and self._has_match(unusual, language):
            return True
        missing |= unusual
        return False

    def matching(self, text: str, language: str) -> set[str]:
        """The pieces of the text that may match."""
        pieces = set(text.split())
        self.cost += len(text) * _OF_CHARACTER
        matching, missing = self._matching[language], self._missing[language]
        new = pieces - missing
        new -= matching
        if new:
            if self.has_other_forms:
                new = self._look_at_words(new, language)
            elif not text.isascii():
                new = self._look_at_ascii(new, language)
            if new:
                self._look_at(list(new), matching, missing, language)
        return pieces & matching

    def locate(self, pieces: Collection[str], section: str) -> list[tuple[int, str]]:
        """Where a section has pieces of text, between spaces."""
        is_few = len(pieces) <= _FEW_PLACES
        if is_few and (places := sum(map(section.count, pieces))) <= _FEW_PLACES:
            self.cost += places * _OF_PLACE
            if places == len(pieces):
                return sorted([(section.find(piece), piece) for piece in pieces])
            return sorted((place, piece) for piece in pieces for place in _places(piece, section))
        self.cost += len(section) * _OF_LOCATED_CHARACTER
        found = _NOT_BLANK.finditer(section)
        return [(match.start(), match[0]) for match in found if match[0] in pieces]

    def _look_at(
        self, new: Sequence[str], matching: set[str], missing: set[str], language: str
    ) -> None:
        """Adds new pieces to one of the sets."""
        # Most match nothing, and one look at several is faster than one at each.
        if len(new) > _TOGETHER and not self._has_match(new, language):
            missing.update(new)
            return
        for first in range(0, len(new), _TOGETHER):
            some = new[first : first + _TOGETHER]
            if len(some) > 1 and not self._has_match(some, language):
                missing.update(some)
                continue
            for piece in some:
                found = matching if self._has_match((piece,), language) else missing
                found.add(piece)

    def _look_at_words(self, new: set[str], language: str) -> set[str]:
        """Looks at new pieces that are words, perhaps with punctuation. Returns the others."""
        missing = self._missing[language]
        text = "".join(new)
        if text.isascii() and text.isalpha() and text.islower():
            found = self._matching_words(new, language)
            self._matching[language] |= found
            missing |= new - found if found else new
            return set()
        plain = set(filter(str.islower, filter(str.isalpha, filter(str.isascii, new))))
        unusual = new - plain
        words = {piece: match[1].lower() for piece in unusual if (match := _word(piece))}
        unusual.difference_update(words)
        found = self._matching_words(plain.union(words.values()), language)
        if found:
            matching = {piece for piece, word in words.items() if word in found}
            matching |= plain & found
            self._matching[language] |= matching
            missing |= plain - matching
            missing.update(words.keys() - matching)
        else:
            missing |= plain
            missing.update(words)
        return unusual

    def _look_at_ascii(self, new: set[str], language: str) -> set[str]:
        """Looks at new ASCII pieces together: folding others takes longer. Returns the rest."""
        self.cost += _OF_CHOICE * len(new)
        usual = set(filter(str.isascii, new))
        if self._has_match(usual, language):
            return new
        self._missing[language] |= usual
        return new - usual

    def _matching_words(self, words: set[str], language: str) -> set[str]:
        """The words that may match. The forms of words of small letters depend on nothing else."""
        self.cost += _OF_WORD * len(words)
        found = self._words & words
        others, prefixes = self._others, self._prefixes
        if others or prefixes:
            for word, forms in forms_of_words(words, language):
                if not others.isdisjoint(forms) or any(_starts(one, prefixes) for one in forms):
                    found.add(word)
        text = " ".join(words) if self._starts else ""
        for start in self._starts:
            if start in text:
                self.cost += _OF_PART * len(words)
                found.update([word for word in words if start in word])
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


def _places(piece: str, section: str) -> Iterator[int]:
    start = section.find(piece)
    while start >= 0:
        end = start + len(piece)
        # An empty text is at the edge of the section.
        around = section[start - 1 : start] if start else "", section[end : end + 1]
        if all(not sign or sign.isspace() for sign in around):
            yield start
        start = section.find(piece, end)


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
