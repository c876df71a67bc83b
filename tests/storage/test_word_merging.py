"""How much of SQLite's full-text index a deletion of posts merges within its transaction."""

import random

import pytest

from bowerbird.library.bookmarks.trash import Trash
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.bookmarks.writing.trash_batch import TrashBatches
from bowerbird.model.accounts import Account
from bowerbird.storage.bookmarks.word_index import AFTER_DELETING
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.libraries import LibraryStore
from tests.support import make, service
from tests.support.service import Member

pytestmark = pytest.mark.anyio

POSTS = 400
WORDS = 150
PER_TURN = 50
# The structure of the index, the marks of deleted posts, and where the words of a page begin.
OTHER_ROWS = 12


@pytest.fixture
async def eve(sqlite: Database) -> Member:
    return (await service.build(sqlite)).alice


async def fill(member: Member) -> None:
    """Saves posts with many different words, so that the index has a hundred pages."""
    chance = random.Random(0)  # noqa: S311 - a repeatable choice, not a secret
    for first in range(1, POSTS + 1, PER_TURN):
        numbers = range(first, first + PER_TURN)
        texts = [" ".join(_word(chance) for _ in range(WORDS)) for _ in numbers]
        await member.save_all(
            [make.post(post_id=str(n), text=text) for n, text in zip(numbers, texts, strict=True)]
        )


def _word(chance: random.Random) -> str:
    return f"{chance.randrange(30_000):05}x"


async def deleted(member: Member, account: Account, first: int) -> int:
    """Deletes some posts in one transaction; returns how many rows of the index it wrote."""
    database, batches = member.database, TrashBatches(member.database, member.clock)

    async def work(transaction: Transaction) -> int:
        library = await LibraryStore(database).lock(transaction, account.account_id)
        changeset = await Changeset.open(database, library)
        ids = [str(number) for number in range(first, first + PER_TURN)]
        await changeset.load(ids)
        posts = [post for one in ids if (post := changeset.post(one)) is not None]
        before = await written(transaction)
        await batches.put(changeset, posts)
        after = await written(transaction)
        await changeset.finish(member.clock())
        return len(after - before)

    return await member.database.write(work)


async def written(transaction: Transaction) -> set[tuple[int, bytes]]:
    rows = await transaction.rows("SELECT id, block FROM keyword_data", {})
    return {(number, block) for number, block in rows}


async def automerge(member: Member) -> list[int]:
    sql = "SELECT v FROM keyword_config WHERE k = 'automerge'"
    return [row[0] for row in await member.database.rows(sql, {})]


async def test_deleting_posts_merges_few_pages_per_transaction(eve: Member) -> None:
    await fill(eve)
    account = await eve.account()

    turns = [await deleted(eve, account, first) for first in range(1, POSTS + 1, PER_TURN)]

    assert max(turns) <= AFTER_DELETING + OTHER_ROWS


async def test_the_index_is_merged_as_usual_after_a_deletion(eve: Member) -> None:
    await eve.save_all([make.post(post_id=one) for one in ("1", "2")])
    account = await eve.account()

    await deleted(eve, account, 1)
    assert await automerge(eve) == [4]

    trash = Trash(eve.database, eve.clock)
    await eve.database.write(lambda t: trash.restore(t, account, "1"))
    assert await automerge(eve) == [4]


async def test_a_deletion_that_fails_leaves_merging_as_it_was(eve: Member) -> None:
    await eve.save(post_id="1", text="penguins walk")
    account, database = await eve.account(), eve.database

    async def failing(transaction: Transaction) -> None:
        library = await LibraryStore(database).lock(transaction, account.account_id)
        changeset = await Changeset.open(database, library)
        await changeset.load(["1"])
        post = changeset.post("1")
        assert post is not None
        await changeset.remove([post])
        raise RuntimeError("the rest fails")

    with pytest.raises(RuntimeError, match="the rest fails"):
        await eve.database.write(failing)

    assert await automerge(eve) == []
    assert [post["post_id"] for post in (await eve.listed(q="penguins"))["data"]] == ["1"]
