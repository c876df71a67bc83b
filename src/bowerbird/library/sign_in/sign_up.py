"""Creating an account on the website, with a provider or with a passkey.

A new account has no address unless its provider has verified one that no other account has. Nobody
is told which of the two it was.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity
from bowerbird.library.accounts.accounts import Accounts, EmailRefused
from bowerbird.library.sign_in import one_time_links
from bowerbird.library.sign_in.one_time_links import Entered, Invitations
from bowerbird.library.sign_in.passkeys import METHOD, Passkeys, Started
from bowerbird.library.sign_in.provider_sign_in import Identities, Returned
from bowerbird.library.sign_in.sessions import Attempt, AttemptKind, Attempts, Sessions
from bowerbird.model.accounts import ActivityKind, Where
from bowerbird.model.keys import new_account_id
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.stores import TimedService

CLOSED: Final = "closed"
INVITE: Final = "invite"


class SignUpRefused(Refusal):
    """The person may not create an account here."""


class SignUp(TimedService):
    def __init__(
        self,
        database: Database,
        accounts: Accounts,
        sessions: Sessions,
        attempts: Attempts,
        clock: Clock,
        *,
        invitations: Invitations,
        identities: Identities,
        passkeys: Passkeys,
        mode: str,
    ) -> None:
        """`mode` is the setting: closed, invite or open."""
        super().__init__(database, clock)
        self._accounts = accounts
        self._sessions = sessions
        self._attempts = attempts
        self._invitations = invitations
        self._identities = identities
        self._passkeys = passkeys
        self._mode = mode

    async def require_allowed(self, invitation: str) -> None:
        """Raises a refusal unless somebody with this invitation, or '', may create an account."""
        if self._mode == CLOSED:
            raise SignUpRefused(Code.NOT_FOUND, "This service accepts no new accounts.")
        if invitation and not await self._invitations.is_open(invitation):
            raise one_time_links.refused()
        if self._mode == INVITE and not invitation:
            raise SignUpRefused(
                Code.NOT_FOUND, "New accounts need an invitation from the operator of this service."
            )

    async def offer(self, returned: Returned) -> str:
        """Returns the attempt of somebody who is asked whether to create an account."""
        invitation = returned.attempt.invitation
        await self.require_allowed(invitation)
        attempt = Attempt(
            kind=AttemptKind.PROVIDER_SIGN_UP,
            provider=returned.attempt.provider,
            invitation=invitation,
            identity=returned.proved,
        )
        return await self._attempts.start(attempt)

    def title_of(self, returned: Returned) -> str:
        """The name of the provider."""
        return self._identities.title_of(returned.proved.issuer)

    async def create_with_provider(self, cookie: str, where: Where) -> Entered:
        """Creates the account that was offered."""
        attempt = await self._attempts.resume(cookie, AttemptKind.PROVIDER_SIGN_UP)
        proved = attempt.identity
        assert proved is not None
        entry = activity.entry(
            self._clock, ActivityKind.SIGNED_IN, self._identities.title_of(proved.issuer)
        )

        async def add(transaction: Transaction) -> int:
            account_id = await self._account(transaction, proved.email)
            library = Writable(transaction, account_id)
            await self._identities.add(library, proved)
            await self._stores.activity.add(library, entry)
            return account_id

        return await self._create(attempt, add, attempt.provider, where)

    async def start_with_passkey(self, invitation: str) -> Started:
        await self.require_allowed(invitation)
        return await self._passkeys.start_sign_up(new_account_id(), invitation)

    async def create_with_passkey(self, cookie: str, credential: str, where: Where) -> Entered:
        attempt = await self._attempts.resume(cookie, AttemptKind.PASSKEY_SIGN_UP)
        passkey = await self._passkeys.read(attempt, credential, where.device)
        entry = activity.entry(self._clock, ActivityKind.SIGNED_IN, METHOD)

        async def add(transaction: Transaction) -> int:
            account_id = await self._accounts.create_within(
                transaction, "", account_id=attempt.account_id
            )
            await self._passkeys.add(transaction, account_id, passkey)
            await self._stores.activity.add(Writable(transaction, account_id), entry)
            return account_id

        return await self._create(attempt, add, METHOD, where)

    async def _create(
        self,
        attempt: Attempt,
        add: Callable[[Transaction], Awaitable[int]],
        method: str,
        where: Where,
    ) -> Entered:
        """Creates the account with its way in, its session and all that is used up, or nothing."""
        await self.require_allowed(attempt.invitation)

        async def work(transaction: Transaction) -> Entered:
            await self._attempts.spend(transaction, attempt)
            if attempt.invitation:
                await self._invitations.use(transaction, attempt.invitation)
            account_id = await add(transaction)
            session = await self._sessions.start(Writable(transaction, account_id), method, where)
            return Entered(account_id, session, is_new_account=True)

        return await self._database.write(work)

    async def _account(self, transaction: Transaction, email: str) -> int:
        try:
            return await self._accounts.create_within(transaction, email)
        except EmailRefused:
            return await self._accounts.create_within(transaction, "")
