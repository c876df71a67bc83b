"""What the pages for signing in share: the ways to do it, their lists, and how often to try."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from bowerbird.assembly import Services
from bowerbird.clock import DAY
from bowerbird.library.access.call_allowance import AttemptLimits, TriesWithin
from bowerbird.library.sign_in.mailed_links import EmailChanges
from bowerbird.library.sign_in.one_time_links import Invitations
from bowerbird.library.sign_in.passkey_answers import Site
from bowerbird.library.sign_in.passkeys import Passkeys
from bowerbird.library.sign_in.provider_sign_in import Identities, ProviderSignIn
from bowerbird.library.sign_in.sessions import Attempts
from bowerbird.library.sign_in.sign_up import SignUp
from bowerbird.model.accounts import Passkey
from bowerbird.openid.providers import configured
from bowerbird.openid.sign_in import OpenIdClient
from bowerbird.web.visits.router import PROVE, SIGN_IN
from bowerbird.web.visits.visit import Visit

# Name and path of a provider.
Providers = Sequence[Mapping[str, str]]


class ShownMethods(Struct, frozen=True):
    passkeys: Sequence[Passkey]
    providers: list[dict[str, Any]]

    @property
    def can_disconnect(self) -> bool:
        """Whether another way to sign in would be left."""
        usable = [each for each in self.providers if each["address"] and each["path"]]
        return len(self.passkeys) + len(usable) > 1


class SignInParts:
    def __init__(self, services: Services) -> None:
        settings, database, clock = services.settings, services.database, services.clock
        accounts, sessions = services.accounts, services.sessions
        attempts = Attempts(database, clock)
        address = urlsplit(settings.site_origin)
        site = Site(address.hostname or "", f"{address.scheme}://{address.netloc}")
        providers = configured(settings)
        # closed, invite or open.
        self.mode = settings.sign_up
        self.sessions = sessions
        self.mailed = services.mailed_links
        self.links = services.one_time_links
        self.limits = AttemptLimits(clock)
        self.daily_limits = TriesWithin(clock, DAY)
        self.invitations = Invitations(database, clock)
        self.emails = EmailChanges(database, accounts, clock, settings)
        self.identities = Identities(database, providers, clock)
        self._providers = providers
        issuers = {each.issuer for each in providers}
        self.passkeys = Passkeys(database, sessions, attempts, clock, site=site, issuers=issuers)
        self.provider_sign_in = ProviderSignIn(
            database,
            sessions,
            attempts,
            clock,
            client=OpenIdClient(providers, settings.provider_return_url, clock),
            identities=self.identities,
        )
        self.sign_up = SignUp(
            database,
            accounts,
            sessions,
            attempts,
            clock,
            invitations=self.invitations,
            identities=self.identities,
            passkeys=self.passkeys,
            mode=settings.sign_up,
        )

    @property
    def providers(self) -> Providers:
        """Name and path of every provider, for signing in."""
        return [{"name": each.title, "path": f"{SIGN_IN}/{each.name}"} for each in self._providers]

    async def providers_for_proof(self, visit: Visit) -> Providers:
        """Name and path of the providers that the visitor has connected."""
        connected = {each.issuer for each in await self.identities.all(visit.account_id)}
        return [
            {"name": each.title, "path": f"{PROVE}/{each.name}"}
            for each in self._providers
            if each.issuer in connected
        ]

    async def methods_of(self, visit: Visit) -> ShownMethods:
        """Of a provider: id, name, address ('' if not connected) and path to connect.

        A connected provider that the operator has removed from the settings can be disconnected.
        """
        connected = {each.issuer: each for each in await self.identities.all(visit.account_id)}
        rows = []
        for provider in self._providers:
            identity = connected.pop(provider.issuer, None)
            rows.append(
                {
                    "id": identity.identity_id if identity else "",
                    "name": provider.title,
                    "address": identity.shown if identity else "",
                    "path": f"/account/providers/{provider.name}/connect",
                }
            )
        rows += [
            {"id": each.identity_id, "name": each.issuer, "address": each.shown, "path": ""}
            for each in connected.values()
        ]
        return ShownMethods(await self.passkeys.all(visit.account_id), rows)
