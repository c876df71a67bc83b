"""Edits of many posts, done in turns: each turn is one short transaction.

SQLite has one writer for all accounts, and on PostgreSQL a transaction locks its library. A turn
is so small that nobody waits long for it: it takes about 20 ms, and never more than 50 ms. After
each turn the library is consistent, so an edit that is interrupted can be repeated.

Only the first turn can be refused because too many changes wait. The others wait as long as it
takes, so that a busy database leaves no edit half made.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.storage.database import Database, Transaction

T = TypeVar("T")
R = TypeVar("R")

POSTS_PER_TURN: Final = 200
# Of the posts that a request names, if no other account writes: each turn has costs of its own.
POSTS_ALONE: Final = 1_000
# Changing the labels of a post writes its stored JSON again, which can be a long article.
BYTES_PER_TURN: Final = 2 << 20
# Machines differ, and counts of posts do not bound the time on all of them.
TURN_US: Final = 30_000


@dataclass(frozen=True, slots=True)
class Unfinished(Generic[T]):
    """The result of a turn that leaves work for another one."""

    rest: Callable[[Transaction], Awaitable["T | Unfinished[T]"]]
    # Awaited before the next turn, for reads that would delay other writers in a transaction.
    before: Callable[[], Awaitable[None]] | None = None


async def run(
    database: Database,
    work: Callable[[Transaction], Awaitable[T | Unfinished[T]]],
    account_id: int | None = None,
) -> T:
    """Takes as many turns as the work needs. Other writers come in between."""
    step = await database.write(work, account_id)
    while isinstance(step, Unfinished):
        try:
            if step.before is not None:
                await step.before()
            step = await database.write(step.rest, account_id, is_continuing=True)
        except Refusal as refused:
            raise _made_in_part(refused) from refused
    return step


def _made_in_part(refused: Refusal) -> Refusal:
    """The database says that the change was not made, which is true only of the last turn."""
    if refused.code is not Code.SERVICE_UNAVAILABLE:
        return refused
    sentence = (
        "Only a part of the change was made before the database became unavailable; repeat the "
        "request to make the rest."
    )
    return Refusal(refused.code, sentence, refused.headers)


def then(step: T | Unfinished[T], convert: Callable[[T], R]) -> R | Unfinished[R]:
    """Converts the result of a step, or of its last turn if it is unfinished."""
    if not isinstance(step, Unfinished):
        return convert(step)

    async def rest(transaction: Transaction) -> R | Unfinished[R]:
        return then(await step.rest(transaction), convert)

    return Unfinished(rest, step.before)


def posts_per_turn(transaction: Transaction) -> int:
    """For a request that names its posts."""
    return POSTS_ALONE if transaction.is_alone else POSTS_PER_TURN


class TurnTime:
    """Ends a turn by the clock as well. It starts with the turn."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started = self._begun = clock()

    def begin(self) -> None:
        """Call it once all posts of the turn are read: the others need not be read again."""
        self._begun = self._clock()

    def more(self, done: int) -> int:
        """How many more posts fit into the turn, if they take as long as those that are done."""
        now = self._clock()
        took = now - self._begun
        if took <= 0:
            # The clock was set back. The count bounds the turn too.
            return POSTS_ALONE
        return max((TURN_US - (now - self._started)) * done // took, 0)


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
