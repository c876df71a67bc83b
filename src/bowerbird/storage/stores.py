"""The stores of a database, each built once, and the base of the services that use them."""

from collections.abc import Awaitable, Callable
from typing import Generic, Self, TypeVar, overload
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


class _Once(Generic[T]):
    """Builds a store when it is first used, and leaves it in the place of this attribute."""

    def __init__(self, kind: Callable[[Database], T]) -> None:
        self._kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, stores: None, owner: type) -> Self: ...
    @overload
    def __get__(self, stores: "Stores", owner: type) -> T: ...
    def __get__(self, stores: "Stores | None", owner: type) -> T | Self:
        if stores is None:
            return self
        store = vars(stores)[self._name] = self._kind(stores.database)
        return store


class Stores:
    account_exports = _Once(AccountExportStore)
    accounts = _Once(AccountStore)
    activity = _Once(ActivityStore)
    annotations = _Once(AnnotationStore)
    authors = _Once(AuthorStore)
    bookmarks = _Once(BookmarkStore)
    bulk = _Once(BulkStore)
    changesets = _Once(ChangesetStore)
    checks = _Once(CheckStore)
    connections = _Once(ConnectionStore)
    deletions = _Once(DeletionStore)
    demo = _Once(DemoStore)
    devices = _Once(DeviceStore)
    digest_posts = _Once(DigestPostStore)
    digests = _Once(DigestStore)
    duplicates = _Once(DuplicateStore)
    events = _Once(EventStore)
    facets = _Once(FacetStore)
    file_imports = _Once(FileImportStore)
    identities = _Once(IdentityStore)
    import_changes = _Once(ChangeStore)
    import_runs = _Once(RunStore)
    ingest_runs = _Once(IngestRunStore)
    jobs = _Once(JobStore)
    kept_pages = _Once(KeptPageStore)
    keys = _Once(KeyStore)
    labels = _Once(LabelStore)
    libraries = _Once(LibraryStore)
    links = _Once(LinkStore)
    media = _Once(MediaStore)
    one_time_links = _Once(OneTimeLinkStore)
    passkeys = _Once(PasskeyStore)
    rules = _Once(RuleStore)
    secrets = _Once(SecretStore)
    sessions = _Once(SessionStore)
    shares = _Once(ShareStore)
    source_posts = _Once(SourcePostStore)
    spent_attempts = _Once(SpentAttemptStore)
    statistics = _Once(StatisticsStore)
    sunset_notices = _Once(SunsetNoticeStore)
    sweeping = _Once(SweepStore)
    trash = _Once(TrashStore)
    upserts = _Once(UpsertStore)
    vectors = _Once(VectorStore)
    version_uses = _Once(VersionUseStore)
    views = _Once(ViewStore)
    webhooks = _Once(WebhookStore)
    word_counts = _Once(WordCounts)
    word_merging = _Once(WordMerging)

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
