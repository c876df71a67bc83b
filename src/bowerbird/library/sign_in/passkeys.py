"""The passkeys of an account: its holder adds, renames and removes them."""

import secrets
from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.activity import Activity
from bowerbird.library.sign_in.attempts import Attempt, AttemptKind, Attempts
from bowerbird.library.sign_in.ceremonies import Ceremonies, new_challenge
from bowerbird.library.sign_in.passkey_answers import Attestation, Site, read, refused
from bowerbird.library.sign_in.passkey_sign_in import Started
from bowerbird.model.accounts import ActivityKind, Passkey, SignedIn
from bowerbird.requests.limits import PASSKEY_NAME_MAX, PASSKEYS_MAX
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.sign_in.identities import PasskeyStore, WaysInStore

_UNNAMED: Final = "Account"


class Passkeys:
    def __init__(
        self,
        database: Database,
        attempts: Attempts,
        clock: Clock,
        site: Site,
        issuers: Collection[str] | None = None,
    ) -> None:
        """`issuers` are the configured providers: only they count as another way to sign in."""
        self._database = database
        self._attempts = attempts
        self._store = PasskeyStore(database)
        self._ways_in = WaysInStore(database, issuers)
        self._activity = Activity(database, clock)
        self._clock = clock
        self._ceremonies = Ceremonies(site)

    async def all(self, account_id: int) -> Sequence[Passkey]:
        """The oldest first."""
        return await self._store.all(account_id, PASSKEYS_MAX)

    async def start_registration(self, visitor: SignedIn, name: str) -> Started:
        """Checks all that can be refused, before the authenticator creates the passkey."""
        account_id = visitor.account.account_id
        _require_name(name)
        existing = await self.all(account_id)
        _require_room(len(existing))
        attempt = Attempt(
            kind=AttemptKind.PASSKEY_REGISTRATION,
            account_id=account_id,
            challenge=new_challenge(),
        )
        user_name = visitor.email or _UNNAMED
        options = await self._ceremonies.run(
            lambda do: do.registration_options(account_id, user_name, attempt.challenge, existing)
        )
        return Started(options, await self._attempts.start(attempt))

    async def start_sign_up(self, account_id: int, invitation: str) -> Started:
        """The first passkey of an account that does not exist yet."""
        attempt = Attempt(
            kind=AttemptKind.PASSKEY_SIGN_UP,
            account_id=account_id,
            challenge=new_challenge(),
            invitation=invitation,
        )
        options = await self._ceremonies.run(
            lambda do: do.registration_options(account_id, _UNNAMED, attempt.challenge, ())
        )
        return Started(options, await self._attempts.start(attempt))

    async def finish_registration(
        self, visitor: SignedIn, attempt_cookie: str, credential: str, name: str
    ) -> Passkey:
        account_id = visitor.account.account_id
        name = _require_name(name)
        attempt = await self._attempts.resume(attempt_cookie, AttemptKind.PASSKEY_REGISTRATION)
        if attempt.account_id != account_id:
            raise refused()
        passkey = await self.read(attempt, credential, name)
        entry = self._activity.entry(ActivityKind.PASSKEY_ADDED, name)

        async def work(transaction: Transaction) -> None:
            await self._attempts.spend(transaction, attempt)
            await self.add(transaction, account_id, passkey)
            await self._activity.add(transaction, account_id, entry)

        await self._database.write(work, account_id)
        return passkey

    async def read(self, attempt: Attempt, credential: str, name: str) -> Passkey:
        """The passkey that an authenticator has created for an attempt."""
        sent = read(credential, Attestation)
        created = await self._ceremonies.run(
            lambda do: do.check_attestation(sent, attempt.challenge)
        )
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
        if not await self._store.insert(transaction, account_id, passkey):
            raise Refusal(Code.INVALID_REQUEST, "This passkey is on your account already.")

    async def rename(self, visitor: SignedIn, passkey_id: str, name: str) -> None:
        account_id = visitor.account.account_id
        name = _require_name(name)

        async def work(transaction: Transaction) -> None:
            if not await self._store.rename(transaction, account_id, passkey_id, name):
                raise errors.not_found("passkey", passkey_id)

        await self._database.write(work, account_id)

    async def remove(self, visitor: SignedIn, passkey_id: str) -> None:
        """Raises a refusal if the person could not sign in any more."""
        account_id = visitor.account.account_id
        unnamed = self._activity.entry(ActivityKind.PASSKEY_REMOVED)

        async def work(transaction: Transaction) -> None:
            ways_in = await self._ways_in.lock(transaction, account_id)
            name = await self._store.remove(transaction, account_id, passkey_id)
            if not name:
                raise errors.not_found("passkey", passkey_id)
            if ways_in.total == 1:
                raise Refusal(
                    Code.INVALID_REQUEST,
                    "This is your only way to sign in. Add another one before you remove it.",
                )
            entry = msgspec.structs.replace(unnamed, detail=name)
            await self._activity.add(transaction, account_id, entry)

        await self._database.write(work, account_id)


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
