"""Counts of words: whatever happens to posts, they are those of the index."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.clock import system_clock
from bowerbird.errors import Refusal
from bowerbird.jobs.worker import Paused
from bowerbird.library.access import turns
from bowerbird.library.accounts.accounts import AccountDeletion
from bowerbird.library.bookmarks.annotations import Flags
from bowerbird.library.bookmarks.trash import Trash, TrashList
from bowerbird.library.imports.intake import Intake
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.upkeep.checks import Checks
from bowerbird.library.upkeep.corrections import Reindexing
from bowerbird.model.accounts import Account
from bowerbird.requests.bookmarks import UpdateRequest
from bowerbird.search.words.tokens import INDEX_FORM
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files import Files
from bowerbird.storage.libraries import LibraryStore
from bowerbird.storage.words.word_counts import WordCounts
from tests.support import waiting
from tests.support.engines.word_counts import age, age_addresses, age_parts, indexed
from tests.support.imports import found
from tests.support.models import ignore
from tests.support.service import Member
from tests.support.working import new_account

pytestmark = pytest.mark.anyio

IDS = st.sampled_from("123")
TEXTS = st.lists(
    st.sampled_from(["bird", "birds", "Nest", "#nest", "@ada", "東京", "naïve", "node.js", "bird"]),
    max_size=6,
).map(" ".join)
# So many words that their counts are left to the job.
LONG = " ".join(f"long{number}" for number in range(60))
POSTS = st.lists(
    st.fixed_dictionaries(
        {"post_id": IDS, "text": TEXTS | st.just(LONG)}, optional={"author": TEXTS}
    ),
    min_size=1,
    max_size=4,
)
# Those that change words come more often.
STEPS = st.lists(
    st.one_of(
        *[st.tuples(st.just("take"), POSTS)] * 3,
        *[st.tuples(st.just("note"), IDS, TEXTS)] * 3,
        *[st.tuples(st.just("undo"))] * 2,
        st.tuples(st.just("trash"), IDS),
        st.tuples(st.just("restore"), IDS),
        st.tuples(st.just("empty")),
        st.tuples(st.just("age")),
        st.tuples(st.just("reindex"), st.integers(1, 3)),
        st.tuples(st.just("add_pending")),
    ),
    min_size=8,
    max_size=20,
)


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer texts would take long to index."""
    monkeypatch.setattr("bowerbird.storage.words.word_counts._ADDED_AT_ONCE", 50)


class Library:
    """An account to which the steps happen. What is refused changes nothing."""

    def __init__(self, database: Database, account_id: int) -> None:
        self.database, self.account_id = database, account_id
        self.runs: list[str] = []

    async def account(self) -> Account:
        account = await AccountStore(self.database).by_id(self.account_id, 202607)
        assert account
        return account

    async def step(self, name: str, *values: Any) -> None:
        with suppress(Refusal, Paused):
            await getattr(self, name)(*values)

    async def take(self, posts: list[dict[str, Any]]) -> None:
        account, runs = await self.account(), ImportRuns(self.database, system_clock)
        run = await runs.start(account, source="x", kind="full", client="test")
        intake = Intake(self.database, system_clock)
        await intake.take(account, [found(**post) for post in posts], run_id=run.run_id)
        await runs.finish(account, run.run_id, "end")
        self.runs.append(run.run_id)

    async def note(self, post_id: str, text: str) -> None:
        account, note = await self.account(), UpdateRequest(note=text)
        flags = Flags(self.database, system_clock)
        await turns.change(self.database, account, flags.update_one, post_id, note)

    async def trash(self, post_id: str) -> None:
        await self._run(Trash(self.database, system_clock).delete, post_id)

    async def restore(self, post_id: str) -> None:
        await self._run(Trash(self.database, system_clock).restore, post_id)

    async def empty(self) -> None:
        await TrashList(self.database, system_clock).empty(await self.account())

    async def undo(self) -> None:
        if self.runs:
            runs = ImportRuns(self.database, system_clock)
            await runs.undo(await self.account(), self.runs.pop())

    async def age(self) -> None:
        await age(self.database, await self.account())

    async def reindex(self, most: int) -> None:
        reported = 0

        async def progress(_done: int, _total: int) -> None:
            nonlocal reported
            reported += 1
            if reported == most:
                raise Paused

        reindexing = Reindexing(self.database, system_clock, pause_s=0, posts_per_turn=2)
        await reindexing.run(self.account_id, progress)

    async def add_pending(self) -> bool:
        async def work(transaction: Transaction) -> bool:
            library = await LibraryStore(self.database).lock(transaction, self.account_id)
            return await WordCounts(self.database).add_pending(library)

        return await self.database.write(work)

    async def _run(self, work: Callable[..., Awaitable[Any]], post_id: str) -> None:
        account = await self.account()
        await turns.run(self.database, lambda transaction: work(transaction, account, post_id))


@pytest.mark.both
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
async def test_counts_are_those_of_the_index(
    database: Database, tmp_path: Path, steps: list[tuple[Any, ...]]
) -> None:
    library, counts = Library(database, await new_account(database)), WordCounts(database)
    account = await library.account()
    expected: dict[str, int] = {}
    for step in steps:
        await library.step(*step)
        expected = await indexed(database, account, tmp_path)
        assert await counts.stored(account) == expected, step

    while await library.add_pending():
        pass
    assert await counts.of(account, ["", *expected, "absent"]) == expected
    assert await counts.total(account) == expected.get("", 0)
    checks = Checks(database, fixes=False, is_deep=True)
    assert await checks.account(await library.account(), lambda _: None) == []


async def reindexed(member: Member) -> None:
    await Reindexing(member.database, member.clock, pause_s=0).run(member.account_id, ignore)


async def rows(member: Member, table: str) -> dict[str, int]:
    sql = f"SELECT * FROM {table} WHERE account_id = :account_id"  # noqa: S608 - a constant
    found = await member.database.rows(sql, {"account_id": member.account_id})
    return {row[1]: row[2] for row in found}


async def test_counts_say_in_how_many_posts_a_word_occurs(alice: Member, bob: Member) -> None:
    await alice.save(text="a bird is a bird #nest", author="ada", name="Ada")
    await alice.save(text="no nest", author="ada", name="Ada")
    await bob.save(text="bird")
    account, counts = await alice.account(), WordCounts(alice.database)

    words = ["bird", "nest", "#nest", "@ada", "absent", "#"]
    assert await counts.of(account, words) == {"bird": 1, "nest": 2, "#nest": 1, "@ada": 2}
    assert await counts.total(account) == 2


async def test_counts_of_many_words_are_added_by_the_job(alice: Member) -> None:
    post = await alice.save(text=LONG)
    await alice.save(text="long7")
    await alice.client.delete(f"/v1/bookmarks/{post['post_id']}")
    account, counts = await alice.account(), WordCounts(alice.database)
    before = await counts.stored(account)
    assert await rows(alice, "word_count") == {}
    assert await counts.total(account) == 0

    await reindexed(alice)

    assert await rows(alice, "word_change") == {}
    assert await rows(alice, "word_count") == before
    assert await counts.of(account, ["long7", "long8"]) == {"long7": 1}


async def test_a_job_that_is_killed_after_the_last_count_has_advanced_the_version(
    alice: Member,
) -> None:
    await alice.save(text=LONG)
    before = (await alice.account()).version
    reindexing = Reindexing(alice.database, alice.clock, pause_s=3_600)

    async def is_counted() -> bool:
        return not await rows(alice, "word_change")

    async with anyio.create_task_group() as group:
        group.start_soon(reindexing.run, alice.account_id, ignore)
        await waiting.until(is_counted)
        group.cancel_scope.cancel()

    assert (await alice.account()).version > before


async def test_old_posts_are_found_before_they_are_counted(alice: Member, tmp_path: Path) -> None:
    for number in range(5):
        await alice.save(post_id=str(number), text=f"bird {number}")
    account, counts = await alice.account(), WordCounts(alice.database)
    await age(alice.database, account)
    assert await alice.ids(q="bird") == ["4", "3", "2", "1", "0"]
    assert (await counts.total(account), await counts.of(account, ["bird"])) == (0, {})
    progress: list[tuple[int, int]] = []

    async def report(done: int, total: int) -> None:
        progress.append((done, total))
        assert await alice.ids(q="bird") == ["4", "3", "2", "1", "0"]

    reindexing = Reindexing(alice.database, alice.clock, pause_s=0, posts_per_turn=2)
    assert await reindexing.due_accounts(0, job_kind="reindex") == [alice.account_id]
    await reindexing.run(alice.account_id, report)

    assert progress == [(2, 5), (4, 5), (5, 5)]
    assert await reindexing.due_accounts(0, job_kind="reindex") == []
    assert await counts.stored(account) == await indexed(alice.database, account, tmp_path)
    assert await counts.of(account, ["bird"]) == {"bird": 5}


@pytest.mark.both
async def test_counted_posts_of_the_previous_form_are_written_again_and_stay_counted(
    alice: Member, tmp_path: Path
) -> None:
    text = "Nests at https://nests.example/blue #buildinpublic"
    await alice.save(post_id="1", text=text)
    await alice.save(post_id="2", text="bird")
    account, counts = await alice.account(), WordCounts(alice.database)
    before = await counts.stored(account)
    await age_parts(alice.database, account)
    assert (await counts.stored(account), await counts.total(account)) == (before, 2)
    assert [await alice.ids(q=q) for q in ("nests", "public")] == [["1"], []]

    await reindexed(alice)

    assert [await alice.ids(q=q) for q in ("nests.example/blue", "public")] == [["1"], ["1"]]
    assert await counts.stored(account) == before
    assert before == await indexed(alice.database, account, tmp_path)
    assert await Reindexing(alice.database, alice.clock).due_accounts(0, job_kind="reindex") == []


@pytest.mark.both
async def test_words_of_0_8_0_are_written_again_with_other_parts_of_addresses(
    alice: Member,
) -> None:
    link = {"type": "link", "url": "https://en.m.wikipedia.org/wiki/Bowerbird"}
    await alice.save(post_id="1", text="The Blue Nest Survey (BNS)", attachments=[link])
    await alice.save(post_id="2", text="Nothing but BNS")
    account, counts = await alice.account(), WordCounts(alice.database)
    before = await counts.stored(account)
    await age_addresses(alice.database, account, {"enwikipediaorg": "enmwikipediaorg"})
    typed = ("https://en.wikipedia.org/wiki/Bowerbird", "https://en.m.wikipedia.org/wiki/Bowerbird")
    assert [await alice.ids(q=q) for q in typed] == [[], []]

    await reindexed(alice)

    assert [await alice.ids(q=q) for q in typed] == [["1"], ["1"]]
    assert sorted(await alice.ids(q="Blue Nest Survey")) == ["1", "2"]
    assert await counts.stored(account) == before
    checks = Checks(alice.database, fixes=False, is_deep=True)
    assert await checks.account(await alice.account(), lambda _: None) == []


# The end of a stored post is not stored.
WRONG_TYPE = b'{"post_id":"1","tweet_details":{"text":"bird","article":{"title":5}}'


@pytest.mark.parametrize("content", [b'{"', WRONG_TYPE])
async def test_a_post_that_cannot_be_read_keeps_its_words_and_does_not_stop_the_job(
    alice: Member, content: bytes
) -> None:
    await alice.save(post_id="1", text="bird")
    await alice.save(post_id="2", text="bird")
    account = await alice.account()
    await age(alice.database, account)
    await break_all_contents(alice, content)

    await reindexed(alice)

    counts = WordCounts(alice.database)
    assert (await counts.total(account), await counts.of(account, ["bird"])) == (2, {})
    assert await Reindexing(alice.database, alice.clock).due_accounts(0, job_kind="reindex") == []
    found = await alice.get("/v1/bookmarks/count", q="bird")
    assert found.json()["data"]["count"] == 2


async def break_all_contents(member: Member, content: bytes) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.run("UPDATE content SET rendering = :content", {"content": content})
        await transaction.run("UPDATE library SET version = version + 1", {})

    await member.database.write(work)


@pytest.mark.both
async def test_a_post_that_changes_meanwhile_is_counted_once(alice: Member, tmp_path: Path) -> None:
    post = await alice.save(post_id="1", text="bird")
    await alice.save(post_id="2", text="bird")
    account, counts = await alice.account(), WordCounts(alice.database)
    await age(alice.database, account)
    posts = await counts.uncounted_posts(account, [1, 2], INDEX_FORM)
    await alice.change(post, tweet_details={**post["tweet_details"], "text": "nest"})

    await Reindexing(alice.database, alice.clock).write(account, posts)

    assert await counts.of(account, ["bird", "nest"]) == {"bird": 1, "nest": 1}
    assert await counts.stored(account) == await indexed(alice.database, account, tmp_path)


@pytest.mark.both
async def test_a_deleted_account_leaves_no_counts(alice: Member, bob: Member) -> None:
    await alice.save(text="bird")
    await alice.save(text=LONG)
    await bob.save(text="bird")
    files = Files(Settings())

    await AccountDeletion(alice.database).complete(alice.account_id, files)

    assert (await rows(alice, "word_count"), await rows(alice, "word_change")) == ({}, {})
    assert (await rows(bob, "word_count"))["bird"] == 1
