"""The invented words of the generated posts, the same in every run.

Content words follow a Zipf-Mandelbrot curve, like the words of real languages. In addition, each
of twelve function words is in a third of the posts.
"""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

FUNCTION_WORDS: Final = (
    "thea", "ofen", "ande", "tou", "inno", "forra", "isto", "onda", "withe", "thato", "bei", "asu",
)  # fmt: skip
FUNCTION_WORD_SHARE: Final = 1 / 3

_SIZE: Final = 30_000
# A larger offset flattens the start of the curve; with 10 the first word is in a fifth of posts.
_OFFSET: Final = 10
# From this rank on, a word is in clearly less than 1 % of the posts.
_RARE_FROM, _RARE_TO = 700, 20_000
_ONSETS: Final = (
    *"bcdfghklmnprstvw", "br", "ch", "cl", "dr", "fl", "gr", "pl", "pr", "sh", "sk", "sp", "st",
    "th", "tr",
)  # fmt: skip
_VOWELS: Final = (*"aeiou", "ai", "ea", "ou", "ie")
_CODAS: Final = ("", "", "", *"nrstlmk", "nd", "ng", "st", "ck")
_SCRIPTS: Final = {
    "cyrillic": ("абвгдежзиклмнопрстуфхцчшыэюя", 3, 9, " "),
    "japanese": ("あいうえおかきくけこさしすせそたちつてとなにのはひふへほまみむらりるれろ日本語学生時間東京新聞", 2, 5, ""),  # noqa: E501 - an alphabet
    "chinese": ("的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学", 2, 4, ""),  # noqa: E501 - an alphabet
    "arabic": ("ابتثجحخدذرزسشصضطظعغفقكلمنهوي", 3, 8, " "),
    "hindi": ("कखगघचछजझटठडढतथदधनपफबभमयरलवशषसह", 2, 6, " "),
    "korean": ("가나다라마바사아자차카타파하고노도로모보소오조초코토포호한국어서울사람", 2, 4, " "),
    "thai": ("กขคงจฉชซดตถทธนบปผพฟภมยรลวสหอ", 3, 8, ""),
}  # fmt: skip
_SCRIPT_SIZE: Final = 2_000


@dataclass(frozen=True, slots=True)
class Language:
    words: Sequence[str]
    cumulative_weights: Sequence[float]
    separator: str

    def phrase(self, rng: random.Random, length: int) -> list[str]:
        return rng.choices(self.words, cum_weights=self.cumulative_weights, k=length)


def latin() -> Language:
    rng = random.Random("latin words")
    words: dict[str, None] = {}
    while len(words) < _SIZE:
        word = "".join(_syllable(rng) for _ in range(rng.choice((1, 2, 2, 2, 3))))
        if len(word) > 2 and word not in FUNCTION_WORDS:
            words[word] = None
    # Frequent words tend to be short.
    by_rank = sorted(words, key=lambda word: len(word) + 6 * rng.random())
    return Language(by_rank, _weights(_SIZE), " ")


def others() -> list[Language]:
    """One language per script, each with its own words."""
    languages = []
    for name, (alphabet, shortest, longest, separator) in _SCRIPTS.items():
        rng = random.Random(name)
        words = [
            "".join(rng.choices(alphabet, k=rng.randint(shortest, longest)))
            for _ in range(_SCRIPT_SIZE)
        ]
        languages.append(Language(words, _weights(_SCRIPT_SIZE), separator))
    return languages


def rare_words(rng: random.Random, count: int) -> list[str]:
    """Distinct words in less than 1 % of the posts, evenly spread over all degrees of rarity."""
    words = latin().words
    chosen: dict[str, None] = {}
    while len(chosen) < count:
        rank = int(_RARE_FROM * (_RARE_TO / _RARE_FROM) ** rng.random())
        chosen[words[rank]] = None
    return list(chosen)


def _syllable(rng: random.Random) -> str:
    return "".join(rng.choice(part) for part in (_ONSETS, _VOWELS, _CODAS))


def _weights(size: int) -> list[float]:
    return list(itertools.accumulate(1 / (rank + _OFFSET) for rank in range(1, size + 1)))
