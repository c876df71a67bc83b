"""The tokens that the index holds in addition to the words as they are written.

One form stands for all spellings of a word, so that a query can ask for that one. `word_forms`
does the same for queries.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from bowerbird.model.words import OTHER_FORM
from bowerbird.search.words import spellings
from bowerbird.search.words.languages import OTHER_SCRIPTS, likely_languages
from bowerbird.search.words.stems import (
    MAX_MARKED_CHARACTERS,
    Tokens,
    forms_in,
    is_name,
    other_spellings,
    stems_of,
)
from bowerbird.search.words.token_folding import UNSPACED, fold
from bowerbird.search.words.word_lists import ENGLISH
from bowerbird.search.words.word_parts import (
    Compound,
    Part,
    around_apostrophe,
    ascii_compounds,
    camel_parts,
    compounds,
    halves,
    handle_names,
    has_apostrophe,
    joined,
    joined_text,
    own_words,
    syllable_pairs,
)

# As many as a post has words in the index.
MAX_PIECES: Final = 16_000
_MAX_ASCII_CHARACTERS: Final = 200
# A sign between letters, a capital inside a word, a digit next to a letter, or a letter that is
# not ASCII. The rare characters come first, so that the scan can jump from one to the next.
_UNUSUAL: Final = re.compile(
    r"[A-Z0-9'.&/,_@+#\-\u0080-\U0010ffff](?:(?<=[a-z][A-Z])|(?<=[A-Z][A-Z])(?=[a-z])"
    r"|(?<=[A-Za-z][0-9])|(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z0-9]['.&/,\-])(?=[A-Za-z0-9])"
    r"|(?<=[_@+])|(?<=[CFcf]#)|(?<=\.)(?=[Nn][Ee][Tt])|(?<=[^\x00-\x7f]))"
)
# It has no other forms. The letters come before the look-behind, so that the scan can jump.
_ADDRESS: Final = re.compile(r"http(?<!\S.{4})s?://\S*")
# It is one piece, and always an unusual one.
_PLAIN_HANDLE: Final = re.compile("@[A-Za-z0-9_]+")
# The letter comes before the look-behind, as above.
_NAME_WITH_UMLAUT: Final = re.compile(r"[A-Z](?<!\w.)[a-z]*(?:[aou]e|aa)[a-z]*")
# With the punctuation of Chinese and Japanese.
_UNSPACED_ONLY: Final = re.compile(
    f"[{UNSPACED}\u3001-\u3003\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]+"
)
_NOT_WORD: Final = re.compile(f"[#@{UNSPACED}]")


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
    # Looking up every word is faster than choosing those of letters, except in other scripts.
    looked_up = words
    if not all(map(str.isascii, fields)):
        looked_up = list(filter(str.isascii, filter(str.isalpha, words)))
    # The first field of a post is a handle, whose names have no language.
    names: Tokens = ()
    if _PLAIN_HANDLE.fullmatch(fields[0]) and not _names_with_umlauts(fields[0]):
        names, fields = _of_handle(fields[0]), fields[1:]
    pieces = list(islice(_pieces(fields), MAX_PIECES)) if fields else []
    if "+" not in language:
        return _of_words_and_pieces(_FormsIn(language), looked_up, names, pieces)
    first, second = map(_FormsIn, likely_languages(language))
    found = _of_words_and_pieces(first, looked_up, names, pieces)
    return found | _of_words_and_pieces(second, looked_up, names, pieces)


def forms_of_words(words: Iterable[str], language: str) -> Iterator[tuple[str, Tokens]]:
    """The marked tokens of words of small ASCII letters, for each language they may be of."""
    for forms in map(_FormsIn, likely_languages(language)):
        for word in words:
            # Most words have no forms.
            if found := forms.of_words[word]:
                yield word, found


def _of_words_and_pieces(
    forms: "_FormsIn", words: Sequence[str], names: Tokens, pieces: Sequence[str]
) -> dict[str, None]:
    # Most words have no forms. Leaving those out takes less time than walking through them.
    found: Iterable[Tokens] = filter(None, map(forms.of_words.__getitem__, words))
    found = chain(found, (names,), map(forms.of_piece, pieces))
    return dict.fromkeys(chain.from_iterable(found))


def _pieces(fields: Sequence[str]) -> Iterable[str]:
    """The pieces that are more than a word of ASCII letters with signs around it."""
    # Most fields have no such piece, and one search shows that for all of them.
    text = fields[0] if len(fields) == 1 else "\n".join(fields)
    names = _names_with_umlauts(text)
    without_addresses = _ADDRESS.sub("", text) if "://" in text else text
    if not _UNUSUAL.search(without_addresses):
        return names
    # Names come after the other pieces of their field. Without names, lines are as good.
    parts = fields if names else filter(_UNUSUAL.search, without_addresses.split("\n"))
    return chain.from_iterable(map(_pieces_of_field, parts))


def _pieces_of_field(text: str) -> Iterable[str]:
    # A sign before a space is in no form.
    pieces = text.replace(". ", " ").replace(", ", " ").split()
    unusual = filter(_UNUSUAL.search, pieces)
    names = _names_with_umlauts(text)
    return chain(unusual, names) if names else unusual


def _names_with_umlauts(text: str) -> list[str]:
    if "ue" in text or "oe" in text or "ae" in text or "aa" in text:
        return _NAME_WITH_UMLAUT.findall(text)
    return []


def marked_tokens(piece: str, language: str) -> list[MarkedToken]:
    """The marked tokens of a piece of text without spaces."""
    found = [_marked_tokens(piece, _FormsIn(one)) for one in likely_languages(language)]
    return found[0] if len(found) == 1 else list(dict.fromkeys(chain.from_iterable(found)))


def _marked_tokens(piece: str, forms: "_FormsIn") -> list[MarkedToken]:
    is_ascii = piece.isascii()
    if "://" in piece or (is_ascii and len(piece) > _MAX_ASCII_CHARACTERS):
        return []
    if is_ascii and piece[0] == "@":
        return [
            MarkedToken(OTHER_FORM + token, 0, len(piece))
            for token in handle_names(piece, MAX_MARKED_CHARACTERS)
        ]
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
    return [MarkedToken(OTHER_FORM + name, *span) for name, span in own_words(piece)]


def _of_compound(
    compound: Compound, written: frozenset[str], folded: Mapping[str, str], forms: "_FormsIn"
) -> list[MarkedToken]:
    """`folded` has texts that are folded already."""
    found: list[MarkedToken] = []
    for part in _parts(compound, written):
        token = _token(part.text, folded.get(part.text))
        if len(token) > MAX_MARKED_CHARACTERS:
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
            shorter = spellings.without_digraphs(token) if is_name(text) else None
            return found if shorter is None else (*found, OTHER_FORM + shorter)
    language = forms.language
    others = other_spellings(token, language, is_name=is_name(text))
    return (*[OTHER_FORM + one for one in others], *stems_of(token, text, language))


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
        # Latin words in a text of another script are taken for English.
        self.of_words = forms_in(ENGLISH if language in OTHER_SCRIPTS else language)

    def of_piece(self, piece: str) -> Tokens:
        # They have no language.
        if _is_handle(piece):
            return _of_handle(piece)
        # They have no other forms.
        if "://" in piece or (not piece.isascii() and _UNSPACED_ONLY.fullmatch(piece)):
            return ()
        return _of_piece(piece, self)


def _is_handle(piece: str) -> bool:
    return piece[0] == "@" and len(piece) <= _MAX_ASCII_CHARACTERS and piece.isascii()


def _of_handle(piece: str) -> Tokens:
    if "://" in piece:
        return ()
    return tuple([OTHER_FORM + name for name in handle_names(piece, MAX_MARKED_CHARACTERS)])


def _of_piece(piece: str, forms: _FormsIn) -> Tokens:
    if piece.isascii() and "'" not in piece and len(piece) <= _MAX_ASCII_CHARACTERS:
        return tuple(dict.fromkeys(_of_ascii_piece(piece, forms)))
    if piece.isalpha() and (found := _of_letters(piece, forms)) is not None:
        return tuple(dict.fromkeys(found))
    return tuple(dict.fromkeys([one.token for one in _marked_tokens(piece, forms)]))


def _of_letters(piece: str, forms: _FormsIn) -> list[str] | None:
    """The tokens of `marked_tokens` for a word of another script without capitals inside.

    None if it is not such a word.
    """
    rest = piece[1:]
    if rest.lower() != rest or _NOT_WORD.search(piece):
        return None
    folded = fold(piece)
    if not folded.isalnum() or _NOT_WORD.search(folded):
        return None
    found: list[str] = []
    if len(folded) <= MAX_MARKED_CHARACTERS:
        found += _of_word(folded, piece, forms)
    found += [OTHER_FORM + pair for pair, _ in syllable_pairs(piece)]
    return found


def _of_ascii_piece(piece: str, forms: _FormsIn) -> list[str]:
    """The tokens of `marked_tokens` for an ASCII piece, which most pieces are. Faster."""
    written = fold(piece).replace("#", " ").replace("@", " ").split()
    found: list[str] = []
    for compound, segments in ascii_compounds(piece):
        for text in _texts(compound, segments):
            token = text.lower()
            if len(token) > MAX_MARKED_CHARACTERS:
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
