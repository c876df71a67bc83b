"""Builds the pages that differ for each visitor."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from bowerbird.assembly import Services
from bowerbird.clock import DAY
from bowerbird.library.access.activity import Activity
from bowerbird.library.access.attempt_limits import AttemptLimits, TriesWithin
from bowerbird.library.accounts.accounts import AccountDeletion, AccountList
from bowerbird.library.accounts.uses import VersionUse
from bowerbird.library.ingest.files import CheckedFiles, CheckedImports
from bowerbird.library.labels.post_changes import LabelChanges
from bowerbird.library.sign_in.attempts import Attempts
from bowerbird.library.sign_in.mailed_links import EmailChanges
from bowerbird.library.sign_in.one_time_links import Invitations
from bowerbird.library.sign_in.passkey_answers import Site
from bowerbird.library.sign_in.passkey_sign_in import PasskeySignIn
from bowerbird.library.sign_in.passkeys import Passkeys
from bowerbird.library.sign_in.provider_sign_in import Identities, ProviderSignIn
from bowerbird.library.sign_in.sign_up import SignUp
from bowerbird.library.statistics.statistics import Statistics
from bowerbird.library.upkeep.overview import OpenJobs, Overview
from bowerbird.openid.providers import configured
from bowerbird.openid.sign_in import OpenIdClient
from bowerbird.settings import Settings
from bowerbird.web import exports as export_pages
from bowerbird.web import saving, start, welcome
from bowerbird.web.account import account as account_pages
from bowerbird.web.account import activity as activity_pages
from bowerbird.web.account import deletion as deletion_pages
from bowerbird.web.account import keys as key_pages
from bowerbird.web.account import reading as reading_choices
from bowerbird.web.account.account import Methods
from bowerbird.web.account.keys import EndingVersions, Extensions
from bowerbird.web.connect.pages import ConnectPage
from bowerbird.web.digests import DigestPages
from bowerbird.web.exports import ExportParts
from bowerbird.web.imports import files as import_file_pages
from bowerbird.web.imports import pages as import_pages
from bowerbird.web.imports.pages import ImportParts
from bowerbird.web.labels.pages import LabelPages
from bowerbird.web.labels.picking import LabelPicking
from bowerbird.web.library.changes import ChangePages
from bowerbird.web.library.pages import LibraryPages
from bowerbird.web.look_around import LookAround
from bowerbird.web.media import pages as media_pages
from bowerbird.web.media.pages import MediaParts
from bowerbird.web.notes.highlights import HighlightPages
from bowerbird.web.notes.pages import NotePages
from bowerbird.web.operator import pages as operator_pages
from bowerbird.web.operator.pages import OperatorParts
from bowerbird.web.saving import SavePage
from bowerbird.web.sign_in import links as link_pages
from bowerbird.web.sign_in import passkeys as passkey_pages
from bowerbird.web.sign_in import proofs as proof_pages
from bowerbird.web.sign_in.pages import SignInPages
from bowerbird.web.sign_in.providers import ProviderLists, ProviderPages
from bowerbird.web.sign_in.sign_up import SignUpPages
from bowerbird.web.site import ShowPublished, Visits
from bowerbird.web.sources.pages import SourcePages, source_parts
from bowerbird.web.statistics import StatisticsPage
from bowerbird.web.templating import Templates
from bowerbird.web.trash import TrashPages
from bowerbird.web.views.editor import EditorPage
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute, PageVisits
from bowerbird.web.visits.visit import CookieJar, OwnHosts
from bowerbird.wire.client_addresses import ClientAddresses
from bowerbird.wire.deprecation import Deprecation


def visits(
    services: Services,
    addresses: ClientAddresses,
    *,
    uses: VersionUse,
    deprecations: Sequence[Deprecation],
) -> Visits:
    settings, database, clock = services.settings, services.database, services.clock
    accounts, sessions = services.accounts, services.sessions
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
        sign_up, limits, TriesWithin(clock, DAY), pages, providers=lists.for_sign_in
    )
    provider_pages = ProviderPages(provider_sign_in, identities, sign_up_pages, limits, pages)
    emails = EmailChanges(database, accounts, clock, settings)
    methods = Methods(passkeys, lists)
    checked = CheckedFiles(services.files, clock)
    operator = OperatorParts(
        settings=settings,
        accounts=accounts,
        account_list=AccountList(database),
        invitations=invitations,
        jobs=OpenJobs(database, clock),
        overview=Overview(settings, database, clock),
        deprecations=deprecations,
    )

    imports = ImportParts(
        imports=CheckedImports(services.file_jobs, services.uploads, checked, services.rates),
        jobs=services.file_jobs,
        files=checked,
        runs=services.imports,
        saving=services.saving,
        kept=services.kept_pages,
        links=services.links,
    )
    exports = ExportParts(
        database, services.exports, services.export_addresses, services.wake_worker
    )
    media = MediaParts(
        services.files, services.kept_images, services.media_preferences, services.wake_worker
    )
    bookmarks, labels, views = services.bookmarks, services.labels, services.views
    library = LibraryPages(services, pages, has_images=media.preferences.is_offered)
    many, list_pages = library.many, library.lists
    save_page = SavePage(
        services.saving,
        bookmarks,
        labels,
        pages,
        notes=services.notes,
        lists=list_pages,
        links=services.links,
    )
    highlights = HighlightPages(services.annotated, list_pages, pages, clock)
    look_around = LookAround(services, pages)
    sources = source_parts(database, clock, settings, services.wake_worker)
    ending = EndingVersions(uses, deprecations, settings.site_origin)

    def build(show_published: ShowPublished) -> PageVisits:
        routes: list[PageRoute] = [
            *start.routes(pages, show_published),
            *(look_around.routes() if settings.demo == "on" else ()),
            *link_pages.routes(services.one_time_links, invitations, sign_up_pages, limits, pages),
            *SignInPages(
                passkey_sign_in,
                services.mailed_links,
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
                mailed=services.mailed_links,
                providers=lists.for_proof,
            ),
            *link_pages.email_routes(emails, limits, pages),
            *passkey_pages.routes(passkeys, pages),
            *key_pages.routes(
                services.keys, Extensions(database, clock), ending, pages, show_published
            ),
            *ConnectPage(services.connect_codes, pages).routes(),
            *account_pages.routes(services, methods, emails, pages),
            *welcome.routes(methods, services.keys, services.demo, pages),
            *reading_choices.routes(accounts, services.digests, pages),
            *deletion_pages.routes(AccountDeletion(database), pages),
            *activity_pages.routes(Activity(database, clock), pages),
            *operator_pages.routes(operator, pages),
            *import_pages.routes(imports, pages),
            *import_file_pages.routes(imports, pages),
            *SourcePages(sources, limits, pages).routes(),
            *export_pages.routes(exports, views, labels, pages),
            *saving.routes(services.demo, pages),
            *save_page.routes(),
            *library.routes(),
            *EditorPage(views, library.view_edits, list_pages, pages).routes(),
            *media_pages.routes(media, pages),
            *ChangePages(services.changes, pages).routes(),
            *LabelPages(labels.listed, LabelChanges(database, labels), many, pages).routes(),
            *LabelPicking(labels.listed, services.bulk.changes, pages).routes(),
            *DigestPages(services.digests, highlights, pages).routes(),
            *highlights.routes(),
            *StatisticsPage(Statistics(database, clock), pages).routes(),
            *NotePages(services.notes, pages).routes(),
            *many.routes(),
            *TrashPages(library.trash, many, list_pages, pages).routes(),
        ]
        return PageVisits(
            routes,
            sessions,
            pages,
            jar=CookieJar(settings.site_origin),
            hosts=OwnHosts(settings),
            addresses=addresses,
            sidebar=library.sidebar.values,
        )

    return build


def _site(settings: Settings) -> Site:
    parts = urlsplit(settings.site_origin)
    return Site(parts.hostname or "", f"{parts.scheme}://{parts.netloc}")
