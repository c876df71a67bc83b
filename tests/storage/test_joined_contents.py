"""Long lists of posts that the database joins, on both databases."""

import pytest

from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.database import Database
from tests.support import make
from tests.support.service import Service

pytestmark = pytest.mark.anyio


async def test_posts_are_joined_as_a_list_shows_them(cast: Service, database: Database) -> None:
    texts = ["plain", 'quoted "text"; {"a": 1}', "日本語 😀 \\u0041", "x" * 20_000]
    posts = [
        make.post(text=text, is_read=is_read, tags=tags)
        for text in texts
        for is_read in (False, True)
        for tags in (None, ["Later", 'A "b"'])
    ]
    await cast.alice.save_all(posts)
    await cast.bob.save_all([make.post(text="of another account")])
    account, store = await cast.alice.account(), BookmarkStore(database)
    numbers = [7, 3, 16, 1, 99, 2, 15]

    joined = await store.joined_contents(account, numbers)

    assert (joined, len(numbers) - 1) == await store.contents(account, numbers)
    assert b"another account" not in joined


async def test_posts_that_do_not_exist_are_left_out(cast: Service, database: Database) -> None:
    store = BookmarkStore(database)

    assert await store.joined_contents(await cast.alice.account(), [1, 2]) == b""
