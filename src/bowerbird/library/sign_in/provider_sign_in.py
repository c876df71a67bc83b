"""Signing in with a provider, proving again with one, and connecting one to an account."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.activity import Activity
from bowerbird.library.sign_in.attempts import (
    Attempt,
    AttemptKind,
    AttemptRefused,
    Attempts,
    ProvedIdentity,
)
from bowerbird.library.sign_in.identities import Identities, proved_identity
from bowerbird.library.sign_in.one_time_links import Entered
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.model.accounts import ActivityKind
from bowerbird.model.sign_in import SignedIn, Where
from bowerbird.openid.sign_in import OpenIdClient
from bowerbird.storage.database import Database, Transaction

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


class ProviderSignIn:
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
        self._database = database
        self._client = client
        self._identities = identities
        self._sessions = sessions
        self._attempts = attempts
        self._activity = Activity(database, clock)

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
        entry = self._activity.entry(ActivityKind.SIGNED_IN, self._shown(proved))

        async def work(transaction: Transaction) -> str:
            await self._attempts.spend(transaction, attempt)
            if not await self._identities.use(transaction, account_id, proved):
                raise _not_connected(self._identities.title_of(proved.issuer))
            token = await self._sessions.start(transaction, account_id, attempt.provider, where)
            await self._activity.add(transaction, account_id, entry)
            return token

        return Entered(account_id, await self._database.write(work, account_id))

    async def prove(self, returned: Returned, visitor: SignedIn, where: Where) -> str:
        """Returns the new token of the session."""
        attempt, proved, account_id = returned.attempt, returned.proved, _holder(returned, visitor)
        entry = self._activity.entry(ActivityKind.PROVED_AGAIN, self._shown(proved))

        async def work(transaction: Transaction) -> str:
            await self._attempts.spend(transaction, attempt)
            if not await self._identities.use(transaction, account_id, proved):
                raise _not_connected(self._identities.title_of(proved.issuer))
            token = await self._sessions.prove(transaction, visitor, attempt.provider, where)
            await self._activity.add(transaction, account_id, entry)
            return token

        return await self._database.write(work, account_id)

    async def connect(self, returned: Returned, visitor: SignedIn) -> None:
        attempt, proved, account_id = returned.attempt, returned.proved, _holder(returned, visitor)
        entry = self._activity.entry(ActivityKind.PROVIDER_CONNECTED, self._shown(proved))

        async def work(transaction: Transaction) -> None:
            await self._attempts.spend(transaction, attempt)
            if await self._identities.connect(transaction, account_id, proved):
                await self._activity.add(transaction, account_id, entry)

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


def _not_connected(title: str) -> Refusal:
    return Refusal(
        Code.INVALID_REQUEST, f"This account at {title} is not connected to your account here."
    )
