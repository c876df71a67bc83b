"""When the second model is needed.

The multilingual Universal Sentence Encoder was trained on 15 languages: these and English. In
English the first model finds more (ADR 0016), so accounts whose posts are all in English have no
vectors of the second.
"""

import unicodedata
from functools import cache
from typing import Final

from bowerbird.search.words.languages import language_of
from bowerbird.search.words.latin_languages import likely_languages
from bowerbird.search.words.word_lists import ENGLISH

_LANGUAGES: Final = frozenset(
    ("ar", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
)


def needs_second_model(text: str) -> bool:
    """Whether the text of a post is in a language that only the second model was trained on."""
    likely = likely_languages(language_of(text))
    return likely[0] in _LANGUAGES and ENGLISH not in likely


def is_in_other_script(query: str) -> bool:
    """Whether most letters of a query are not Latin."""
    letters = [character for character in query if character.isalpha()]
    others = sum(not _is_latin(letter) for letter in letters)
    return 2 * others > len(letters)


@cache
def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith(("LATIN", "FULLWIDTH LATIN"))
