"""The labels that the words of a query match, in a library with many labels."""

import time

import pytest

from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.label_words import LabelWords
from bowerbird.model.accounts import Account
from bowerbird.model.filters import BookmarkFilter
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.search import query_language
from tests.support import writing
from tests.support.service import Member

pytestmark = pytest.mark.anyio


async def names_for(member: Member, labels: LabelWords, q: str) -> list[list[str]]:
    """The names of the labels that each term of a query matches."""
    ids = {await writing.label_id(member, name): name for name in await writing.labels(member)}
    filter = BookmarkFilter(words=query_language.parse(q))
    words = (await labels.resolved(await member.account(), filter)).words
    assert words
    return [[ids[str(one)] for one in term.label_ids] for term in words.wanted_terms]


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
async def test_many_prefixes_and_labels_do_not_occupy_the_event_loop(
    alice: Member, prefix: str
) -> None:
    await writing.save_unbounded(alice, "1", [f"a{number:05} b{number}" for number in range(5_000)])
    account, labels = await alice.account(), LabelWords(alice.database)
    words = query_language.parse(" ".join(prefix.format(f"{n:02}") for n in range(32)))
    filter = BookmarkFilter(words=words)
    await labels.resolved(account, BookmarkFilter(words=query_language.parse("warm")))

    started = time.thread_time()
    await labels.resolved(account, filter)

    assert time.thread_time() - started < 0.02


async def test_the_labels_of_a_list_are_looked_up_once(alice: Member) -> None:
    await alice.save(text="heron", tags=["weir"], is_read=True)
    bookmarks = Bookmarks(alice.database, clock=alice.clock)
    resolve, asked = LabelWords.resolved, []

    async def watched(account: Account, filter: BookmarkFilter) -> BookmarkFilter:
        asked.append(filter)
        return await resolve(bookmarks._labels, account, filter)  # noqa: SLF001

    setattr(bookmarks._labels, "resolved", watched)  # noqa: B010, SLF001 - mypy forbids assigning
    found = await bookmarks.list(await alice.account(), ListQuery(q="weir"))

    assert (found.total_count, found.hidden) == (0, 1)
    assert len(asked) == 1
