"""What the clients of the networks take and return."""

from msgspec import Struct

from bowerbird.model.connections import Problem


class Tokens(Struct, frozen=True, omit_defaults=True):
    """The access to an account at a network. Stored only encrypted."""

    access: str = ""
    # "" for networks whose access tokens stay valid.
    refresh: str = ""
    # When the access token expires, in microseconds; 0 if nothing says so.
    expires_at: int = 0
    # The person's own app at X.
    client_id: str = ""
    client_secret: str = ""

    def __repr__(self) -> str:
        return "Tokens()"


class Person(Struct, frozen=True):
    """An account at a network."""

    # What runs are named with: one text per account and network.
    source_user_id: str
    # As people call it, such as alice@mastodon.example.
    name: str


class ListPage(Struct, frozen=True):
    """One answer with saved posts."""

    # As the readers of `sources` take it.
    payload: bytes
    request_url: str


class SourceProblem(Exception):  # noqa: N818 - named for what it is
    """A network gave no usable answer. Nothing that it sent is repeated anywhere."""

    def __init__(self, problem: Problem, *, retry_at: int = 0, reason: str = "") -> None:
        """`retry_at`: when the network allows the next request; `reason` is for the log."""
        super().__init__(problem.value)
        self.problem = problem
        self.retry_at = retry_at
        self.reason = reason


class CursorRefused(Exception):  # noqa: N818 - named for what it is
    """The network does not know where the list was left. It has to be read from the top."""


class TokenExpired(Exception):  # noqa: N818 - named for what it is
    """The access token is not valid any more. Another one may be."""
