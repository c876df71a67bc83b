"""The other ways to write a word of a query, as `index_forms` writes them into the index."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from bowerbird.model.words import OTHER_FORM, STEM, STEM_WEIGHT, Form, normalized
from bowerbird.search.words import abbreviations, addresses, readings, sounds, spellings, tokens
from bowerbird.search.words import compounds as compound_words
from bowerbird.search.words.stems import possible_stems
from bowerbird.search.words.token_folding import fold
from bowerbird.search.words.word_parts import (
    Compound,
    around_apostrophe,
    camel_parts,
    compounds,
    halves,
    has_apostrophe,
    joined,
    own_names,
    syllable_pairs,
)

MAX_FORMS: Final = 24
_MAX_CHARACTERS: Final = 64
MIN_PREFIX_LETTERS: Final = 2
_MANY_NUMBERS: Final = 3
_EDGES: Final = " \t\n\"'`()[]{}<>,;:!?\u2026\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb*"
# An article or pronoun without its vowel: l'avion, qu'elle, dell'arte.
_ELISION: Final = re.compile("(?:[cdjlmnst]|qu|un|[a-z]*ll)['\u2019](?=\\w\\w)", re.IGNORECASE)
_LETTER_BEFORE_NUMBER: Final = re.compile(r"(?<=[^\W\d_])[-\u2010\u2011](?=\d)")
_LONG_NUMBER: Final = re.compile(r"\d{4,15}")
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)+(?:[-+.]\w+)*", re.IGNORECASE | re.ASCII)
_THREE_DIGITS: Final = re.compile(r"\d{1,3}(?=(?:\d{3})*$)")
# Particles of Korean, and the endings of "to be". Longer ones first.
_KOREAN_PARTICLE: Final = re.compile(
    "(?<=[\uac00-\ud7a3]{2})(?:\uc785\ub2c8\ub2e4|\uc5d0\uc11c\ub294|\uc73c\ub85c|\uc5d0\uc11c"
    "|\uc5d0\uac8c|\uae4c\uc9c0|\ubd80\ud130|\ubcf4\ub2e4|\ucc98\ub7fc|\ud558\uace0|\uc774\ub2e4"
    "|[\uc740\ub294\uc774\uac00\uc744\ub97c\uc758\uc5d0\ub85c\uc640\uacfc\ub3c4\ub9cc])$"
)


def own_word(text: str) -> tuple[str, ...] | None:
    """The tokens that replace C++, C#, F# or .NET, whose letters alone mean something else."""
    stripped = text.strip(_EDGES)
    names = own_names(stripped) or own_names(stripped.rstrip("."))
    return (OTHER_FORM + names[0],) if names else None


def others_of(text: str) -> tuple[Form, ...]:
    """The forms of a word as it was typed. The first ones matter most; none is the word itself."""
    if len(text) > _MAX_CHARACTERS or "://" in text:
        return ()
    if in_addresses := addresses.forms_of_part(text):
        return (*_others(text), *in_addresses)
    return _others(text)


def _others(text: str) -> tuple[Form, ...]:
    if own := own_word(text):
        return (Form((own[0].removeprefix(OTHER_FORM),)),)
    written = tuple(tokens.words(text))
    if not written or tokens.lone_sigil_word(text):
        return ()
    if any(map(tokens.is_unspaced, written)):
        return readings.forms_of(text)
    if text.endswith("*"):
        return _of_prefix(written)
    # The first form of the same tokens counts most.
    forms: dict[tuple[str, ...], Form] = {written: Form(written)}
    for form in _forms(text, written):
        forms.setdefault(form.tokens, form)
        if len(forms) > MAX_FORMS:
            break
    return tuple(forms.values())[1:]


def _of_prefix(written: tuple[str, ...]) -> tuple[Form, ...]:
    if len(written) > 1 or len(written[0]) < MIN_PREFIX_LETTERS:
        return ()
    return (Form((OTHER_FORM + written[0],), is_prefix=True),)


def _forms(text: str, written: tuple[str, ...]) -> Iterator[Form]:
    if text.isalpha() and text.isascii() and (text.islower() or text.isupper()):
        # Most words: there is nothing to join or to split.
        yield from _of_spellings(text)
        yield from _of_stems(text)
        yield from _of_parts(text.lower())
        return
    if _VERSION.fullmatch(text):
        # v2.0 for 2.0, and 2.0 for v2.0.
        first = written[0][1:] if written[0].startswith("v") else f"v{written[0]}"
        yield Form((first, *written[1:]))
    found = list(compounds(text))
    if len(found) != 1:
        if len(written) == 1:
            yield Form((OTHER_FORM + written[0],))
        return
    compound = found[0]
    words = _words(compound, written)
    for word in words:
        yield from _of_spellings(word)
    for phrase in _phrases(compound):
        yield Form(phrase)
        yield from _without_order(phrase)
    yield from _of_syllables(written)
    for word in words:
        yield from _of_stems(word)
    tokens_of_words = dict.fromkeys(tokens.words(word)[0] for word in words)
    yield from chain.from_iterable(map(_of_parts, tokens_of_words))


def _of_parts(token: str) -> Iterator[Form]:
    """Abbreviations, other scripts, and compounds that have the word."""
    yield from abbreviations.forms_of(token)
    yield from sounds.forms_of(token)
    yield from compound_words.forms_of(token)


def _without_order(phrase: tuple[str, ...]) -> Iterator[Form]:
    """The index has the parts of a longer name too. The order of those of a version matters."""
    if sum(map(str.isdigit, phrase)) < _MANY_NUMBERS:
        yield Form(tuple(OTHER_FORM + part for part in phrase), is_phrase=False)


def _words(compound: Compound, written: tuple[str, ...]) -> list[str]:
    """The single words that the compound may be, as they are typed."""
    text = normalized("NFKC", compound.text)
    found = [text] if len(written) == 1 else []
    if (whole := joined(compound)) is not None:
        found.append(whole)
    if has_apostrophe(compound):
        found += [part.text for part in around_apostrophe(compound)]
    if elision := _ELISION.match(text):
        found.append(text[elision.end() :])
    return [word for word in dict.fromkeys(found) if len(tokens.words(word)) == 1]


def _of_spellings(word: str) -> Iterator[Form]:
    for spelling in _spellings(word):
        yield Form((spelling,))
        yield Form((OTHER_FORM + spelling,))


def _spellings(word: str) -> Iterator[str]:
    token = tokens.words(word)[0]
    yield token
    if token.isascii():
        others = [spellings.american(token), spellings.without_digraphs(token)]
        if not word.isascii() and (umlauts := spellings.with_digraphs(word)):
            others.append(fold(umlauts))
        yield from filter(None, others)
        return
    letters = spellings.arabic_letters(token)
    others = [letters, spellings.without_article(letters), spellings.without_hebrew_article(token)]
    yield from [other for other in others if other and other != token]


def _phrases(compound: Compound) -> Iterator[tuple[str, ...]]:
    """The word as several words: gpt4 as gpt 4, nodeJs as node js, 1250000 as 1 250 000."""
    split = [half for segment in compound.segments for half in halves(segment) or [segment]]
    words = [part for half in split for part in camel_parts(half) or [half]]
    texts = [" ".join(part.text for part in parts) for parts in (split, words)]
    texts.append(_LETTER_BEFORE_NUMBER.sub("", compound.text))
    if _LONG_NUMBER.fullmatch(compound.text):
        texts.append(" ".join(_THREE_DIGITS.findall(compound.text)))
    phrases = [tuple(tokens.words(text)) for text in texts]
    yield from [phrase for phrase in phrases if len(phrase) > 1]


def _of_syllables(written: tuple[str, ...]) -> Iterator[Form]:
    for word in written[:1]:
        if pairs := [pair for pair, _ in syllable_pairs(word)]:
            yield Form(tuple(OTHER_FORM + pair for pair in pairs), is_phrase=False)
        bare = _KOREAN_PARTICLE.sub("", word)
        if bare != word:
            yield Form((bare,), STEM_WEIGHT)
            shorter = tuple(OTHER_FORM + pair for pair, _ in syllable_pairs(bare))
            yield Form(shorter, STEM_WEIGHT, is_phrase=False)


def _of_stems(word: str) -> Iterator[Form]:
    composed = word if word.isascii() else spellings.without_article(word)
    for number, found in enumerate(possible_stems(composed)):
        if number == 0 and word.isascii():
            yield Form((found,), STEM_WEIGHT)
            yield Form((OTHER_FORM + found,), STEM_WEIGHT)
        yield Form((STEM + found,), STEM_WEIGHT)
