"""A parsed keyword query, independent of the syntax of any search engine.

Names and titles are folded, so that different spellings of one name compare as equal.

For search by meaning: the state of an account's vector store, and single vectors.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Final, Literal

from msgspec import Struct

# Unicode's own format for streams allows as many marks on one letter.
_MAX_MARKS: Final = 30
# Shorter texts take less than a millisecond, whatever they contain.
_SHORT_CHARACTERS: Final = 1_000
# Characters that may be marks: they are neither letters nor spaces.
_MARKS: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{_MAX_MARKS + 1},}}")

SORTED_CHARACTERS: Final = 128
"""Sorting by text uses only this many characters of the folded text."""


def fold(text: str) -> str:
    """Normalizes to NFC, folds case, collapses white space. Compatibility forms stay distinct."""
    if text.isascii():
        return " ".join(text.lower().split())
    folded = normalized("NFC", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def normalized(form: Literal["NFC", "NFKC"], text: str) -> str:
    """The text in a normal form of Unicode, with at most 30 marks on a letter.

    Python sorts the marks of a letter, which takes 15 seconds for 100,000 of them.
    """
    if len(text) > _SHORT_CHARACTERS:
        text = _MARKS.sub(_fewer_marks, text)
    return unicodedata.normalize(form, text)


def _fewer_marks(match: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in match[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= _MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def order_key(text: str) -> str:
    return fold(text)[:SORTED_CHARACTERS]


def first_line(text: str) -> str:
    """The first line that is not blank."""
    lines = text.lstrip().splitlines()
    return lines[0] if lines else ""


# A token between fields, so that no phrase crosses them. No word is a bare sigil, so no query
# matches it.
GAP: Final = "#"
# Begin the tokens of an index that a post does not contain as written: another spelling of a word
# (joined, split, without its suffix), and the stem of a word. No text folds to these characters.
OTHER_FORM: Final = "\u2248"
STEM: Final = "\u223d"
# Begin tokens that no count has, before the words of a post: a part of an address, a word of a
# title, the beginning and the reversed end of a compound, how a name of another script sounds, an
# abbreviation with what it stands for, and how a Japanese word is read.
# The last sign alone ends them.
ADDRESS: Final = "\u2237"
TITLE: Final = "\u22a4"
COMPOUND: Final = "\u22b0"
COMPOUND_END: Final = "\u22b1"
SOUND: Final = "\u2245"
ABBREVIATION: Final = "\u225d"
READING: Final = "\u224b"
UNCOUNTED: Final = (ADDRESS, TITLE, COMPOUND, COMPOUND_END, SOUND, ABBREVIATION, READING)
UNCOUNTED_END: Final = "\u2238"
STEM_WEIGHT: Final = 0.8
# Limits the work for a query that is a pasted page; its rarest words decide.
MAX_RANKING_WORDS: Final = 16
_QUESTION_WORDS: Final = 4
_SENTENCE_WORDS: Final = 6


class Form(Struct, frozen=True):
    """Another way to write a term. A post that contains it contains the term."""

    tokens: tuple[str, ...]
    # How much it counts when posts are ranked; the term as it was written counts 1.
    weight: float = 1.0
    is_prefix: bool = False
    # Otherwise the tokens may be anywhere in the post.
    is_phrase: bool = True


class Term(Struct, frozen=True):
    """A sequence of tokens that a post must contain, or must not."""

    tokens: tuple[str, ...]
    is_prefix: bool = False
    is_excluded: bool = False
    # Written in quotation marks: only exactly these words match.
    is_quoted: bool = False
    # Written as a field, such as url: or title:, which limits a search by meaning too.
    is_field: bool = False
    forms: tuple[Form, ...] = ()
    # A post with one of these labels matches too, because the name of the label has the term.
    label_ids: tuple[int, ...] = ()
    # An address, as it was typed. The post that it leads to matches too.
    address: str = ""
    post_id: str = ""


class Field(StrEnum):
    """The fields of the query language."""

    AUTHOR = "author"
    LABEL = "label"
    LANGUAGE = "lang"
    HAS = "has"
    IS = "is"
    SITE = "site"
    URL = "url"
    LIKES = "min_likes"
    WORDS = "words"
    BEFORE = "before"
    AFTER = "after"
    TITLE = "title"


# The values of has: that are not one kind of media. The last one means any picture or video.
NOTE, HIGHLIGHT, MEDIA = "note", "highlight", "media"
# The values of is: that are not flags of the library.
GONE, REPLY, DUPLICATE, STARRED = "gone", "reply", "duplicate", "starred"
# The value of is: that no post of a list has, because the trash is a list of its own.
TRASH: Final = "trash"
# The value of is: that every post has.
ALL: Final = "all"


class Condition(Struct, frozen=True):
    """A field with its value, such as author:ada."""

    field: Field
    # Folded as the filter of the same kind folds it.
    value: str
    is_excluded: bool = False
    # Of a date. None if the date is relative and the time of the search is not known.
    instant: int | None = None

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """Of a length such as 50..500: the least and the most."""
        first, _, last = self.value.partition("..")
        return int(first) if first else None, int(last) if last else None

    @property
    def is_flag(self) -> bool:
        """Whether it is about the flags of the library, which every plan includes."""
        return self.field is Field.IS and self.value not in (GONE, REPLY, DUPLICATE, STARRED)

    @property
    def is_trait(self) -> bool:
        """Whether it is about what model/posts/traits.py has."""
        is_state = self.field is Field.IS and self.value in (GONE, REPLY, DUPLICATE)
        is_link = self.field is Field.HAS and self.value == "link"
        return is_state or is_link or self.field is Field.WORDS


class Either(Struct, frozen=True):
    """Alternatives. A post must match all parts of one branch, or of none if it is excluded."""

    branches: "tuple[tuple[Part, ...], ...]"
    is_excluded: bool = False


Part = Term | Condition | Either


class WordQuery(Struct, frozen=True):
    """A post must match all parts."""

    parts: tuple[Part, ...]
    # Sentences about what the parser did not understand.
    hints: tuple[str, ...] = ()
    # How many words such as "the" were left out.
    left_out: int = 0
    # The likely language of the words as they were typed, as `languages.language_of` gives it.
    language: str = ""

    @property
    def wanted_terms(self) -> tuple[Term, ...]:
        """Every term that a post may match, also in alternatives."""
        return tuple(dict.fromkeys(_wanted(self.parts)))

    @property
    def is_question(self) -> bool:
        """Whether the query has so many words that a search by meaning may suit it better."""
        return self._typed >= _QUESTION_WORDS

    @property
    def is_sentence(self) -> bool:
        """Whether the query has so many words that few posts that answer it have all of them."""
        return self._typed >= _SENTENCE_WORDS

    @property
    def _typed(self) -> int:
        return len(self.wanted_terms) + self.left_out

    @property
    def is_address(self) -> bool:
        """Whether it is nothing but addresses, which have no meaning."""
        terms = self.wanted_terms
        return bool(terms) and all(term.address for term in terms)

    @property
    def has_terms(self) -> bool:
        return any(not isinstance(part, Condition) for part in self.parts)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return tuple(_conditions(self.parts))

    @property
    def shows_read(self) -> bool:
        """Whether the query itself decides if a post has to be unread."""
        return any(
            one.value in ("read", "unread", ALL)
            or (one.value == "archived" and not one.is_excluded)
            for one in self.conditions
            if one.field is Field.IS
        )

    @property
    def shows_archived(self) -> bool:
        """Whether the query itself decides if a post may be archived."""
        states = (one.value for one in self.conditions if one.field is Field.IS)
        return any(state in ("archived", ALL) for state in states)

    @property
    def limits(self) -> "WordQuery | None":
        """The parts without wanted words, except in fields. A search by meaning respects these."""
        parts = tuple(part for part in self.parts if all(t.is_field for t in _wanted((part,))))
        return WordQuery(parts) if parts else None

    @property
    def is_empty(self) -> bool:
        """Whether the query has no parts, for example because it is only punctuation."""
        return not self.parts


def _wanted(parts: Iterable[Part]) -> Iterator[Term]:
    for part in parts:
        if part.is_excluded:
            continue
        if isinstance(part, Term):
            yield part
        elif isinstance(part, Either):
            for branch in part.branches:
                yield from _wanted(branch)


def _conditions(parts: Iterable[Part]) -> Iterator[Condition]:
    for part in parts:
        if isinstance(part, Condition):
            yield part
        elif isinstance(part, Either):
            for branch in part.branches:
                yield from _conditions(branch)


def with_terms(parts: tuple[Part, ...], change: Callable[[Term], Term]) -> tuple[Part, ...]:
    """A copy of the tree with each term changed."""
    return tuple(_with_terms(part, change) for part in parts)


def _with_terms(part: Part, change: Callable[[Term], Term]) -> Part:
    if isinstance(part, Term):
        return change(part)
    if isinstance(part, Either):
        branches = tuple(with_terms(branch, change) for branch in part.branches)
        return Either(branches, part.is_excluded)
    return part


class Match(Struct, frozen=True):
    """A query in the syntax of a search engine. A text is None if the query has no such terms."""

    wanted: str | None
    unwanted: str | None
    # The parts of the query that no search engine can express. A post must match them too.
    rest: tuple[Part, ...] = ()


# The kind of the jobs that create vectors.
BUILD: Final = "embed"
# How many posts are stored together, and compared together. A multiple of 64 that is no power of
# two: with 4,096, rows of a matrix share places of the processor's cache, and 4,000 is not aligned.
PART_POSTS: Final = 63 * 64


class VectorStoreState(Struct, frozen=True):
    """The state of the vectors of one account and model, as one query read it."""

    # The identity of the model. Only vectors of the same model can be compared.
    model: bytes
    name: str
    # 0 until the first vector is written.
    dimensions: int
    embedded: int
    complete_below: int
    invalidations: int
    generation: int
    # Set when every bookmark has had a vector once. Search then works while new posts wait.
    is_built: bool
    # Every bookmark below this number was looked at for its language.
    examined_below: int = 0
    # The vectors of the second model, if the account needs them, however far their build is.
    second: "VectorStoreState | None" = None

    @property
    def built_second(self) -> "VectorStoreState | None":
        """The vectors of the second model, if they can answer a search."""
        second = self.second
        return second if second is not None and second.is_built and second.dimensions else None

    @property
    def version(self) -> tuple[bytes | int, ...]:
        """Changes whenever the answer to a search by meaning may change."""
        second = () if self.second is None else self.second.version
        return (self.model, self.generation, self.is_built, *second)

    def missing(self, total: int) -> int:
        """How many of an account's posts lack a vector of a model that the account needs."""
        embedded = self.embedded
        if self.second is not None:
            embedded = min(embedded, self.second.embedded)
        return max(total - embedded, 0)


class UnembeddedPost(Struct, frozen=True):
    """A bookmark without a vector of its present text."""

    number: int
    content_hash: bytes
    rendering: bytes


class NewVector(Struct, frozen=True):
    """The vectors of a text: a scale and a row of bytes per piece."""

    number: int
    # The hash of the bookmark when it was read. If it has changed since, it is embedded again.
    content_hash: bytes
    text_hash: bytes
    scales: bytes
    vectors: bytes


class ListedVectorStore(Struct, frozen=True):
    """The progress of an account's vectors, as the operator sees it."""

    account_id: int
    model: bytes
    name: str
    embedded: int
    # Posts of the account.
    total: int
    # None if the account is partly deleted.
    email: str | None
