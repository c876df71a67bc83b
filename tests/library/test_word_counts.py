"""Counts of words: whatever happens to posts, they are those of the index."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bowerbird.clock import system_clock
from bowerbird.errors import Refusal
from bowerbird.jobs.worker import Paused
from bowerbird.library.access import turns
from bowerbird.library.accounts.deletion import AccountDeletion
from bowerbird.library.bookmarks.annotation_changes import AnnotationChanges
from bowerbird.library.bookmarks.reindexing import Reindexing
from bowerbird.library.bookmarks.trash import Trash
from bowerbird.library.bookmarks.trash_list import TrashList
from bowerbird.library.imports.intake import Intake
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.upkeep.checks import Checks
from bowerbird.model.accounts import Account
from bowerbird.settings import Settings
from bowerbird.storage import word_counts
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files.files import Files
from bowerbird.storage.word_counts import WordCounts
from tests.support.imports import found
from tests.support.models import ignore
from tests.support.service import Member
from tests.support.word_counts import age, indexed
from tests.support.working import new_account

pytestmark = pytest.mark.anyio

IDS = st.sampled_from("12345")
TEXTS = st.lists(
    st.sampled_from(["bird", "birds", "Nest", "#nest", "@ada", "東京", "naïve", "node.js", "bird"]),
    max_size=6,
).map(" ".join)
POSTS = st.lists(
    st.fixed_dictionaries({"post_id": IDS, "text": TEXTS}, optional={"author": TEXTS}),
    min_size=1,
    max_size=4,
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), POSTS),
        st.tuples(st.just("take"), POSTS),
        st.tuples(st.just("note"), IDS, TEXTS),
        st.tuples(st.just("trash"), IDS),
        st.tuples(st.just("restore"), IDS),
        st.tuples(st.just("empty")),
        st.tuples(st.just("undo")),
        st.tuples(st.just("age")),
        st.tuples(st.just("reindex"), st.integers(1, 3)),
        st.tuples(st.just("add_pending")),
    ),
    min_size=3,
    max_size=14,
)


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
        try:
            await getattr(self, name)(*values)
        except (Refusal, Paused):
            pass

    async def take(self, posts: list[dict[str, Any]]) -> None:
        account, runs = await self.account(), ImportRuns(self.database, system_clock)
        run = await runs.start(account, source="x", kind="full", client="test")
        intake = Intake(self.database, system_clock)
        await intake.take(account, [found(**post) for post in posts], run_id=run.run_id)
        await runs.finish(account, run.run_id, "end")
        self.runs.append(run.run_id)

    async def note(self, post_id: str, text: str) -> None:
        changes = AnnotationChanges(self.database, system_clock)
        await changes.set_note(await self.account(), post_id, text)

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

    async def add_pending(self) -> None:
        async def work(transaction: Transaction) -> None:
            library = await Library_store(self.database).lock(transaction, self.account_id)
            assert library
            await WordCounts(self.database).add_pending(transaction, library)

        await self.database.write(work)

    async def _run(self, work: Callable[..., Awaitable[Any]], post_id: str) -> None:
        account = await self.account()
        await turns.run(self.database, lambda transaction: work(transaction, account, post_id))
