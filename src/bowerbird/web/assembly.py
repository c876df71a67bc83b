"""Builds the pages that differ for each visitor."""

from bowerbird.clock import Clock
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.sign_in.attempt_limits import AttemptLimits
from bowerbird.library.sign_in.one_time_links import OneTimeLinks
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.settings import Settings
from bowerbird.storage.database import Database
from bowerbird.web import start
from bowerbird.web.sign_in import links as link_pages
from bowerbird.web.sign_in import sessions as session_pages
from bowerbird.web.site import ShowPublished, Visits
from bowerbird.web.templating import Templates
from bowerbird.web.visits.cookies import CookieJar
from bowerbird.web.visits.hosts import OwnHosts
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute, VisitRouter
from bowerbird.wire.client_addresses import ClientAddresses


def visits(
    settings: Settings,
    database: Database,
    clock: Clock,
    sessions: Sessions,
    addresses: ClientAddresses,
) -> Visits:
    accounts = Accounts(database, clock, settings.default_plan)
    pages = VisitPages(settings, Templates(settings, has_sandbox=settings.sandbox == "on"))
    limits = AttemptLimits(clock)
    links = OneTimeLinks(database, accounts, sessions, clock)

    def build(show_published: ShowPublished) -> VisitRouter:
        routes: list[PageRoute] = [
            *start.routes(pages, show_published),
            *link_pages.routes(links, limits, pages),
            *session_pages.routes(sessions, pages),
        ]
        return VisitRouter(
            routes,
            sessions,
            pages,
            jar=CookieJar(settings.site_origin),
            hosts=OwnHosts(settings),
            addresses=addresses,
        )

    return build
