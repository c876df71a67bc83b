"""What a library has of the words of a query."""

import time

import pytest

from bowerbird.library.bookmarks.word_reading import WordReading
from bowerbird.search import query_language
from tests.support.service import Member

pytestmark = pytest.mark.anyio

# Twelve letters of an alphabet with many of them: 900 words are one letter away from each.
NONSENSE = " ".join(
    "\u0431\u0432\u0433\u0434\u0436\u0437\u043a\u043b\u043c\u043d\u043f"[n:] * 2 for n in range(7)
)


async def test_misspelled_words_do_not_occupy_the_event_loop(alice: Member) -> None:
    await alice.save(text="heron")
    account, reading = await alice.account(), WordReading(alice.database)
    words = query_language.parse(NONSENSE)
    await reading.read(account, words)

    started = time.thread_time()
    read = await reading.read(account, words)

    assert time.thread_time() - started < 0.01
    assert len(read.unknown) == 7
