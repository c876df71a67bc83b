"""The stores of a database, each built once, and the base of the services that use them."""

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import Self, TypeVar
from zoneinfo import ZoneInfo

from bowerbird.clock import Clock
from bowerbird.model.accounts import Account
from bowerbird.model.instants import zone_of
from bowerbird.storage.accounts.account_removal import AccountExportStore
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.accounts.credentials import (
    DeviceStore,
    KeyStore,
    SunsetNoticeStore,
    VersionUseStore,
)
from bowerbird.storage.bookmarks.bookmarks import BookmarkStore
from bowerbird.storage.bookmarks.changeset import AnnotationStore, ChangesetStore
from bowerbird.storage.bookmarks.statistics import (
    AuthorStore,
    DuplicateStore,
    FacetStore,
    StatisticsStore,
)
from bowerbird.storage.bookmarks.trash import DeletionStore, TrashStore
from bowerbird.storage.bookmarks.upsert import UpsertStore
from bowerbird.storage.bookmarks.word_index import WordMerging
from bowerbird.storage.changes.bulk import BulkStore
from bowerbird.storage.changes.events import EventStore, RuleStore, WebhookStore
from bowerbird.storage.checks import CheckStore
from bowerbird.storage.connections import ConnectionStore
from bowerbird.storage.database import Database, Readable, Reader, Transaction, Writable
from bowerbird.storage.imports import ChangeStore, DemoStore, RunStore
from bowerbird.storage.ingest import (
    FileImportStore,
    IngestRunStore,
    KeptPageStore,
    SourcePostStore,
)
from bowerbird.storage.labels import LabelStore, ShareStore, ViewStore
from bowerbird.storage.libraries import ActivityStore, LibraryStore, LockedLibrary
from bowerbird.storage.links import LinkStore
from bowerbird.storage.media import MediaStore
from bowerbird.storage.sign_in import (
    IdentityStore,
    OneTimeLinkStore,
    PasskeyStore,
    SecretStore,
    SessionStore,
    SpentAttemptStore,
)
from bowerbird.storage.upkeep.digests import DigestPostStore, DigestStore
from bowerbird.storage.upkeep.idempotency import SweepStore
from bowerbird.storage.upkeep.jobs import JobStore
from bowerbird.storage.words.vectors import VectorStore
from bowerbird.storage.words.word_counts import WordCounts

T = TypeVar("T")


def _once(kind: Callable[[Database], T]) -> "cached_property[T]":
    """A store that is built when it is first used."""
    return cached_property(lambda stores: kind(stores.database))


class Stores:
    account_exports = _once(AccountExportStore)
    accounts = _once(AccountStore)
    activity = _once(ActivityStore)
    annotations = _once(AnnotationStore)
    authors = _once(AuthorStore)
    bookmarks = _once(BookmarkStore)
    bulk = _once(BulkStore)
    changesets = _once(ChangesetStore)
    checks = _once(CheckStore)
    connections = _once(ConnectionStore)
    deletions = _once(DeletionStore)
    demo = _once(DemoStore)
    devices = _once(DeviceStore)
    digest_posts = _once(DigestPostStore)
    digests = _once(DigestStore)
    duplicates = _once(DuplicateStore)
    events = _once(EventStore)
    facets = _once(FacetStore)
    file_imports = _once(FileImportStore)
    identities = _once(IdentityStore)
    import_changes = _once(ChangeStore)
    import_runs = _once(RunStore)
    ingest_runs = _once(IngestRunStore)
    jobs = _once(JobStore)
    kept_pages = _once(KeptPageStore)
    keys = _once(KeyStore)
    labels = _once(LabelStore)
    libraries = _once(LibraryStore)
    links = _once(LinkStore)
    media = _once(MediaStore)
    one_time_links = _once(OneTimeLinkStore)
    passkeys = _once(PasskeyStore)
    rules = _once(RuleStore)
    secrets = _once(SecretStore)
    sessions = _once(SessionStore)
    shares = _once(ShareStore)
    source_posts = _once(SourcePostStore)
    spent_attempts = _once(SpentAttemptStore)
    statistics = _once(StatisticsStore)
    sunset_notices = _once(SunsetNoticeStore)
    sweeping = _once(SweepStore)
    trash = _once(TrashStore)
    upserts = _once(UpsertStore)
    vectors = _once(VectorStore)
    version_uses = _once(VersionUseStore)
    views = _once(ViewStore)
    webhooks = _once(WebhookStore)
    word_counts = _once(WordCounts)
    word_merging = _once(WordMerging)

    def __init__(self, database: Database) -> None:
        self.database = database

    @classmethod
    def of(cls, database: Database) -> Self:
        """All services of a database share its stores."""
        found: Self | None = vars(database).get("_stores")
        if found is None:
            found = vars(database)["_stores"] = cls(database)
        return found


class Service:
    """Works on a database, with its stores."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._stores = Stores.of(database)

    def _library(self, account_id: int) -> Readable:
        """The library of an account outside of transactions."""
        return Readable(self._database, account_id)

    async def zone(self, account: Account, reader: Reader | None = None) -> ZoneInfo:
        """The time zone of an account, for days in filters and results."""
        preferences = await self._stores.digests.preferences(account.account_id, reader)
        return zone_of(preferences.time_zone)

    async def _transact(
        self,
        account_id: int,
        work: Callable[[Writable], Awaitable[T]],
        *,
        is_service: bool = False,
    ) -> T:
        """Runs `work` in one transaction. `is_service`: it takes a turn of the service itself."""
        turn = None if is_service else account_id
        return await self._database.write(lambda t: work(Writable(t, account_id)), turn)

    async def _locked(
        self,
        account_id: int,
        work: Callable[[LockedLibrary], Awaitable[T]],
        *,
        is_service: bool = False,
    ) -> T:
        """As `_transact`, with the library locked."""

        async def locked(transaction: Transaction) -> T:
            return await work(await self._stores.libraries.lock(transaction, account_id))

        return await self._database.write(locked, None if is_service else account_id)


class TimedService(Service):
    """A service that asks what time it is."""

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database)
        self._clock = clock
