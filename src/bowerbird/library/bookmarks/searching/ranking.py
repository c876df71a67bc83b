"""Ranked lists: the best thousand by words, by meaning, or by both."""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from bowerbird.library.bookmarks.searching.post_texts import compared_words
from bowerbird.library.bookmarks.searching.word_reading import ReadWords, WordReading
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import BookmarkFilter, Sort
from bowerbird.model.words import Term, VectorStoreState, WordQuery
from bowerbird.requests.limits import PAGE_DEFAULT, RANKED_MAX
from bowerbird.search.meaning.embedding import NO_FLOOR
from bowerbird.search.queries import query_language
from bowerbird.storage.database import Database
from bowerbird.storage.stores import Service

if TYPE_CHECKING:
    from bowerbird.search.candidates import Candidates
    from bowerbird.search.meaning.arrays import Floats, Numbers

_CANDIDATES: Final = "bowerbird.search.candidates"
# If more posts have the words, only those imported last are ranked, which bounds the work.
_CONSIDERED: Final = 5_000
# Each word takes time in each post, 4 ms per thousand on SQLite, so of a long query the words of
# fewer posts are counted.
_COUNTS: Final = 2_000
_COUNTED_AT_LEAST: Final = 300
# Larger posts are left out of the comparison by words: up to 50 are read for a query.
_COMPARED_BYTES: Final = 1 << 20
# Longer lists of numbers are filtered by those of the whole library.
_FEW_CHARACTERS: Final = 2_000


class Ranking(Struct, frozen=True):
    """The best matches, best first or in another order, each with its score."""

    numbers: Sequence[int]
    # Empty if nothing in the query ranks.
    scores: Sequence[float] = ()
    # Words that no post has, and what was probably meant instead.
    unknown: tuple[str, ...] = ()
    corrections: tuple[tuple[str, str], ...] = ()
    # Whether no post in it matches the words themselves, but one that its flags hide may do so.
    may_hide_exact: bool = False
    # Whether a post has most of the words, or is clearly near in meaning.
    is_close: bool = True
    # Whether posts are in it that counts and changes of the same query do not have.
    is_wider: bool = False
    # Whether no post has the words themselves, whatever its flags.
    is_absent: bool = False
    # Of an empty list, if they were read.
    words: ReadWords | None = None


_NOTHING: Final = Ranking(())


class Rankings(Service):
    def __init__(self, database: Database, meaning: SemanticSearch) -> None:
        super().__init__(database)
        self._words = WordReading(database)
        self._meaning = meaning

    async def rank(
        self,
        account: Account,
        filter: BookmarkFilter,
        sort: Sort | None,
        store: VectorStoreState | None,
        *,
        is_relaxed: bool = False,
        is_wide: bool | None = None,
    ) -> Ranking:
        """The best bookmarks, best first or ordered by `sort`.

        `store` holds the vectors that a search by meaning reads. `is_relaxed`: a search by words
        and meaning may find a post by one of the words, and so may a sentence, after the posts
        with all of them. `is_wide`: whether the sentence does; None if few posts have all of them.
        """
        await _load()
        if filter.meaning is None:
            may_be_wide = is_relaxed and sort is None
            found = await self._by_words(account, filter, is_wide=is_wide if may_be_wide else False)
        else:
            found = await self._by_meaning(account, filter, store, is_relaxed=is_relaxed)
        return await self._in_order(account, found, sort)

    async def relaxed(
        self,
        account: Account,
        filter: BookmarkFilter,
        sort: Sort | None,
        read: ReadWords | None = None,
    ) -> Ranking:
        """The bookmarks that have any of the words. Phrases, exclusions and filters apply."""
        await _load()
        return await self._in_order(account, await self._relaxed(account, filter, read), sort)

    async def grouped(
        self, account: Account, ranking: Ranking
    ) -> tuple[Ranking, Mapping[int, Sequence[int]]]:
        """The ranking with newer posts first among equal scores, and the copies in it.

        Copies have the same text and links: each of them with all of its group, best first.
        """
        if not ranking.scores:
            return ranking, {}
        prints = {
            row[0]: row for row in await self._stores.bookmarks.prints(account, ranking.numbers)
        }
        # Of equal scores, the newer post comes first.
        order = [
            (score, prints[number][1], number)
            for number, score in zip(ranking.numbers, ranking.scores, strict=True)
            if number in prints
        ]
        order.sort(reverse=True)
        numbers = [number for _, _, number in order]
        groups: defaultdict[tuple[int, int | None], list[int]] = defaultdict(list)
        for number in numbers:
            _, _, text, links = prints[number]
            if text is not None:
                groups[text, links].append(number)
        copies = {number: group for group in groups.values() if len(group) > 1 for number in group}
        scores = [score for score, _, _ in order]
        return msgspec.structs.replace(ranking, numbers=numbers, scores=scores), copies

    async def numbers(
        self,
        account: Account,
        filter: BookmarkFilter,
        store: VectorStoreState | None,
        *,
        is_ordered: bool,
    ) -> Sequence[int]:
        """What a search by meaning finds: best first, or with less work in another order."""
        await _load()
        found = await self._by_meaning(
            account, filter, store, is_relaxed=False, is_ordered=is_ordered
        )
        return found.numbers

    async def similar(
        self,
        account: Account,
        filter: BookmarkFilter,
        number: int,
        store: VectorStoreState | None,
    ) -> Ranking:
        """The bookmarks near to one, except that one."""
        await _load()
        from bowerbird.search import candidates  # noqa: PLC0415 - imports numpy

        if store is None or not store.dimensions:
            return _NOTHING
        matching = await self._matching(account, filter)
        near = await self._meaning.nearness_of_post(account, store, number)
        if near is None:
            return _NOTHING
        found = await asyncio.to_thread(candidates.nearest, near, matching, RANKED_MAX + 1)
        others = [each for each in zip(*found, strict=True) if each[0] != number][:RANKED_MAX]
        return Ranking([number for number, _ in others], [score for _, score in others])

    async def _in_order(self, account: Account, ranking: Ranking, sort: Sort | None) -> Ranking:
        if sort is None or not ranking.numbers:
            return ranking
        numbers = await self._stores.bookmarks.in_order(account, ranking.numbers, sort)
        scores = dict(zip(ranking.numbers, ranking.scores, strict=False))
        return msgspec.structs.replace(
            ranking, numbers=numbers, scores=[scores[n] for n in numbers] if scores else ()
        )

    async def _by_words(
        self, account: Account, filter: BookmarkFilter, *, is_wide: bool | None
    ) -> Ranking:
        from bowerbird.search import candidates  # noqa: PLC0415 - imports numpy

        words = filter.words
        if words is None or words.is_empty:
            return _NOTHING
        # Exclusions and conditions only filter; they do not rank.
        if not words.wanted_terms:
            return Ranking(await self._stores.bookmarks.first(account, filter, RANKED_MAX))
        read = await self._words.read(account, words)
        found = None if read.is_absent else await self._latest(account, filter, _CONSIDERED)
        numbers = found or []
        if is_wide is None:
            is_wide = 0 < len(numbers) < PAGE_DEFAULT
        is_wide = is_wide and words.is_sentence
        if not numbers and not is_wide:
            return Ranking((), is_absent=found is None, words=read)
        if is_wide:
            ranking = await self._with_any_word(account, filter, read, numbers)
            return msgspec.structs.replace(ranking, is_wider=len(ranking.numbers) > len(numbers))
        ranking, _ = await self._scored(
            account, read, partial(candidates.matches, read.scores, numbers)
        )
        return ranking

    async def _relaxed(
        self, account: Account, filter: BookmarkFilter, read: ReadWords | None
    ) -> Ranking:
        assert filter.words is not None
        read = read or await self._words.read(account, filter.words)
        if not read.scores.words or not is_relaxable(filter.words):
            return Ranking((), (), read.unknown, read.corrections)
        return await self._with_any_word(account, filter, read, ())

    async def _with_any_word(
        self, account: Account, filter: BookmarkFilter, read: ReadWords, exact: Sequence[int]
    ) -> Ranking:
        """`exact` match the whole filter, and come first."""
        from bowerbird.search import candidates  # noqa: PLC0415 - imports numpy

        assert filter.words is not None
        strict = msgspec.structs.replace(filter, words=_strict(filter.words))
        matching = await self._matching(account, strict)
        find = partial(candidates.with_any_word, read.scores, matching, _CONSIDERED, exact)
        ranking, _ = await self._scored(account, read, find)
        return ranking

    async def _by_meaning(
        self,
        account: Account,
        filter: BookmarkFilter,
        store: VectorStoreState | None,
        *,
        is_relaxed: bool,
        is_ordered: bool = True,
    ) -> Ranking:
        from bowerbird.search import candidates  # noqa: PLC0415 - imports numpy

        assert filter.meaning is not None
        words = filter.words
        if words is not None and words.is_empty:
            return _NOTHING
        # Excluded words and conditions apply to results by meaning; the other words only rank.
        limits = msgspec.structs.replace(filter, meaning=None, words=words and words.limits)
        matching = await self._matching(account, limits)
        if not len(matching):
            return _NOTHING
        near, trust = candidates.NOTHING_NEAR, 1.0
        # A store without dimensions means that no post contains any text.
        if store is not None and store.dimensions and not (words and words.is_address):
            # Together, because the first search after a start loads models and reads vectors.
            found, is_known = await asyncio.gather(
                self._meaning.nearness(account, store, filter.meaning),
                self._is_known(account, store, filter),
            )
            near = found if is_known else near
            if is_known and not self._meaning.understands(store, filter.meaning):
                trust = candidates.NOT_UNDERSTOOD
            if filter.post_ids is not None:
                # Posts that were chosen one by one are listed however far they are.
                near = replace(near, floor=NO_FLOOR)
        if words is None or not words.wanted_terms:
            numbers, scores = await asyncio.to_thread(
                candidates.nearest, near, matching, RANKED_MAX
            )
            is_close = bool(scores) and scores[0] >= near.floor + candidates.CLEARLY_ABOVE
            return Ranking(numbers, scores, is_close=is_close)
        read = await self._words.read(account, words)
        strict = msgspec.structs.replace(filter, meaning=None)
        exact = None
        if not read.is_absent:
            exact = await self._latest(account, strict, RANKED_MAX, matching)
        find = partial(
            candidates.by_both,
            read.scores,
            matching,
            near,
            exact or (),
            by_words=_CONSIDERED,
            by_meaning=RANKED_MAX,
            is_relaxed=is_relaxed and (words.is_sentence or not exact),
        )
        with_vectors = store if is_ordered and len(near.numbers) else None
        ranking, both = await self._scored(
            account, read, find, with_vectors, trust=trust, is_ordered=is_ordered
        )
        is_close = bool(exact) or candidates.are_close(both, near.floor)
        return msgspec.structs.replace(
            ranking,
            may_hide_exact=exact == [],
            is_close=is_close,
            is_wider=candidates.are_by_some_words(both, near.floor),
        )

    async def _is_known(
        self, account: Account, store: VectorStoreState, filter: BookmarkFilter
    ) -> bool:
        """Whether the words of a query mean something to a model, or are in the library."""
        assert filter.meaning is not None
        if filter.post_ids is not None or await self._meaning.knows(store, filter.meaning):
            return True
        return await self._words.has_any(account, query_language.parse(filter.meaning))

    async def _scored(
        self,
        account: Account,
        read: ReadWords,
        find: "Callable[[], Candidates]",
        store: VectorStoreState | None = None,
        *,
        trust: float = 1.0,
        is_ordered: bool = True,
    ) -> "tuple[Ranking, Candidates]":
        """Counts the words of the best candidates, and orders these. All candidates too.

        `store`: whose vectors tell how alike posts are. Without it, their words do.
        `trust`: the weight of similarities.
        """
        from bowerbird.search import candidates  # noqa: PLC0415 - imports numpy

        tokens = read.scores.tokens
        most = max(_COUNTED_AT_LEAST, _COUNTS // max(len(tokens), 1))

        def choose() -> "tuple[Candidates, Candidates, list[int]]":
            found = find()
            best = candidates.best_so_far(found, read.scores, RANKED_MAX)
            counted = candidates.best_so_far(best, read.scores, most)
            return found, best, counted.numbers.tolist()

        found, best, numbers = await asyncio.to_thread(choose)
        counted = await self._words.counted(account, tokens, numbers)
        scores = await asyncio.to_thread(
            candidates.scores,
            best,
            read.scores,
            counted,
            trust=trust,
            is_by_words=store is None,
        )
        weight = trust * read.scores.likeness_weight()
        if is_ordered and weight and len(scores):
            most = candidates.LIKENED if store else candidates.LIKENED_BY_WORDS
            places, shares = candidates.best_of(best.numbers, scores, most)
            alike = best.numbers[places]
            if store is not None:
                likeness = await self._meaning.likeness(account, store, alike, shares)
            else:
                likeness = await self._likeness_of_words(account, alike.tolist(), shares)
                first = float(best.coverage[places[shares.argmax()]])
                weight = read.scores.likeness_weight(first)
            # At least 0, so the best stay above the others.
            scores[places] += weight * (likeness - likeness.min())
        ordered = await asyncio.to_thread(candidates.ordered, best.numbers, scores, RANKED_MAX)
        return Ranking(*ordered, read.unknown, read.corrections), found

    async def _likeness_of_words(
        self, account: Account, numbers: Sequence[int], shares: "Floats"
    ) -> "Floats":
        from bowerbird.search.meaning.arrays import likeness_of  # noqa: PLC0415 - imports numpy
        from bowerbird.search.scoring import word_columns  # noqa: PLC0415 - imports numpy

        stored = await self._stores.facets.renderings(account, numbers, _COMPARED_BYTES)

        def compare() -> "Floats":
            words = [compared_words(stored[n] + b"}") if n in stored else () for n in numbers]
            return likeness_of(word_columns(words), shares)

        return await asyncio.to_thread(compare)

    async def _latest(
        self,
        account: Account,
        filter: BookmarkFilter,
        most: int,
        matching: "Numbers | None" = None,
    ) -> list[int] | None:
        """Posts that match the whole filter. None if no post has the words.

        If there are more, those imported last, or the newest if the index cannot tell which match.
        `matching`: those that match the rest of the filter, if they were read.
        """
        from bowerbird.search import candidates  # noqa: PLC0415 - imports numpy

        assert filter.words is not None
        text = await self._words.matches(account, filter.words)
        if text == "":
            return None
        if text is None or (matching is None and len(text) < _FEW_CHARACTERS):
            return await self._stores.bookmarks.first(account, filter, most)
        if matching is None:
            # Joining the flags of each match takes ten times as long.
            limits = msgspec.structs.replace(filter, words=filter.words.limits)
            matching = await self._matching(account, limits)
        return await asyncio.to_thread(candidates.latest_of, text, matching, most)

    async def _matching(self, account: Account, filter: BookmarkFilter) -> "Numbers":
        """The numbers of the bookmarks that match the filter."""
        key = (account.account_id, account.epoch, account.version, filter)
        numbers = self._meaning.cached_numbers(key)
        if numbers is None:
            numbers = await self._meaning.cache_numbers(
                key, await self._stores.bookmarks.number_text(account, filter)
            )
        return numbers


async def _load() -> None:
    """Imports numpy before it is used: on a thread, because it takes a tenth of a second."""
    if _CANDIDATES not in sys.modules:
        await asyncio.to_thread(import_module, _CANDIDATES)


def is_relaxable(words: WordQuery) -> bool:
    """Whether a post may lack some of the words: those without quotation marks and operators."""
    return any(map(_may_be_missing, words.parts))


def _strict(words: WordQuery) -> WordQuery | None:
    parts = tuple(part for part in words.parts if not _may_be_missing(part))
    return WordQuery(parts) if parts else None


def _may_be_missing(part: object) -> bool:
    return isinstance(part, Term) and not part.is_excluded and not part.is_quoted
