"""A request as a handler sees it, and the rows of a table of routes."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Struct

from bowerbird.model.accounts import Account, Plan
from bowerbird.wire import bodies
from bowerbird.wire.answer_cache import RequestTarget
from bowerbird.wire.replies import Reply

NOBODY: Final = Account(0, 0, Plan.PRO, 0, 0, 0, 0, 0, 0, 0)
"""Who calls a public endpoint. No account has the number 0."""


class Call(Struct, frozen=True):
    """One request as a handler sees it."""

    account: Account
    method: str
    asked: RequestTarget
    path_params: dict[str, Any]
    body: bytes = b""
    idempotency_key: bytes | None = None
    range: bytes | None = None
    if_range: bytes | None = None
    # Refuses a write whose account has used up its month; a replay is not asked.
    require_calls_left: Callable[[], None] = lambda: None

    def json(self) -> Any:
        """The body's value. Raises a refusal when it is not JSON."""
        return bodies.as_json(self.body)


Handler = Callable[[Call], Awaitable[Reply]]


class ApiRoute(Struct, frozen=True):
    """One row of a table of routes."""

    method: str
    path: str
    handle: Handler
    # Whether a free account's month is charged with a call that asks for this query string.
    counts: Callable[[bytes], bool] = lambda _: True
    # Whether it is called without a key; then its path as a whole is.
    is_public: bool = False
