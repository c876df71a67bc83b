"""When the second model is needed.

The multilingual Universal Sentence Encoder knows 16 languages. In English the first model is
better, so accounts whose posts are all in English have no vectors of the second.
"""

import unicodedata
from functools import cache
from typing import Final

from bowerbird.search.languages import language_of

_LANGUAGES: Final = frozenset(
    ("ar", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
)


def needs_second_model(text: str) -> bool:
    """Whether the text of a post is in a language that only the second model knows."""
    return language_of(text) in _LANGUAGES


def is_in_other_script(query: str) -> bool:
    """Whether most letters of a query are not Latin. The first model does not know them."""
    letters = [character for character in query if character.isalpha()]
    others = sum(not _is_latin(letter) for letter in letters)
    return 2 * others > len(letters)


@cache
def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN"))
