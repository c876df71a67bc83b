"""The parts of compounds, so that versicherung finds Krankenversicherung, and build #buildinpublic.

A post has the beginning of each long word of a language that joins words, and its end backwards.
Both lack three letters at the other side: what is left over has to be a word too. A query asks
for those that begin with its own word.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from bowerbird.model.words import COMPOUND, COMPOUND_END, Form
from bowerbird.search.words.languages import likely_languages
from bowerbird.search.words.stems import Tokens, stem_of_plain
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS

_JOINING: Final = ("de", "nl", "sv", "da", "no")
_LEAST_COMPOUND: Final = 9
_LEAST_HASHTAG: Final = 8
_LEAST_PART: Final = 4
_LEAST_CUT: Final = 5
_LEFT_OVER: Final = 3
_MOST_PART: Final = 40
# It may mean something else there: a part of a word tells less than a word.
WEIGHT: Final = 0.5


def tokens_of(words: Sequence[str], language: str, *, has_hashtags: bool) -> list[str]:
    """The marked parts of the compounds and hashtags among the words of a post."""
    joining = _joining(language)
    if not joining and not has_hashtags:
        return []
    found: dict[str, None] = {}
    for one in joining:
        for word in filter(_is_long, words):
            if len(word) >= _LEAST_COMPOUND:
                found.update(dict.fromkeys(_parts(word, stem_of_plain(word, one) or word)))
    if has_hashtags:
        for word in [word[1:] for word in words if word[0] == "#"]:
            if _is_long(word):
                found.update(dict.fromkeys(_parts(word, word)))
    return list(found)


def forms_of(word: str) -> Iterator[Form]:
    """How compounds have a folded word as their beginning or end, in each of the languages."""
    if not _is_plain(word) or not _LEAST_PART <= len(word) <= _MOST_PART:
        return
    yield Form((COMPOUND + word,), WEIGHT, is_prefix=True)
    stems = {stem_of_plain(word, language): None for language in _JOINING}
    for stem in {word: None, **stems}:
        # A short stem of a longer word is the end of many other words.
        if stem and (stem == word or len(stem) >= _LEAST_CUT):
            yield Form((COMPOUND_END + stem[::-1],), WEIGHT, is_prefix=True)


def _joining(language: str) -> tuple[str, ...]:
    return tuple(one for one in likely_languages(language) if one in _JOINING)


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha()


def _is_long(word: str) -> bool:
    return _LEAST_HASHTAG <= len(word) < MAX_TOKEN_CHARACTERS and _is_plain(word)


def _parts(word: str, stem: str) -> Tokens:
    return (COMPOUND + word[:-_LEFT_OVER], COMPOUND_END + stem[: _LEFT_OVER - 1 : -1])
