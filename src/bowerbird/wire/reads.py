"""REST reads that one method of the library does: query string, plan check, answer."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from bowerbird.model.accounts import Account
from bowerbird.wire import query_strings
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.envelope import PageMeta
from bowerbird.wire.responses.replies import JSON, PRIVATE, Reply, State
from bowerbird.wire.routes import Call, Handler

P = TypeVar("P", bound="Page")


class Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...
    @property
    def limit(self) -> int: ...
    @property
    def total_count(self) -> int: ...


class Read:
    """`find` takes the account, the ids in the path, and the query if there is one.

    `data` and `meta` make the answer of what it returns; `gate` refuses an account whose plan does
    not include the operation.
    """

    def __init__(
        self,
        find: Callable[..., Awaitable[Any]],
        kind: type[Struct] | None = None,
        gate: Callable[[Account], None] = lambda _: None,
        *,
        data: Callable[[Any], Any] = lambda found: found,
        meta: Callable[[Any], Struct] | None = None,
    ) -> None:
        self._find, self._kind, self._gate = find, kind, gate
        self._data, self._meta = data, meta

    async def plain(self, call: Call) -> Reply:
        """An answer without an ETag."""
        return Reply(200, [JSON, *PRIVATE], self._body(await self._found(call)))

    def tagged(self, answers: AnswerCache, state: Callable[[Any], State] | None = None) -> Handler:
        """An answer that depends on more than the library. `state` is that of one resource."""

        async def handle(call: Call) -> Reply:
            found = await self._found(call)
            at = None if state is None else state(found)
            return await answers.uncached(call.target, self._body(found), at)

        return handle

    def cached(self, answers: AnswerCache) -> Handler:
        """An answer that only a change of the library changes."""

        async def handle(call: Call) -> Reply:
            async def build() -> bytes:
                return self._body(await self._found(call))

            return await answers.answer(call.account, call.target, build)

        return handle

    async def _found(self, call: Call) -> Any:
        self._gate(call.account)
        query: tuple[Struct, ...] = ()
        if self._kind is not None:
            query = (query_strings.read(call.target.query_string, self._kind),)
        return await self._find(call.account, *call.path_params.values(), *query)

    def _body(self, found: Any) -> bytes:
        return envelope.success(self._data(found), self._meta and self._meta(found))


def paged(kind: type[PageMeta], items: Callable[[P], Sequence[object]]) -> Callable[[P], PageMeta]:
    """The meta of a page of a list."""

    def meta(page: P) -> PageMeta:
        return kind(
            next_cursor=page.next_cursor,
            limit=page.limit,
            total_count=page.total_count,
            count=len(items(page)),
        )

    return meta
