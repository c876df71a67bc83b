"""Builds the pages that differ for each visitor."""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.library.access.activity import Activity
from bowerbird.library.access.attempt_limits import AttemptLimits
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.library.accounts.account_export import AccountDownload
from bowerbird.library.accounts.accounts import AccountList, Accounts
from bowerbird.library.accounts.connect_codes import ConnectCodes
from bowerbird.library.accounts.deletion import AccountDeletion
from bowerbird.library.accounts.keys import Keys
from bowerbird.library.bookmarks.annotated_posts import AnnotatedPosts
from bowerbird.library.bookmarks.authors import Authors
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.trash_list import TrashList
from bowerbird.library.bookmarks.writing.annotation_changes import AnnotationChanges
from bowerbird.library.bulk.requests import BulkRequests
from bowerbird.library.demo import Demo
from bowerbird.library.digests.digests import Digests
from bowerbird.library.labels.labels import Labels
from bowerbird.library.labels.post_changes import LabelChanges, PostChanges
from bowerbird.library.sign_in.attempts import Attempts, SignUpLimits
from bowerbird.library.sign_in.email_changes import EmailChanges
from bowerbird.library.sign_in.identities import Identities
from bowerbird.library.sign_in.invitations import Invitations
from bowerbird.library.sign_in.mailed_links import MailedLinks
from bowerbird.library.sign_in.one_time_links import OneTimeLinks
from bowerbird.library.sign_in.passkey_answers import Site
from bowerbird.library.sign_in.passkey_sign_in import PasskeySignIn
from bowerbird.library.sign_in.passkeys import Passkeys
from bowerbird.library.sign_in.provider_sign_in import ProviderSignIn
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.library.sign_in.sign_up import SignUp
from bowerbird.library.statistics.facets import FacetCounts
from bowerbird.library.statistics.statistics import Statistics
from bowerbird.library.upkeep.overview import OpenJobs, Overview
from bowerbird.library.views.edits import ViewEdits
from bowerbird.library.views.views import Views
from bowerbird.openid.providers import configured
from bowerbird.openid.sign_in import OpenIdClient
from bowerbird.search.meaning.models import Models
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.web import exports as export_pages
from bowerbird.web import saving, start, welcome
from bowerbird.web.account import account as account_pages
from bowerbird.web.account import activity as activity_pages
from bowerbird.web.account import deletion as deletion_pages
from bowerbird.web.account import email_links as email_link_pages
from bowerbird.web.account import keys as key_pages
from bowerbird.web.account import reading as reading_choices
from bowerbird.web.account import removed_posts as removed_post_pages
from bowerbird.web.account.account import AccountParts
from bowerbird.web.account.keys import EndingVersions, Extensions
from bowerbird.web.account.methods import Methods
from bowerbird.web.bulk.pages import BulkPages
from bowerbird.web.connect.pages import ConnectPage
from bowerbird.web.digests import DigestPages
from bowerbird.web.exports import ExportParts
from bowerbird.web.imports import files as import_file_pages
from bowerbird.web.imports import pages as import_pages
from bowerbird.web.imports.pages import ImportParts
from bowerbird.web.labels.pages import LabelPages
from bowerbird.web.labels.picking import LabelPicking
from bowerbird.web.library.changes import ChangePages
from bowerbird.web.library.filter_panels import FilterPanels
from bowerbird.web.library.list_words import NoHits
from bowerbird.web.library.lists import ListPages
from bowerbird.web.library.reading import ReadingPage
from bowerbird.web.library.sidebar import Sidebar
from bowerbird.web.library.suggesting import SuggestingPages
from bowerbird.web.look_around import LookAround
from bowerbird.web.media import pages as media_pages
from bowerbird.web.media.pages import MediaParts, ShownImages
from bowerbird.web.notes.highlights import HighlightPages
from bowerbird.web.notes.pages import NotePages
from bowerbird.web.operator import pages as operator_pages
from bowerbird.web.operator.pages import OperatorParts
from bowerbird.web.saving import SavePage
from bowerbird.web.sign_in import links as link_pages
from bowerbird.web.sign_in import passkeys as passkey_pages
from bowerbird.web.sign_in import proofs as proof_pages
from bowerbird.web.sign_in import sessions as session_pages
from bowerbird.web.sign_in.pages import SignInPages
from bowerbird.web.sign_in.providers import ProviderLists, ProviderPages
from bowerbird.web.sign_in.sign_up import SignUpPages
from bowerbird.web.site import ShowPublished, Visits
from bowerbird.web.sources.pages import SourcePages, source_parts
from bowerbird.web.statistics import StatisticsPage
from bowerbird.web.templating import Templates
from bowerbird.web.trash import TrashPages
from bowerbird.web.views.editor import EditorPage
from bowerbird.web.views.pages import ViewPages
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute, PageVisits
from bowerbird.web.visits.visit import CookieJar, OwnHosts
from bowerbird.wire.client_addresses import ClientAddresses
from bowerbird.wire.deprecation import Deprecation


class Transfers(NamedTuple):
    """What brings posts into the library, and out of it."""

    imports: ImportParts
    exports: ExportParts
    wake_worker: Callable[[], None]


class Doors(NamedTuple):
    """How people come in."""

    accounts: Accounts
    sessions: Sessions
    links: OneTimeLinks
    mailed: MailedLinks


class LibraryParts(Struct, frozen=True):
    """The parts of the library that its pages share with the API, including their caches."""

    bookmarks: Bookmarks
    views: Views
    labels: Labels
    changes: PostChanges
    digests: Digests
    bulk: BulkRequests
    media: MediaParts
    models: Models
    facets: FacetCounts


def visits(
    settings: Settings,
    database: Database,
    clock: Clock,
    doors: Doors,
    addresses: ClientAddresses,
    *,
    calls: CallCounter,
    library: LibraryParts,
    ending: EndingVersions,
    deprecations: Sequence[Deprecation],
    transfers: Transfers,
) -> Visits:
    accounts, sessions = doors.accounts, doors.sessions
    pages = VisitPages(settings, Templates(settings, has_sandbox=settings.sandbox == "on"))
    limits = AttemptLimits(clock)
    attempts, site = Attempts(database, clock), _site(settings)
    providers = configured(settings)
    passkeys = Passkeys(database, attempts, clock, site, {each.issuer for each in providers})
    passkey_sign_in = PasskeySignIn(database, sessions, attempts, clock, site)
    invitations = Invitations(database, clock)
    identities = Identities(database, providers, clock)
    provider_sign_in = ProviderSignIn(
        database,
        sessions,
        attempts,
        clock,
        client=OpenIdClient(providers, settings.provider_return_url, clock),
        identities=identities,
    )
    sign_up = SignUp(
        database,
        accounts,
        sessions,
        attempts,
        clock,
        invitations=invitations,
        identities=identities,
        passkeys=passkeys,
        mode=settings.sign_up,
    )
    lists = ProviderLists(providers, identities)
    sign_up_pages = SignUpPages(
        sign_up, limits, SignUpLimits(clock), pages, providers=lists.for_sign_in
    )
    provider_pages = ProviderPages(provider_sign_in, identities, sign_up_pages, limits, pages)
    keys, emails = Keys(database, clock), EmailChanges(database, accounts, clock, settings)
    account = AccountParts(
        accounts=accounts,
        keys=keys,
        calls=calls,
        digests=library.digests,
        sessions=sessions,
        methods=Methods(passkeys, lists),
        emails=emails,
        download=AccountDownload(database, library.media.files, clock),
        media=library.media.preferences,
        clock=clock,
    )
    operator = OperatorParts(
        settings=settings,
        accounts=accounts,
        account_list=AccountList(database),
        invitations=invitations,
        jobs=OpenJobs(database, clock),
        overview=Overview(settings, database, clock),
        deprecations=deprecations,
    )

    sidebar = Sidebar(library.labels, library.views)
    demo = Demo(database, library.views, clock)
    listed, label_changes = library.labels.listed, LabelChanges(database, library.labels)
    many, bulk = BulkPages(library.bulk, pages), library.bulk.changes
    authors = Authors(database)
    images = ShownImages(library.media.kept, is_offered=library.media.preferences.is_offered)
    list_pages = ListPages(
        library.bookmarks,
        library.views,
        sidebar,
        pages,
        bulk=many,
        no_hits=NoHits(library.bookmarks, library.labels, authors),
        clock=clock,
        settings=settings,
        demo=demo,
        images=images,
    )
    panels = FilterPanels(library.facets, authors, listed, sidebar, pages, clock=clock)
    sources = source_parts(database, clock, settings, transfers.wake_worker)
    notes = AnnotationChanges(database, clock)
    save_page = SavePage(
        transfers.imports.saving,
        library.bookmarks,
        library.labels,
        pages,
        notes=notes,
        lists=list_pages,
        links=transfers.imports.links,
    )

    reading_page = ReadingPage(
        library.bookmarks, list_pages, pages, changes=library.changes, many=many, images=images
    )
    annotated = AnnotatedPosts(database, library.bookmarks)
    highlights = HighlightPages(annotated, list_pages, pages, clock)
    view_edits = ViewEdits(database, library.views)
    look_around = LookAround(settings, pages, library.media.files, library.models, clock)

    def build(show_published: ShowPublished) -> PageVisits:
        routes: list[PageRoute] = [
            *start.routes(pages, show_published),
            *(look_around.routes() if settings.demo == "on" else ()),
            *link_pages.routes(doors.links, invitations, sign_up_pages, limits, pages),
            *SignInPages(
                passkey_sign_in,
                doors.mailed,
                limits,
                pages,
                sign_up=settings.sign_up,
                providers=lists.for_sign_in,
            ).routes(),
            *sign_up_pages.routes(),
            *provider_pages.routes(),
            *proof_pages.routes(
                passkey_sign_in,
                passkeys,
                sessions,
                limits,
                pages,
                mailed=doors.mailed,
                providers=lists.for_proof,
            ),
            *email_link_pages.routes(emails, limits, pages),
            *passkey_pages.routes(passkeys, pages),
            *session_pages.routes(sessions, pages),
            *key_pages.routes(keys, Extensions(database, clock), ending, pages, show_published),
            *ConnectPage(ConnectCodes(database, clock), pages).routes(),
            *account_pages.routes(account, pages),
            *welcome.routes(account.methods, keys, demo, pages),
            *removed_post_pages.routes(accounts, pages),
            *reading_choices.routes(accounts, library.digests, pages),
            *deletion_pages.routes(AccountDeletion(database), pages),
            *activity_pages.routes(Activity(database, clock), pages),
            *operator_pages.routes(operator, pages),
            *import_pages.routes(transfers.imports, pages),
            *import_file_pages.routes(transfers.imports, pages),
            *SourcePages(sources, limits, pages).routes(),
            *export_pages.routes(transfers.exports, library.views, library.labels, pages),
            *saving.routes(demo, pages),
            *save_page.routes(),
            *list_pages.routes(),
            *ViewPages(library.views, view_edits, pages).routes(),
            *EditorPage(library.views, view_edits, list_pages, pages).routes(),
            *reading_page.routes(),
            *media_pages.routes(library.media, pages),
            *ChangePages(library.changes, pages).routes(),
            *LabelPages(listed, label_changes, many, pages).routes(),
            *LabelPicking(listed, bulk, pages).routes(),
            *panels.routes(),
            *SuggestingPages(library.labels, library.views, authors, pages).routes(),
            *DigestPages(library.digests, highlights, pages).routes(),
            *highlights.routes(),
            *StatisticsPage(Statistics(database, clock), pages).routes(),
            *NotePages(notes, pages).routes(),
            *many.routes(),
            *TrashPages(TrashList(database, clock), many, list_pages, pages).routes(),
        ]
        return PageVisits(
            routes,
            sessions,
            pages,
            jar=CookieJar(settings.site_origin),
            hosts=OwnHosts(settings),
            addresses=addresses,
            sidebar=sidebar.values,
        )

    return build


def _site(settings: Settings) -> Site:
    parts = urlsplit(settings.site_origin)
    return Site(parts.hostname or "", f"{parts.scheme}://{parts.netloc}")
