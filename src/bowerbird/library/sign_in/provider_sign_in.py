"""The accounts at providers with which a person signs in: connected and disconnected by them.

An identity is an issuer and a subject. Email addresses never connect anything: a provider may give
the address of one person to another.

Signing in with a provider, proving again with one, and connecting one to an account.
"""

import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity
from bowerbird.library.sign_in.one_time_links import Entered
from bowerbird.library.sign_in.sessions import (
    Attempt,
    AttemptKind,
    AttemptRefused,
    Attempts,
    ProvedIdentity,
    Sessions,
)
from bowerbird.model.accounts import ActivityKind, ProviderIdentity, SignedIn, Where
from bowerbird.openid.providers import Provider
from bowerbird.openid.sign_in import OpenIdClient, Person
from bowerbird.storage.database import Database, Reader, Transaction, Writable
from bowerbird.storage.sign_in import WaysInStore
from bowerbird.storage.stores import TimedService

_MAX_SHOWN: Final = 200


class IdentityRefused(Refusal):
    """The identity belongs to another account, or the account has another one there."""


class Identities(TimedService):
    def __init__(self, database: Database, providers: Iterable[Provider], clock: Clock) -> None:
        super().__init__(database, clock)
        self._titles: Mapping[str, str] = {each.issuer: each.title for each in providers}
        self._ways_in = WaysInStore(database, self._titles)

    async def all(self, account_id: int) -> Sequence[ProviderIdentity]:
        """The oldest first."""
        return await self._stores.identities.all(account_id)

    def title_of(self, issuer: str) -> str:
        """The name of a provider; its address if it is not configured any more."""
        return self._titles.get(issuer, issuer)

    async def account_of(self, reader: Reader, proved: ProvedIdentity) -> int | None:
        return await self._stores.identities.account_of(reader, proved.issuer, proved.subject)

    async def use(self, library: Writable, proved: ProvedIdentity) -> bool:
        """Notes a sign-in. False if the identity was disconnected a moment ago."""
        now = self._clock()
        return await self._stores.identities.use(library, _identity(proved, now), now)

    async def add(self, library: Writable, proved: ProvedIdentity) -> None:
        """Raises a refusal if the identity belongs to an account already."""
        identity = _identity(proved, self._clock())
        if not await self._stores.identities.insert(library, identity):
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
        library = Writable(transaction, account_id)
        if await self._stores.identities.has_issuer(library, proved.issuer):
            title = self.title_of(proved.issuer)
            raise IdentityRefused(
                Code.INVALID_REQUEST,
                f"Your account is connected to another account at {title}. Disconnect it first.",
            )
        await self.add(library, proved)
        return True

    async def disconnect(self, visitor: SignedIn, identity_id: str) -> None:
        """Raises a refusal if the person could not sign in any more."""
        account_id = visitor.account.account_id
        unnamed = activity.entry(self._clock, ActivityKind.PROVIDER_DISCONNECTED)

        async def work(library: Writable) -> None:
            await self._ways_in.lock(library.transaction, account_id)
            removed = await self._stores.identities.remove(library, identity_id)
            if not removed:
                raise errors.not_found("connected provider", identity_id)
            if (await self._ways_in.count(library)).total == 0:
                raise Refusal(
                    Code.INVALID_REQUEST,
                    "This is your only way to sign in. Add another one before you disconnect it.",
                )
            entry = msgspec.structs.replace(unnamed, detail=self.title_of(removed)[:_MAX_SHOWN])
            await self._stores.activity.add(library, entry)

        await self._transact(account_id, work)

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


# The attempt is a cookie, and browsers limit its size.
_MAX_NEXT: Final = 300


class Purpose(StrEnum):
    SIGN_IN = "sign-in"
    PROOF = "proof"
    CONNECTION = "connection"


class Begun(Struct, frozen=True):
    # The name of the provider.
    title: str
    # The page of the provider.
    url: str
    # For the cookie.
    attempt: str


class Returned(Struct, frozen=True):
    """A person who has signed in at a provider and has come back."""

    attempt: Attempt
    proved: ProvedIdentity


class ProviderSignIn(TimedService):
    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        attempts: Attempts,
        clock: Clock,
        *,
        client: OpenIdClient,
        identities: Identities,
    ) -> None:
        super().__init__(database, clock)
        self._client = client
        self._identities = identities
        self._sessions = sessions
        self._attempts = attempts

    async def begin(
        self,
        provider: str,
        purpose: Purpose,
        *,
        visitor: SignedIn | None = None,
        next: str = "",
        invitation: str = "",
    ) -> Begun:
        """`visitor` is the person who proves who they are, or connects the provider."""
        begun = await self._client.begin(provider, is_again=purpose is Purpose.PROOF)
        attempt = Attempt(
            kind=AttemptKind.PROVIDER,
            account_id=visitor.account.account_id if visitor else 0,
            provider=provider,
            purpose=purpose,
            state=begun.state,
            nonce=begun.nonce,
            verifier=begun.verifier,
            invitation=invitation,
            next=next if len(next) <= _MAX_NEXT else "",
        )
        return Begun(
            self._client.title_of(provider), begun.url, await self._attempts.start(attempt)
        )

    async def resume(self, provider: str, cookie: str) -> Attempt:
        """The attempt that this browser has started with the provider."""
        attempt = await self._attempts.resume(cookie, AttemptKind.PROVIDER)
        if attempt.provider != provider:
            raise AttemptRefused(
                Code.INVALID_REQUEST, "This attempt was started with another provider. Start again."
            )
        return attempt

    async def finish(self, attempt: Attempt, query: Mapping[str, str]) -> Returned:
        """Checks what the provider has sent back. Raises the ProviderProblem of the client."""
        asked_at = attempt.started_at if attempt.purpose == Purpose.PROOF else None
        person = await self._client.finish(
            attempt.provider, attempt, query, asked_again_at=asked_at
        )
        return Returned(attempt, proved_identity(person))

    async def enter(self, returned: Returned, where: Where) -> Entered | None:
        """Signs the person in; None if no account has the identity."""
        attempt, proved = returned.attempt, returned.proved
        account_id = await self._identities.account_of(self._database, proved)
        if account_id is None:
            return None
        token = await self._use(
            returned,
            account_id,
            ActivityKind.SIGNED_IN,
            lambda t: self._sessions.start(Writable(t, account_id), attempt.provider, where),
        )
        return Entered(account_id, token)

    async def prove(self, returned: Returned, visitor: SignedIn, where: Where) -> str:
        """Returns the new token of the session."""
        method = returned.attempt.provider
        return await self._use(
            returned,
            _holder(returned, visitor),
            ActivityKind.PROVED_AGAIN,
            lambda t: self._sessions.prove(t, visitor, method, where),
        )

    async def _use(
        self,
        returned: Returned,
        account_id: int,
        kind: ActivityKind,
        effect: Callable[[Transaction], Awaitable[str]],
    ) -> str:
        """Runs `effect`, which returns a token, once per attempt."""
        proved = returned.proved
        entry = activity.entry(self._clock, kind, self._shown(proved))

        async def work(transaction: Transaction) -> str:
            await self._attempts.spend(transaction, returned.attempt)
            library = Writable(transaction, account_id)
            if not await self._identities.use(library, proved):
                raise Refusal(
                    Code.INVALID_REQUEST,
                    f"This account at {self._identities.title_of(proved.issuer)} is not connected "
                    "to your account here.",
                )
            token = await effect(transaction)
            await self._stores.activity.add(library, entry)
            return token

        return await self._database.write(work, account_id)

    async def connect(self, returned: Returned, visitor: SignedIn) -> None:
        attempt, proved, account_id = returned.attempt, returned.proved, _holder(returned, visitor)
        entry = activity.entry(self._clock, ActivityKind.PROVIDER_CONNECTED, self._shown(proved))

        async def work(transaction: Transaction) -> None:
            await self._attempts.spend(transaction, attempt)
            if await self._identities.connect(transaction, account_id, proved):
                await self._stores.activity.add(Writable(transaction, account_id), entry)

        await self._database.write(work, account_id)

    def _shown(self, proved: ProvedIdentity) -> str:
        return f"{self._identities.title_of(proved.issuer)} “{proved.shown}”"


def _holder(returned: Returned, visitor: SignedIn) -> int:
    """The account of the visitor, if it is the one that started the attempt."""
    account_id = visitor.account.account_id
    if returned.attempt.account_id != account_id:
        raise AttemptRefused(
            Code.INVALID_REQUEST, "You have signed in to another account since. Start again."
        )
    return account_id
