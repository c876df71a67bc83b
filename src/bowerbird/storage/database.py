"""The interface between the stores and either database.

Methods are coroutines on both. SQLite's never wait inside a transaction, so the same code can
write on SQLite's writer thread and on a PostgreSQL connection.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ClassVar, Final, ParamSpec, Protocol, TypeVar

from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.model.words import Match, WordQuery
from bowerbird.storage.queries import Queries

Given = ParamSpec("Given")
T = TypeVar("T")
S = TypeVar("S", bound=Struct)
Running = Coroutine[Any, Any, T]


Attributes = Mapping[str, str | int]
"""What is recorded of a call: names and numbers of ours."""


class Observer(Protocol):
    def __call__(
        self,
        result: Awaitable[T],
        *,
        sql: str = "",
        name: str = "",
        attributes: Attributes | None = None,
    ) -> Running[T]:
        """Awaits the result of a statement, or of something with a name, and returns it."""


# Runs around each statement and transaction, such as the traces of a request. It belongs to the
# context of the caller. Without one, a call costs one look-up more.
OBSERVER: Final[ContextVar[Observer | None]] = ContextVar("observer", default=None)


def observed(
    name: str = "",
    attributes: Callable[..., Attributes] | None = None,
) -> Callable[[Callable[Given, Running[T]]], Callable[Given, Running[T]]]:
    """Without a name: for a method whose first argument is SQL, given by its place.

    `attributes` says what is recorded of a call that is not one of the database.
    """

    def decorated(method: Callable[Given, Running[T]]) -> Callable[Given, Running[T]]:
        @wraps(method)
        def call(*args: Given.args, **given: Given.kwargs) -> Running[T]:
            observe = OBSERVER.get()
            result = method(*args, **given)
            if observe is None:
                return result
            if attributes is not None:
                return observe(result, name=name, attributes=attributes(*args, **given))
            return observe(result, name=name) if name else observe(result, sql=str(args[1]))

        return call

    return decorated


# SQLite's integer key of a bookmark's content and words has the account in its high bits and the
# number below: SQLite finds it in half the time of a composite key. PostgreSQL does not need it.
_NUMBER_BITS: Final = 40
LAST_NUMBER: Final = (1 << _NUMBER_BITS) - 1


def place_of(local_number: int) -> int:
    """The account's part of the key. The number of a bookmark is added to it."""
    return local_number << _NUMBER_BITS


def place_values(account: Account) -> dict[str, int]:
    """The account, and its part of the keys, as the values of a statement."""
    place = place_of(account.local_number)
    return {
        "account_id": account.account_id,
        "place": place,
        "place_from": place,
        "place_end": place + LAST_NUMBER,
    }


Row = Sequence[Any]
Values = Mapping[str, Any]
"""The value of a parameter may be a list of numbers or texts."""


class LockTimeoutError(Exception):
    """A statement waited too long for a lock that another transaction holds."""


class Reader(Protocol):
    """A database, which reads committed rows, or a transaction, which also reads its own."""

    async def rows(self, sql: str, values: Values) -> Sequence[Row]: ...


class Transaction(Reader, Protocol):
    """Statements that commit together or not at all."""

    async def run(self, sql: str, values: Values) -> None: ...

    async def run_many(self, sql: str, values: Sequence[Values]) -> None: ...

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        """Undoes the statements inside it if an exception leaves it."""


class Readable(Struct):
    """A library, and the transaction or the database that reads it."""

    transaction: Reader
    account_id: int

    @property
    def values(self) -> dict[str, Any]:
        """Those that every statement about it has."""
        return {"account_id": self.account_id}


class Writable(Readable):
    """A library inside of a transaction, which need not have locked it."""

    transaction: Transaction


class WordRead(Struct, frozen=True):
    """A statement that searches words, and which of its values are queries for the word index."""

    sql: str
    values: Values
    account: Account
    queries: Sequence[str]
    # The statement that is faster if many posts match `wanted`, if there is one.
    of_many: str = ""


class Lists(Protocol):
    """Reads outside of transactions."""

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        """For bounded reads: keys, pages along an index, counters."""

    async def slow_rows(self, sql: str, values: Values) -> Sequence[Row]:
        """For reads that may take over 5 ms; they do not delay other requests.

        Accounts take turns: the read belongs to the account that `values` names as `account_id`,
        or to the service itself if it names none.
        """

    async def word_rows(self, read: WordRead) -> Sequence[Row]:
        """For slow reads that search the words of an account's posts."""


class Database(Lists, Protocol):
    def queries(self, resource: str) -> Queries:
        """The named statements of a resource, in this database's dialect where they differ."""

    def generation(self) -> int | None:
        """Changes with every commit of any process; None if that is unknown."""

    def match(self, query: WordQuery) -> Match:
        """A keyword query in the syntax of this database's full-text engine."""

    def counting(self, words: Sequence[str]) -> str:
        """A query for posts with any of the words, in which their occurrences are counted."""

    def stored_words(self, index_text: str) -> str:
        """A post's tokens as this database's full-text engine expects them."""

    async def computed(self, work: Callable[[], T]) -> T:
        """The result of long work in a transaction, which must not delay other requests."""

    def lists(self, account: Account) -> Lists:
        """Reads the lists, counts and searches of an account, perhaps on a replica.

        They see at least the changes that `account` has seen.
        """

    async def write(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        account_id: int | None = None,
        *,
        is_continuing: bool = False,
    ) -> T:
        """Runs `work` in one transaction; returns when the commit is on disk.

        Accounts take turns, and how many writes of an account wait is bounded. A write without an
        account belongs to the service itself.

        A write that continues another one goes first among those of its account, and waits as long
        as it takes: a request has at most one of them.
        """

    async def require_ready(self) -> None:
        """Raises a refusal if the database is unreachable or its schema does not fit."""

    async def close(self) -> None: ...


def record(kind: type[S], row: Sequence[Any]) -> S:
    """A row whose columns are in the order of the fields."""
    return kind(**dict(zip(kind.__struct_fields__, row, strict=True)))


class Store:
    """Runs the statements of a resource by their names, with their values as arguments."""

    resource: ClassVar[str]

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries(self.resource)

    def _read(self, name: str, /, **values: Any) -> Running[Sequence[Row]]:
        return self._database.rows(self._sql[name], values)

    def _read_slowly(self, name: str, /, **values: Any) -> Running[Sequence[Row]]:
        return self._database.slow_rows(self._sql[name], values)

    def _of(self, library: Readable, name: str, /, **values: Any) -> Running[Sequence[Row]]:
        return library.transaction.rows(self._sql[name], library.values | values)

    def _do(self, library: Writable, name: str, /, **values: Any) -> Running[None]:
        return library.transaction.run(self._sql[name], library.values | values)

    def _do_many(
        self, library: Writable, name: str, rows: Iterable[Mapping[str, Any]], /
    ) -> Running[None]:
        of = library.values
        return library.transaction.run_many(self._sql[name], [{**of, **row} for row in rows])

    def _rows(self, reader: Reader, name: str, /, **values: Any) -> Running[Sequence[Row]]:
        return reader.rows(self._sql[name], values)

    def _run(self, transaction: Transaction, name: str, /, **values: Any) -> Running[None]:
        return transaction.run(self._sql[name], values)

    def _write(self, name: str, account_id: int | None, /, **values: Any) -> Running[Sequence[Row]]:
        """Runs a statement in a transaction of its own, as `write` with that account."""

        def work(transaction: Transaction) -> Running[Sequence[Row]]:
            return self._rows(transaction, name, **values)

        return self._database.write(work, account_id)
