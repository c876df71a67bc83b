"""Abbreviations and what they stand for, in both directions: k8s and Kubernetes.

A library learns those that its posts explain, as in `machine learning (ML)`: the words of such a
post in the index begin with tokens of them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from bowerbird.model.words import ABBREVIATION, STEM_WEIGHT, Form
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS, fold
from bowerbird.search.words.word_lists import STOP_WORDS

_LONG_FORMS: Final = """
    k8s: kubernetes; k3s: kubernetes; i18n: internationalization, internationalisation; l10n:
    localization, localisation; a11y: accessibility; o11y: observability; g11n: globalization;
    p13n: personalization; i14y: interoperability; c14n: canonicalization; v12n: virtualization;
    n11n: normalization; a16z: andreessen horowitz; js: javascript; ts: typescript; py: python;
    postgres: postgresql; db: database; ml: machine learning; ai: artificial intelligence;
    llm: large language model; llms: large language models; nlp: natural language processing;
    rag: retrieval augmented generation; ux: user experience; ui: user interface; oss: open source;
    repo: repository; docs: documentation; config: configuration; auth: authentication;
    infra: infrastructure; admin: administrator; vpn: virtual private network;
    iot: internet of things; vr: virtual reality; cli: command line; tdd: test driven development;
    seo: search engine optimization; vc: venture capital; nyc: new york city;
    eu: european union; uk: united kingdom; usa: united states; diy: do it yourself;
    faq: frequently asked questions; ww2: second world war; tv: television
"""
# Shorter words are abbreviated in another way.
_LEAST_LETTERS: Final = 10
_ENDS: Final = 2
LENGTHS: Final = range(2, 7)
"""Of abbreviations."""

# Tokens of a post. One with more is a glossary, or made to be in the way.
_MOST_LEARNT: Final = 8
_MOST_LOOKED_AT: Final = 64
_MOST_BEFORE: Final = 100
_BRACKETS: Final = re.compile(r"\(([^()\n]{2,80})\)")
_NUMERONYM: Final = re.compile(r"([a-z])(\d{1,2})([a-z])", re.ASCII)
_LEAST_CAPITALS: Final = 2
# In the plural.
_LONGEST: Final = LENGTHS[-1] + 1


class _Explained(NamedTuple):
    # One explained in the plural is written in the singular too.
    shorts: Sequence[str]
    words: Sequence[str]


def key_of(words: Iterable[str]) -> str:
    """A phrase as it is looked up: a query lacks its stop words."""
    return " ".join([word for word in words if word not in STOP_WORDS])


def _table() -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for entry in " ".join(_LONG_FORMS.split()).split("; "):
        short, _, texts = entry.partition(": ")
        for text in texts.split(", "):
            found[short].append(text)
            found[key_of(text.split())].append(short)
    return dict(found)


COMMON: Final = _table()
"""What a word or phrase means, and how it is abbreviated."""


def forms_of(word: str) -> Iterator[Form]:
    """The abbreviation of a folded word, or what it is one of."""
    for text in COMMON.get(word, ()):
        yield Form(tuple(text.split()), STEM_WEIGHT)
    if len(word) >= _LEAST_LETTERS and word.isascii() and word.isalpha():
        yield Form((f"{word[0]}{len(word) - _ENDS}{word[-1]}",), STEM_WEIGHT)


def tokens_of(texts: Iterable[str]) -> list[str]:
    """A token in each direction for the abbreviations that the texts explain."""
    found: dict[str, None] = {}
    for text in texts:
        if "(" not in text:
            continue
        for brackets in islice(_BRACKETS.finditer(text), _MOST_LOOKED_AT):
            if explained := _explained(text, *brackets.span(1)):
                tokens = [token for short in explained.shorts for token in _both(short, explained)]
                new = dict.fromkeys(token for token in tokens if token not in found)
                is_long = any(len(token) > MAX_TOKEN_CHARACTERS for token in new)
                if not is_long and len(found) + len(new) <= _MOST_LEARNT:
                    found.update(new)
    return list(found)


def _both(short: str, explained: _Explained) -> Iterator[str]:
    """Neighbours, so that both or neither are learnt."""
    words = explained.words
    yield _token([short], words)
    # A query has the abbreviation of a long word anyway.
    if len(words) > 1:
        yield _token(key_of(words).split(), [short])


def _token(typed: Sequence[str], meaning: Sequence[str]) -> str:
    return ABBREVIATION + ABBREVIATION.join((*typed, "", *meaning))


def _explained(text: str, start: int, end: int) -> _Explained | None:
    """What brackets explain: an abbreviation and the words it stands for."""
    if end - start <= _LONGEST and _is_short(text[start:end]):
        before = text[max(start - _MOST_BEFORE, 0) : start - 1]
        return _with_words(text[start:end], fold(before.rpartition("\n")[2]).split())
    last = text[max(start - _LONGEST - 3, 0) : start - 1].split()[-1:]
    if not last or not _is_short(last[0]):
        return None
    words = fold(text[start:end]).split()
    found = _with_words(last[0], words)
    return found if found and len(found.words) == len(words) else None


def _is_short(text: str) -> bool:
    if len(text) > _LONGEST or not text.isalnum():
        return False
    if text.islower() and text.isalpha():
        return False
    is_numeronym = _NUMERONYM.fullmatch(text.lower()) is not None
    return is_numeronym or sum(map(str.isupper, text)) >= _LEAST_CAPITALS


def _with_words(short: str, words: Sequence[str]) -> _Explained | None:
    """The last words in the singular, if the abbreviation has their first letters."""
    is_plural = short[-1] == "s" and short[:-1].isupper()
    letters = fold(short[:-1] if is_plural else short).strip()
    if not letters.isalnum() or len(letters) not in LENGTHS:
        return None
    if found := _NUMERONYM.fullmatch(letters):
        word = words[-1] if words else ""
        fits = len(word) == int(found[2]) + _ENDS and word[0] + word[-1] == found[1] + found[3]
        return _Explained([letters], [word]) if fits else None
    first, left = len(words), letters
    while first and left:
        first -= 1
        if words[first][0] == left[-1]:
            left = left[:-1]
        elif len(left) == len(letters) or words[first] not in STOP_WORDS:
            return None
    if left:
        return None
    last = words[-1].removesuffix("s") if is_plural else words[-1]
    found_words = [*words[first:-1], last]
    # The Verge (TV) would find every verge.
    if " " not in key_of(found_words):
        return None
    return _Explained([letters, f"{letters}s"] if is_plural else [letters], found_words)
