"""One-time links to the website, made on the command line."""

from bowerbird.cli.context import LibraryContext
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.sign_in.one_time_links import OneTimeLinks
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.openid.providers import configured


def one_time_links(opened: LibraryContext) -> OneTimeLinks:
    database, clock = opened.database, opened.clock
    accounts = Accounts(database, clock, opened.settings.default_plan)
    return OneTimeLinks(database, accounts, Sessions(database, clock), clock)


async def owner_link(opened: LibraryContext) -> str | None:
    """A link for the owner; None if the owner is signed in, or can sign in without it."""
    links = one_time_links(opened)
    issuers = {provider.issuer for provider in configured(opened.settings)}
    if await links.has_owner_entered(issuers):
        return None
    return opened.settings.link_url(await links.create_for_owner())
