"""How names of other scripts sound, so that moskva finds Москва and Tchaikovsky finds Чайковский.

Latin, Cyrillic and Greek letters are written in one rough way, without the endings that inflect a
name. A post has the sounds of its names in Cyrillic and Greek; a query asks for those of its words.
"""

import re
from collections.abc import Iterator
from typing import Final

from bowerbird.model.words import SOUND, STEM_WEIGHT, Form
from bowerbird.search.words.stems import stem
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS, fold

_LEAST_LETTERS: Final = 4
_LEAST_LEFT: Final = 3
_MOST_SPELLINGS: Final = 6
# Folding has taken the marks off.
_CYRILLIC: Final = "абвгґдезиіклмнопрстуфэыєжхцчшщъьюяўјљњћђџ"
_GREEK: Final = "αβγδεζηικλμνξοπρσςτυωφθχψ"
_LATIN_OF_CYRILLIC: Final = (
    *"abvggdeziiklmnoprstufei",
    *("ie", "zh", "kh", "ts", "ch", "sh", "shch", "", "", "iu", "ia"),
    *("u", "j", "lj", "nj", "c", "dj", "dzh"),
)
_LATIN_OF_GREEK: Final = (*"avgdeziiklmnxoprsstyof", "th", "ch", "ps")
_LETTERS: Final = {
    ord(letter): latin
    for letters, latins in ((_CYRILLIC, _LATIN_OF_CYRILLIC), (_GREEK, _LATIN_OF_GREEK))
    for letter, latin in zip(letters, latins, strict=True)
}
_NAME: Final = re.compile(
    "[\u0386-\u03ab\u0400-\u042f\u0490][\u03ac-\u03ce\u0430-\u045f\u0491]{3,}"
)
_OTHER_SCRIPT: Final = re.compile("[\u03b1-\u03c9\u0430-\u045f\u0491]+")
_GREEK_PAIRS: Final = {"ου": "u", "μπ": "b", "ντ": "d", "γκ": "g", "τζ": "dz"}  # noqa: RUF001 - Greek
# Longer spellings first.
_SPELLINGS: Final = """
    shch:sh sch:sh sh:sh tsch:ch tch:ch ch:ch zh:zh kh:g ph:f th:t ck:k tz:ts cz:ch ts:ts
    x:ks w:v q:k y:i j:i h:g c:k
"""
_SOUNDS: Final = dict(pair.split(":") for pair in _SPELLINGS.split())
_SPELLING: Final = re.compile("|".join(_SOUNDS))
_SOFT: Final = re.compile("i+[eo]")
_TWICE: Final = re.compile(r"(.)\1+")
_VOWELS: Final = "aeiou"
# The adjectives that Snowball has no algorithm for.
_ENDING: Final = re.compile("(?<=sk)(?:ogo|omu|im|oi|ii|i|a|u)$")


def tokens_of(text: str) -> list[str]:
    """The sounds of the names in a text that are in Cyrillic or Greek letters."""
    return [token for name in dict.fromkeys(_NAME.findall(text)) for token in _of_name(name)]


def forms_of(word: str) -> Iterator[Form]:
    """How posts in the other script have a folded word."""
    if word.isascii():
        if word.isalpha() and len(word) >= _LEAST_LETTERS and (sound := _sound(word)):
            yield Form((SOUND + sound,), STEM_WEIGHT)
    elif _OTHER_SCRIPT.fullmatch(word) and len(word) >= _LEAST_LETTERS:
        for latin in _latin_spellings(word):
            yield Form((latin,), STEM_WEIGHT)


def _latin_spellings(word: str) -> list[str]:
    latin = _in_latin(word)
    found = [latin]
    if latin.endswith("ii"):
        found += [f"{latin[:-2]}{ending}" for ending in ("y", "iy", "i")]
    found += [one.replace("ia", "ya").replace("iu", "yu") for one in found]
    found += [one.replace("kh", "h") for one in found]
    return list(dict.fromkeys(found))[:_MOST_SPELLINGS]


def _in_latin(word: str) -> str:
    for pair, letter in _GREEK_PAIRS.items():
        word = word.replace(pair, letter)
    return word.translate(_LETTERS)


def _of_name(name: str) -> tuple[str, ...]:
    folded = fold(name).strip()
    if not _OTHER_SCRIPT.fullmatch(folded):
        return ()
    found = [_sound(_in_latin(folded))]
    if folded[0] >= "\u0430" and (stemmed := stem(folded, "ru")):
        found.append(_sound(_in_latin(stemmed)))
    return tuple(dict.fromkeys(SOUND + sound for sound in found if sound))


def _sound(latin: str) -> str:
    """The rough spelling; "" if too little is left."""
    sound = _SPELLING.sub(lambda found: _SOUNDS[found[0]], latin)
    sound = _TWICE.sub(r"\1", _SOFT.sub("e", sound))
    sound = _ENDING.sub("", sound).rstrip(_VOWELS)
    return sound[: MAX_TOKEN_CHARACTERS - 1] if len(sound) >= _LEAST_LEFT else ""
