"""What all routes are made of, and those that one method of the library serves."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from bowerbird.assembly import Services
from bowerbird.library.exports.exports import Download, ExportJob
from bowerbird.model.accounts import Account
from bowerbird.model.jobs import ExportFile
from bowerbird.requests import decoding
from bowerbird.requests.exports import ExportRequest
from bowerbird.storage.database import Transaction
from bowerbird.storage.files import OpenFile
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.envelope import PageMeta
from bowerbird.wire.responses.replies import JSON, PRIVATE, Reply, State
from bowerbird.wire.responses.streaming import ExportAddresses
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import Gate, Writes

P = TypeVar("P", bound="Page")


class Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...
    @property
    def limit(self) -> int: ...
    @property
    def total_count(self) -> int: ...


class ExportService(Protocol):
    """The interface that the routes call: the account's exports, or the sandbox's."""

    async def create(
        self, transaction: Transaction, account: Account, format: str, request: ExportRequest
    ) -> ExportJob: ...

    async def require_vectors(self, transaction: Transaction, account: Account) -> None: ...

    async def get(self, account: Account, job_id: str) -> ExportJob: ...

    async def download(self, job_id: str, token: str) -> Download: ...

    async def open(self, file: ExportFile, first: int, end: int) -> OpenFile: ...


class Rest:
    """The services, and how their answers are cached and their writes run once."""

    def __init__(
        self,
        services: Services,
        answers: AnswerCache,
        exports: ExportService | None = None,
        addresses: ExportAddresses | None = None,
    ) -> None:
        self.services, self.answers = services, answers
        self.exports = exports or services.exports
        self.addresses = addresses or services.export_addresses
        self.writes = Writes(services.idempotency, services.settings.upgrade_url)

    def read(
        self,
        operation: Operation,
        find: Callable[..., Awaitable[Any]],
        gate: Gate = lambda _: None,
        *,
        data: Callable[[Any], Any] = lambda found: found,
        meta: Callable[[Any], Struct] | None = None,
        state: Callable[[Any], State] | None = None,
        is_live: bool = False,
    ) -> ApiRoute:
        """`find` takes the account, the ids in the path, and the query if there is one.

        `data` and `meta` make the answer of what it returns, and `state` the ETag of one resource.
        `is_live`: the answer depends on more than the library, so its ETag is made of its bytes.
        """
        kind, answers = operation.query, self.answers

        async def found(call: Call) -> Any:
            gate(call.account)
            query = () if kind is None else (decoding.from_query(call.target.query_string, kind),)
            return await find(call.account, *call.path_params.values(), *query)

        def body(one: Any) -> bytes:
            return envelope.success(data(one), meta and meta(one))

        async def untagged(call: Call) -> Reply:
            return Reply(200, [JSON, *PRIVATE], body(await found(call)))

        async def live(call: Call) -> Reply:
            one = await found(call)
            return await answers.uncached(call.target, body(one), state and state(one))

        async def cached(call: Call) -> Reply:
            async def build() -> bytes:
                return body(await found(call))

            return await answers.answer(call.account, call.target, build)

        if not operation.is_tagged:
            return operation.served_by(untagged)
        return operation.served_by(live if is_live or state else cached)

    def write(
        self,
        operation: Operation,
        change: Callable[..., Awaitable[Any]],
        gate: Gate = lambda _: None,
        **how: Any,
    ) -> ApiRoute:
        """A write, mostly by a method of the library; see `Writes.handler`."""
        return operation.served_by(self.writes.handler(change, operation.body, gate, **how))

    def wake(self, _: object) -> None:
        """For a worker in the same process, once something is committed."""
        self.services.wake_worker()


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
