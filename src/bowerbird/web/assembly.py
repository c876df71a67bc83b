"""Builds the pages that differ for each visitor."""

from collections.abc import Sequence

from bowerbird.assembly import Services
from bowerbird.library.access.activity import Activity
from bowerbird.library.accounts.accounts import AccountDeletion
from bowerbird.library.accounts.tokens import VersionUse
from bowerbird.library.statistics import Statistics
from bowerbird.web import media as media_pages
from bowerbird.web.account import account as account_pages
from bowerbird.web.account import exports as export_pages
from bowerbird.web.account import keys as key_pages
from bowerbird.web.account import operator as operator_pages
from bowerbird.web.account import reading as reading_choices
from bowerbird.web.account.connect import ConnectPage
from bowerbird.web.account.webhooks import WebhookPages
from bowerbird.web.digests import DigestPages
from bowerbird.web.imports import pages as import_pages
from bowerbird.web.imports.saving import SavePage, demo_routes
from bowerbird.web.imports.sources import SourcePages
from bowerbird.web.labels import ImportLabelPages, LabelPages
from bowerbird.web.library.changes import ChangePages
from bowerbird.web.library.pages import LibraryPages, TrashPages
from bowerbird.web.library.suggesting import LabelPicking
from bowerbird.web.look_around import LookAround
from bowerbird.web.notes import HighlightPages, NotePages
from bowerbird.web.rules import RuleEditor, RulePages
from bowerbird.web.sharing.pages import SharingPages
from bowerbird.web.sign_in.pages import SignInPages, passkey_routes, proof_routes
from bowerbird.web.sign_in.parts import SignInParts
from bowerbird.web.sign_in.providers import ProviderPages
from bowerbird.web.sign_in.sign_up import SignUpPages, email_routes, link_routes, welcome_routes
from bowerbird.web.site import ShowPublished, Visits
from bowerbird.web.statistics import StatisticsPage
from bowerbird.web.templating import Templates
from bowerbird.web.views.editor import EditorPage
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute, PageVisits
from bowerbird.web.visits.visit import CookieJar, OwnHosts
from bowerbird.wire.auth import ClientAddresses
from bowerbird.wire.deprecation import Deprecation


def visits(
    services: Services,
    addresses: ClientAddresses,
    *,
    uses: VersionUse,
    deprecations: Sequence[Deprecation],
) -> Visits:
    settings, database, clock = services.settings, services.database, services.clock
    pages = VisitPages(settings, Templates(settings, has_sandbox=settings.sandbox == "on"))
    sign_in = SignInParts(services)
    sign_up_pages = SignUpPages(sign_in, pages)
    has_images = services.media_preferences.is_offered
    library = LibraryPages(services, pages, has_images=has_images)
    highlights = HighlightPages(services, library.lists, pages)

    def build(show_published: ShowPublished) -> PageVisits:
        routes: list[PageRoute] = [
            *(LookAround(services, pages).routes() if settings.demo == "on" else ()),
            *link_routes(sign_in, sign_up_pages, pages),
            *SignInPages(sign_in, pages).routes(),
            *sign_up_pages.routes(),
            *ProviderPages(sign_in, sign_up_pages, pages).routes(),
            *proof_routes(sign_in, pages),
            *email_routes(sign_in, pages),
            *passkey_routes(sign_in.passkeys, pages),
            *key_pages.routes(services, uses, deprecations, pages, show_published),
            *ConnectPage(services.connect_codes, pages).routes(),
            *account_pages.routes(services, sign_in, pages),
            *welcome_routes(services, sign_in, pages, show_published),
            *reading_choices.routes(services.accounts, services.digests, pages),
            *account_pages.deletion_routes(AccountDeletion(database), pages),
            *account_pages.activity_routes(
                Activity(database), services.bulk.recent, library.many, pages
            ),
            *operator_pages.routes(services, pages, deprecations),
            *import_pages.routes(services, pages),
            *import_pages.file_routes(services, pages),
            *ImportLabelPages(services, library.many, pages).routes(),
            *SourcePages(services, sign_in.limits, pages).routes(),
            *SharingPages(services, pages).routes(),
            *WebhookPages(services, pages).routes(),
            *export_pages.routes(services, pages),
            *demo_routes(services.demo),
            *SavePage(services, library.lists, pages).routes(),
            *library.routes(),
            *EditorPage(services, library, pages).routes(),
            *RulePages(services, pages).routes(),
            *RuleEditor(services, pages).routes(),
            *media_pages.routes(services, pages),
            *ChangePages(services, pages).routes(),
            *LabelPages(services, library.many, pages).routes(),
            *LabelPicking(
                services.labels.listed, services.bulk.changes, services.suggestions, pages
            ).routes(),
            *DigestPages(services.digests, highlights, pages).routes(),
            *highlights.routes(),
            *StatisticsPage(Statistics(database, clock), pages).routes(),
            *NotePages(services, pages).routes(),
            *library.many.routes(),
            *TrashPages(library, pages).routes(),
        ]
        return PageVisits(
            routes,
            services.sessions,
            pages,
            jar=CookieJar(settings.site_origin),
            hosts=OwnHosts(settings),
            addresses=addresses,
            sidebar=library.sidebar.values,
        )

    return build
