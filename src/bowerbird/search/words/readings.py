"""How Japanese words in kanji are read, so that としょかん finds 図書館.

If the operator wants that, a post has the readings of the words that SudachiPy's dictionary knows,
and of compounds of them. A query in kana asks for its own; posts written like it rank higher.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from threading import Lock
from typing import Any, Final, NamedTuple

from bowerbird.model.words import READING, Form
from bowerbird.search.words.token_folding import fold

_HAN: Final = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA: Final = "\u3041-\u3096"
_KATAKANA: Final = "\u30a1-\u30fa\u30fc"
_KANJI: Final = re.compile(f"[{_HAN}]")
# Names in Chinese borrow \u306e.
_JAPANESE: Final = re.compile("[\u3041-\u306d\u306f-\u3096\u30a1-\u30fa]")
# With digits, because kanji after one are read in another way.
_RUN: Final = re.compile(f"[0-9{_HIRAGANA}{_HAN}{_KATAKANA}]+")
_LEAST_KANA, _MOST_KANA = 2, 40
_KANA: Final = re.compile(f"[{_HIRAGANA}{_KATAKANA}]{{{_LEAST_KANA},{_MOST_KANA}}}")
_TO_HIRAGANA: Final = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
# Of a post. Longer texts give more readings than the index takes of one post.
_MAX_CHARACTERS: Final = 1_000
_MOST_READINGS: Final = 3
_MOST_JOINED: Final = 4
_MOST_WAYS: Final = 4
# Many words sound the same.
_WEIGHT: Final = 0.5
_MOST_REMEMBERED: Final = 16_384
# Parts of speech, as the dictionary names them.
_PREFIX, _SUFFIX, _PRONOUN, _NUMERAL = "接頭辞", "接尾辞", "代名詞", "数詞"
_NOUNS: Final = frozenset({"名詞", "形状詞", _PRONOUN})
_PARTS: Final = _NOUNS | {_PREFIX, _SUFFIX}
_INFLECTED: Final = frozenset({"動詞", "形容詞"})
_OTHERS: Final = _INFLECTED | {"副詞", "連体詞"}
# The likeliest reading of a single character of these is rarely the one that is meant, so it gets
# the others too.
_OFTEN_SINGLE: Final = frozenset({_PRONOUN, _SUFFIX})


class _Word(NamedTuple):
    kind: str
    kanji: int
    readings: tuple[str, ...]
    # Whether it may be a part of a compound.
    is_part: bool


class Readings:
    """The dictionary is loaded with the first text: 0.1 s, 15 MB, and 85 MB that are mapped."""

    def __init__(self) -> None:
        self.are_indexed = False
        # The tokenizer reads one text at a time.
        self._lock = Lock()
        self._dictionary: Any = None
        self._tokenizer: Any = None
        # By their number in the dictionary: most words of a text were in texts before it.
        self._words: dict[int, _Word] = {}

    def tokens_of(self, fields: Sequence[str], language: str) -> list[str]:
        """The marked readings of the Japanese fields among those of a post."""
        if not self.are_indexed:
            return []
        texts = [
            field
            for field in fields
            if _JAPANESE.search(field) or (language == "ja" and _has_japanese_kanji(field))
        ]
        runs = [run for text in texts for run in _RUN.findall(text) if _KANJI.search(run)]
        if not runs:
            return []
        # A line between two runs keeps their words apart.
        text = "\n".join(runs)[:_MAX_CHARACTERS]
        with self._lock:
            if self._tokenizer is None:
                from sudachipy import Dictionary  # noqa: PLC0415 - an extra

                self._dictionary = Dictionary(dict="small")
                self._tokenizer = self._dictionary.tokenizer()
            found = dict.fromkeys(_of_words(map(self._word, self._tokenizer.tokenize(text))))
        return [READING + one for one in found if _LEAST_KANA <= len(one) <= _MOST_KANA]

    def _word(self, found: Any) -> _Word:
        word = self._words.get(found.word_id())
        if word is None:
            word = self._looked_up(found)
            if len(self._words) < _MOST_REMEMBERED and not found.is_oov():
                self._words[found.word_id()] = word
        return word

    def _looked_up(self, found: Any) -> _Word:
        kind, second = kinds = found.part_of_speech()[:2]
        surface = found.surface()
        kanji = len(_KANJI.findall(surface))
        if second == _NUMERAL or found.is_oov():
            return _Word(second, 0, (), is_part=False)
        if kind in _INFLECTED:
            lemma = found.dictionary_form_morpheme().reading_form()
            return _Word(kind, kanji, (_hiragana(lemma),), is_part=False)
        reading = _hiragana(found.reading_form())
        # A suffix in hiragana, such as san, is no part of a name, but a prefix belongs to its noun.
        is_part = kind == _PREFIX or kanji > 0 or reading != surface
        # The text around a word rarely shows which of its readings is meant. A single character
        # has too many.
        entries = self._dictionary.lookup(surface) if kanji > 1 or kind in _OFTEN_SINGLE else ()
        others = [one.reading_form() for one in entries if one.part_of_speech()[:2] == kinds]
        readings = tuple(dict.fromkeys((reading, *map(_hiragana, others))))
        return _Word(kind, kanji, readings[:_MOST_READINGS], is_part and kind in _PARTS)


READINGS: Final = Readings()


def forms_of(text: str) -> tuple[Form, ...]:
    """How posts have a word that was typed in kana."""
    word = fold(text).strip()
    if not _KANA.fullmatch(word):
        return ()
    return (Form((READING + _hiragana(word),), _WEIGHT),)


def _has_japanese_kanji(text: str) -> bool:
    """False for most Chinese posts. One with \u306e is taken for Japanese."""
    kanji = "".join(_KANJI.findall(text))
    return kanji.encode("cp932", "ignore").decode("cp932") == kanji


def _hiragana(kana: str) -> str:
    return kana.translate(_TO_HIRAGANA)


def _of_words(words: Iterable[_Word]) -> Iterator[str]:
    compound: list[_Word] = []
    is_after_number = False
    for word in words:
        if word.is_part:
            compound.append(word)
            continue
        yield from _of_compound(compound, is_after_number=is_after_number)
        compound, is_after_number = [], word.kind == _NUMERAL
        if word.kanji and word.kind in _OTHERS:
            yield from word.readings
    yield from _of_compound(compound, is_after_number=is_after_number)


def _of_compound(words: Sequence[_Word], *, is_after_number: bool) -> Iterator[str]:
    """The readings of its words, and of up to four joined ones."""
    for start, first in enumerate(words):
        # A single character is read in another way as a part, and after a number.
        is_alone = len(words) == 1 and not is_after_number
        if first.kind in _NOUNS and first.kanji > (0 if is_alone else 1):
            yield from first.readings
        for end in range(start + 2, min(start + _MOST_JOINED, len(words)) + 1):
            joined = words[start:end]
            is_word = first.kind != _SUFFIX and joined[-1].kind != _PREFIX
            if is_word and any(word.kanji for word in joined):
                ways = product(*(word.readings for word in joined))
                yield from map("".join, islice(ways, _MOST_WAYS))
