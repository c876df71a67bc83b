"""Cuts a query into pieces: words, phrases, fields, parentheses and OR."""

import re
from collections.abc import Iterator
from enum import Enum, auto
from itertools import islice
from typing import Final

from msgspec import Struct

from bowerbird.model.words import Field
from bowerbird.search.queries.query_fields import NAMES
from bowerbird.search.words.word_lists import STOP_WORDS

# Words, punctuation, operators and parentheses.
MAX_PIECES: Final = 256
# A longer query of words is a pasted text.
_SENTENCE_WORDS: Final = 12
# In a longer query, | stands between the titles of a page and of its site.
_MOST_WITH_BARS: Final = 6

_SPACES: Final = re.compile(r"\s*")
_WORD: Final = re.compile(r"\S+")
# Before a word that must not occur. Phones write other dashes too.
EXCLUDING_SIGNS: Final = ("-", "!", "\u2212", "\u2013")
_SIGN: Final = re.compile(r"[-!\u2212\u2013](?=[^\s!\u2212\u2013-])")
_NOT: Final = re.compile(r"NOT\s+(?!(?:OR|AND|\|\|?|&&)(?:\s|$))(?=[^\s)])")
OPERATOR_WORDS: Final = ("NOT", "OR", "AND")
_OPERATOR_WORD: Final = re.compile(rf"\b(?:{'|'.join(OPERATOR_WORDS)})\b")
_UNSETTLED: Final = re.compile(r'"[^"]*"?|(?<!\S)(?:NOT|\|\|?)(?!\S)')
# Not as in `I do NOT agree`.
_BEFORE_NO_OPERATOR: Final = STOP_WORDS - {"and", "but", "or"}
_QUOTED: Final = re.compile(r'"([^"]*)"?')
# Only ASCII: in Unicode, other letters are an i or an s without regard to case.
_FIELD: Final = re.compile(rf'((?ai:{"|".join(NAMES)})):(?:"([^"]*)"?|(?=[^\s/:]))')
_SENTENCE_END: Final = re.compile(
    r"[^\W\d_]{2}!*[?.\u2026][?.!\u2026]*$|^[?.\u2026]+$|[\u3002\uff1f]$"
)
_QUOTATION_END: Final = re.compile(r"\w[.!?\u2026\u3002\uff01\uff1f]\s*$")


class Kind(Enum):
    WORD = auto()
    PHRASE = auto()
    FIELD = auto()
    OR = auto()
    AND = auto()
    OPEN = auto()
    CLOSE = auto()


_OPERATORS: Final = {"OR": Kind.OR, "AND": Kind.AND, "&&": Kind.AND}
_BARS: Final = {"|": Kind.OR, "||": Kind.OR}


class Piece(Struct, frozen=True):
    kind: Kind
    # A word, the content of a phrase, or the value of a field.
    text: str = ""
    is_excluded: bool = False
    field: Field | None = None
    # As it was typed, without the sign.
    written: str = ""
    # Where the value of a field begins and ends in the query.
    span: tuple[int, int] = (0, 0)


def pieces(text: str) -> Iterator[Piece]:
    """The first pieces of a query in order. Parentheses may be unbalanced."""
    return islice(_pieces(text), MAX_PIECES)


def _pieces(text: str) -> Iterator[Piece]:
    place, depth = 0, 0
    operators = {**_OPERATORS, **(_BARS if _has_bars(text) else {})}
    has_not, before = _has_not(text), ""
    while (place := _skip(text, place)) < len(text):
        sign = _SIGN.match(text, place)
        if has_not and sign is None and before not in _BEFORE_NO_OPERATOR:
            sign = _NOT.match(text, place)
        start = sign.end() if sign else place
        if text[start] == ")" and depth:
            depth -= 1
            piece, place = Piece(Kind.CLOSE), start + 1
        elif text[start] == "(":
            depth += 1
            piece, place = Piece(Kind.OPEN, is_excluded=bool(sign)), start + 1
        else:
            piece, place = _content(text, start, depth, is_excluded=bool(sign))
            if piece.kind is Kind.WORD and not sign and piece.text in operators:
                piece = Piece(operators[piece.text], piece.text)
        before = piece.text.lower() if piece.kind is Kind.WORD else ""
        yield piece


def settled(text: str) -> str:
    """The query in a form that means the same as part of a longer one."""
    return _UNSETTLED.sub(_settled, text)


def _settled(found: re.Match[str]) -> str:
    text = found.string
    if found[0] == "NOT":
        return "NOT" if _has_not(text) else "not"
    if found[0] not in _BARS:
        return found[0]
    return "OR" if _has_bars(text) and text[: found.start()].strip() else ""


def _has_bars(text: str) -> bool:
    return len(text.split()) <= _MOST_WITH_BARS


def _has_not(text: str) -> bool:
    """Not if all is in capitals, where every word looks like an operator."""
    if "NOT" not in text:
        return False
    others = _OPERATOR_WORD.sub("", text)
    return any(letter.isalpha() and not letter.isupper() for letter in others)


def reads_like_a_sentence(found: list[Piece]) -> bool:
    """Whether a query is a pasted text, where a dash is punctuation."""
    words = [piece for piece in found if piece.kind is Kind.WORD]
    if any(map(_is_typed_operator, found)):
        return False
    if sum(not word.is_excluded for word in words) > _SENTENCE_WORDS:
        return True
    if any(_ends_sentence(word.text) for word in words):
        return True
    phrases = (one for one in found if one.kind is Kind.PHRASE and not one.is_excluded)
    return any(_QUOTATION_END.search(phrase.text) for phrase in phrases)


def _is_typed_operator(piece: Piece) -> bool:
    """Whether it is hardly ever in a pasted text."""
    return piece.kind in (Kind.OR, Kind.FIELD) or (piece.kind is Kind.OPEN and piece.is_excluded)


def _ends_sentence(word: str) -> bool:
    """Not an abbreviation, such as U.S."""
    return bool(_SENTENCE_END.search(word)) and "." not in word.rstrip("?.!\u2026")


def _skip(text: str, place: int) -> int:
    spaces = _SPACES.match(text, place)
    assert spaces is not None
    return spaces.end()


def _content(text: str, start: int, depth: int, *, is_excluded: bool) -> tuple[Piece, int]:
    if quoted := _QUOTED.match(text, start):
        return Piece(Kind.PHRASE, quoted[1], is_excluded), quoted.end()
    if named := _FIELD.match(text, start):
        end, span = named.end(), named.span(2)
        value = named[2]
        if value is None:
            end = _word_end(text, named.end(), depth)
            value = text[named.end() : end].rstrip(",;")
            span = (named.end(), named.end() + len(value))
        field = NAMES[named[1].lower()]
        return Piece(Kind.FIELD, value, is_excluded, field, text[start:end], span), end
    end = _word_end(text, start, depth)
    word = text[start:end]
    return Piece(Kind.WORD, word, is_excluded, written=word), end


def _word_end(text: str, start: int, depth: int) -> int:
    """A word ends at a space, or at a parenthesis that closes one outside of the word."""
    found = _WORD.match(text, start)
    end = found.end() if found else start
    inside = 0
    for place in range(start, end if depth else start):
        character = text[place]
        if character == "(":
            inside += 1
        elif character == ")":
            if not inside and depth:
                return max(place, start + 1)
            inside -= 1 if inside else 0
    return end
