"""The services of a library, each built once: the surfaces take from here what they offer.

A new service is one line. Surfaces share these objects, because some of them have caches or count.
"""

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

from bowerbird.clock import Clock
from bowerbird.introductions import Introductions
from bowerbird.library.access import turns
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.library.accounts.account_state import AccountState
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.accounts.connect_codes import ConnectCodes
from bowerbird.library.accounts.tokens import Devices, Keys
from bowerbird.library.bookmarks.annotated_posts import AnnotatedPosts
from bowerbird.library.bookmarks.annotations import Flags, Highlights
from bowerbird.library.bookmarks.authors import Authors
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.duplicates import Duplicates
from bowerbird.library.bookmarks.events import Events
from bowerbird.library.bookmarks.trash import Trash, TrashList
from bowerbird.library.bulk.requests import bulk_requests
from bowerbird.library.demo import Demo
from bowerbird.library.digests.digests import Digests
from bowerbird.library.exports.exports import Exports
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.imports.saving import Saving
from bowerbird.library.ingest.files import CheckedImports, FileJobs
from bowerbird.library.ingest.kept_pages import KeptPages
from bowerbird.library.ingest.runs import Rates
from bowerbird.library.labels.import_labels import ImportLabels
from bowerbird.library.labels.labels import Labels
from bowerbird.library.labels.suggestions import LabelSuggestions, NewLabels
from bowerbird.library.links import LinkReading
from bowerbird.library.media.kept import KeptImages, MediaPreferences
from bowerbird.library.rules.matching import RuleNearness
from bowerbird.library.rules.past import RulePast
from bowerbird.library.rules.rules import Rules
from bowerbird.library.sharing.shared_lists import SharedLists
from bowerbird.library.sharing.shares import Shares
from bowerbird.library.sign_in.mailed_links import MailedLinks
from bowerbird.library.sign_in.one_time_links import OneTimeLinks
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.library.statistics import FacetCounts
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.library.views.views import Views
from bowerbird.library.webhooks.webhooks import Webhooks
from bowerbird.mail import Mailer
from bowerbird.model.accounts import Account
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files import Files, UploadFolders
from bowerbird.wire.idempotency import Idempotency
from bowerbird.wire.responses.streaming import ExportAddresses

T = TypeVar("T")
Given = ParamSpec("Given")


class Services:
    def __init__(
        self,
        settings: Settings,
        database: Database,
        clock: Clock,
        *,
        files: Files,
        models: Models | None,
        meaning: SemanticSearch,
        wake_worker: Callable[[], None],
    ) -> None:
        """`wake_worker` is called after a job is committed, for a worker in the same process."""
        self.settings, self.database, self.clock = settings, database, clock
        self.files, self.models, self.wake_worker = files, models, wake_worker
        self.uploads = UploadFolders(settings.data_dir)
        self.idempotency = Idempotency(database, clock)
        # Posts
        self.bookmarks = Bookmarks(
            database, meaning, clock, fetches_posts=settings.fetch_posts == "on"
        )
        self.flags = Flags(database, clock)
        self.trash = Trash(database, clock)
        self.trash_list = TrashList(database, clock)
        self.highlights = Highlights(database, clock)
        self.annotated = AnnotatedPosts(database, self.bookmarks)
        self.authors = Authors(database)
        self.events = Events(database, clock)
        self.duplicates = Duplicates(database, clock)
        self.facets = FacetCounts(database, self.bookmarks, meaning)
        self.labels = Labels(database, clock)
        self.suggestions = LabelSuggestions(database, meaning)
        self.new_labels = NewLabels(database, Introductions(settings), clock)
        self.views = Views(database, self.bookmarks, clock)
        self.bulk = bulk_requests(database, clock, self.views, meaning, wake_worker)
        self.rules = Rules(database, clock)
        self.rule_past = RulePast(
            *(database, clock, self.views, meaning),
            near=RuleNearness(self.suggestions.of_posts, meaning, clock),
            wake=wake_worker,
        )
        self.digests = Digests(database, clock, can_mail=Mailer(settings).is_ready)
        self.kept_images = KeptImages(database, files)
        self.media_preferences = MediaPreferences(database, clock, settings)
        is_sharing = settings.sharing == "on"
        self.shares = Shares(
            database, self.views, clock, settings.site_origin, is_allowed=is_sharing
        )
        self.shared_lists = SharedLists(
            database, self.views, self.bookmarks, self.kept_images, clock, is_allowed=is_sharing
        )
        # Ways in and out
        self.saving = Saving(database, clock)
        self.imports = ImportRuns(database, clock)
        self.import_labels = ImportLabels(database, self.imports, self.suggestions, meaning)
        self.file_jobs, self.rates = FileJobs(database, clock), Rates(clock)
        self.checked_imports = CheckedImports(
            self.file_jobs, self.uploads, files, clock, self.rates
        )
        self.kept_pages = KeptPages(database, clock)
        self.links = LinkReading(database, clock, settings)
        self.demo = Demo(database, self.views, clock)
        self.exports = Exports(database, files, clock, meaning)
        self.export_addresses = ExportAddresses(settings.api_origin)
        self.webhooks = Webhooks(database, clock, settings, wake_worker)
        # People and programs
        self.calls = CallCounter(AccountStore(database), clock, settings.free_calls_per_month)
        self.state = AccountState(self.calls, meaning, clock)
        self.accounts = Accounts(database, clock, settings.default_plan)
        self.sessions = Sessions(database, clock)
        self.one_time_links = OneTimeLinks(database, self.accounts, self.sessions, clock)
        self.mailed_links = MailedLinks(
            database, self.one_time_links, self.accounts, clock, settings
        )
        self.keys = Keys(database, clock)
        self.devices = Devices(database, clock)
        self.connect_codes = ConnectCodes(database, clock)

    async def write(
        self,
        account: Account,
        change: Callable[Concatenate[Transaction, Account, Given], Awaitable[T]],
        *given: Given.args,
        **more: Given.kwargs,
    ) -> T:
        """One change in a transaction of its own, for people who click on it."""
        return await turns.change(self.database, account, change, *given, **more)
