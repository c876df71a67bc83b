"""The words of long posts: computed before the transaction that deletes or restores them."""

import pytest

from bowerbird.library.bookmarks.trash import Trash
from bowerbird.library.bookmarks.writing.bookmark_row import WordsAhead
from bowerbird.search.words.tokens import index_text
from tests.support import make, writing
from tests.support.bulk import change_all, undo
from tests.support.service import Member

pytestmark = pytest.mark.anyio

# Few different words, because checking each of them takes long.
LONG = " ".join(f"word{number}" for number in range(100)) * 120
OTHER = LONG.replace("word", "other")


def article(post_id: str, text: str = LONG) -> dict[str, object]:
    post = make.post(post_id=post_id)
    post["tweet_details"]["article"] = {"title": "t", "plain_text": text}
    return post


def test_words_are_those_of_the_texts_whether_computed_before_or_not() -> None:
    ahead = WordsAhead()
    ahead.add(["one two"], ["ada"])
    ahead.add(["one two"], ["ada"])
    # It cannot be encoded.
    ahead.add(["one \ud800 two"], [])

    assert ahead.take(["one \ud800 two"], []) == index_text(["one \ud800 two"])
    assert ahead.take(["one two"], ["ada"]) == index_text(["one two"], ["ada"])
    # They are taken once.
    assert ahead.size == 0
    assert ahead.take(["one two"], []) == index_text(["one two"], [])
    assert ahead.take(["one", "two"], ["ada"]) == index_text(["one", "two"], ["ada"])


def test_words_that_nobody_takes_are_bounded_in_bytes() -> None:
    ahead = WordsAhead(most=10_000)

    for number in range(100):
        ahead.add([f"{number} " * 500], [])
        assert ahead.size <= 10_000
    ahead.add([LONG], [])

    assert ahead.size == 0


async def test_a_long_post_that_changes_meanwhile_loses_its_new_words(alice: Member) -> None:
    await alice.save_all([article("1"), article("2")])
    trash, account = Trash(alice.database, alice.clock), await alice.account()

    await trash.prepare(account, "1")
    await alice.save_all([article("1", OTHER)])
    await alice.database.write(lambda t: trash.delete(t, account, "1"))

    assert await writing.recount(alice) == []
    assert await alice.ids(q="other77") == []
    assert await alice.ids(q="word77") == ["2"]


async def test_many_long_posts_are_deleted_and_come_back(alice: Member) -> None:
    ids = [str(100 + number) for number in range(6)]
    await alice.save_all([article(post_id) for post_id in ids])

    row = await change_all(alice, "trash", ids)

    assert await alice.ids() == []
    assert await writing.recount(alice) == []
    await undo(alice, row)
    assert sorted(await alice.ids(q="word77")) == ids
    assert await writing.recount(alice) == []
