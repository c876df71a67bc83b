"""The table of routes: what each operation accepts and returns, and the handler that serves it.

The OpenAPI document is derived from the same operations that the router serves.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.errors import Code
from bowerbird.library.access.call_allowance import CallCharge
from bowerbird.model.accounts import Account, Plan
from bowerbird.requests.fields import Gate, gates_of
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.responses.replies import Reply

NOBODY: Final = Account(0, 0, Plan.PRO, 0, 0, 0, 0, 0, 0, 0)
"""The caller of a public endpoint. No account has the number 0."""

_CODES: Final = {
    Gate.FILTERING: Code.FILTER_NOT_ALLOWED,
    Gate.PAGING: Code.PAGINATION_NOT_ALLOWED,
    Gate.MEANING: Code.VECTOR_SEARCH_NOT_ALLOWED,
    Gate.LABELLING: Code.SUBSCRIPTION_REQUIRED,
}


class Call(Struct, frozen=True):
    """One request as a handler sees it."""

    account: Account
    method: str
    target: RequestTarget
    path_params: dict[str, Any]
    body: bytes = b""
    idempotency_key: bytes | None = None
    range: bytes | None = None
    if_range: bytes | None = None
    # The conditions of a write.
    if_match: bytes | None = None
    if_unmodified_since: bytes | None = None
    # The call that a write of a free account pays for, unless it is a replay.
    charge: CallCharge | None = None


Handler = Callable[[Call], Awaitable[Reply]]


class NoParameters(Struct, frozen=True):
    """The query string of a read that takes no parameters."""


class ApiRoute(Struct, frozen=True):
    """A path and method with the handler that serves it."""

    method: str
    path: str
    handle: Handler
    # Whether a request with this query string costs a free account one of its monthly calls.
    counts: Callable[[bytes], bool] = lambda _: True
    # Whether it needs no key. This must be the same for all operations of a path.
    is_public: bool = False
    # The parameters of a read. Its answer names the others that were sent.
    query: type[Struct] | None = None


class Operation(Struct, frozen=True, kw_only=True):
    """One operation of the API: the description that is served and published."""

    # The method and the path.
    route: str
    name: str
    summary: str
    # Type of one item of the answer's data; None for a file.
    data: type | None
    is_many: bool = False
    # Type of the answer's meta; None for an empty one, and `QueryMeta` for that of a read.
    meta: type[Struct] | None = None
    query: type[Struct] | None = None
    body: type[Struct] | None = None
    is_body_required: bool = True
    statuses: tuple[int, ...] = (200,)
    # Response headers beyond those of every answer, and whether they are always present.
    headers: dict[str, bool] = {}
    # Whether a job may do the rest: 202 then, with the address of the change.
    may_continue: bool = False
    # Whether a client that has the current answer gets 304.
    is_tagged: bool = True
    # Whether a write heeds If-Match and If-Unmodified-Since, and a read has what they compare.
    is_conditional: bool = False
    refusals: tuple[Code, ...] = ()
    is_in_sandbox: bool = False
    is_sandbox: bool = False
    counts: Callable[[bytes], bool] = lambda _: True
    is_public: bool = False

    def __post_init__(self) -> None:
        is_read = self.route.startswith("GET /v1/") and not self.is_file
        if is_read and self.meta is None:
            msgspec.structs.force_setattr(self, "meta", envelope.QueryMeta)
        if self.may_continue:
            msgspec.structs.force_setattr(self, "statuses", (200, 202))
            found = {"Location": False, "Retry-After": False}
            msgspec.structs.force_setattr(self, "headers", found)

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.route.partition(" ")[2]

    @property
    def tag(self) -> str:
        return self.path.partition("/v1/")[2].partition("/")[0]

    @property
    def is_keyed(self) -> bool:
        return self.method in ("POST", "PUT", "PATCH") and not self.is_sandbox

    @property
    def is_file(self) -> bool:
        return self.data is None

    @property
    def codes(self) -> set[Code]:
        """The refusals of this operation: its own, and those of the plan gates of its fields."""
        gates = {
            gate
            for kind in (self.query, self.body)
            if kind is not None
            for gate in gates_of(kind).values()
        }
        paid = {_CODES[gate] for gate in gates}
        charged = set() if self.is_public or not self.counts(b"?") else {Code.SUBSCRIPTION_REQUIRED}
        is_checked = self.is_conditional and self.method != "GET"
        conditional = {Code.PRECONDITION_FAILED} if is_checked else set()
        # An id may be of something that the account does not have.
        missing = {Code.NOT_FOUND} if "{" in self.path else set()
        return {*self.refusals, *paid, *charged, *conditional, *missing}

    def served_by(self, handle: Handler) -> ApiRoute:
        query = None
        if self.method == "GET" and not self.is_file:
            query = self.query or NoParameters
            # The answer cache names them in the others, before it compresses an answer.
            handle = handle if self.is_tagged else _naming(handle)
        return ApiRoute(self.method, self.path, handle, self.counts, self.is_public, query)


def _naming(handle: Handler) -> Handler:
    async def named(call: Call) -> Reply:
        reply = await handle(call)
        body = envelope.naming_ignored(reply.body, call.target.ignored)
        return msgspec.structs.replace(reply, body=body)

    return named
