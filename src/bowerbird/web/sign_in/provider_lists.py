"""The providers that pages show: to sign in with, to prove with, and to connect."""

from collections.abc import Sequence
from typing import Any

from bowerbird.library.sign_in.identities import Identities
from bowerbird.openid.providers import Provider
from bowerbird.web.sign_in.pages import Providers
from bowerbird.web.visits.router import PROVE, SIGN_IN
from bowerbird.web.visits.visit import Visit


class ProviderLists:
    def __init__(self, providers: Sequence[Provider], identities: Identities) -> None:
        self._providers = providers
        self._identities = identities

    @property
    def for_sign_in(self) -> Providers:
        """Name and path of every provider."""
        return [{"name": p.title, "path": f"{SIGN_IN}/{p.name}"} for p in self._providers]

    async def for_proof(self, visit: Visit) -> Providers:
        """Name and path of the providers that the visitor has connected."""
        connected = {each.issuer for each in await self._identities.all(visit.account_id)}
        return [
            {"name": provider.title, "path": f"{PROVE}/{provider.name}"}
            for provider in self._providers
            if provider.issuer in connected
        ]

    async def for_account(self, visit: Visit) -> list[dict[str, Any]]:
        """What account.html shows: id, name, address ('' if not connected) and path to connect.

        A connected provider that the operator has removed from the settings can be disconnected.
        """
        connected = {each.issuer: each for each in await self._identities.all(visit.account_id)}
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
        return rows + [
            {"id": each.identity_id, "name": each.issuer, "address": each.shown, "path": ""}
            for each in connected.values()
        ]
