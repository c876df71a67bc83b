"""The words of a query that count when posts are ranked, and what a library has of them.

Also the forms in which posts have them, and what misspelled words mean.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.words import (
    MAX_RANKING_WORDS,
    OTHER_FORM,
    STEM,
    UNCOUNTED,
    Either,
    Form,
    Term,
    WordQuery,
)
from bowerbird.search.queries.spelling import edits_of, splits_of
from bowerbird.search.words.languages import likely_languages
from bowerbird.search.words.tokens import is_unspaced
from bowerbird.search.words.word_lists import QUESTION_WORDS, STOP_WORDS
from bowerbird.storage.bookmarks.word_index import Occurrences, WordIndex
from bowerbird.storage.database import Database
from bowerbird.storage.words.word_counts import WordCounts

# Of a word that punctuation splits: both parts apart from each other, and one of them.
_APART_WEIGHT, _PART_WEIGHT = 0.9, 0.4


class QueryWord(Struct, frozen=True):
    # As it is compared: folded, the tokens separated by spaces.
    text: str
    # The first one is the word as it was typed.
    forms: tuple[Form, ...]
    is_quoted: bool = False
    # Whether the name of a label has it, or a post is at this address.
    is_label: bool = False
    # Alternatives have one group, and count as one word.
    group: int = 0

    @property
    def is_telling(self) -> bool:
        """Whether it counts even if it is spelled like a stop word, as in `he*`."""
        return self.is_quoted or self.forms[0].is_prefix

    @property
    def may_be_misspelled(self) -> bool:
        typed = self.forms[0]
        return not self.is_quoted and not typed.is_prefix and len(typed.tokens) == 1


def words_of(query: WordQuery) -> list[QueryWord]:
    """Stop words are left out unless there are no others."""
    words: dict[str, QueryWord] = {}
    for part in query.parts:
        group = len(words)
        for term in WordQuery((part,)).wanted_terms:
            for word in _words(term):
                of = group if isinstance(part, Either) else len(words)
                words.setdefault(word.text, msgspec.structs.replace(word, group=of))
    stop_words = STOP_WORDS | _question_words(query.language)
    telling = [word for word in words.values() if word.is_telling or word.text not in stop_words]
    return telling or list(words.values())


def _question_words(language: str) -> frozenset[str]:
    """The words that only ask or join in a language, or in both of the likeliest."""
    lists = [QUESTION_WORDS.get(each, frozenset()) for each in likely_languages(language)]
    return lists[0].intersection(*lists[1:])


def _words(term: Term) -> Iterator[QueryWord]:
    typed = Form(term.tokens, is_prefix=term.is_prefix)
    text = " ".join(term.tokens)
    is_label = bool(term.label_ids or term.post_id)
    if term.is_quoted:
        yield QueryWord(text, (typed, *term.forms), is_quoted=True, is_label=is_label)
    elif len(term.tokens) > 1 and any(map(is_unspaced, term.tokens)):
        # A run of a script without spaces may be a sentence, of which a post has only some words.
        last = len(term.tokens) - 1
        for place, token in enumerate(term.tokens):
            if len(token) > 1 or not is_unspaced(token):
                pair = Form((token,), is_prefix=term.is_prefix and place == last)
                # A post with another form of the run, such as its reading, has all of it.
                yield QueryWord(token, (pair, *term.forms), is_label=is_label)
    else:
        yield QueryWord(text, (typed, *term.forms, *_parts(term)), is_label=is_label)


def _parts(term: Term) -> Iterator[Form]:
    telling = [token for token in term.tokens if token not in STOP_WORDS]
    if len(term.tokens) > 1 and telling and not term.is_prefix:
        yield Form(term.tokens, _APART_WEIGHT, is_phrase=False)
        yield from (Form((token,), _PART_WEIGHT) for token in telling)


def query_for(form: Form) -> WordQuery:
    """Matches the posts that have a form."""
    if form.is_phrase:
        return WordQuery((Term(form.tokens, is_prefix=form.is_prefix),))
    return WordQuery(tuple(Term((token,)) for token in form.tokens))


TYPO_WEIGHT: Final = 0.6
_FORMS_MAX: Final = 6
_SIGILS: Final = "#@"
_MARKS: Final = (OTHER_FORM, STEM, *UNCOUNTED)


class Guesses(Struct, frozen=True):
    """Words that may have been meant; which of them exist is not known yet."""

    typed: str
    edits: Sequence[str]
    # Two words instead of one, and one instead of two neighbours.
    splits: Sequence[tuple[str, str]]
    joins: Sequence[tuple[str, str]]

    @property
    def tokens(self) -> set[str]:
        parts = {part for pair in self.splits for part in pair}
        return {*self.edits, *parts, *map("".join, self.joins)}

    def likeliest(self, counts: Mapping[str, int]) -> tuple[list[Form], str, str]:
        """The forms to search for, the text that they replace, and the likeliest one."""
        for pair in self.joins:
            if (joined := "".join(pair)) in counts:
                return [Form((joined,))], " ".join(pair), joined
        edits = sorted((e for e in self.edits if e in counts), key=lambda e: (-counts[e], e))
        if edits:
            forms = [Form((edit,), TYPO_WEIGHT) for edit in edits[:_FORMS_MAX]]
            return forms, self.typed, edits[0]
        splits = [pair for pair in self.splits if all(part in counts for part in pair)]
        if splits:
            best = max(splits, key=lambda pair: min(counts[part] for part in pair))
            return [Form(best)], self.typed, " ".join(best)
        return [], self.typed, ""


def guesses_for(word: str, beside: Sequence[tuple[str, str]]) -> Guesses:
    """`beside` has the pairs of neighbours in the query that the word is part of."""
    sigil = word[:1] if word[:1] in _SIGILS else ""
    edits = [sigil + edit for edit in edits_of(word[len(sigil) :])]
    joins = [pair for pair in beside if not any(part[0] in _SIGILS for part in pair)]
    return Guesses(word, edits, [] if sigil else splits_of(word), joins)


if TYPE_CHECKING:
    from bowerbird.search.scoring import Counted, WordScores

# Bounds the work for a query of nonsense, and for one with many common words.
_MISSPELLED_MAX: Final = 8
_HOLDERS_MAX: Final = 200_000
# How many of the posts that are not counted may have a word: more than have most words.
_GUESSED_SHARE: Final = 0.05


class ReadWords(Struct, frozen=True):
    """The words of a query, as a library has them."""

    scores: "WordScores"
    # The words that no post has, and the words that were probably meant.
    unknown: tuple[str, ...]
    corrections: tuple[tuple[str, str], ...]
    # Whether it is sure that no post has all of the words.
    is_absent: bool = False


class _Counts(Struct, frozen=True):
    """In how many posts each token occurs, as far as they are counted."""

    posts: dict[str, int]
    total: int
    # How many posts of `total` are not counted.
    uncounted: int

    def occurs(self, form: Form) -> bool:
        """Whether posts may have the form. Those that are not counted may have any."""
        if self.uncounted > 0 or form.tokens[0][0] in UNCOUNTED:
            return True
        tokens = form.tokens[:-1] if form.is_prefix else form.tokens
        return all(token in self.posts for token in tokens)

    def most(self, form: Form) -> int:
        """How many posts have the form at most, as far as it is known before they are read."""
        if form.tokens[0][0] in UNCOUNTED:
            return self._share(self.uncounted)
        tokens = form.tokens[:-1] if form.is_prefix else form.tokens
        known = (self.posts.get(token, 0) + self._share(self.uncounted) for token in tokens)
        return min(known, default=self._share(self.total))

    def _share(self, posts: int) -> int:
        return int(posts * _GUESSED_SHARE)


class _Held(Struct):
    """A word with the forms that posts have, and the texts of their numbers."""

    word: QueryWord
    forms: list[Form]
    texts: list[str]
    # How many of its forms were not looked for.
    unread: int


class WordReading:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts = WordCounts(database)
        self._index = WordIndex(database)

    async def read(self, account: Account, query: WordQuery) -> ReadWords:
        words = words_of(query)
        tokens = {token for word in words for form in word.forms for token in form.tokens}
        posts, counted = await self._counts.of_and_total(account, tokens)
        uncounted = account.total - counted
        # Changes that wait may have other words and no other posts.
        if uncounted <= 0:
            uncounted = int(await self._counts.is_pending(self._database, account.account_id))
        counts = _Counts(posts, account.total, uncounted)
        candidates = [
            (word, [form for form in word.forms if counts.occurs(form)]) for word in words
        ]
        read = await self._held(account, _rarest(candidates, counts), counts)
        absent = [word for word, forms in candidates if not forms]
        absent += [each.word for each in read if not each.forms and not each.unread]
        unknown = [word for word in absent if not word.is_label]
        held = [each for each in read if each.forms]
        sure = _sure_groups(query, words, candidates, read)
        is_absent = not sure <= {each.word.group for each in held}
        corrections: list[tuple[str, str]] = []
        if unknown:
            found, corrections = await self._corrected(account, words, unknown, counts)
            held += found
        known = {each.word.group for each in held} | {word.group for word in words if word.is_label}
        left = len({word.group for word in unknown} - known)
        scores, are_apart = await asyncio.to_thread(_scores, held, left, account.total, sure)
        texts = tuple(word.text for word in unknown)
        return ReadWords(scores, texts, tuple(corrections), is_absent or are_apart)

    async def has_any(self, account: Account, query: WordQuery) -> bool:
        """Whether a post may have a word of the query."""
        tokens = {token for word in words_of(query) for form in word.forms for token in form.tokens}
        posts, counted = await self._counts.of_and_total(account, tokens)
        return bool(posts) or (bool(tokens) and counted < account.total)

    async def matches(self, account: Account, query: WordQuery) -> str | None:
        """The numbers of the posts that match the wanted parts; None if the index cannot tell."""
        return await self._index.matches(account, query)

    async def counted(
        self, account: Account, tokens: Sequence[str], numbers: Sequence[int]
    ) -> "Counted":
        return _counted(tokens, await self._index.occurrences(account, tokens, numbers))

    async def _held(
        self,
        account: Account,
        candidates: Sequence[tuple[QueryWord, list[Form]]],
        counts: _Counts,
    ) -> list[_Held]:
        """Reads the posts of each form, rare forms first, until they are too many."""
        wanted = [
            # What was typed comes first if it is not known what is rare.
            (order if counts.uncounted else 0, counts.most(form), place, form)
            for place, (_, forms) in enumerate(candidates)
            for order, form in enumerate(forms)
        ]
        wanted.sort(key=lambda each: each[:3])
        read: list[tuple[int, Form]] = []
        total = 0
        for _, posts, place, form in wanted:
            if not read or total + posts <= _HOLDERS_MAX:
                total += posts
                read.append((place, form))
        texts = await self._index.holders(account, [query_for(form) for _, form in read])
        held: dict[int, _Held] = {}
        for (place, form), text in zip(read, texts, strict=True):
            word, forms = candidates[place]
            of_word = held.setdefault(place, _Held(word, [], [], len(forms)))
            of_word.unread -= 1
            if text:
                of_word.forms.append(form)
                of_word.texts.append(text)
        return list(held.values())

    async def _corrected(
        self,
        account: Account,
        words: Sequence[QueryWord],
        unknown: Sequence[QueryWord],
        counts: _Counts,
    ) -> tuple[list[_Held], list[tuple[str, str]]]:
        """The words one edit away from words that no post has, and the likeliest of them."""
        misspelled = [word for word in unknown if word.may_be_misspelled][:_MISSPELLED_MAX]
        # On threads: these are thousands of words.
        guesses, asked = await asyncio.to_thread(_guesses, misspelled, words, counts.posts)
        counts.posts.update(await self._counts.of(account, asked))
        meant = await asyncio.to_thread(_likeliest, guesses, counts.posts)
        candidates = [(word, forms) for word, (forms, _, _) in meant if forms]
        held = [each for each in await self._held(account, candidates, counts) if each.forms]
        known = {each.word.text for each in held}
        return held, [(typed, text) for word, (_, typed, text) in meant if word.text in known]


def _rarest(
    candidates: Iterable[tuple[QueryWord, list[Form]]], counts: _Counts
) -> list[tuple[QueryWord, list[Form]]]:
    """The words that decide: a pasted page has too many."""
    held = [(word, forms) for word, forms in candidates if forms]
    held.sort(key=lambda each: max(counts.most(form) for form in each[1]))
    return held[:MAX_RANKING_WORDS]


def _sure_groups(
    query: WordQuery,
    words: Sequence[QueryWord],
    candidates: Iterable[tuple[QueryWord, list[Form]]],
    read: Iterable[_Held],
) -> set[int]:
    """The parts of a query that no other posts match than those that have been read."""
    # Of alternatives, stop words and repeated words were left out.
    if any(isinstance(part, Either) for part in query.parts):
        return set()
    whole = {word.text for word, forms in candidates if not forms}
    whole |= {each.word.text for each in read if not each.unread}
    return {word.group for word in words if word.text in whole and not word.is_label}


def _beside(word: QueryWord, words: Sequence[QueryWord]) -> list[tuple[str, str]]:
    """The pairs of neighbours that a word is part of."""
    texts = [each.text for each in words if each.may_be_misspelled]
    return [pair for pair in pairwise(texts) if word.text in pair]


def _guesses(
    misspelled: Iterable[QueryWord], words: Sequence[QueryWord], counts: Mapping[str, int]
) -> tuple[list[tuple[QueryWord, Guesses]], set[str]]:
    """The words that may have been meant, and the tokens whose counts are not known."""
    guesses = [(word, guesses_for(word.text, _beside(word, words))) for word in misspelled]
    tokens = {token for _, each in guesses for token in each.tokens}
    return guesses, tokens - counts.keys()


def _likeliest(
    guesses: Iterable[tuple[QueryWord, Guesses]], counts: Mapping[str, int]
) -> list[tuple[QueryWord, tuple[list[Form], str, str]]]:
    return [(word, each.likeliest(counts)) for word, each in guesses]


def _scores(
    held: Sequence[_Held], unknown: int, total: int, sure: set[int]
) -> tuple["WordScores", bool]:
    """Also whether no post has all of the words of these groups."""
    from bowerbird.search import scoring  # noqa: PLC0415 - imports numpy
    from bowerbird.search.meaning.arrays import parse_numbers  # noqa: PLC0415

    by_group: defaultdict[int, list[scoring.Spelling]] = defaultdict(list)
    for each in held:
        by_group[each.word.group] += (
            scoring.Spelling(form.weight, parse_numbers(text), _counted_token(form))
            for form, text in zip(each.forms, each.texts, strict=True)
        )
    words = {}
    for group, spellings in by_group.items():
        # A rare form of a common word does not make it rare.
        posts = max(len(spelling.holders) for spelling in spellings)
        words[group] = scoring.HeldWord(scoring.idf(posts, total), tuple(spellings))
    are_apart = scoring.are_apart([word for group, word in words.items() if group in sure])
    return scoring.WordScores([*words.values()], unknown, scoring.idf(0, total)), are_apart


def _counted_token(form: Form) -> str | None:
    """A post has a form with a mark once, however often it has the words it stands for."""
    is_word = len(form.tokens) == 1 and not form.is_prefix
    return form.tokens[0] if is_word and form.tokens[0][0] not in _MARKS else None


def _counted(tokens: Sequence[str], found: Occurrences) -> "Counted":
    from bowerbird.search.meaning.arrays import np  # noqa: PLC0415
    from bowerbird.search.scoring import Counted  # noqa: PLC0415 - imports numpy

    cells = np.dtype([("counts", np.uint8, (len(tokens),)), ("length", "<u4")])
    read = np.frombuffer(found.cells, cells)
    lengths = read["length"].astype(np.int64)
    return Counted(tokens, np.array(found.numbers, np.int64), read["counts"], lengths)
