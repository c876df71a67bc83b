"""What the stores ask of a database, whichever it is.

Methods are coroutines on both. SQLite's never wait inside a transaction, which is why one
piece of writing code can run on its writer thread as well as on PostgreSQL's connection.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from bowerbird.model.accounts import Account
from bowerbird.model.filters import After, BookmarkFilter
from bowerbird.model.words import Match, WordQuery
from bowerbird.storage.queries import Queries

Row = Sequence[Any]
Values = Mapping[str, Any]
T = TypeVar("T")


class LockTimeoutError(Exception):
    """A statement waited too long for a lock that another transaction holds."""


class Reader(Protocol):
    """Either a database, for what is committed, or a transaction, for what that has changed too."""

    async def rows(self, sql: str, values: Values) -> Sequence[Row]: ...


class Transaction(Reader, Protocol):
    """Statements that commit together or not at all."""

    async def run(self, sql: str, values: Values) -> None: ...

    async def run_many(self, sql: str, values: Sequence[Values]) -> None: ...

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        """Undoes what ran inside it when it is left by an exception."""


class WordOrder(Protocol):
    """A short way to keyword hits in the default order, where a database has one."""

    async def page(
        self,
        account: Account,
        filter: BookmarkFilter,
        match: Match,
        after: After | None,
        limit: int,
    ) -> Sequence[tuple[int, int]]:
        """Up to `limit` hits as (sort index, number), newest first."""

    async def count(self, account: Account, filter: BookmarkFilter, match: Match) -> int: ...


class Database(Protocol):
    @property
    def word_order(self) -> WordOrder | None: ...

    def queries(self, resource: str) -> Queries:
        """The named statements of a resource, in this database's own words where they differ."""

    def generation(self) -> int | None:
        """Equal as long as nothing was committed by anybody; None where that cannot be told."""

    def match(self, query: WordQuery) -> Match:
        """A keyword query in the words of this database's full-text engine."""

    def stored_words(self, index_text: str) -> str:
        """A post's tokens as its full-text engine takes them."""

    def number_list(self, numbers: Sequence[int]) -> Any:
        """Many numbers as the value of one parameter."""

    def text_list(self, texts: Sequence[str]) -> Any:
        """Many texts as the value of one parameter."""

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        """Reads what is bounded: keys, pages along an index, counters."""

    async def slow_rows(self, sql: str, values: Values) -> Sequence[Row]:
        """Reads what may take over 5 ms, without holding up other requests.

        Accounts take turns: the read belongs to the account that `values` names as `account_id`,
        or to the service itself if it names none.
        """

    async def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Runs `work` in one transaction; returns when it is on disk."""

    async def require_ready(self) -> None:
        """Raises a refusal while the database is away or its schema does not fit."""

    async def close(self) -> None: ...
