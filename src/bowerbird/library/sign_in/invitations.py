"""Invitations: links with which somebody creates an account, once."""

import secrets
from collections.abc import Sequence
from typing import Final

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access.activity import Activity
from bowerbird.model.accounts import ActivityKind
from bowerbird.model.keys import is_link_token, new_link_token, token_hash
from bowerbird.model.sign_in import LinkKind, OneTimeLink
from bowerbird.requests.limits import INVITATION_NOTE_MAX, INVITATIONS_MAX
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.sign_in.one_time_links import OneTimeLinkStore

DAYS: Final = 7
_NO_ACCOUNT: Final = 0
_DAY: Final = 86_400 * MICROSECONDS


class InvitationRefused(Refusal):
    """Used, expired, withdrawn or never made. The sentence does not say which."""


class Invitations:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._store = OneTimeLinkStore(database)
        self._people = AccountStore(database)
        self._activity = Activity(database, clock)
        self._clock = clock

    async def create(self, detail: str = "", days: int = DAYS) -> str:
        """Returns the token of the link. `detail` is a note about who is invited."""
        detail, now, token = _checked(detail), self._clock(), new_link_token()
        link = OneTimeLink(
            secrets.token_hex(4), LinkKind.INVITATION, _NO_ACCOUNT, detail, now, now + days * _DAY
        )
        entry = self._activity.entry(ActivityKind.INVITATION_CREATED, detail)

        async def work(transaction: Transaction) -> None:
            if not await self._store.insert(transaction, token_hash(token), link, INVITATIONS_MAX):
                raise Refusal(
                    Code.INVALID_REQUEST,
                    f"{INVITATIONS_MAX} invitations are open already. Withdraw one first.",
                )
            owner = await self._people.owner(transaction)
            if owner is not None:
                await self._activity.add(transaction, owner, entry)

        await self._database.write(work)
        return token

    async def all(self) -> Sequence[OneTimeLink]:
        """The open ones, the latest first."""
        return await self._store.all(
            _NO_ACCOUNT, LinkKind.INVITATION, self._clock(), INVITATIONS_MAX
        )

    async def withdraw(self, link_id: str) -> None:
        async def work(transaction: Transaction) -> None:
            if not await self._store.withdraw(
                transaction, _NO_ACCOUNT, LinkKind.INVITATION, link_id
            ):
                raise Refusal(Code.NOT_FOUND, "This invitation was used or withdrawn already.")

        await self._database.write(work)

    async def is_open(self, token: str) -> bool:
        """Whether the token is that of an invitation that can be used."""
        if not is_link_token(token):
            return False
        link = await self._store.open_link(self._database, token_hash(token), self._clock())
        return link is not None and link.kind is LinkKind.INVITATION

    async def use(self, transaction: Transaction, token: str) -> None:
        """Uses an invitation in the transaction that creates the account."""
        now, link_hash = self._clock(), token_hash(token)
        link = await self._store.open_link(transaction, link_hash, now)
        is_invitation = link is not None and link.kind is LinkKind.INVITATION
        if not is_invitation or not await self._store.use(transaction, link_hash, now):
            raise refused()


def refused() -> InvitationRefused:
    return InvitationRefused(
        Code.NOT_FOUND,
        "This invitation was used already, was withdrawn, or has expired. "
        "Ask the operator for another one.",
    )


def _checked(detail: str) -> str:
    detail = detail.strip()
    if len(detail) > INVITATION_NOTE_MAX or not detail.isprintable():
        raise Refusal(
            Code.INVALID_REQUEST,
            f"The note has at most {INVITATION_NOTE_MAX} printable characters.",
        )
    return detail
