"""Splits text into tokens, for FTS5, for PostgreSQL and for queries.

FTS5 must read them with tokenize="ascii tokenchars '#@_'", which does not split them again.
"""

import re
from collections import Counter
from collections.abc import Sequence
from operator import add
from typing import Final

from bowerbird.model.words import GAP, TITLE, UNCOUNTED_END, normalized
from bowerbird.search.words import abbreviations, compounds, sounds
from bowerbird.search.words import addresses as linked
from bowerbird.search.words.index_forms import other_tokens
from bowerbird.search.words.languages import MAX_WORDS, language_of_words
from bowerbird.search.words.readings import READINGS
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS, UNSPACED, fold

# The form of this token text. Raise it with every change of the tokens: a job then writes the words
# of older posts again. The number is also in storage/sql/words/word_counts.*.sql and in the partial
# index of the last migration for it (0055), which a migration must create again by another name.
# The one above it has the readings of Japanese words too, so the next form is 6. A newer dictionary
# needs no new form: posts keep the readings of the older one until they change, and `bowerbird
# check` does not compare the words of posts with readings.
INDEX_FORM: Final = 4
# Posts from this form on are counted: their counted tokens are the same.
COUNTED_FORM: Final = 2

# A tsvector has at most 16,383 positions, 255 positions per lexeme, and 1 MB.
MAX_TOKENS: Final = 16_000
MAX_OCCURRENCES: Final = 255
MAX_CHARACTERS: Final = 200_000
# Their positions do not matter, so they may be beyond the last position of a tsvector.
MAX_OTHER_TOKENS: Final = 8_000
# These come before the words, because the parts of an address are a phrase.
MAX_UNCOUNTED_TOKENS: Final = 320
_MAX_TITLES, _MAX_TITLE_TOKENS, _MAX_TITLE_CHARACTERS = 4, 24, 2_000
# NFKC makes 18 characters of one at most, and of a text that people wrote hardly more than it has.
_MOST_OF_ONE, _MOST_OF_MANY = 18, 2
_MARKED: Final = MAX_TOKEN_CHARACTERS - 1

# The sigil comes before the look-behind, so that the scan can jump from sigil to sigil.
SIGIL_WORD: Final = re.compile("[#@](?<![^ ].)[^ #@]+")
_HANDLE: Final = re.compile(f"@[A-Za-z0-9_]{{1,{MAX_TOKEN_CHARACTERS - 1}}}")
_BETWEEN_FIELDS: Final = f"\n{GAP}\n"
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_RUN: Final = re.compile(f"[{UNSPACED}]+|[^ {UNSPACED}]+")
_OTHER_SCRIPT: Final = re.compile("[\u0386-\u03ab\u0400-\u042f\u0490]")


def index_form() -> int:
    """The form in which this process writes words."""
    return INDEX_FORM + READINGS.are_indexed


def index_text(
    texts: Sequence[str],
    names: Sequence[str] = (),
    addresses: Sequence[str] = (),
    titles: Sequence[str] = (),
) -> str:
    """The tokens of all fields, joined by spaces. Pass short texts first: the end may be cut.

    After a gap come other forms of the words, which no phrase matches. Names, handles and domains
    do not show the language of the texts.
    """
    fields = _of_bounded_length([*names, *texts])
    joined = _joined_tokens(fields, len(names))
    tokens, first_of_texts = joined or _tokens(fields, len(names))
    if not tokens:
        return _with_uncounted("", _marked_fields(addresses, titles))
    language = language_of_words(tokens[first_of_texts : first_of_texts + MAX_WORDS], texts)
    if len(tokens) > MAX_TOKENS:
        tokens = tokens[:MAX_TOKENS]
    others = list(other_tokens(fields, tokens, language))[:MAX_OTHER_TOKENS]
    written = _limit_occurrences(tokens)
    text = " ".join(written)
    if others:
        text = f"{text} {GAP} {' '.join(others)}"
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS].rpartition(" ")[0].removesuffix(f" {GAP}")
    found = _marked_fields(addresses, titles) + abbreviations.tokens_of(texts)
    found += _parts_and_sounds(
        # Tokens of all fields together have no hashtag.
        fields,
        tokens,
        language,
        has_hashtags=joined is None and "#" in "".join(fields),
    )
    # `joined` exists only for texts without scripts that have no spaces, so they have no kanji.
    if joined is None:
        found += READINGS.tokens_of(fields, language)
    return _with_uncounted(text, found)


def _of_bounded_length(fields: list[str]) -> list[str]:
    """The fields. If folding would make them much longer, what the index holds of them at most."""
    length = sum(map(len, fields))
    if length * _MOST_OF_ONE <= MAX_CHARACTERS or all(map(str.isascii, fields)):
        return fields
    folded = [normalized("NFKC", field.replace("\u2122", " ")) for field in fields]
    if sum(map(len, folded)) <= max(length * _MOST_OF_MANY, MAX_CHARACTERS):
        return fields
    left = MAX_CHARACTERS
    for number, field in enumerate(folded):
        folded[number] = field[:left]
        left -= len(folded[number])
    return folded


def _with_uncounted(text: str, tokens: list[str]) -> str:
    if not tokens:
        return text
    return f"{' '.join(tokens[:MAX_UNCOUNTED_TOKENS])} {UNCOUNTED_END} {text}"


def _marked_fields(addresses: Sequence[str], titles: Sequence[str]) -> list[str]:
    """The parts of addresses, and the words of titles. Each field is a phrase."""
    found = linked.tokens_of(addresses) if addresses else []
    for title in titles[:_MAX_TITLES]:
        found += [GAP, *(TITLE + word[:_MARKED] for word in _first_words(title))]
    return found


def _first_words(title: str) -> list[str]:
    return words(title[:_MAX_TITLE_CHARACTERS])[:_MAX_TITLE_TOKENS]


def _parts_and_sounds(
    fields: Sequence[str], tokens: Sequence[str], language: str, *, has_hashtags: bool
) -> list[str]:
    """Parts of compounds, and how names of other scripts sound."""
    found = compounds.tokens_of(tokens, language, has_hashtags=has_hashtags)
    for field in fields:
        if not field.isascii() and _OTHER_SCRIPT.search(field):
            found += sounds.tokens_of(field)
    return found


def _tokens(fields: Sequence[str], names: int) -> tuple[list[str], int]:
    """The tokens of all fields, and where those of the fields after the names begin."""
    tokens: list[str] = []
    first_of_texts = 0
    for number, field in enumerate(fields):
        if number == names:
            first_of_texts = len(tokens)
        if tokens:
            tokens.append(GAP)
        before = len(tokens)
        tokens += _field_tokens(field)
        if before == len(tokens) and before:
            tokens.pop()
        if before >= MAX_TOKENS:
            break
    return tokens, first_of_texts


def _joined_tokens(fields: Sequence[str], names: int) -> tuple[list[str], int] | None:
    """The result of `_tokens` for most posts, faster: it folds and splits all fields together.

    None if a field has no tokens, or is of a script without spaces, or has a handle or a hashtag;
    only the first one may be a handle.
    """
    first: list[str] = []
    if names and _HANDLE.fullmatch(fields[0]):
        handle = fields[0].lower()
        first = [handle[1:], GAP, handle, GAP]
        fields, names = fields[1:], names - 1
    text = _BETWEEN_FIELDS.join(fields)
    if (
        names >= len(fields)
        or len(text) > MAX_TOKENS
        or text.count(GAP) != len(fields) - 1
        or "@" in text
        or _is_partly_unspaced(text)
    ):
        return None
    folded = fold(text)
    if (
        len(folded) > MAX_TOKENS
        or folded.count(GAP) != len(fields) - 1
        or "@" in folded
        or _is_partly_unspaced(folded)
    ):
        return None
    tokens = _shorten(folded.split())
    begin, first_of_texts = 0, max(len(first) - 1, 0)
    for number in range(1, len(fields)):
        gap = tokens.index(GAP, begin)
        if gap == begin:
            return None
        if number == names:
            first_of_texts = len(first) + gap
        begin = gap + 1
    return None if begin == len(tokens) else (first + tokens, first_of_texts)


def words(text: str) -> list[str]:
    """The tokens of a text in order; handles and hashtags lose their sigils."""
    return _words(fold(text))


def lone_sigil_word(text: str) -> str | None:
    """The handle or hashtag with its sigil, if the text is nothing else."""
    pieces = fold(text).split()
    if len(pieces) != 1 or not SIGIL_WORD.fullmatch(pieces[0]):
        return None
    return pieces[0][:MAX_TOKEN_CHARACTERS]


def split_word(word: str) -> list[tuple[str, int]]:
    """The tokens of a folded word, each with its offset in the word."""
    found: list[tuple[str, int]] = []
    for run in _RUN.finditer(word):
        if is_unspaced(run[0]):
            # Every character begins a pair, and the last one is a token alone. So a query of one
            # character, as a prefix, matches it anywhere, and a phrase can continue after the run.
            found += [
                (word[start : min(start + 2, run.end())], start) for start in range(*run.span())
            ]
        else:
            found.append((run[0][:MAX_TOKEN_CHARACTERS], run.start()))
    return found


def is_unspaced(token: str) -> bool:
    """Whether the script of the token has no spaces between words."""
    return _UNSPACED.match(token) is not None


def _is_partly_unspaced(text: str) -> bool:
    return not text.isascii() and _UNSPACED.search(text) is not None


def _field_tokens(field: str) -> list[str]:
    folded = fold(field)
    tokens = _words(folded)
    if "#" in folded or "@" in folded:
        sigil_words = _shorten(SIGIL_WORD.findall(folded))
        tokens += [GAP, *sigil_words] if sigil_words else []
    return tokens


def _words(folded: str) -> list[str]:
    plain = folded.replace("#", " ").replace("@", " ")
    if not _is_partly_unspaced(plain):
        tokens = plain.split()
        return tokens if len(plain) <= MAX_TOKEN_CHARACTERS else _shorten(tokens)
    tokens = []
    for word in plain.split():
        if word.isascii():
            tokens.append(word[:MAX_TOKEN_CHARACTERS])
            continue
        # Splits as `split_word` does, without offsets.
        for run in _RUN.findall(word):
            if is_unspaced(run):
                tokens += map(add, run, run[1:])
                tokens.append(run[-1])
            else:
                tokens.append(run[:MAX_TOKEN_CHARACTERS])
    return tokens


def _shorten(tokens: list[str]) -> list[str]:
    if max(map(len, tokens), default=0) <= MAX_TOKEN_CHARACTERS:
        return tokens
    return [token[:MAX_TOKEN_CHARACTERS] for token in tokens]


def _limit_occurrences(tokens: list[str]) -> list[str]:
    """Replaces the occurrences that PostgreSQL would drop by gaps, so that both engines agree."""
    if len(tokens) <= MAX_OCCURRENCES or max(Counter(tokens).values()) <= MAX_OCCURRENCES:
        return tokens
    seen: Counter[str] = Counter()
    limited: list[str] = []
    for token in tokens:
        seen[token] += 1
        limited.append(token if seen[token] <= MAX_OCCURRENCES else GAP)
    return limited
