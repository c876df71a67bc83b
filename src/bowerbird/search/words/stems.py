"""The stems of words, with the Snowball algorithm of each language, and their forms as tokens."""

from collections.abc import Iterator
from functools import cache
from typing import Final

import Stemmer

from bowerbird.model.words import OTHER_FORM, STEM, normalized
from bowerbird.search.words import spellings
from bowerbird.search.words.languages import OTHER_SCRIPTS, script_of
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS, fold
from bowerbird.search.words.word_lists import ENGLISH, FUNCTION_WORDS, IRREGULAR_WORDS

MIN_STEM_LETTERS: Final = 3
# Longer ones are not words, and the time of some algorithms grows with the length.
MAX_STEMMED_LETTERS: Final = 40

_LATIN: Final = {
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "de": "german",
    "pt": "portuguese",
    "it": "italian",
    "nl": "dutch",
    "tr": "turkish",
    "pl": "polish",
    "sv": "swedish",
    "da": "danish",
    "no": "norwegian",
    "fi": "finnish",
    "hu": "hungarian",
    "ro": "romanian",
    "cs": "czech",
    "ca": "catalan",
    "id": "indonesian",
    "et": "estonian",
    "lt": "lithuanian",
}
# By the language that stands for the script, then by language.
_OTHER_SCRIPTS: Final = {
    "ru": {"ru": "russian"},
    "ar": {"ar": "arabic", "fa": "persian"},
    "el": {"el": "greek"},
    "hi": {"hi": "hindi", "ne": "nepali"},
    "ta": {"ta": "tamil"},
    "hy": {"hy": "armenian"},
}


_stem_english: Final = Stemmer.Stemmer("english", 0).stemWord
_ENGLISH_WORDS: Final = FUNCTION_WORDS[ENGLISH]


def stem(word: str, language: str) -> str | None:
    """The folded stem of an unfolded word in a text of this language; None without one."""
    word = _lowered(word)
    if word.isascii():
        return stem_of_plain(word, language)
    script = script_of(word[0])
    if script is None:
        language = _latin_language(language)
        algorithm = _LATIN.get(language)
        if algorithm is None or fold(word) in FUNCTION_WORDS[language]:
            return None
    else:
        # A word of another script in a text is in the main language of that script.
        spoken = language if language in OTHER_SCRIPTS else script
        algorithm = _OTHER_SCRIPTS.get(script, {}).get(spoken)
    if algorithm is None or not _has_stem(word):
        return None
    return _checked(_stemmer(algorithm).stemWord(word))


def stem_of_plain(word: str, language: str) -> str | None:
    """The stem of a folded word of ASCII letters."""
    length = len(word)
    if length < MIN_STEM_LETTERS or length > MAX_STEMMED_LETTERS or not word.isalpha():
        return None
    language = _latin_language(language)
    algorithm = _LATIN.get(language)
    if algorithm is None or word in FUNCTION_WORDS[language]:
        return None
    if language == ENGLISH:
        return english_stem(spellings.american(word) or word)
    found: str = _stemmer(algorithm).stemWord(word)
    return found if len(found) >= MIN_STEM_LETTERS else None


def english_stem(word: str) -> str | None:
    """The stem of a folded word of ASCII letters, in its American spelling."""
    if not MIN_STEM_LETTERS <= len(word) <= MAX_STEMMED_LETTERS or word in _ENGLISH_WORDS:
        return None
    found: str = _stem_english(IRREGULAR_WORDS.get(word, word))
    return found if len(found) >= MIN_STEM_LETTERS else None


def possible_stems(word: str) -> tuple[str, ...]:
    """The distinct stems of a word in every language of its script; the English one first."""
    word = _lowered(word)
    if not _has_stem(word):
        return ()
    return tuple(dict.fromkeys(_possible_stems(word)))


def _possible_stems(word: str) -> Iterator[str]:
    script = None if word.isascii() else script_of(word[0])
    if script is None:
        plain = fold(word)
        first = _stem_english(IRREGULAR_WORDS.get(plain) or spellings.american(plain) or word)
        if folded := _checked(first):
            yield folded
    algorithms = _LATIN if script is None else _OTHER_SCRIPTS.get(script, {})
    stems = {
        _stemmer(algorithm).stemWord(word): None
        for language, algorithm in algorithms.items()
        if language != ENGLISH
    }
    for found in stems:
        if folded := _checked(found):
            yield folded


def _latin_language(language: str) -> str:
    """The language of Latin words in a text; English in a text of another script."""
    return ENGLISH if language in OTHER_SCRIPTS else language


def _has_stem(word: str) -> bool:
    if not MIN_STEM_LETTERS <= len(word) <= MAX_STEMMED_LETTERS:
        return False
    # Letters of some scripts have marks, which are not alphabetic.
    return word.isalpha() if word.isascii() else not word[-1].isdigit()


def _checked(found: str) -> str | None:
    """The stem as a token; None if it is too short, too long or not a single word."""
    if found.isascii() and found.isalnum():
        return found if len(found) >= MIN_STEM_LETTERS else None
    folded = fold(found)
    # A letter may become several, and the token has a mark.
    if not MIN_STEM_LETTERS <= len(folded) < MAX_TOKEN_CHARACTERS:
        return None
    return None if any(sign in folded for sign in " #@_") else folded


def _lowered(word: str) -> str:
    if word.isascii():
        return word.lower()
    # The lower case of a capital I with a dot would be two characters.
    return word.replace("\u0130", "i").replace("\u200c", "").lower()


@cache
def _stemmer(algorithm: str) -> "Stemmer.Stemmer":
    # Without its own cache a stemmer has no state between calls, so threads may share it.
    return Stemmer.Stemmer(algorithm, 0)


Tokens = tuple[str, ...]
# Of a token without its mark.
MAX_MARKED_CHARACTERS: Final = MAX_TOKEN_CHARACTERS - 1
# In these languages ae, oe, ue and aa are umlauts; in others only in names.
_WITH_DIGRAPHS: Final = frozenset({"de", "da", "no", "sv"})
_HEBREW, _END_OF_HEBREW, _END_OF_ARABIC = "\u0590", "\u05ff", "\u06ff"


# Of all languages together.
_MAX_KEPT: Final = 65_536


class FormsOfWords(dict[str, Tokens]):
    """The marked tokens of folded words in one language; only words of ASCII letters have some.

    Most words of a post were in posts before it: a third less for the text of an index.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, word: str) -> Tokens:
        found = self[word] = _of_folded_word(word, self._language)
        return found


_KEPT: Final[dict[str, FormsOfWords]] = {}


def forms_in(language: str) -> FormsOfWords:
    """Those of earlier texts are kept until there are too many."""
    if sum(map(len, _KEPT.values())) > _MAX_KEPT:
        _KEPT.clear()
    # Another thread may have cleared them.
    return _KEPT.get(language) or _KEPT.setdefault(language, FormsOfWords(language))


def _of_folded_word(word: str, language: str) -> Tokens:
    if not (word.isascii() and word.isalpha()) or len(word) > MAX_MARKED_CHARACTERS:
        return ()
    if language != ENGLISH:
        found = [OTHER_FORM + other for other in other_spellings(word, language)]
        return (*found, *stems_of(word, word, language))
    # A faster way for English, the language of most posts.
    american = spellings.american(word)
    stemmed = english_stem(american or word)
    stems = () if stemmed is None or stemmed == word else (STEM + stemmed,)
    return stems if american is None else (OTHER_FORM + american, *stems)


def stems_of(token: str, text: str, language: str) -> Tokens:
    """The stem of the text, and of its folded form: people search without accents."""
    if token.isascii():
        # English words without a suffix are their own stem, and a query asks for them as written.
        is_english = language == ENGLISH or language in OTHER_SCRIPTS
        found = stem_of_plain(token, language)
        folded = () if found is None or (is_english and found == token) else (STEM + found,)
        if text.isascii():
            return folded
    else:
        folded = ()
    found = stem(_stemmed_text(text), language)
    return folded if found is None or STEM + found in folded else (STEM + found, *folded)


def is_name(text: str) -> bool:
    return text[:1].isupper() and not text.isupper()


def other_spellings(token: str, language: str, *, is_name: bool = False) -> list[str]:
    if not token.isascii():
        return _without_prefixes(token)
    found = []
    is_english = language == ENGLISH or language in OTHER_SCRIPTS
    if is_english and (american := spellings.american(token)):
        found.append(american)
    has_umlauts = is_name or language in _WITH_DIGRAPHS
    if has_umlauts and (shorter := spellings.without_digraphs(token)):
        found.append(shorter)
    return found


def _without_prefixes(token: str) -> list[str]:
    if _HEBREW <= token[0] <= _END_OF_HEBREW:
        found = {spellings.without_hebrew_prefix(token)}
    elif _END_OF_HEBREW < token[0] <= _END_OF_ARABIC:
        letters = spellings.arabic_letters(token)
        bare = spellings.without_article(letters)
        found = {letters, bare if bare != letters else spellings.without_conjunction(letters)}
    else:
        return []
    return sorted(found - {token})


def _stemmed_text(text: str) -> str:
    if text.isascii():
        return text
    composed = normalized("NFKC", text)
    return spellings.without_article(composed)
