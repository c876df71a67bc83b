"""Jobs for accounts: each kind reads or writes what is due for one account.

A sweep adds a job for each account with something to do; several nodes may find the same account.
Long jobs end to let others take turns.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, Self

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
from bowerbird.library.upkeep.corrections import Reindexing
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
from bowerbird.storage.stores import Stores, TimedService

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
    """The jobs of one kind, of which an account has one at a time."""

    def __init__(
        self, database: Database, clock: Clock, kind: JobKind, priority: int, *due: DueAccounts
    ) -> None:
        """`due` finds the accounts that have something to do."""
        super().__init__(database, clock)
        self.kind, self.recurring = kind, list[Recurring]()
        self._priority, self._due = priority, due

    def sweeps(self, name: str, every_s: float, *others: Recurring) -> Self:
        """Looks for work at regular intervals, and does these other tasks too."""
        self.recurring = [Recurring(name, every_s, self.sweep), *others]
        return self

    async def sweep(self) -> None:
        """Adds a job for each account that is due."""
        for due_accounts in self._due:
            await self._add_all(due_accounts)

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


def media_jobs(
    database: Database, keeping: Keeping, clock: Clock, turn_s: float = TURN_S
) -> AccountJobs:
    """Keep the images of posts, at the priority of embedding."""

    async def run(job: Job, progress: Progress) -> None:
        try:
            await keeping.run(job.account_id, in_turns(progress, turn_s))
        except Refusal:
            await keeping.postpone(job.account_id, _RETRY_AFTER_ERROR_S)
            raise

    jobs = AccountJobs(database, clock, JobKind(media.KIND, run), MEDIA, keeping.due_accounts)
    leftovers = Recurring("delete leftover images", _DAY_S, keeping.delete_leftovers)
    # People watch their library fill after an import.
    return jobs.sweeps("keep images", 10.0, leftovers)


def link_jobs(
    database: Database, reading: LinkReading, clock: Clock, turn_s: float = _LINKS_TURN_S
) -> AccountJobs:
    """Read the text of posts that are only links, in lanes for the network."""

    async def run(job: Job, progress: Progress) -> None:
        after = msgspec.json.decode(job.parameters, type=networks.LinkJob).after
        await reading.run(job.account_id, in_turns(progress, turn_s), after)

    kind = JobKind(networks.KIND, run, is_waiting=True)
    jobs = AccountJobs(database, clock, kind, LINKS, reading.due_accounts)
    if not reading.is_on:
        return jobs
    # A person who has saved a link looks at it.
    hosts = Recurring("forget hosts of posts", _DAY_S, reading.turns.forget)
    return jobs.sweeps("read links", 2.0, hosts)


def source_jobs(
    database: Database, sync: Sync, clock: Clock, turn_s: float = TURN_S
) -> AccountJobs:
    """Read connected sources, in lanes for the network."""

    async def run(job: Job, progress: Progress) -> None:
        await sync.run(job.account_id, in_turns(progress, turn_s), turn_s)

    kind = JobKind(connections.KIND, run, is_waiting=True)
    jobs = AccountJobs(database, clock, kind, SOURCES, sync.due_accounts)
    return jobs.sweeps("read sources", 60.0)


def rule_jobs(
    database: Database, clock: Clock, meaning: SemanticSearch, turn_s: float = TURN_S
) -> AccountJobs:
    """Run the rules of accounts on what has happened to their libraries."""
    suggestions = LabelSuggestions(database, meaning)
    runs = RuleRuns(database, clock, RuleNearness(suggestions.of_posts, meaning, clock))

    async def run(job: Job, progress: Progress) -> None:
        await runs.run(job.account_id, in_turns(progress, turn_s))

    jobs = AccountJobs(database, clock, JobKind(rules.KIND, run), RULES, runs.due_accounts)
    # A person who has saved a post looks at it.
    return jobs.sweeps("run rules", 2.0)


def webhook_jobs(
    database: Database, delivering: Delivering, clock: Clock, turn_s: float = _WEBHOOKS_TURN_S
) -> AccountJobs:
    """Deliver the messages of webhooks. A job of an account waits for no job of another kind."""

    async def run(job: Job, _: Progress) -> None:
        if await delivering.run(job.account_id, turn_s):
            raise Paused

    due = (delivering.due_accounts, delivering.waiting_accounts)
    kind = JobKind(events.KIND, run, own_lanes=WEBHOOK_LANES)
    # A message arrives within seconds.
    return AccountJobs(database, clock, kind, WEBHOOKS, *due).sweeps("webhooks", 1.0)


def reindex_jobs(database: Database, clock: Clock, turn_s: float = TURN_S) -> AccountJobs:
    """Write what earlier releases stored again, and complete counts, at the lowest priority.

    Posts with words of an older form get those of the current one, and the time, the language and
    the traits if they have none.
    """
    reindexing = Reindexing(database, clock)

    async def run(job: Job, progress: Progress) -> None:
        await reindexing.run(job.account_id, in_turns(progress, turn_s))

    kind, due = JobKind(REINDEX, run), partial(reindexing.due_accounts, job_kind=REINDEX)
    # Not only once: a process of 0.9.0, or with readings off, stores posts without them.
    unread = AccountJobs(database, clock, kind, REINDEXING, reindexing.accounts_without_readings)
    readings = Recurring("index Japanese readings", _HOUR_S, unread.sweep)
    # Imports of files leave changes of counts, which ranking does not know until they are added.
    return AccountJobs(database, clock, kind, REINDEXING, due).sweeps(
        "index old posts", 5.0, readings
    )


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


def digest_jobs(
    database: Database, settings: Settings, clock: Clock, topics: Topics | None = None
) -> AccountJobs:
    """Create the digests that are due, and send their emails."""
    stores, mailer = Stores.of(database), Mailer(settings)
    creation = DigestCreation(
        database,
        clock,
        can_mail=mailer.is_ready,
        introductions=Introductions(settings),
        topics=topics,
    )
    emails = DigestEmails(database, clock, mailer.send, settings.site_origin)

    async def found(after: int) -> Sequence[int]:
        """The next accounts that are due, until the queue is full."""
        unfinished = await stores.jobs.unfinished_of_kind(NAME, DIGESTS, MAX_UNFINISHED)
        if unfinished >= MAX_UNFINISHED:
            return []
        return await stores.digests.due_accounts(after, clock(), _ACCOUNTS, job_kind=NAME)

    async def run(job: Job, _: Progress) -> None:
        try:
            await creation.create_due(job.account_id)
            await emails.send_due(job.account_id)
        except Refusal:
            raise
        except Exception:
            await stores.digests.postpone(job.account_id, clock() + _RETRY_AFTER_ERROR)
            raise

    return AccountJobs(database, clock, JobKind(NAME, run), DIGESTS, found).sweeps(
        "digests", EVERY_S
    )
