"""One-time links: they sign in the owner or the holder of an account.

A link works once and for a short time, because it is all that one needs to sign in. The token is
in the fragment of the URL, which browsers do not send, and only its hash is stored.

Invitations: links with which somebody creates an account, once.
"""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock, day_of
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import activity
from bowerbird.library.accounts.accounts import Accounts, EmailRefused, checked_email
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.model.accounts import ActivityKind, LinkKind, OneTimeLink, Where
from bowerbird.model.keys import is_link_token, new_link_token, token_hash
from bowerbird.requests.limits import INVITATION_NOTE_MAX, INVITATIONS_MAX
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.libraries import SIGN_IN_LINKS, DailyUseStore
from bowerbird.storage.sign_in import WaysInStore
from bowerbird.storage.stores import TimedService

MINUTES: Final = 15
METHOD: Final = "link"
LINKS_MAX: Final = 20
# Anybody may ask for a link that is sent by email. Few are open, so that there is room for those
# from the command line, and a day has few, because each is an email.
MAILED_OPEN_MAX: Final = 3
MAILED_PER_DAY: Final = 20
_NO_ACCOUNT: Final = 0
_SIGNING_IN: Final = (LinkKind.OWNER, LinkKind.ACCOUNT)


class LinkRefused(Refusal):
    """The link was used, has expired, or was never made. The sentence does not say which."""


class EmailNeeded(Refusal):
    """The link creates the owner's account, which needs an email address."""


class Entered(Struct, frozen=True):
    """A person has signed in."""

    account_id: int
    # For the cookie.
    session_token: str
    is_new_account: bool = False


class OneTimeLinks(TimedService):
    def __init__(
        self, database: Database, accounts: Accounts, sessions: Sessions, clock: Clock
    ) -> None:
        super().__init__(database, clock)
        self._accounts = accounts
        self._sessions = sessions
        self._mailed = DailyUseStore(database, SIGN_IN_LINKS)

    async def create_for_owner(self) -> str:
        """Returns the token of a link for the owner, who may not have an account yet."""
        return await self._create(LinkKind.OWNER, _NO_ACCOUNT)

    async def has_owner_entered(self, issuers: Collection[str] = ()) -> bool:
        """Whether the owner is signed in somewhere, or can sign in without a link.

        `issuers` are the configured providers: only they count as a way to sign in.
        """
        owner = await self._stores.accounts.owner(self._database)
        if owner is None:
            return False
        if await self._sessions.all(owner):
            return True
        ways_in = await WaysInStore(self._database, issuers).count(self._library(owner))
        return ways_in.total > 0

    async def create_for(self, account_id: int) -> str:
        return await self._create(LinkKind.ACCOUNT, account_id)

    async def create_to_mail(self, account_id: int) -> str:
        """Returns the token of a link that is sent to the address of the account."""
        return await self._create(LinkKind.ACCOUNT, account_id, is_mailed=True)

    async def withdraw(self, token: str) -> None:
        """Ends a link that nobody got."""
        link_hash = token_hash(token)
        await self._database.write(
            lambda t: self._stores.one_time_links.redeem(t, link_hash, self._clock(), *_SIGNING_IN)
        )

    async def _create(self, kind: LinkKind, account_id: int, *, is_mailed: bool = False) -> str:
        now, token = self._clock(), new_link_token()
        entry = activity.entry(self._clock, ActivityKind.LINK_CREATED, "email" if is_mailed else "")
        most = MAILED_OPEN_MAX if is_mailed else LINKS_MAX

        async def work(transaction: Transaction) -> None:
            if kind is LinkKind.OWNER:
                await self._make_room(transaction, now)
            if is_mailed:
                await self._count_mailed(transaction, account_id, now)
            if not await self._stores.one_time_links.create(
                *(transaction, token_hash(token), kind, account_id),
                now=now,
                lives=MINUTES * 60 * MICROSECONDS,
                most=most,
            ):
                raise Refusal(
                    Code.INVALID_REQUEST,
                    f"{most} links are open already. They expire after {MINUTES} minutes.",
                )
            holder = account_id or await self._stores.accounts.owner(transaction)
            if holder is not None:
                await self._stores.activity.add(Writable(transaction, holder), entry)

        await self._database.write(work, account_id if is_mailed else None)
        return token

    async def _count_mailed(self, transaction: Transaction, account_id: int, now: int) -> None:
        """The lock makes others who ask for the account wait, so that both bounds are exact."""
        library = await self._stores.libraries.lock(transaction, account_id)
        used = await self._mailed.add(library, day_of(now), uses=1)
        if used.uses > MAILED_PER_DAY:
            raise Refusal(
                Code.RATE_LIMITED, f"{MAILED_PER_DAY} links were sent to the account today (UTC)."
            )

    async def _make_room(self, transaction: Transaction, now: int) -> None:
        """A server that starts again and again must start, so its earlier links end instead."""
        nobody, links = Writable(transaction, _NO_ACCOUNT), self._stores.one_time_links
        if await links.count(nobody, LinkKind.OWNER, now) >= LINKS_MAX:
            await links.withdraw_all(nobody, LinkKind.OWNER)

    async def redeem(self, token: str, where: Where, email: str = "") -> Entered:
        """Signs in the account of the link. A link can be used once.

        `email` is for the owner's new account, and is ignored otherwise.
        """
        if not is_link_token(token):
            raise link_refused()
        entry = activity.entry(self._clock, ActivityKind.SIGNED_IN, METHOD)

        async def work(transaction: Transaction) -> Entered:
            now, link_hash = self._clock(), token_hash(token)
            link = await self._stores.one_time_links.redeem(
                transaction, link_hash, now, *_SIGNING_IN
            )
            if link is None:
                raise link_refused()
            account_id, is_new = await self._account_of(transaction, link, email)
            library = Writable(transaction, account_id)
            session = await self._sessions.start(library, METHOD, where)
            await self._stores.activity.add(library, entry)
            return Entered(account_id, session, is_new)

        return await self._database.write(work)

    async def _account_of(
        self, transaction: Transaction, link: OneTimeLink, email: str
    ) -> tuple[int, bool]:
        if link.kind is LinkKind.ACCOUNT:
            return link.account_id, False
        owner = await self._stores.accounts.owner(transaction)
        if owner is not None:
            return owner, False
        if not email.strip():
            raise EmailNeeded(Code.INVALID_REQUEST, "Enter your email address.")
        email = checked_email(email)
        try:
            account_id = await self._accounts.create_within(transaction, email, may_own=True)
        except EmailRefused as taken:
            raise EmailRefused(
                Code.INVALID_REQUEST,
                f"{taken.sentence} To make it the owner's, run: bowerbird account owner {email}",
            ) from None
        if await self._stores.accounts.owner(transaction) != account_id:
            raise EmailRefused(
                Code.INVALID_REQUEST, "Another link has made an owner just now. Try again."
            )
        return account_id, True


def link_refused() -> LinkRefused:
    """The one refusal for every link that does not work."""
    return LinkRefused(
        Code.NOT_FOUND, "This link was used already, or has expired. Make a new one."
    )


DAYS: Final = 7
_DAY: Final = 86_400 * MICROSECONDS


class InvitationRefused(Refusal):
    """Used, expired, withdrawn or never made. The sentence does not say which."""


class Invitations(TimedService):
    async def create(self, detail: str = "", days: int = DAYS) -> str:
        """Returns the token of the link. `detail` is a note about who is invited."""
        detail, token = _checked(detail), new_link_token()
        entry = activity.entry(self._clock, ActivityKind.INVITATION_CREATED, detail)

        async def work(transaction: Transaction) -> None:
            if not await self._stores.one_time_links.create(
                *(transaction, token_hash(token), LinkKind.INVITATION, _NO_ACCOUNT, detail),
                now=self._clock(),
                lives=days * _DAY,
                most=INVITATIONS_MAX,
            ):
                raise Refusal(
                    Code.INVALID_REQUEST,
                    f"{INVITATIONS_MAX} invitations are open already. Withdraw one first.",
                )
            owner = await self._stores.accounts.owner(transaction)
            if owner is not None:
                await self._stores.activity.add(Writable(transaction, owner), entry)

        await self._database.write(work)
        return token

    async def all(self) -> Sequence[OneTimeLink]:
        """The open ones, the latest first."""
        return await self._stores.one_time_links.all(
            _NO_ACCOUNT, LinkKind.INVITATION, self._clock(), INVITATIONS_MAX
        )

    async def withdraw(self, link_id: str) -> None:
        async def work(library: Writable) -> None:
            if not await self._stores.one_time_links.withdraw(
                library, LinkKind.INVITATION, link_id
            ):
                raise Refusal(Code.NOT_FOUND, "This invitation was used or withdrawn already.")

        await self._transact(_NO_ACCOUNT, work, is_service=True)

    async def is_open(self, token: str) -> bool:
        """Whether the token is that of an invitation that can be used."""
        if not is_link_token(token):
            return False
        link = await self._stores.one_time_links.open_link(
            self._database, token_hash(token), self._clock()
        )
        return link is not None and link.kind is LinkKind.INVITATION

    async def use(self, transaction: Transaction, token: str) -> None:
        """Uses an invitation in the transaction that creates the account."""
        now, link_hash = self._clock(), token_hash(token)
        if not await self._stores.one_time_links.redeem(
            transaction, link_hash, now, LinkKind.INVITATION
        ):
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
