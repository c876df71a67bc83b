"""Signing in with a passkey, and proving again with one who a signed-in person is."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.activity import Activity
from bowerbird.library.sign_in.attempts import Attempt, AttemptKind, Attempts
from bowerbird.library.sign_in.ceremonies import Ceremonies, new_challenge
from bowerbird.library.sign_in.one_time_links import Entered
from bowerbird.library.sign_in.passkey_answers import Assertion, Site, read, refused
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.model.accounts import ActivityKind, Passkey, SignedIn, Where
from bowerbird.requests.limits import PASSKEYS_MAX
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.sign_in.identities import PasskeyStore

METHOD: Final = "passkey"


class Started(Struct, frozen=True):
    """Something that the browser is to do with a passkey."""

    # The argument for the browser, as JSON.
    options: dict[str, Any]
    # For the cookie.
    attempt: str


class PasskeySignIn:
    def __init__(
        self, database: Database, sessions: Sessions, attempts: Attempts, clock: Clock, site: Site
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._attempts = attempts
        self._store = PasskeyStore(database)
        self._activity = Activity(database, clock)
        self._clock = clock
        self._ceremonies = Ceremonies(site)

    async def start(self) -> Started:
        """Every passkey of this site can answer: it contains the account that it belongs to."""
        attempt = Attempt(kind=AttemptKind.PASSKEY_SIGN_IN, challenge=new_challenge())
        options = await self._ceremonies.run(lambda do: do.sign_in_options(attempt.challenge))
        return Started(options, await self._attempts.start(attempt))

    async def finish(self, attempt_cookie: str, credential: str, where: Where) -> Entered:
        attempt = await self._attempts.resume(attempt_cookie, AttemptKind.PASSKEY_SIGN_IN)
        sent = read(credential, Assertion)
        account_id = sent.account_id
        if account_id is None:
            raise refused()
        passkey, sign_count = await self._checked(account_id, attempt, sent)
        entry = self._activity.entry(ActivityKind.SIGNED_IN, _shown(passkey))

        async def enter(transaction: Transaction) -> str:
            token = await self._sessions.start(transaction, account_id, METHOD, where)
            await self._activity.add(transaction, account_id, entry)
            return token

        token = await self._use(account_id, attempt, passkey, sign_count, enter)
        return Entered(account_id, token)

    async def start_proof(self, visitor: SignedIn) -> Started:
        """Only passkeys of the account can answer."""
        account_id = visitor.account.account_id
        passkeys = await self._store.all(account_id, PASSKEYS_MAX)
        if not passkeys:
            raise Refusal(Code.INVALID_REQUEST, "Your account has no passkey.")
        attempt = Attempt(
            kind=AttemptKind.PASSKEY_PROOF,
            account_id=account_id,
            challenge=new_challenge(),
        )
        options = await self._ceremonies.run(
            lambda do: do.sign_in_options(attempt.challenge, passkeys)
        )
        return Started(options, await self._attempts.start(attempt))

    async def finish_proof(
        self, visitor: SignedIn, attempt_cookie: str, credential: str, where: Where
    ) -> str:
        """Returns the new token of the session."""
        account_id = visitor.account.account_id
        attempt = await self._attempts.resume(attempt_cookie, AttemptKind.PASSKEY_PROOF)
        sent = read(credential, Assertion)
        # Authenticators need not name the account if they were asked for certain passkeys.
        if attempt.account_id != account_id or sent.account_id not in (None, account_id):
            raise refused()
        passkey, sign_count = await self._checked(account_id, attempt, sent)
        entry = self._activity.entry(ActivityKind.PROVED_AGAIN, _shown(passkey))

        async def prove(transaction: Transaction) -> str:
            token = await self._sessions.prove(transaction, visitor, METHOD, where)
            await self._activity.add(transaction, account_id, entry)
            return token

        return await self._use(account_id, attempt, passkey, sign_count, prove)

    async def _checked(
        self, account_id: int, attempt: Attempt, sent: Assertion
    ) -> tuple[Passkey, int]:
        """The passkey that signed, and its counter."""
        passkey = await self._store.by_credential(self._database, account_id, sent.credential_id)
        sign_count = await self._ceremonies.run(
            lambda do: do.check_assertion(sent, attempt.challenge, passkey)
        )
        if passkey is None:
            raise refused()
        return passkey, sign_count

    async def _use(
        self,
        account_id: int,
        attempt: Attempt,
        passkey: Passkey,
        sign_count: int,
        effect: Callable[[Transaction], Awaitable[str]],
    ) -> str:
        """Runs `effect` once per attempt, unless the counter shows that the passkey was copied."""
        warning = self._activity.entry(ActivityKind.PASSKEY_REFUSED, passkey.name)

        async def work(transaction: Transaction) -> str:
            await self._attempts.spend(transaction, attempt)
            is_used = await self._store.use(
                transaction,
                account_id,
                passkey.credential_id,
                sign_count=sign_count,
                used_at=self._clock(),
            )
            if is_used:
                return await effect(transaction)
            await self._activity.add(transaction, account_id, warning)
            return ""

        token = await self._database.write(work, account_id)
        if not token:
            raise refused()
        return token


def _shown(passkey: Passkey) -> str:
    return f"{METHOD} “{passkey.name}”"
