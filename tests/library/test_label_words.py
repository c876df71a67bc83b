"""The labels that the words of a query match, in a library with many labels."""

from collections.abc import Iterable, Iterator

import pytest

from bowerbird.library.bookmarks.searching.label_words import (
    LABELS_PER_QUERY,
    LABELS_PER_TERM,
    LabelWords,
)
from bowerbird.model.posts.filters import BookmarkFilter
from bowerbird.model.words import Either, Part, Term
from bowerbird.search.queries import query_language
from tests.support import writing
from tests.support.programs.loop_time import least_loop_time
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def names_for(member: Member, labels: LabelWords, q: str) -> list[list[str]]:
    """The names of the labels that each term of a query matches."""
    ids = {await writing.label_id(member, name): name for name in await writing.labels(member)}
    filter = BookmarkFilter(words=query_language.parse(q))
    words = (await labels.resolved(await member.account(), filter)).words
    assert words
    return [[ids[str(one)] for one in term.label_ids] for term in words.wanted_terms]


def terms_of(parts: Iterable[Part]) -> Iterator[Term]:
    for part in parts:
        if isinstance(part, Term):
            yield part
        elif isinstance(part, Either):
            yield from (term for branch in part.branches for term in terms_of(branch))


async def test_a_word_a_prefix_and_a_phrase_match_the_names_that_have_them(alice: Member) -> None:
    await alice.save(tags=["sea", "sea birds", "seafood", "birds at sea", "z\u0142oty"])
    labels = LabelWords(alice.database)

    for q, expected in (
        ("sea", {"sea", "sea birds", "birds at sea"}),
        ("sea*", {"sea", "sea birds", "seafood", "birds at sea"}),
        ('"sea birds"', {"sea birds"}),
        ('"birds at"', {"birds at sea"}),
        ("z\u0142*", {"z\u0142oty"}),
        ("zz*", set()),
    ):
        (found,) = await names_for(alice, labels, q)
        assert set(found) == expected, q


@pytest.mark.parametrize("prefix", ["zz{}*", "a00{}*"], ids=["none match", "some match"])
async def test_many_prefixes_and_labels_leave_the_loop_free(alice: Member, prefix: str) -> None:
    await writing.save_unbounded(alice, "1", [f"a{number:05} b{number}" for number in range(5_000)])
    account, labels = await alice.account(), LabelWords(alice.database)
    words = query_language.parse(" ".join(prefix.format(f"{n:02}") for n in range(32)))
    filter = BookmarkFilter(words=words)
    await labels.resolved(account, BookmarkFilter(words=query_language.parse("warm")))

    assert await least_loop_time(lambda: labels.resolved(account, filter)) < 0.02


async def test_a_term_matches_the_labels_with_the_shortest_names(alice: Member) -> None:
    long = [f"katydid {number:04}" for number in range(LABELS_PER_TERM)]
    await writing.save_unbounded(alice, "1", [*long, "kayak", "owl", "kale"])

    found, other = await names_for(alice, LabelWords(alice.database), "ka* owl")

    assert len(found) == LABELS_PER_TERM
    assert {"kayak", "kale"} < set(found)
    assert other == ["owl"]


@pytest.mark.parametrize("q", ["{} " * 8, "-({})", "({})"], ids=["all", "none", "any"])
async def test_the_terms_of_a_query_share_the_labels(alice: Member, q: str) -> None:
    letters = "abcdefgh"
    names = [" ".join(f"{letter * 3}x{number}" for letter in letters) for number in range(150)]
    await writing.save_unbounded(alice, "1", names)
    prefixes = [f"{letter * 3}x*" for letter in letters]
    text = q.format(*prefixes) if q.startswith("{}") else q.format(" OR ".join(prefixes))
    filter = BookmarkFilter(words=query_language.parse(text))

    resolved = await LabelWords(alice.database).resolved(await alice.account(), filter)

    assert resolved.words
    terms = list(terms_of(resolved.words.parts))
    assert len(terms) == len(letters)
    assert sum(len(term.label_ids) for term in terms) == LABELS_PER_QUERY
