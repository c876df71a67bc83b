"""`bowerbird check --deep` counts the words of posts of any length."""

import pytest

from tests.support import make, writing
from tests.support.service import Member

pytestmark = pytest.mark.anyio


# Around the lengths at which SQLite stores the count of words in one more byte.
@pytest.mark.parametrize("words", [100, 200, 15_000, 15_999])
async def test_a_long_post_without_damage_is_not_reported(alice: Member, words: int) -> None:
    post = make.post(post_id="1")
    # A token for each word, and one for the number in it.
    text = " ".join(f"word{number % 1_000}" for number in range(words))
    post["tweet_details"]["article"] = {"title": "t", "plain_text": text}
    await alice.save_all([post])

    assert await writing.recount(alice) == []
