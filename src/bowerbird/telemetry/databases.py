"""A database that records its statements and transactions as parts of the current request."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Final, TypeVar

from opentelemetry.trace import SpanKind

from bowerbird.model.accounts import Account
from bowerbird.model.filters import After
from bowerbird.storage.database import (
    Database,
    Row,
    Transaction,
    Values,
    WordOrder,
    WordSearch,
)
from bowerbird.storage.queries import Queries
from bowerbird.telemetry import spans
from bowerbird.telemetry.spans import Spans
from bowerbird.telemetry.statements import StatementNames

T = TypeVar("T")

_ADD_JOB: Final = "jobs.add"


class _Recording:
    """Records one call of a database by the name of its statement."""

    def __init__(self, recorded: Spans, system: str, names: StatementNames) -> None:
        self.spans = recorded
        self.names = names
        self._attributes = {"db.system.name": system}

    def statement(self, sql: str) -> AbstractContextManager[None]:
        return self.named(self.names.of(sql))

    def named(self, name: str) -> AbstractContextManager[None]:
        attributes = {**self._attributes, "db.query.summary": name}
        return self.spans.part(name, SpanKind.CLIENT, attributes)


class TracedDatabase:
    """Does what the other database does. Outside of requests and jobs it records nothing."""

    def __init__(self, database: Database, recorded: Spans, system: str) -> None:
        self._database = database
        self._recording = _Recording(recorded, system, StatementNames())
        order = database.word_order
        self.word_order = order and _TracedWordOrder(order, self._recording)
        # They only compute, so nothing is recorded.
        self.generation = database.generation
        self.match = database.match
        self.counting = database.counting
        self.stored_words = database.stored_words
        self.computed = database.computed
        self.number_list = database.number_list
        self.text_list = database.text_list
        self.require_ready = database.require_ready
        self.close = database.close

    def queries(self, resource: str) -> Queries:
        queries = self._database.queries(resource)
        self._recording.names.add(resource, queries)
        return queries

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        if not spans.is_recording():
            return await self._database.rows(sql, values)
        with self._recording.statement(sql):
            return await self._database.rows(sql, values)

    async def slow_rows(self, sql: str, values: Values) -> Sequence[Row]:
        if not spans.is_recording():
            return await self._database.slow_rows(sql, values)
        with self._recording.statement(sql):
            return await self._database.slow_rows(sql, values)

    async def write(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        account_id: int | None = None,
        *,
        is_continuing: bool = False,
    ) -> T:
        if not spans.is_recording():
            return await self._database.write(work, account_id, is_continuing=is_continuing)

        async def traced(transaction: Transaction) -> T:
            return await work(_TracedTransaction(transaction, self._recording))

        with self._recording.named("transaction"):
            return await self._database.write(traced, account_id, is_continuing=is_continuing)


class _TracedTransaction:
    def __init__(self, transaction: Transaction, recording: _Recording) -> None:
        self._transaction = transaction
        self._recording = recording

    async def rows(self, sql: str, values: Values) -> Sequence[Row]:
        name = self._recording.names.of(sql)
        with self._recording.named(name):
            rows = await self._transaction.rows(sql, values)
        if name == _ADD_JOB and rows:
            self._recording.spans.note_queued(str(rows[0][0]))
        return rows

    async def run(self, sql: str, values: Values) -> None:
        with self._recording.statement(sql):
            await self._transaction.run(sql, values)

    async def run_many(self, sql: str, values: Sequence[Values]) -> None:
        with self._recording.statement(sql):
            await self._transaction.run_many(sql, values)

    def savepoint(self) -> AbstractAsyncContextManager[None]:
        return self._transaction.savepoint()


class _TracedWordOrder:
    def __init__(self, order: WordOrder, recording: _Recording) -> None:
        self._order = order
        self._recording = recording
        # They only look into memory, so nothing is recorded.
        self.matches = order.matches
        self.keep_matches = order.keep_matches

    async def page(
        self, account: Account, search: WordSearch, after: After | None, limit: int
    ) -> Sequence[tuple[int, int]]:
        with self._recording.named("word_order.page"):
            return await self._order.page(account, search, after, limit)

    async def count(self, account: Account, search: WordSearch) -> int:
        with self._recording.named("word_order.count"):
            return await self._order.count(account, search)
