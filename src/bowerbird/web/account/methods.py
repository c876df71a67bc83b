"""The ways in which a person can sign in, as the account page shows them."""

from typing import Any

from msgspec import Struct

from bowerbird.library.sign_in.passkeys import Passkeys
from bowerbird.web.sign_in import passkeys as passkey_pages
from bowerbird.web.visits import moments
from bowerbird.web.visits.visit import Visit


class ShownMethods(Struct, frozen=True):
    passkeys: list[dict[str, Any]]
    providers: list[dict[str, Any]]

    @property
    def can_disconnect(self) -> bool:
        """Whether another way to sign in would be left."""
        connected = [provider for provider in self.providers if provider["address"]]
        return len(self.passkeys) + len(connected) > 1


class Methods:
    def __init__(self, passkeys: Passkeys) -> None:
        self._passkeys = passkeys

    async def of(self, visit: Visit) -> ShownMethods:
        found = await self._passkeys.all(visit.account_id)
        day = moments.days_in(visit.signed_in.time_zone)
        return ShownMethods(passkey_pages.rows(found, day), await self._providers(visit))

    async def _providers(self, _: Visit) -> list[dict[str, Any]]:
        """Dicts of id, name, address ('' if not connected) and path (a link that connects it)."""
        return []
