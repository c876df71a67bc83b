"""A prefix that is written as words of the account finds the same posts as FTS5's own prefix."""

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple, cast

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.model.accounts import Account
from bowerbird.model.posts.filters import BookmarkFilter, Sort
from bowerbird.model.words import Either, Term, WordQuery
from bowerbird.search.queries import query_language
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.bookmarks.filters import WORDS_PREFIX, narrowing
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.sqlite import word_reads
from tests.storage.test_word_reads import GeneralStatements
from tests.support import databases, make, service

pytestmark = pytest.mark.anyio

POSTS = 300
LETTERS = ("ab", "åé", "бв", "אב", "日本", "한글", "12", "\U0001049c\U00010400")
SPECIAL = (
    "#abba",
    "@baba",
    "C++",
    "don't",
    "ab-ab",
    "\u017fsa",
    "abab" * 20,
    "🐦ab",
    "running",
    "runs",
)
EVERYTHING = BookmarkFilter(unread_only=False, hide_archived=False)


def random_words(random: random.Random, count: int) -> list[str]:
    return [
        "".join(random.choices(random.choice(LETTERS), k=min(int(random.expovariate(0.3)) + 1, 12)))
        if random.random() < 0.9
        else random.choice(SPECIAL)
        for _ in range(count)
    ]


class Library(NamedTuple):
    database: Database
    fast: BookmarkStore
    general: BookmarkStore
    account: Account


@pytest.fixture(scope="module")
async def library(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Library]:
    folder = tmp_path_factory.mktemp("prefixes")
    chosen = random.Random("prefixes")  # noqa: S311 - no secret
    async with databases.fresh_sqlite(sqlite_template, folder) as database:
        built = await service.build(database)
        for member in (built.bob, built.alice):
            posts = [make.post(text=" ".join(random_words(chosen, 6))) for _ in range(POSTS)]
            await member.save_all(posts)
        general = BookmarkStore(cast("Database", GeneralStatements(database)))
        account = await built.alice.account()
        yield Library(database, BookmarkStore(database), general, account)


@pytest.fixture
def written(library: Library, monkeypatch: pytest.MonkeyPatch) -> Library:
    """Prefixes are written as words, although the account has half of the posts."""
    monkeypatch.setattr(word_reads, "_SHARE", 0)
    return library


starts = st.one_of(
    *(st.text(letters, min_size=1, max_size=3) for letters in LETTERS),
    st.sampled_from(["#ab", "@b", "ab-a", "C+", "run", "\u017f", "don", "zz"]),
)
prefixes = starts.map("{}*".format)
texts = st.one_of(
    prefixes,
    st.builds("{} {}".format, prefixes, prefixes),
    st.builds("{} -{}".format, prefixes, prefixes),
    st.builds("{} OR {}".format, prefixes, prefixes),
    st.builds("ab -{} -{} -{}".format, prefixes, prefixes, prefixes),
    st.builds("({} -{}) OR b".format, prefixes, prefixes),
    st.builds("{}-{}".format, starts, prefixes),
    st.builds('"{} {}"'.format, starts, starts),
)
SETTINGS = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


async def require_the_same(library: Library, text: str) -> None:
    account = library.account
    searched = msgspec.structs.replace(EVERYTHING, words=query_language.parse(text))
    total = await library.fast.count(account, searched)
    fast = await library.fast.page(account, searched, Sort(), None, 20, total=total)

    assert fast == await library.general.page(account, searched, Sort(), None, 20)
    assert total == await library.general.count(account, searched)


@SETTINGS
@given(text=texts)
async def test_a_prefix_finds_the_same_as_fts5_does(
    written: Library, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    for most in (0, 3, 20, 600):
        monkeypatch.setattr(word_reads, "_MOST_WORDS", most)
        await require_the_same(written, text)


async def change(database: Database, *statements: str, account: Account) -> None:
    async def work(transaction: Transaction) -> None:
        for statement in statements:
            await transaction.run(statement, {"account_id": account.account_id})

    await database.write(work)


@pytest.fixture
async def small(sqlite_template: Path, tmp_path: Path) -> AsyncIterator[Library]:
    async with databases.fresh_sqlite(sqlite_template, tmp_path) as database:
        alice = (await service.build(database)).alice
        await alice.save_all([make.post(text=f"abc ab{word}") for word in ("x", "y", "z")])
        general = BookmarkStore(cast("Database", GeneralStatements(database)))
        account = await alice.account()
        yield Library(database, BookmarkStore(database), general, account)


@pytest.mark.parametrize(
    "uncounted",
    [
        "INSERT INTO word_change (account_id, number, changes) VALUES (:account_id, 1, '{}')",
        "UPDATE bookmark SET word_form = 1 WHERE account_id = :account_id AND number = 2",
    ],
)
async def test_words_that_are_not_counted_yet_are_found(
    small: Library, monkeypatch: pytest.MonkeyPatch, uncounted: str
) -> None:
    monkeypatch.setattr(word_reads, "_SHARE", 0)
    forgotten = "DELETE FROM word_count WHERE account_id = :account_id"
    await change(small.database, forgotten, uncounted, account=small.account)

    await require_the_same(small, "ab*")


async def test_a_prefix_is_not_repeated_for_a_word_that_is_also_a_label(library: Library) -> None:
    prefix, url = Term(("ab",), is_prefix=True), *query_language.parse("url:ab*").parts
    either = Either(((Term(("b",)),), (Term(("c",)), prefix)))
    label = Term(("read",), label_ids=(1,))
    words = WordQuery((prefix, url, either, Term(("aa",)), label))

    filter = msgspec.structs.replace(EVERYTHING, words=words)
    _, values = narrowing(library.database, library.account, filter)

    found = [text for name, text in values.items() if name.startswith(WORDS_PREFIX)]
    assert found == ['"aa" AND "read"']
