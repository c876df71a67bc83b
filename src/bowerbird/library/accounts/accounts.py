"""Creates, lists, finds, changes and deletes accounts, for the operator.

An account that is deleted is unusable at once: the first transaction removes keys, sessions, links
and the library row. Its other rows are removed in short transactions. Whatever stops that, a worker
finds the account by its missing library row and finishes.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from bowerbird.clock import Clock, month_of
from bowerbird.errors import Code, Refusal, shown
from bowerbird.library.access import activity
from bowerbird.model import jobs
from bowerbird.model.accounts import (
    Account,
    ActivityKind,
    LinkKind,
    Membership,
    Plan,
    Reading,
    RemovedPostsChoice,
    is_address,
)
from bowerbird.model.arrival import checked_files_of
from bowerbird.model.keys import new_account_id
from bowerbird.model.posts import media
from bowerbird.model.words import fold
from bowerbird.storage.accounts.account_removal import AccountRemoval, Losses
from bowerbird.storage.database import Database, Readable, Transaction, Writable
from bowerbird.storage.files import Files
from bowerbird.storage.stores import Service, TimedService

PER_PAGE: Final = 20
MAX_SEARCH: Final = 254
_LATEST: Final = (2**63 - 1, 0)

Progress = Callable[[int, int], None]


_ID: Final = re.compile(r"[0-9]{1,19}", re.ASCII)


class NoAccount(Refusal):
    """No account has the email address."""


class EmailRefused(Refusal):
    """It is not an email address, or another account has it."""


class HalfDeleted(Refusal):
    """The deletion of the account is running, or was interrupted."""


class Accounts(TimedService):
    def __init__(self, database: Database, clock: Clock, default_plan: str = Plan.PRO) -> None:
        super().__init__(database, clock)
        self._default_plan = _plan(default_plan)

    async def create(self, email: str, plan: str | None = None) -> int:
        """Returns the id of the new account."""
        email = checked_email(email)
        plan = self._default_plan if plan is None else _plan(plan)
        membership = Membership(new_account_id(), email, plan, 0, self._clock())
        await self._database.write(
            lambda transaction: self._insert(transaction, membership, fold(email), may_own=True)
        )
        return membership.account_id

    async def create_within(
        self,
        transaction: Transaction,
        email: str,
        *,
        may_own: bool = False,
        account_id: int | None = None,
    ) -> int:
        """Creates an account with the default plan. Without an owner, one that may own becomes it.

        An empty address is allowed: not every provider gives one. A passkey contains the id of
        its account, so a sign-up with a passkey chooses it beforehand.
        """
        email = checked_email(email) if email else ""
        account_id = account_id or new_account_id()
        membership = Membership(account_id, email, self._default_plan, 0, self._clock())
        key = fold(email) if email else _key_without_address(account_id)
        await self._insert(transaction, membership, key, may_own=may_own)
        return account_id

    async def _insert(
        self, transaction: Transaction, membership: Membership, email_key: str, *, may_own: bool
    ) -> None:
        if not await self._stores.accounts.create_within(
            transaction, membership, email_key, may_own=may_own
        ):
            raise EmailRefused(Code.INVALID_REQUEST, f"{membership.email} already has an account.")
        entry = activity.entry(self._clock, ActivityKind.ACCOUNT_CREATED)
        await self._stores.activity.add(Writable(transaction, membership.account_id), entry)

    async def all(self) -> Sequence[Membership]:
        return await self._stores.accounts.all()

    async def page(self, before: tuple[int, int] = _LATEST) -> Sequence[Membership]:
        """The newest first, and one more than a page if there are more."""
        return await self._stores.accounts.page(before, PER_PAGE + 1)

    async def starting_with(self, text: str) -> Sequence[Membership]:
        """Accounts whose address starts with the text, and one more if there are more."""
        return await self._stores.accounts.starting_with(
            fold(text.strip()[:MAX_SEARCH]), PER_PAGE + 1
        )

    async def find(self, email: str) -> Account:
        account_id = await self._id_of(email)
        account = await self._stores.accounts.by_id(account_id, month_of(self._clock()))
        if account is None:
            raise HalfDeleted(Code.NOT_FOUND, f"The account of {email.strip()} is partly deleted.")
        return account

    async def id_with_address(self, email: str) -> int | None:
        """None if no account has the address."""
        return await self._stores.accounts.id_of_email(fold(email))

    async def set_plan(self, email: str, plan: str) -> None:
        account = await self.find(email)
        entry = activity.entry(self._clock, ActivityKind.PLAN_CHANGED, _plan(plan))
        await self._stores.accounts.set_plan(account.account_id, _plan(plan), entry)

    async def set_email(self, email: str, new: str) -> None:
        """Changes the address without asking for a confirmation."""
        account_id = await self._id_of(email)
        await self._transact(
            account_id, lambda library: self.set_email_within(library, new), is_service=True
        )

    async def set_email_within(self, library: Writable, new: str) -> None:
        new = checked_email(new)
        if not await self._stores.accounts.set_email(library, new, fold(new)):
            raise EmailRefused(Code.INVALID_REQUEST, f"{new} already has an account.")
        # They may have been sent to the former address.
        await self._stores.one_time_links.withdraw_all(library, LinkKind.ACCOUNT)
        entry = activity.entry(self._clock, ActivityKind.EMAIL_CHANGED, new)
        await self._stores.activity.add(library, entry)

    async def set_owner(self, email: str) -> None:
        """Ends the sessions of the new owner: none from before may operate the service."""
        account_id = (await self.find(email)).account_id
        entry = activity.entry(self._clock, ActivityKind.OWNER_CHANGED)

        async def work(library: Writable) -> None:
            if await self._stores.accounts.owner(library.transaction) == account_id:
                return
            await self._stores.accounts.set_owner(library)
            await self._stores.sessions.end_all(library)
            await self._stores.activity.add(library, entry)

        await self._transact(account_id, work, is_service=True)

    async def removed_posts(self, account_id: int) -> RemovedPostsChoice:
        return await self._stores.accounts.removed_posts(self._library(account_id))

    async def set_removed_posts(self, email: str, choice: str) -> None:
        """What happens from now on to posts that are removed at their source."""
        account = await self.find(email)
        await self._stores.accounts.set_removed_posts(
            account.account_id, RemovedPostsChoice(choice)
        )

    async def set_reading(self, account_id: int, reading: Reading) -> None:
        await self._stores.accounts.set_reading(account_id, reading)

    async def delete(
        self, email: str, files: Files, progress: Progress = lambda _done, _total: None
    ) -> int:
        """Removes all data; returns the number of bookmarks. If interrupted, call it again."""
        account_id = await self._id_of(email)
        return await AccountDeletion(self._database).complete(account_id, files, progress)

    async def _id_of(self, name: str) -> int:
        """`name` is an email address or an account id: not every account has an address."""
        name = name.strip()
        if _ID.fullmatch(name):
            if int(name) < 2**63 and await self._stores.accounts.has_person(int(name)):
                return int(name)
            raise NoAccount(Code.NOT_FOUND, f"No account has the id {shown(name)}.")
        # Accounts may have addresses that a new one cannot have.
        found = await self.id_with_address(name) if name.isprintable() else None
        if found is None:
            sentence = f"No account has the address {shown(checked_email(name))}."
            raise NoAccount(Code.NOT_FOUND, sentence)
        return found


def _key_without_address(account_id: int) -> str:
    # No address is without an @ sign.
    return f"account {account_id}"


def checked_email(email: str) -> str:
    """The address without spaces around it. Raises a refusal if it is not an address."""
    email = email.strip()
    if not is_address(email):
        raise EmailRefused(
            Code.INVALID_REQUEST, f"Invalid email address {shown(email)}. Example: you@example.com."
        )
    return email


def _plan(name: str) -> Plan:
    try:
        return Plan(name)
    except ValueError:
        plans = " or ".join(Plan)
        raise Refusal(Code.INVALID_REQUEST, f"Unknown plan {shown(name)}. Use {plans}.") from None


# Keeps a transaction below 20 ms, so that the writes of a running server do not wait.
# A post may have a long article and a hundred labels.
_ROWS_PER_TRANSACTION: Final = 50
_AT_ONCE: Final = 100


class OwnerStays(Refusal):
    """The owner cannot leave others without an owner."""


class AccountDeletion(Service):
    async def start(self, account_id: int) -> None:
        """Makes the account unusable; a worker removes the rest."""
        removal = AccountRemoval(self._database, account_id)

        async def work(transaction: Transaction) -> None:
            await self.require_replaceable(transaction, account_id)
            await removal.hide_within(transaction)

        await self._database.write(work)

    async def require_replaceable(self, reader: Transaction | Database, account_id: int) -> None:
        """Refuses to delete the owner while there are other accounts."""
        is_owner = await self._stores.accounts.owner(reader) == account_id
        if is_owner and await self._stores.accounts.has_others(Readable(reader, account_id)):
            raise OwnerStays(
                Code.INVALID_REQUEST,
                "You are the owner of this service, and other people have accounts. Make one of "
                "them the owner first, with: bowerbird account owner EMAIL",
            )

    async def obstacle(self, account_id: int) -> str:
        """Why the account cannot be deleted now, as a sentence; otherwise ""."""
        try:
            await self.require_replaceable(self._database, account_id)
        except OwnerStays as refused:
            return refused.sentence
        return ""

    async def losses(self, account_id: int) -> Losses:
        return await AccountRemoval(self._database, account_id).losses()

    async def complete(
        self, account_id: int, files: Files, progress: Progress = lambda _done, _total: None
    ) -> int:
        """Removes all data; returns the number of bookmarks. If interrupted, call it again."""
        removal = AccountRemoval(self._database, account_id)
        await removal.hide()
        done, total = 0, await removal.count()
        while removed := await removal.remove_bookmarks(_ROWS_PER_TRANSACTION):
            done += removed
            progress(done, total)
        while await removal.remove_other_rows(_ROWS_PER_TRANSACTION):
            pass
        await files.delete_under(jobs.folder_of(account_id))
        await files.delete_under(media.folder_of(account_id))
        await files.delete_under(checked_files_of(account_id))
        files.scratch.delete_of_account(account_id)
        await removal.finish()
        await removal.start_index_merge()
        while await removal.continue_index_merge():
            pass
        await removal.end()
        return done

    async def complete_all(self, files: Files) -> None:
        for account_id in await self._stores.accounts.partly_deleted(_AT_ONCE):
            removed = await self.complete(account_id, files)
            structlog.get_logger().info("account deleted", account=account_id, bookmarks=removed)
