"""Passkeys: to sign in, to prove again who one is, and the list of an account."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity
from bowerbird.library.sign_in.one_time_links import Entered
from bowerbird.library.sign_in.passkey_answers import (
    Assertion,
    Attestation,
    Site,
    new_challenge,
    read,
    refused,
)
from bowerbird.library.sign_in.sessions import Attempt, AttemptKind, Attempts, Sessions
from bowerbird.model.accounts import ActivityKind, Passkey, SignedIn, Where
from bowerbird.requests.limits import PASSKEY_NAME_MAX, PASSKEYS_MAX
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.sign_in import WaysInStore
from bowerbird.storage.stores import TimedService

if TYPE_CHECKING:
    from bowerbird.library.sign_in.webauthn_ceremonies import WebauthnCeremonies

T = TypeVar("T")

METHOD: Final = "passkey"


class Started(Struct, frozen=True):
    """Something that the browser is to do with a passkey."""

    # The argument for the browser, as JSON.
    options: dict[str, Any]
    # For the cookie.
    attempt: str


_UNNAMED: Final = "Account"


class Passkeys(TimedService):
    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        attempts: Attempts,
        clock: Clock,
        *,
        site: Site,
        issuers: Collection[str] | None = None,
    ) -> None:
        """`issuers` are the configured providers: only they count as another way to sign in."""
        super().__init__(database, clock)
        self._sessions = sessions
        self._attempts = attempts
        self._ways_in = WaysInStore(database, issuers)
        self._site = site

    async def _do(self, work: "Callable[[WebauthnCeremonies], T]") -> T:
        """On a thread: a signature takes a quarter of a millisecond, the import much longer."""

        def run() -> T:
            from bowerbird.library.sign_in import webauthn_ceremonies  # noqa: PLC0415 - see there

            return work(webauthn_ceremonies.WebauthnCeremonies(self._site))

        return await asyncio.to_thread(run)

    async def _start(
        self,
        kind: AttemptKind,
        options: "Callable[[WebauthnCeremonies, str], dict[str, Any]]",
        account_id: int = 0,
        invitation: str = "",
    ) -> Started:
        """`options` for the browser are made with a challenge."""
        attempt = Attempt(
            kind=kind, account_id=account_id, challenge=new_challenge(), invitation=invitation
        )
        made = await self._do(lambda do: options(do, attempt.challenge))
        return Started(made, await self._attempts.start(attempt))

    async def start(self) -> Started:
        """Every passkey of this site can answer: it contains the account that it belongs to."""
        return await self._start(
            AttemptKind.PASSKEY_SIGN_IN, lambda do, challenge: do.sign_in_options(challenge)
        )

    async def finish(self, attempt_cookie: str, credential: str, where: Where) -> Entered:
        attempt = await self._attempts.resume(attempt_cookie, AttemptKind.PASSKEY_SIGN_IN)
        sent = read(credential, Assertion)
        account_id = sent.account_id
        if account_id is None:
            raise refused()
        token = await self._use(
            account_id,
            attempt,
            sent,
            ActivityKind.SIGNED_IN,
            lambda t: self._sessions.start(Writable(t, account_id), METHOD, where),
        )
        return Entered(account_id, token)

    async def start_proof(self, visitor: SignedIn) -> Started:
        """Only passkeys of the account can answer."""
        account_id = visitor.account.account_id
        passkeys = await self._stores.passkeys.all(account_id, PASSKEYS_MAX)
        if not passkeys:
            raise Refusal(Code.INVALID_REQUEST, "Your account has no passkey.")
        return await self._start(
            AttemptKind.PASSKEY_PROOF,
            lambda do, challenge: do.sign_in_options(challenge, passkeys),
            account_id,
        )

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
        return await self._use(
            account_id,
            attempt,
            sent,
            ActivityKind.PROVED_AGAIN,
            lambda t: self._sessions.prove(t, visitor, METHOD, where),
        )

    async def _use(
        self,
        account_id: int,
        attempt: Attempt,
        sent: Assertion,
        kind: ActivityKind,
        effect: Callable[[Transaction], Awaitable[str]],
    ) -> str:
        """Runs `effect`, which returns a token, once per attempt.

        Not if the counter shows that the passkey was copied.
        """
        passkey = await self._stores.passkeys.by_credential(
            self._library(account_id), sent.credential_id
        )
        sign_count = await self._do(lambda do: do.check_assertion(sent, attempt.challenge, passkey))
        if passkey is None:
            raise refused()
        entry = activity.entry(self._clock, kind, f"{METHOD} “{passkey.name}”")
        warning = activity.entry(self._clock, ActivityKind.PASSKEY_REFUSED, passkey.name)

        async def work(library: Writable) -> str:
            await self._attempts.spend(library.transaction, attempt)
            is_used = await self._stores.passkeys.use(
                library, passkey.credential_id, sign_count=sign_count, used_at=self._clock()
            )
            token = await effect(library.transaction) if is_used else ""
            await self._stores.activity.add(library, entry if is_used else warning)
            return token

        token = await self._transact(account_id, work)
        if not token:
            raise refused()
        return token

    async def all(self, account_id: int) -> Sequence[Passkey]:
        """The oldest first."""
        return await self._stores.passkeys.all(account_id, PASSKEYS_MAX)

    async def start_registration(self, visitor: SignedIn, name: str) -> Started:
        """Checks all that can be refused, before the authenticator creates the passkey."""
        account_id = visitor.account.account_id
        _require_name(name)
        existing = await self.all(account_id)
        _require_room(len(existing))
        user_name = visitor.email or _UNNAMED
        return await self._start(
            AttemptKind.PASSKEY_REGISTRATION,
            lambda do, challenge: do.registration_options(
                account_id, user_name, challenge, existing
            ),
            account_id,
        )

    async def start_sign_up(self, account_id: int, invitation: str) -> Started:
        """The first passkey of an account that does not exist yet."""
        return await self._start(
            AttemptKind.PASSKEY_SIGN_UP,
            lambda do, challenge: do.registration_options(account_id, _UNNAMED, challenge, ()),
            account_id,
            invitation,
        )

    async def finish_registration(
        self, visitor: SignedIn, attempt_cookie: str, credential: str, name: str
    ) -> Passkey:
        account_id = visitor.account.account_id
        name = _require_name(name)
        attempt = await self._attempts.resume(attempt_cookie, AttemptKind.PASSKEY_REGISTRATION)
        if attempt.account_id != account_id:
            raise refused()
        passkey = await self.read(attempt, credential, name)
        entry = activity.entry(self._clock, ActivityKind.PASSKEY_ADDED, name)

        async def work(library: Writable) -> None:
            await self._attempts.spend(library.transaction, attempt)
            await self.add(library.transaction, account_id, passkey)
            await self._stores.activity.add(library, entry)

        await self._transact(account_id, work)
        return passkey

    async def read(self, attempt: Attempt, credential: str, name: str) -> Passkey:
        """The passkey that an authenticator has created for an attempt."""
        sent = read(credential, Attestation)
        created = await self._do(lambda do: do.check_attestation(sent, attempt.challenge))
        return Passkey(
            created.credential_id,
            secrets.token_hex(8),
            created.public_key,
            created.sign_count,
            name,
            created.transports,
            self._clock(),
        )

    async def add(self, transaction: Transaction, account_id: int, passkey: Passkey) -> None:
        ways_in = await self._ways_in.lock(transaction, account_id)
        _require_room(ways_in.passkeys)
        if not await self._stores.passkeys.insert(Writable(transaction, account_id), passkey):
            raise Refusal(Code.INVALID_REQUEST, "This passkey is on your account already.")

    async def rename(self, visitor: SignedIn, passkey_id: str, name: str) -> None:
        account_id = visitor.account.account_id
        name = _require_name(name)

        async def work(library: Writable) -> None:
            if not await self._stores.passkeys.rename(library, passkey_id, name):
                raise errors.not_found("passkey", passkey_id)

        await self._transact(account_id, work)

    async def remove(self, visitor: SignedIn, passkey_id: str) -> None:
        """Raises a refusal if the person could not sign in any more."""
        account_id = visitor.account.account_id
        unnamed = activity.entry(self._clock, ActivityKind.PASSKEY_REMOVED)

        async def work(library: Writable) -> None:
            ways_in = await self._ways_in.lock(library.transaction, account_id)
            name = await self._stores.passkeys.remove(library, passkey_id)
            if not name:
                raise errors.not_found("passkey", passkey_id)
            if ways_in.total == 1:
                raise Refusal(
                    Code.INVALID_REQUEST,
                    "This is your only way to sign in. Add another one before you remove it.",
                )
            entry = msgspec.structs.replace(unnamed, detail=name)
            await self._stores.activity.add(library, entry)

        await self._transact(account_id, work)


def _require_name(name: str) -> str:
    name = name.strip()
    if not 1 <= len(name) <= PASSKEY_NAME_MAX or not name.isprintable():
        raise Refusal(
            Code.INVALID_REQUEST,
            f"The name of a passkey has 1 to {PASSKEY_NAME_MAX} printable characters.",
        )
    return name


def _require_room(count: int) -> None:
    if count >= PASSKEYS_MAX:
        raise Refusal(
            Code.INVALID_REQUEST,
            f"An account can have {PASSKEYS_MAX} passkeys. Remove one that you no longer use.",
        )
