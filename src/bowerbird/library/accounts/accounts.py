"""Creates, lists, changes and deletes accounts, for the operator."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from bowerbird.clock import Clock, month_of
from bowerbird.errors import Code, Refusal, shown
from bowerbird.model.accounts import Account, Membership, Plan
from bowerbird.model.exports import folder_of
from bowerbird.model.folding import fold
from bowerbird.model.keys import new_account_id
from bowerbird.storage.accounts.account_removal import AccountRemoval
from bowerbird.storage.accounts.accounts import AccountStore
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.files.files import Files

# Deliberately loose: a strict pattern would reject valid addresses.
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s.][^@\s]*")
_MAX_EMAIL_LENGTH: Final = 254
# Keeps a transaction below 20 ms, so that the writes of a running server do not wait.
# A post may have a long article and a hundred labels.
_ROWS_PER_TRANSACTION: Final = 50

Progress = Callable[[int, int], None]


class NoAccount(Refusal):
    """No account has the email address."""


class EmailRefused(Refusal):
    """It is not an email address, or another account has it."""


class HalfDeleted(Refusal):
    """The deletion of the account is running, or was interrupted."""


class Accounts:
    def __init__(self, database: Database, clock: Clock, default_plan: str = Plan.PRO) -> None:
        self._database = database
        self._store = AccountStore(database)
        self._clock = clock
        self._default_plan = _plan(default_plan)

    async def create(self, email: str, plan: str | None = None) -> int:
        """Returns the id of the new account."""
        email = _checked(email)
        plan = self._default_plan if plan is None else _plan(plan)
        membership = Membership(new_account_id(), email, plan, 0, self._clock())
        if not await self._store.create(membership, fold(email)):
            raise EmailRefused(Code.INVALID_REQUEST, f"{email} already has an account.")
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
        email = _checked(email) if email else ""
        account_id = account_id or new_account_id()
        membership = Membership(account_id, email, self._default_plan, 0, self._clock())
        key = fold(email) if email else _key_without_address(account_id)
        if not await self._store.create_within(transaction, membership, key, may_own=may_own):
            raise EmailRefused(Code.INVALID_REQUEST, f"{email} already has an account.")
        return account_id

    async def all(self) -> Sequence[Membership]:
        return await self._store.all()

    async def find(self, email: str) -> Account:
        account_id = await self._id_of(email)
        account = await self._store.by_id(account_id, month_of(self._clock()))
        if account is None:
            raise HalfDeleted(Code.NOT_FOUND, f"The account of {email.strip()} is partly deleted.")
        return account

    async def set_plan(self, email: str, plan: str) -> None:
        account = await self.find(email)
        await self._store.set_plan(account.account_id, _plan(plan))

    async def set_owner(self, email: str) -> None:
        account = await self.find(email)
        await self._store.set_owner(account.account_id)

    async def delete(
        self, email: str, files: Files, progress: Progress = lambda _done, _total: None
    ) -> int:
        """Removes all data; returns the number of bookmarks. If interrupted, call it again."""
        account_id = await self._id_of(email)
        removal = AccountRemoval(self._database, account_id)
        await removal.hide()
        done, total = 0, await removal.count()
        while removed := await removal.remove_bookmarks(_ROWS_PER_TRANSACTION):
            done += removed
            progress(done, total)
        while await removal.remove_other_rows(_ROWS_PER_TRANSACTION):
            pass
        await files.delete_under(folder_of(account_id))
        files.scratch.delete_of_account(account_id)
        await removal.finish()
        await removal.start_index_merge()
        while await removal.continue_index_merge():
            pass
        return done

    async def _id_of(self, email: str) -> int:
        account_id = await self._store.id_of_email(fold(_checked(email)))
        if account_id is None:
            raise NoAccount(Code.NOT_FOUND, f"No account has the address {shown(email.strip())}.")
        return account_id


def _key_without_address(account_id: int) -> str:
    # No address is without an @ sign.
    return f"account {account_id}"


def _checked(email: str) -> str:
    email = email.strip()
    if len(email) > _MAX_EMAIL_LENGTH or not email.isprintable() or not _EMAIL.fullmatch(email):
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
