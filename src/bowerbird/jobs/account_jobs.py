"""Jobs for accounts: each kind reads or writes what is due for one account.

A sweep adds a job for each account with something to do; several nodes may find the same account.
Long jobs end to let others take turns.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import msgspec

from bowerbird import errors
from bowerbird.clock import MICROSECONDS, Clock, month_of
from bowerbird.errors import Refusal
from bowerbird.introductions import Introductions
from bowerbird.jobs.worker import JobKind, Paused, Progress, Recurring
from bowerbird.library.accounts.accounts import AccountDeletion
from bowerbird.library.bulk.changes import BulkChanges
from bowerbird.library.connections.syncing import Sync
from bowerbird.library.digests.creation import DigestCreation, Topics
from bowerbird.library.digests.emails import DigestEmails
from bowerbird.library.labels.suggestions import LabelSuggestions
from bowerbird.library.links import LinkReading
from bowerbird.library.media.keeping import Keeping
from bowerbird.library.rules.matching import RuleNearness
from bowerbird.library.rules.running import RuleRuns
from bowerbird.library.upkeep.corrections import Dating, PostTraits, Reindexing
from bowerbird.library.vectors.builds import (
    BUILD_EVERY_S,
    JOB,
    REMOVE_EVERY_S,
    VectorBuilds,
    VectorSweeps,
)
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.webhooks.delivering import Delivering
from bowerbird.mail import Mailer
from bowerbird.model import bulk, connections, events, rules
from bowerbird.model.jobs import DIGESTS, LINKS, MEDIA, REINDEXING, RULES, SOURCES, WEBHOOKS, Job
from bowerbird.model.posts import media, networks
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database
from bowerbird.storage.files import Files
from bowerbird.storage.stores import TimedService

# The next accounts after one, in order; none at the end.
DueAccounts = Callable[[int], Awaitable[Sequence[int]]]

REINDEX: Final = "reindex"
_DAY_S: Final = 86_400.0
_HOUR_S: Final = 3_600.0
# A large library takes minutes or hours; other accounts get turns in between.
TURN_S: Final = 30.0
_LINKS_TURN_S: Final = 10.0
_WEBHOOKS_TURN_S: Final = 5.0
# Accounts whose messages are delivered at the same time. Slow receivers hold lanes for seconds.
WEBHOOK_LANES: Final = 16
# A permanent error is not repeated with every look.
_RETRY_AFTER_ERROR_S: Final = 600


class AccountJobs(TimedService):
    """Jobs of one kind. Each subclass says what a job does, and may say which accounts are due."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        name: str,
        priority: int,
        turn_s: float,
        *,
        due_accounts: DueAccounts | None = None,
        is_waiting: bool = False,
        own_lanes: int = 0,
    ) -> None:
        super().__init__(database, clock)
        self.kind = JobKind(name, self._run, is_waiting=is_waiting, own_lanes=own_lanes)
        self.recurring: list[Recurring] = []
        self._turn_s = turn_s
        self._priority = priority
        self._due_accounts = due_accounts

    async def sweep(self) -> None:
        """Adds a job for each account that is due."""
        if self._due_accounts is not None:
            await self._add_all(self._due_accounts)

    async def _run(self, job: Job, progress: Progress) -> None:
        raise NotImplementedError

    async def _add_all(self, due_accounts: DueAccounts) -> None:
        after = 0
        while page := await due_accounts(after):
            await self._stores.jobs.add_for(page, self.kind.name, self._priority, self._clock())
            after = page[-1]


def in_turns(progress: Progress, turn_s: float) -> Progress:
    """Reports as `progress` does, and raises Paused when the turn is over and work is left."""
    end = time.monotonic() + turn_s

    async def report(done: int, total: int) -> None:
        await progress(done, total)
        if done < total and time.monotonic() >= end:
            raise Paused

    return report


class MediaJobs(AccountJobs):
    """Keeps the images of posts, at the priority of embedding."""

    def __init__(
        self, database: Database, keeping: Keeping, clock: Clock, turn_s: float = TURN_S
    ) -> None:
        due = keeping.due_accounts
        super().__init__(database, clock, media.KIND, MEDIA, turn_s, due_accounts=due)
        self._keeping = keeping
        self.recurring = [
            # People watch their library fill after an import.
            Recurring("keep images", 10.0, self.sweep),
            Recurring("delete leftover images", _DAY_S, keeping.delete_leftovers),
        ]

    async def _run(self, job: Job, progress: Progress) -> None:
        try:
            await self._keeping.run(job.account_id, in_turns(progress, self._turn_s))
        except Refusal:
            await self._keeping.postpone(job.account_id, _RETRY_AFTER_ERROR_S)
            raise


class LinkJobs(AccountJobs):
    """Reads the text of posts that are only links, in lanes for the network."""

    def __init__(
        self, database: Database, reading: LinkReading, clock: Clock, turn_s: float = _LINKS_TURN_S
    ) -> None:
        super().__init__(
            *(database, clock, networks.KIND, LINKS, turn_s),
            due_accounts=reading.due_accounts,
            is_waiting=True,
        )
        self._reading = reading
        if reading.is_on:
            self.recurring = [
                # A person who has saved a link looks at it.
                Recurring("read links", 2.0, self.sweep),
                Recurring("forget hosts of posts", _DAY_S, reading.turns.forget),
            ]

    async def _run(self, job: Job, progress: Progress) -> None:
        after = msgspec.json.decode(job.parameters, type=networks.LinkJob).after
        await self._reading.run(job.account_id, in_turns(progress, self._turn_s), after)


class SourceJobs(AccountJobs):
    """Reads connected sources, in lanes for the network."""

    def __init__(
        self, database: Database, sync: Sync, clock: Clock, turn_s: float = TURN_S
    ) -> None:
        super().__init__(
            *(database, clock, connections.KIND, SOURCES, turn_s),
            due_accounts=sync.due_accounts,
            is_waiting=True,
        )
        self._sync = sync
        self.recurring = [Recurring("read sources", 60.0, self.sweep)]

    async def _run(self, job: Job, progress: Progress) -> None:
        turn_s = self._turn_s
        await self._sync.run(job.account_id, in_turns(progress, turn_s), turn_s)


class RuleJobs(AccountJobs):
    """Runs the rules of accounts on what has happened to their libraries."""

    def __init__(
        self, database: Database, clock: Clock, meaning: SemanticSearch, turn_s: float = TURN_S
    ) -> None:
        suggestions = LabelSuggestions(database, meaning)
        runs = RuleRuns(database, clock, RuleNearness(suggestions.of_posts, meaning, clock))
        super().__init__(
            *(database, clock, rules.KIND, RULES, turn_s), due_accounts=runs.due_accounts
        )
        self._runs = runs
        # A person who has saved a post looks at it.
        self.recurring = [Recurring("run rules", 2.0, self.sweep)]

    async def _run(self, job: Job, progress: Progress) -> None:
        await self._runs.run(job.account_id, in_turns(progress, self._turn_s))


class WebhookJobs(AccountJobs):
    """Delivers the messages of webhooks. A job of an account waits for no job of another kind."""

    def __init__(
        self,
        database: Database,
        delivering: Delivering,
        clock: Clock,
        turn_s: float = _WEBHOOKS_TURN_S,
    ) -> None:
        super().__init__(
            *(database, clock, events.KIND, WEBHOOKS, turn_s),
            due_accounts=delivering.due_accounts,
            own_lanes=WEBHOOK_LANES,
        )
        self._delivering = delivering
        # A message arrives within seconds.
        self.recurring = [Recurring("webhooks", 1.0, self.sweep)]

    async def sweep(self) -> None:
        await super().sweep()
        await self._add_all(self._delivering.waiting_accounts)

    async def _run(self, job: Job, _: Progress) -> None:
        if await self._delivering.run(job.account_id, self._turn_s):
            raise Paused


class ReindexJobs(AccountJobs):
    """Writes what earlier releases stored again, and completes counts, at the lowest priority.

    That is the words of posts in the current form, and the time, the language and the traits of
    posts that have none.
    """

    def __init__(self, database: Database, clock: Clock, turn_s: float = TURN_S) -> None:
        super().__init__(database, clock, REINDEX, REINDEXING, turn_s)
        self._reindexing = Reindexing(database, clock)
        self._dating = Dating(database, clock)
        self._traits = PostTraits(database)
        # No release of today stores a post without a time.
        self._has_dated = False
        # Imports of files leave changes of counts, which ranking does not know until they are
        # added.
        self.recurring = [
            Recurring("index old posts", 5.0, self.sweep),
            Recurring("index Japanese readings", _HOUR_S, self.sweep_readings),
        ]

    async def sweep_readings(self) -> None:
        """Not only once: a process of 0.9.0, or with readings off, stores posts without them."""
        await self._add_all(self._reindexing.accounts_without_readings)

    async def sweep(self) -> None:
        if not self._has_dated:
            await self._add_all(self._dating.due_accounts)
            self._has_dated = True
        # A node of an earlier release may still be running.
        await self._add_all(self._traits.due_accounts)
        await self._add_all(partial(self._reindexing.due_accounts, job_kind=REINDEX))

    async def _run(self, job: Job, progress: Progress) -> None:
        await self._dating.run(job.account_id)
        await self._traits.run(job.account_id)
        await self._reindexing.run(job.account_id, in_turns(progress, self._turn_s))


def changes(database: Database, clock: Clock) -> JobKind:
    """A change stores its own progress: each turn leaves the rest of it in the database."""
    accounts, changes = AccountStore(database), BulkChanges(database, clock)

    async def run(job: Job, _: Progress) -> None:
        account = await accounts.by_id(job.account_id, month_of(clock()))
        if account is None:
            raise errors.account_gone()
        await changes.finish(account, msgspec.json.decode(job.parameters, type=str))

    return JobKind(bulk.KIND, run)


def deletions(database: Database, files: Files) -> Recurring:
    """Several workers may do it at the same time: removing what is gone changes nothing."""
    deletion = AccountDeletion(database)
    return Recurring("account deletions", 60.0, lambda: deletion.complete_all(files))


_EMBEDDED: Final = "embedded"


class EmbeddingJobs:
    def __init__(
        self, database: Database, models: Models, clock: Clock, turn_s: float = TURN_S
    ) -> None:
        self._turn_s = turn_s
        self._builds = VectorBuilds(database, models, clock)
        self._sweeps = VectorSweeps(database, models, clock)

    @property
    def kind(self) -> JobKind:
        return JobKind(JOB, self._run)

    @property
    def recurring(self) -> list[Recurring]:
        return [
            Recurring("start vector builds", BUILD_EVERY_S, self._sweeps.start_builds),
            Recurring("remove expired vectors", REMOVE_EVERY_S, self._sweeps.remove_expired),
        ]

    @property
    def pending(self) -> int:
        return self._sweeps.pending

    @property
    def embedded(self) -> int:
        return self._builds.embedded

    @property
    def seconds(self) -> float:
        return self._builds.seconds

    async def _run(self, job: Job, progress: Progress) -> bytes:
        progress = in_turns(progress, self._turn_s)
        return msgspec.json.encode({_EMBEDDED: await self._builds.build(job.account_id, progress)})


NAME: Final = "digest"
EVERY_S: Final = 60.0
_ACCOUNTS: Final = 50
# Keeps the queue short. A later sweep finds the accounts that are left out.
MAX_UNFINISHED: Final = 500
# A permanent error is not repeated every minute.
_RETRY_AFTER_ERROR: Final = 3_600 * MICROSECONDS


class DigestJobs(AccountJobs):
    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        topics: Topics | None = None,
    ) -> None:
        super().__init__(database, clock, NAME, DIGESTS, turn_s=0, due_accounts=self._due)
        self.recurring = [Recurring("digests", EVERY_S, self.sweep)]
        mailer = Mailer(settings)
        self._creation = DigestCreation(
            database,
            clock,
            can_mail=mailer.is_ready,
            introductions=Introductions(settings),
            topics=topics,
        )
        self._emails = DigestEmails(database, clock, mailer.send, settings.site_origin)

    async def _due(self, after: int) -> Sequence[int]:
        """The next accounts that are due, until the queue is full."""
        unfinished = await self._stores.jobs.unfinished_of_kind(NAME, DIGESTS, MAX_UNFINISHED)
        if unfinished >= MAX_UNFINISHED:
            return []
        return await self._stores.digests.due_accounts(
            after, self._clock(), _ACCOUNTS, job_kind=NAME
        )

    async def _run(self, job: Job, _: Progress) -> None:
        try:
            await self._creation.create_due(job.account_id)
            await self._emails.send_due(job.account_id)
        except Refusal:
            raise
        except Exception:
            await self._stores.digests.postpone(job.account_id, self._clock() + _RETRY_AFTER_ERROR)
            raise
