"""Reads and writes sessions, one-time links, passkeys, and identities at providers.

Only the hashes of cookies and of links are stored. An attempt to sign in that has succeeded is
stored until it would expire anyway. Secrets of the service are created at their first use.
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from bowerbird.clock import MICROSECONDS
from bowerbird.model.accounts import (
    ABSOLUTE_DAYS,
    IDLE_DAYS,
    Account,
    LinkKind,
    OneTimeLink,
    Passkey,
    ProviderIdentity,
    Reading,
    Session,
    SignedIn,
)
from bowerbird.model.digests import NO_ZONE
from bowerbird.storage.database import Database, Readable, Reader, Row, Store, Transaction, Writable
from bowerbird.storage.libraries import LibraryStore

_ACCOUNT_COLUMNS = len(Account.__struct_fields__)
# Of sessions, and of identities, of which an account has at most one per provider.
_LISTED: Final = 100
_DAY = 86_400 * MICROSECONDS


class Alive(Struct, frozen=True):
    """A session is alive if it was used and created after these times."""

    used_after: int
    created_after: int

    @classmethod
    def at(cls, now: int) -> "Alive":
        return cls(now - IDLE_DAYS * _DAY, now - ABSOLUTE_DAYS * _DAY)


class SessionStore(Store):
    resource = "sessions"

    async def insert(self, library: Writable, session_hash: bytes, session: Session) -> bool:
        """False if the account is gone."""
        return bool(await self._of(library, "insert", **asdict(session), session_hash=session_hash))

    async def by_token(
        self, account_id: int, session_hash: bytes, alive: Alive, month: int
    ) -> SignedIn | None:
        values = {
            "account_id": account_id,
            "session_hash": session_hash,
            "month": month,
            **asdict(alive),
        }
        rows = await self._read("by_token", **values)
        if not rows:
            return None
        account, rest = rows[0][:_ACCOUNT_COLUMNS], rows[0][_ACCOUNT_COLUMNS:]
        email, is_owner, time_zone, is_zone_chosen, favourite, marks_read, *session = rest
        return SignedIn(
            account=Account(*account),
            email=email,
            is_owner=bool(is_owner),
            time_zone=time_zone,
            # Accounts of earlier releases have only the name of the zone.
            is_zone_chosen=bool(is_zone_chosen) or time_zone != NO_ZONE,
            reading=Reading(favourite, bool(marks_read)),
            session=Session(*session),
        )

    async def all(self, account_id: int, alive: Alive) -> Sequence[Session]:
        values = {"account_id": account_id, "limit": _LISTED, **asdict(alive)}
        return [Session(*row) for row in await self._read("list", **values)]

    async def end(self, library: Writable, session_id: str) -> str | None:
        """Returns the browser of the session, or None if there is no such session."""
        rows = await self._of(library, "end", session_id=session_id)
        return str(rows[0][0]) if rows else None

    async def end_all(self, library: Writable) -> int:
        # No session has this id.
        return await self.end_others(library, "")

    async def end_others(self, library: Writable, session_id: str) -> int:
        return len(await self._of(library, "end_others", session_id=session_id))

    async def make_room(self, library: Writable, alive: Alive, most: int) -> None:
        """Ends expired sessions, and the least recently used ones beyond `most`."""
        await self.sweep(library, alive)
        await self._of(library, "end_beyond", most=most)

    async def sweep(self, library: Writable, alive: Alive) -> int:
        """Removes expired sessions."""
        return len(await self._of(library, "end_expired", **asdict(alive)))

    async def replace_token(self, library: Writable, new_hash: bytes, session: Session) -> bool:
        """Gives the session another cookie, and stores when and how the person proved it."""
        return bool(await self._of(library, "replace_token", **asdict(session), new_hash=new_hash))

    async def put_uses(self, uses: Mapping[tuple[int, str], int]) -> None:
        """Takes (account, session) -> time of the last use."""
        rows = [
            {"account_id": account_id, "session_id": session_id, "last_used_at": at}
            for (account_id, session_id), at in sorted(uses.items())
        ]
        await self._database.write(
            lambda transaction: transaction.run_many(self._sql["note_use"], rows)
        )


class OneTimeLinkStore(Store):
    resource = "one_time_links"

    async def create(
        self,
        transaction: Transaction,
        link_hash: bytes,
        kind: LinkKind,
        account_id: int,
        detail: str = "",
        *,
        now: int,
        lives: int,
        most: int,
    ) -> OneTimeLink | None:
        """None if the account has so many open links of this kind already."""
        link = OneTimeLink(secrets.token_hex(4), kind, account_id, detail, now, now + lives)
        await self._run(transaction, "remove_expired", account_id=account_id, kind=kind, now=now)
        if await self.count(Writable(transaction, account_id), kind, now) >= most:
            return None
        await self._run(transaction, "insert", **asdict(link), link_hash=link_hash)
        return link

    async def count(self, library: Readable, kind: LinkKind, now: int) -> int:
        """The number of links that can still be used."""
        return int((await self._of(library, "count", kind=kind, now=now))[0][0])

    async def sweep(self, transaction: Transaction, before: int, limit: int) -> int:
        """Removes links that expired before a time, used or not."""
        return len(await self._rows(transaction, "remove_some", before=before, limit=limit))

    async def open_link(self, reader: Reader, link_hash: bytes, now: int) -> OneTimeLink | None:
        """None if the link is unknown, used or expired."""
        rows = await self._rows(reader, "by_hash", link_hash=link_hash, now=now)
        return _link(rows[0]) if rows else None

    async def redeem(
        self, transaction: Transaction, link_hash: bytes, now: int, *kinds: LinkKind
    ) -> OneTimeLink | None:
        """Uses a link of one of these kinds. None if it is unknown, used or expired.

        Others who use the same link wait until this transaction ends.
        """
        values = {"link_hash": link_hash, "now": now, "kinds": [str(kind) for kind in kinds]}
        rows = await self._rows(transaction, "redeem", **values)
        return _link(rows[0]) if rows else None

    async def find(self, account_id: int, kind: LinkKind, link_id: str) -> OneTimeLink | None:
        """A link of an account. Used and expired ones are found too, until they are removed."""
        rows = await self._read("by_id", account_id=account_id, kind=kind, link_id=link_id)
        return _link(rows[0]) if rows else None

    async def set_detail(self, transaction: Transaction, link_hash: bytes, detail: str) -> None:
        await self._run(transaction, "set_detail", link_hash=link_hash, detail=detail)

    async def all(
        self, account_id: int, kind: LinkKind, now: int, limit: int
    ) -> Sequence[OneTimeLink]:
        """The links that can still be used, the latest first."""
        values = {"account_id": account_id, "kind": kind, "now": now, "limit": limit}
        return [_link(row) for row in await self._read("list", **values)]

    async def withdraw_all(self, library: Writable, kind: LinkKind) -> None:
        await self._do(library, "withdraw_all", kind=kind)

    async def withdraw(self, library: Writable, kind: LinkKind, link_id: str) -> bool:
        return bool(await self._of(library, "withdraw", kind=kind, link_id=link_id))


def _link(row: Row) -> OneTimeLink:
    link_id, kind, *rest = row
    return OneTimeLink(link_id, LinkKind(kind), *rest)


class SpentAttemptStore(Store):
    resource = "spent_attempts"

    async def spend(self, transaction: Transaction, attempt_hash: bytes, expires_at: int) -> bool:
        """False if the attempt was spent before."""
        values = {"attempt_hash": attempt_hash, "expires_at": expires_at}
        return bool(await self._rows(transaction, "spend", **values))

    async def sweep(self, transaction: Transaction, now: int, limit: int) -> int:
        return len(await self._rows(transaction, "remove_expired", now=now, limit=limit))


_BYTES: Final = 32
_PREVIOUS: Final = " before"


class SecretStore(Store):
    resource = "secrets"

    async def keys(self, name: str, now: int) -> list[bytes]:
        """The signing key; after a rotation also the previous key, which is still valid."""
        current = await self._value(name)
        if current is None:
            current = await self.put_new(name, secrets.token_bytes(_BYTES), now)
        previous = await self._value(name + _PREVIOUS)
        return [current] if previous is None else [current, previous]

    async def put_new(self, name: str, value: bytes, now: int) -> bytes:
        """Stores the value unless the name has one; returns the stored value."""

        async def work(transaction: Transaction) -> bytes:
            await self._run(transaction, "add", name=name, value=value, now=now)
            rows = await self._rows(transaction, "named", name=name)
            return bytes(rows[0][0])

        found = await self._value(name)
        return await self._database.write(work) if found is None else found

    async def rotate(self, name: str, now: int, older_than: int) -> bool:
        """Replaces a key that is older. Signatures with the old key stay valid."""

        async def work(transaction: Transaction) -> bool:
            rows = await self._rows(transaction, "named", name=name)
            if not rows or rows[0][1] >= older_than:
                return False
            for key, value in (
                (name + _PREVIOUS, rows[0][0]),
                (name, secrets.token_bytes(_BYTES)),
            ):
                values = {"name": key, "value": value, "now": now}
                await self._run(transaction, "delete", name=key)
                await self._run(transaction, "add", **values)
            return True

        rows = await self._read("named", name=name)
        is_old = bool(rows) and rows[0][1] < older_than
        return is_old and await self._database.write(work)

    async def delete(self, name: str) -> None:
        await self._write("delete", None, name=name)

    async def _value(self, name: str) -> bytes | None:
        rows = await self._read("named", name=name)
        return bytes(rows[0][0]) if rows else None


class IdentityStore(Store):
    resource = "identities"

    async def insert(self, library: Writable, identity: ProviderIdentity) -> bool:
        """False if the account is gone, or if the identity belongs to an account already."""
        return bool(await self._of(library, "insert", **asdict(identity)))

    async def all(self, account_id: int) -> Sequence[ProviderIdentity]:
        """The oldest first."""
        rows = await self._read("list", account_id=account_id, limit=_LISTED)
        return [ProviderIdentity(*row) for row in rows]

    async def account_of(self, reader: Reader, issuer: str, subject: str) -> int | None:
        rows = await self._rows(reader, "account_of", issuer=issuer, subject=subject)
        return rows[0][0] if rows else None

    async def use(self, library: Writable, identity: ProviderIdentity, used_at: int) -> bool:
        """False if the account does not have the identity any more."""
        return bool(await self._of(library, "use", **asdict(identity), used_at=used_at))

    async def has_issuer(self, library: Readable, issuer: str) -> bool:
        return bool(await self._of(library, "of_issuer", issuer=issuer))

    async def remove(self, library: Writable, identity_id: str) -> str:
        """Returns the issuer of the identity, or '' if there is none."""
        rows = await self._of(library, "remove", identity_id=identity_id)
        return str(rows[0][0]) if rows else ""


class PasskeyStore(Store):
    resource = "passkeys"

    async def insert(self, library: Writable, passkey: Passkey) -> bool:
        """False if the account is gone, or has this passkey already."""
        return bool(await self._of(library, "insert", **asdict(passkey)))

    async def all(self, account_id: int, limit: int) -> Sequence[Passkey]:
        """The oldest first."""
        values = {"account_id": account_id, "limit": limit}
        return [Passkey(*row) for row in await self._read("list", **values)]

    async def by_credential(self, library: Readable, credential_id: bytes) -> Passkey | None:
        rows = await self._of(library, "by_credential", credential_id=credential_id)
        return Passkey(*rows[0]) if rows else None

    async def use(
        self, library: Writable, credential_id: bytes, *, sign_count: int, used_at: int
    ) -> bool:
        """False if the passkey was removed, or if its counter did not grow."""
        values = {"credential_id": credential_id, "sign_count": sign_count, "used_at": used_at}
        return bool(await self._of(library, "use", **values))

    async def rename(self, library: Writable, passkey_id: str, name: str) -> bool:
        return bool(await self._of(library, "rename", passkey_id=passkey_id, name=name))

    async def remove(self, library: Writable, passkey_id: str) -> str:
        """Returns the name of the passkey, or '' if there is none."""
        rows = await self._of(library, "remove", passkey_id=passkey_id)
        return str(rows[0][0]) if rows else ""


class WaysIn(Struct, frozen=True):
    """One-time links do not count: they need the operator or the mailbox."""

    passkeys: int
    providers: int

    @property
    def total(self) -> int:
        return self.passkeys + self.providers


class WaysInStore(Store):
    resource = "ways_in"

    def __init__(self, database: Database, issuers: Collection[str] | None = None) -> None:
        """`issuers` are the providers that are configured. Without them, all providers count."""
        super().__init__(database)
        self._issuers = issuers
        self._libraries = LibraryStore(database)

    async def count(self, library: Readable) -> WaysIn:
        [[passkeys]] = await self._of(library, "passkeys")
        rows = await self._of(library, "issuers")
        usable = [i for (i,) in rows if self._issuers is None or i in self._issuers]
        return WaysIn(passkeys, len(usable))

    async def lock(self, transaction: Transaction, account_id: int) -> WaysIn:
        """Counts the ways in, and locks them until this transaction ends."""
        await self._libraries.lock_if_there(transaction, account_id)
        return await self.count(Writable(transaction, account_id))
