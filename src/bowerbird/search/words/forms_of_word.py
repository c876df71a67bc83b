"""The spellings and stems of one word in one language, as tokens with marks."""

from typing import Final

from bowerbird.model.words import OTHER_FORM, STEM, normalized
from bowerbird.search.words import spellings
from bowerbird.search.words.compounds import Tokens
from bowerbird.search.words.languages import OTHER_SCRIPTS
from bowerbird.search.words.stems import english_stem, stem, stem_of_plain
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS
from bowerbird.search.words.word_lists import ENGLISH

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
