"""Writes of a library, and how large one transaction is.

SQLite has one writer for all accounts, and on PostgreSQL a transaction locks its library. So no
transaction takes longer than 150 ms of CPU. What a request names is changed in one transaction. A
larger change is a job that takes turns, each one transaction (`library/bulk`).
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Concatenate, Final, ParamSpec, TypeVar

from bowerbird.errors import Code, Refusal
from bowerbird.model.accounts import Account
from bowerbird.storage.database import Database, Transaction

T = TypeVar("T")
Given = ParamSpec("Given")

POSTS_PER_TURN: Final = 200
# Changing the labels of a post writes its stored JSON again, which can be a long article.
BYTES_PER_TURN: Final = 2 << 20


class DoFirst(Exception):  # noqa: N818 - named for what it asks for
    """Raised in a transaction that needs something else to be done before it.

    The transaction is rolled back, `work` is done outside of it, and the transaction runs again.
    So slow reads and other transactions delay nobody, and the caller needs no second part.
    """

    def __init__(self, work: Callable[[], Awaitable[object]]) -> None:
        super().__init__()
        self.work = work


async def run(
    database: Database,
    work: Callable[[Transaction], Awaitable[T]],
    account_id: int | None = None,
    *,
    is_continuing: bool = False,
) -> T:
    """Does the work in a transaction, and first what it asks for.

    `is_continuing`: a part of it was made before, so it is not refused because too many wait.
    """
    while True:
        try:
            return await database.write(work, account_id, is_continuing=is_continuing)
        except DoFirst as first:
            try:
                await first.work()
            except Refusal as refused:
                raise _made_in_part(refused) from refused
        except Refusal as refused:
            if not is_continuing:
                raise
            raise _made_in_part(refused) from refused
        is_continuing = True


async def change(
    database: Database,
    account: Account,
    work: Callable[Concatenate[Transaction, Account, Given], Awaitable[T]],
    *given: Given.args,
    **more: Given.kwargs,
) -> T:
    """One change of an account in a transaction of its own, for people and commands."""
    return await run(database, lambda t: work(t, account, *given, **more), account.account_id)


def _made_in_part(refused: Refusal) -> Refusal:
    """The database says that nothing was changed, which may not be true of what was done first."""
    if refused.code is not Code.SERVICE_UNAVAILABLE:
        return refused
    sentence = (
        "The database became unavailable before the whole change was made; repeat the request to "
        "make the rest."
    )
    return Refusal(refused.code, sentence, refused.headers)


def fitting(
    sizes: Iterable[int], most: int = POSTS_PER_TURN, most_bytes: int = BYTES_PER_TURN
) -> int:
    """How many of these posts fit into one turn, in this order; at least one."""
    count, total = 0, 0
    for size in sizes:
        total += size
        if count and (total > most_bytes or count == most):
            break
        count += 1
    return count
