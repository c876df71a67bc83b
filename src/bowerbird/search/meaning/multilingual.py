"""When the second model is needed, and how much the first one counts beside it.

The multilingual Universal Sentence Encoder was trained on 15 languages: these and English. In
English the first model finds more (ADR 0016), so accounts whose posts are all in English have no
vectors of the second.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Final

from bowerbird.search.words.languages import language_of
from bowerbird.search.words.latin_languages import likely_languages
from bowerbird.search.words.word_lists import ENGLISH

_LANGUAGES: Final = frozenset(
    ("ar", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
)

_DENSE: Final = frozenset(("ja", "ko", "zh"))
# In nonsense, and in words of a language that a model was not trained on.
_SHORT_PIECE, _SHORT_PIECE_OTHER_SCRIPT = 2.3, 1.3


def needs_second_model(text: str) -> bool:
    """Whether the text of a post is in a language that only the second model was trained on."""
    likely = likely_languages(language_of(text))
    return likely[0] in _LANGUAGES and ENGLISH not in likely


def first_share(query: str) -> float:
    """The share of the first model in the score of both.

    In other scripts than Latin it sees little more than the language.
    """
    return 0.3 if is_in_other_script(query) else 0.5


def is_known(query: str, letters_per_piece: Sequence[float]) -> bool:
    """Whether a model knows words of a query, by the length of the pieces of each model."""
    if not is_in_other_script(query):
        return max(letters_per_piece) > _SHORT_PIECE
    # The pieces of a script of syllables are short in the second model too.
    is_dense = language_of(query) in _DENSE and len(letters_per_piece) > 1
    return is_dense or letters_per_piece[-1] > _SHORT_PIECE_OTHER_SCRIPT


def is_in_other_script(query: str) -> bool:
    """Whether most letters of a query are not Latin."""
    letters = [character for character in query if character.isalpha()]
    others = sum(not _is_latin(letter) for letter in letters)
    return 2 * others > len(letters)


@cache
def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN"))
