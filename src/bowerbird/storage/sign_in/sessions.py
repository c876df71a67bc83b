"""Reads and writes sessions of browsers. Only the hash of a session's cookie is stored."""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import asdict

from bowerbird.clock import MICROSECONDS
from bowerbird.model.accounts import ABSOLUTE_DAYS, IDLE_DAYS, Account, Reading, Session, SignedIn
from bowerbird.model.digests import NO_ZONE
from bowerbird.storage.database import Store, Transaction

_ACCOUNT_COLUMNS = len(Account.__struct_fields__)
_LISTED = 100
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

    async def insert(
        self, transaction: Transaction, account_id: int, session_hash: bytes, session: Session
    ) -> bool:
        """False if the account is gone."""
        values = {**asdict(session), "account_id": account_id, "session_hash": session_hash}
        return bool(await self._rows(transaction, "insert", **values))

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

    async def end(self, transaction: Transaction, account_id: int, session_id: str) -> str | None:
        """Returns the browser of the session, or None if there is no such session."""
        rows = await self._rows(transaction, "end", account_id=account_id, session_id=session_id)
        return str(rows[0][0]) if rows else None

    async def end_all(self, transaction: Transaction, account_id: int) -> int:
        # No session has this id.
        return await self.end_others(transaction, account_id, "")

    async def end_others(self, transaction: Transaction, account_id: int, session_id: str) -> int:
        values = {"account_id": account_id, "session_id": session_id}
        return len(await self._rows(transaction, "end_others", **values))

    async def make_room(
        self, transaction: Transaction, account_id: int, alive: Alive, most: int
    ) -> None:
        """Ends expired sessions, and the least recently used ones beyond `most`."""
        await self.sweep(transaction, account_id, alive)
        await self._rows(transaction, "end_beyond", account_id=account_id, most=most)

    async def sweep(self, transaction: Transaction, account_id: int, alive: Alive) -> int:
        """Removes expired sessions."""
        values = {"account_id": account_id, **asdict(alive)}
        return len(await self._rows(transaction, "end_expired", **values))

    async def replace_token(
        self, transaction: Transaction, account_id: int, new_hash: bytes, session: Session
    ) -> bool:
        """Gives the session another cookie, and stores when and how the person proved it."""
        values = {**asdict(session), "account_id": account_id, "new_hash": new_hash}
        return bool(await self._rows(transaction, "replace_token", **values))

    async def put_uses(self, uses: Mapping[tuple[int, str], int]) -> None:
        """Takes (account, session) -> time of the last use."""
        rows = [
            {"account_id": account_id, "session_id": session_id, "last_used_at": at}
            for (account_id, session_id), at in sorted(uses.items())
        ]
        await self._database.write(
            lambda transaction: transaction.run_many(self._sql["note_use"], rows)
        )
