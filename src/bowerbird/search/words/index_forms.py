"""The tokens that the index holds in addition to the words as they are written.

One form stands for all spellings of a word, so that a query can ask for that one. `word_forms`
does the same for queries.
"""

import re
import unicodedata
from collections import OrderedDict
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, filterfalse, islice
from typing import Final, NamedTuple

from bowerbird.model.words import OTHER_FORM, STEM
from bowerbird.search.words import spellings
from bowerbird.search.words.function_words import ENGLISH
from bowerbird.search.words.generations import Generations, Tokens
from bowerbird.search.words.languages import OTHER_SCRIPTS
from bowerbird.search.words.latin_languages import likely_languages
from bowerbird.search.words.stems import english_stem, stem, stem_of_plain
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS, UNSPACED, fold
from bowerbird.search.words.word_parts import (
    Compound,
    Part,
    around_apostrophe,
    ascii_compounds,
    camel_parts,
    compounds,
    halves,
    has_apostrophe,
    joined,
    joined_text,
)

# As many as a post has words in the index.
MAX_PIECES: Final = 16_000
_MAX_ASCII_CHARACTERS: Final = 200
# Of a token without its mark.
_MAX_CHARACTERS: Final = MAX_TOKEN_CHARACTERS - 1
# The words and pieces in a generation of the caches. A large library has more of them, but most
# are in one post only. Full of random words and compounds, all caches have 55 MB.
_ENGLISH_SIZES: Final = (32_768, 8_192)
_OTHER_SIZES: Final = (4_096, 1_024)
_MAX_LANGUAGES: Final = 12
# Names that are nothing but a letter without their signs.
_OWN_WORD: Final = re.compile(
    r"(?<![\w+])c\+\+(?P<year>\d\d)?(?![\w+])|(?<!\w)[cf]#(?![\w#])"
    r"|(?:(?<![\w.])|(?<=\basp)|(?<=\bvb)|(?<=\bado))\.net(?!\w)",
    re.IGNORECASE,
)
# A sign between letters, a capital inside a word, a digit next to a letter, or a letter that is
# not ASCII. The rare characters come first, so that the scan can jump from one to the next.
_UNUSUAL: Final = re.compile(
    r"[A-Z0-9'.&/,_@+#\-\u0080-\U0010ffff](?:(?<=[a-z][A-Z])|(?<=[A-Z][A-Z])(?=[a-z])"
    r"|(?<=[A-Za-z][0-9])|(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z0-9]['.&/,\-])(?=[A-Za-z0-9])"
    r"|(?<=[_@+])|(?<=[CFcf]#)|(?<=\.)(?=[Nn][Ee][Tt])|(?<=[^\x00-\x7f]))"
)
_NAME_WITH_UMLAUT: Final = re.compile(r"\b[A-Z][a-z]*(?:[aou]e|aa)[a-z]*")
# With the punctuation of Chinese and Japanese.
_UNSPACED_ONLY: Final = re.compile(
    f"[{UNSPACED}\u3001-\u3003\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]+"
)
_NOT_WORD: Final = re.compile(f"[#@{UNSPACED}]")
# The names in a handle: without digits, and without single letters.
_NAME: Final = re.compile("[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]{2,}")
# In these languages ae, oe, ue and aa are umlauts; in others only in names.
_WITH_DIGRAPHS: Final = frozenset({"de", "da", "no", "sv"})


_HEBREW, _END_OF_HEBREW, _END_OF_ARABIC = "\u0590", "\u05ff", "\u06ff"


class MarkedToken(NamedTuple):
    """A token with its mark, and the part of the text that it stands for."""

    token: str
    start: int
    end: int


def other_tokens(fields: Sequence[str], words: Sequence[str], language: str) -> dict[str, None]:
    """The marked tokens of texts and of their words, without repetitions.

    It finds the same tokens as `marked_tokens`, but faster: those of a word of ASCII letters
    depend only on its folded form.
    """
    letters = dict.fromkeys(filter(str.isascii, filter(str.isalpha, words)))
    unusual = (piece for field in fields for piece in _unusual_pieces(field, letters))
    pieces = list(islice(unusual, MAX_PIECES))
    found: dict[str, None] = {}
    for forms in map(_forms_in, likely_languages(language)):
        found |= dict.fromkeys(
            chain(
                chain.from_iterable(map(forms.of_words.__getitem__, letters)),
                chain.from_iterable(map(forms.of_pieces.__getitem__, pieces)),
            )
        )
    return found


def _unusual_pieces(text: str, letters: Container[str]) -> Iterator[str]:
    """The pieces of a text that are more than a word of ASCII letters with signs around it."""
    # A sign before a space is in no form, and without it most pieces are words.
    pieces = text.replace(". ", " ").replace(", ", " ").split()
    unusual = filter(_UNUSUAL.search, filterfalse(letters.__contains__, pieces))
    if "ue" in text or "oe" in text or "ae" in text or "aa" in text:
        return chain(unusual, _NAME_WITH_UMLAUT.findall(text))
    return unusual


def marked_tokens(piece: str, language: str) -> list[MarkedToken]:
    """The marked tokens of a piece of text without spaces."""
    found = [_marked_tokens(piece, one) for one in likely_languages(language)]
    return found[0] if len(found) == 1 else list(dict.fromkeys(chain.from_iterable(found)))


def _marked_tokens(piece: str, language: str) -> list[MarkedToken]:
    is_ascii = piece.isascii()
    if "://" in piece or (is_ascii and len(piece) > _MAX_ASCII_CHARACTERS):
        return []
    if is_ascii and piece[0] == "@":
        return [MarkedToken(OTHER_FORM + token, 0, len(piece)) for token in _of_handle(piece)]
    forms = _forms_in(language)
    folded = fold(piece)
    written = frozenset((folded if folded.isalnum() else _NOT_WORD.sub(" ", folded)).split())
    found: list[MarkedToken] = []
    known: dict[str, str] = {} if is_ascii else {piece: folded}
    for compound in compounds(piece):
        found += _of_compound(compound, written, known, forms)
    if not is_ascii:
        found += [
            MarkedToken(OTHER_FORM + pair, start, start + 2)
            for pair, start in syllable_pairs(piece)
        ]
    if "+" in piece or "#" in piece or "." in piece:
        found += _own_words(piece)
    return found


def _own_words(piece: str) -> list[MarkedToken]:
    return [
        MarkedToken(OTHER_FORM + name, *match.span())
        for match in _OWN_WORD.finditer(piece)
        for name in own_names(match[0])
    ]


def _of_handle(piece: str) -> list[str]:
    """The names in a handle, and what is between its underscores, which may be left out."""
    handle = piece[1:].partition("'")[0].rstrip(".,:;!?)")
    names = [name.lower() for name in _NAME.findall(handle)]
    if "_" in handle:
        names += [*handle.lower().split("_"), handle.replace("_", "").lower()]
    elif len(names) == 1 and len(names[0]) == len(handle):
        return []
    return [
        name for name in dict.fromkeys(names) if 1 < len(name) <= _MAX_CHARACTERS and name.isalnum()
    ]


def own_names(text: str) -> tuple[str, ...]:
    """The words that stand for C++, C#, F# or .NET, the most exact one first; else none."""
    if not _OWN_WORD.fullmatch(text):
        return ()
    lowered = text.lower()
    if lowered == ".net":
        return ("dotnet",)
    if lowered.endswith("#"):
        return (f"{lowered[0]}sharp",)
    return tuple(dict.fromkeys((f"cplusplus{lowered[3:]}", "cplusplus")))


def syllable_pairs(text: str) -> Iterator[tuple[str, int]]:
    """Each pair of Hangul syllables and its offset: particles follow a word without a space."""
    for run in _HANGUL.finditer(text):
        for start in range(run.start(), run.end() - 1):
            yield text[start : start + 2], start


def _of_compound(
    compound: Compound, written: frozenset[str], folded: Mapping[str, str], forms: "_FormsIn"
) -> list[MarkedToken]:
    """`folded` has texts that are folded already."""
    found: list[MarkedToken] = []
    for part in _parts(compound, written):
        token = _token(part.text, folded.get(part.text))
        if len(token) > _MAX_CHARACTERS:
            continue
        if token not in written:
            if not _is_useful(token):
                continue
            found.append(MarkedToken(OTHER_FORM + token, part.start, part.end))
        found += [
            MarkedToken(other, part.start, part.end) for other in _of_word(token, part.text, forms)
        ]
    return found


def _parts(compound: Compound, written: frozenset[str]) -> list[Part]:
    segments = compound.segments
    found: list[Part] = []
    if len(segments) > 1:
        if (whole := joined(compound)) is not None:
            found.append(Part(whole, compound.start, compound.end))
        if has_apostrophe(compound):
            words = set(around_apostrophe(compound))
            segments = [one for one in segments if one in words or _token(one.text) in written]
    for segment in segments:
        found.append(segment)
        split = halves(segment)
        found += split
        for half in split or (segment,):
            found += camel_parts(half)
    return found


def _of_word(token: str, text: str, forms: "_FormsIn") -> Sequence[str]:
    if text.isascii():
        if token.isdigit():
            return ()
        if token.isalpha():
            found = forms.of_words[token]
            shorter = spellings.without_digraphs(token) if _is_name(text) else None
            return found if shorter is None else (*found, OTHER_FORM + shorter)
    language = forms.language
    others = _other_spellings(token, language, is_name=_is_name(text))
    return (*[OTHER_FORM + one for one in others], *_stems(token, text, language))


def _stems(token: str, text: str, language: str) -> Tokens:
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


def _is_name(text: str) -> bool:
    return text[:1].isupper() and not text.isupper()


def _other_spellings(token: str, language: str, *, is_name: bool = False) -> list[str]:
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
    composed = unicodedata.normalize("NFKC", text)
    return spellings.without_article(composed)


def _token(text: str, folded: str | None = None) -> str:
    """The text as one token; empty if it is several."""
    if text.isascii() and text.isalnum():
        return text.lower()
    token = (fold(text) if folded is None else folded).strip()
    return "" if " " in token or "#" in token or "@" in token else token


def _is_useful(token: str) -> bool:
    return len(token) > 1 or token.isdigit()


class _FormsIn:
    """The marked tokens in one language: of folded words, and of pieces of text."""

    def __init__(self, language: str) -> None:
        self.language = language
        words, pieces = _ENGLISH_SIZES if language == ENGLISH else _OTHER_SIZES
        # Latin words in a text of another script are taken for English.
        self.of_words: Generations = (
            _forms_in(ENGLISH).of_words
            if language in OTHER_SCRIPTS
            else Generations(partial(_of_folded_word, language=language), words)
        )
        self.of_pieces = _Pieces(partial(_of_piece, language=language), pieces)


class _Pieces(Generations):
    def __missing__(self, piece: str) -> Tokens:
        # They have no other forms.
        if "://" in piece or (not piece.isascii() and _UNSPACED_ONLY.fullmatch(piece)):
            return ()
        # Most handles are in few posts, and their names are found fast.
        return self._compute(piece) if piece[0] == "@" else super().__missing__(piece)


def _of_folded_word(word: str, language: str) -> Tokens:
    if not word.isascii() or len(word) > _MAX_CHARACTERS:
        return ()
    if language != ENGLISH:
        found = [OTHER_FORM + other for other in _other_spellings(word, language)]
        return (*found, *_stems(word, word, language))
    # The same for English, faster: most posts are.
    american = spellings.american(word)
    stemmed = english_stem(american or word)
    stems = () if stemmed is None or stemmed == word else (STEM + stemmed,)
    return stems if american is None else (OTHER_FORM + american, *stems)


def _of_piece(piece: str, language: str) -> Tokens:
    if piece[0] == "@" and piece.isascii() and len(piece) <= _MAX_ASCII_CHARACTERS:
        return tuple([OTHER_FORM + name for name in _of_handle(piece)])
    if piece.isascii() and "'" not in piece and len(piece) <= _MAX_ASCII_CHARACTERS:
        return tuple(dict.fromkeys(_of_ascii_piece(piece, _forms_in(language))))
    return tuple(dict.fromkeys([one.token for one in _marked_tokens(piece, language)]))


def _of_ascii_piece(piece: str, forms: _FormsIn) -> list[str]:
    """The same as `marked_tokens` without positions, faster: most pieces are of this kind."""
    written = fold(piece).replace("#", " ").replace("@", " ").split()
    found: list[str] = []
    for compound, segments in ascii_compounds(piece):
        for text in _texts(compound, segments):
            token = text.lower()
            if len(token) > _MAX_CHARACTERS:
                continue
            if token not in written:
                if not _is_useful(token):
                    continue
                found.append(OTHER_FORM + token)
            found += _of_word(token, text, forms)
    if "+" in piece or "#" in piece or "." in piece:
        found += [one.token for one in _own_words(piece)]
    return found


def _texts(compound: str, segments: Sequence[str]) -> list[str]:
    whole = joined_text(compound, segments)
    found = [] if whole is None else [whole]
    for segment in segments:
        found.append(segment)
        if not (segment.islower() and segment.isalpha()):
            found += _parts_of_segment(segment)
    return found


def _parts_of_segment(segment: str) -> list[str]:
    part = Part(segment, 0, len(segment))
    split = halves(part)
    return [one.text for one in chain(split, *map(camel_parts, split or (part,)))]


_FORMS: Final[OrderedDict[str, _FormsIn]] = OrderedDict()


def _forms_in(language: str) -> _FormsIn:
    forms = _FORMS.get(language)
    if forms is None:
        while len(_FORMS) >= _MAX_LANGUAGES:
            _FORMS.popitem(last=False)
        forms = _FORMS[language] = _FormsIn(language)
    else:
        # Another thread may have removed it since.
        with suppress(KeyError):
            _FORMS.move_to_end(language)
    return forms
