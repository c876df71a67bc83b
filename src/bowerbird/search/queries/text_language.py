"""Finds the language of the texts of a post, from no more of them than shows it."""

import re
from collections.abc import Sequence
from string import ascii_letters
from typing import Final

from bowerbird.search.words.languages import OTHER_SCRIPTS, language_of, language_of_words
from bowerbird.search.words.latin_languages import MAX_WORDS, of_latin_words
from bowerbird.search.words.token_folding import fold
from bowerbird.search.words.word_lists import FUNCTION_WORDS

# Of each text.
_MAX_CHARACTERS: Final = 600
_SAMPLE_CHARACTERS: Final = 1_000
# This many characters usually have more than MAX_WORDS words.
_ENOUGH_CHARACTERS: Final = 500
# With so many ASCII letters for each other character, a text is not of another script.
_LATIN_SHARE: Final = 2
_NOT_LETTERS: Final = bytes(set(range(128)) - set(ascii_letters.encode()))
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
# What the language of a Latin text is sure with: so many of its function words, and such a share.
_SURE_WORDS: Final = 2
_SURE_SHARE: Final = 0.12
_ANY_FUNCTION_WORD: Final = frozenset().union(*FUNCTION_WORDS.values())
_ADDRESS: Final = re.compile(r"\bhttps?://\S+")


def language_of_texts(texts: Sequence[str]) -> str:
    """The language that `language_of` finds for the beginnings of all texts. Faster for Latin."""
    sample = " ".join([text[:_MAX_CHARACTERS] for text in texts])[:_SAMPLE_CHARACTERS]
    others = ""
    if not sample.isascii():
        ascii_characters = sample.encode("ascii", "ignore")
        letters = len(ascii_characters.translate(None, _NOT_LETTERS))
        if letters < (len(sample) - len(ascii_characters)) * _LATIN_SHARE:
            return language_of(sample)
        others = "".join(_NOT_ASCII.findall(sample))
    words = fold(sample[:_ENOUGH_CHARACTERS]).split()
    # The last word may be cut.
    if len(words) <= MAX_WORDS:
        words = fold(sample).split()
    # Only letters that are not ASCII show a language.
    return of_latin_words(words, others)


def sure_language(text: str) -> str:
    """The language of a text if its script or its words leave no doubt; otherwise ""."""
    sample = text[:_ENOUGH_CHARACTERS]
    if "://" in sample:
        sample = _ADDRESS.sub(" ", sample)
    words = fold(sample).split()[:MAX_WORDS]
    if sample.isascii() and len(_ANY_FUNCTION_WORD.intersection(words)) < _SURE_WORDS:
        return ""
    language = language_of_words(words, [sample])
    if language in OTHER_SCRIPTS:
        return language
    own = FUNCTION_WORDS.get(language, frozenset()).intersection(words)
    return language if len(own) >= max(_SURE_WORDS, _SURE_SHARE * len(words)) else ""
