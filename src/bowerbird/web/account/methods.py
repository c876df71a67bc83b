"""The ways in which a person can sign in, as the account page shows them."""

from typing import Any

from msgspec import Struct

from bowerbird.library.sign_in.passkeys import Passkeys
from bowerbird.web.sign_in import passkeys as passkey_pages
from bowerbird.web.sign_in.providers import ProviderLists
from bowerbird.web.visits.visit import Visit


class ShownMethods(Struct, frozen=True):
    passkeys: list[dict[str, Any]]
    providers: list[dict[str, Any]]

    @property
    def can_disconnect(self) -> bool:
        """Whether another way to sign in would be left."""
        usable = [each for each in self.providers if each["address"] and each["path"]]
        return len(self.passkeys) + len(usable) > 1


class Methods:
    def __init__(self, passkeys: Passkeys, providers: ProviderLists) -> None:
        self._passkeys = passkeys
        self._providers = providers

    async def of(self, visit: Visit) -> ShownMethods:
        found = await self._passkeys.all(visit.account_id)
        day = visit.times.day
        return ShownMethods(
            passkey_pages.rows(found, day), await self._providers.for_account(visit)
        )
