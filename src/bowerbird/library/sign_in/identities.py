"""The accounts at providers with which a person signs in: connected and disconnected by them.

An identity is an issuer and a subject. Email addresses never connect anything: a provider may give
the address of one person to another.
"""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.activity import Activity
from bowerbird.library.sign_in.attempts import ProvedIdentity
from bowerbird.model.accounts import ActivityKind
from bowerbird.model.sign_in import ProviderIdentity, SignedIn
from bowerbird.openid.providers import Provider
from bowerbird.openid.sign_in import Person
from bowerbird.storage.database import Database, Reader, Transaction
from bowerbird.storage.sign_in.identities import IdentityStore, WaysInStore

_MAX_SHOWN: Final = 200


class IdentityRefused(Refusal):
    """The identity belongs to another account, or the account has another one there."""


class Identities:
    def __init__(self, database: Database, providers: Iterable[Provider], clock: Clock) -> None:
        self._database = database
        self._store = IdentityStore(database)
        self._activity = Activity(database, clock)
        self._clock = clock
        self._titles: Mapping[str, str] = {each.issuer: each.title for each in providers}
        self._ways_in = WaysInStore(database, self._titles)

    async def all(self, account_id: int) -> Sequence[ProviderIdentity]:
        """The oldest first."""
        return await self._store.all(account_id)

    def title_of(self, issuer: str) -> str:
        """The name of a provider; its address if it is not configured any more."""
        return self._titles.get(issuer, issuer)

    async def account_of(self, reader: Reader, proved: ProvedIdentity) -> int | None:
        return await self._store.account_of(reader, proved.issuer, proved.subject)

    async def use(self, transaction: Transaction, account_id: int, proved: ProvedIdentity) -> bool:
        """Notes a sign-in. False if the identity was disconnected a moment ago."""
        now = self._clock()
        return await self._store.use(transaction, account_id, _identity(proved, now), now)

    async def add(self, transaction: Transaction, account_id: int, proved: ProvedIdentity) -> None:
        """Raises a refusal if the identity belongs to an account already."""
        identity = _identity(proved, self._clock())
        if not await self._store.insert(transaction, account_id, identity):
            raise self._taken(proved)

    async def connect(
        self, transaction: Transaction, account_id: int, proved: ProvedIdentity
    ) -> bool:
        """False if it was connected before."""
        await self._ways_in.lock(transaction, account_id)
        holder = await self.account_of(transaction, proved)
        if holder == account_id:
            return False
        if holder is not None:
            raise self._taken(proved)
        if await self._store.has_issuer(transaction, account_id, proved.issuer):
            title = self.title_of(proved.issuer)
            raise IdentityRefused(
                Code.INVALID_REQUEST,
                f"Your account is connected to another account at {title}. Disconnect it first.",
            )
        await self.add(transaction, account_id, proved)
        return True

    async def disconnect(self, visitor: SignedIn, identity_id: str) -> None:
        """Raises a refusal if the person could not sign in any more."""
        account_id = visitor.account.account_id
        unnamed = self._activity.entry(ActivityKind.PROVIDER_DISCONNECTED)

        async def work(transaction: Transaction) -> None:
            await self._ways_in.lock(transaction, account_id)
            removed = await self._store.remove(transaction, account_id, identity_id)
            if not removed:
                raise errors.not_found("connected provider", identity_id)
            if (await self._ways_in.count(transaction, account_id)).total == 0:
                raise Refusal(
                    Code.INVALID_REQUEST,
                    "This is your only way to sign in. Add another one before you disconnect it.",
                )
            entry = msgspec.structs.replace(unnamed, detail=self.title_of(removed)[:_MAX_SHOWN])
            await self._activity.add(transaction, account_id, entry)

        await self._database.write(work, account_id)

    def _taken(self, proved: ProvedIdentity) -> IdentityRefused:
        """Only the person who has just signed in there learns it."""
        title = self.title_of(proved.issuer)
        return IdentityRefused(
            Code.INVALID_REQUEST,
            f"Your account at {title} is already connected to another account here.",
        )


def proved_identity(person: Person) -> ProvedIdentity:
    """What is kept of a person whom a provider names."""
    names = map(_printable, (person.email, person.name, person.subject))
    email = person.email if person.is_email_verified else ""
    return ProvedIdentity(person.issuer, person.subject, next(filter(None, names)), email)


def _printable(text: str) -> str:
    kept = "".join(character for character in text if character.isprintable())
    return kept.strip()[:_MAX_SHOWN]


def _identity(proved: ProvedIdentity, now: int) -> ProviderIdentity:
    return ProviderIdentity(
        proved.issuer, proved.subject, secrets.token_hex(8), proved.shown, now, now
    )
