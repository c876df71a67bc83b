"""Connected sources: accounts at networks whose saved posts the service reads by itself."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from bowerbird.model.arrival import SourceUser

KIND: Final = "sources"
HOURLY_S: Final = 3_600
# X charges for what is read.
X_INTERVAL_S: Final = 21_600
# One answer of a network.
ANSWER_BYTES_MAX: Final = 8 * 1024 * 1024
# Posts that X may charge for per day (UTC), unless the person chooses another number.
X_POSTS_PER_DAY: Final = 2_000


class Network(StrEnum):
    """The networks that can be connected. Posts and runs have the same names as their source."""

    X = "x"
    MASTODON = "mastodon"
    BLUESKY = "bluesky"


TITLES: Final = {Network.X: "X", Network.MASTODON: "Mastodon", Network.BLUESKY: "Bluesky"}
# By the name that runs and imports have.
NAMES: Final = {network.value: title for network, title in TITLES.items()}


class ConnectionState(StrEnum):
    # The person has not come back from the network yet.
    UNFINISHED = "unfinished"
    # The person has not agreed to the cost of the first run.
    PRICED = "priced"
    ACTIVE = "active"
    PAUSED = "paused"


class Problem(StrEnum):
    """Why the last attempt to read a source failed. The database has these texts."""

    NONE = ""
    # The person has to connect again.
    REVOKED = "revoked"
    UNREADABLE_TOKEN = "unreadable_token"  # noqa: S105 - not a token
    # The person has to change something at the network.
    FORBIDDEN = "forbidden"
    CREDITS = "credits"
    WRONG_SERVER = "wrong_server"
    PRIVATE_ADDRESS = "private_address"
    # Those below pass by themselves.
    RATE_LIMITED = "rate_limited"
    # The posts per day of X, and the pages per day of this service.
    BUDGET = "budget"
    DAILY_LIMIT = "daily_limit"
    UNREACHABLE = "unreachable"
    SERVER_ERROR = "server_error"
    UNREADABLE_ANSWER = "unreadable_answer"
    INTERNAL = "internal"


# A run does not help until the person has connected the source again.
NEEDS_PERSON: Final = frozenset({Problem.REVOKED, Problem.UNREADABLE_TOKEN})


class Connection(Struct, frozen=True, kw_only=True):
    connection_id: str
    network: Network
    # The address of the server, without a slash at the end.
    server: str
    # The account there, or "" before it is known; and what the network calls it.
    source_user_id: str
    name: str
    state: ConnectionState
    problem: Problem = Problem.NONE
    # Encrypted; see library/connections/access.py.
    sealed: bytes
    # Grows whenever `sealed` changes.
    version: int = 1
    interval_s: int
    # The run that has not ended, or "".
    run_id: str = ""
    # How many times in a row it failed.
    failures: int = 0
    next_run_at: int
    last_run_at: int | None = None
    # Counts of the last run that ended, and of all of them.
    new: int = 0
    changed: int = 0
    total: int = 0
    # What X may charge for: posts per day, the day, and those read on that day.
    posts_per_day: int = X_POSTS_PER_DAY
    spent_day: int = 0
    spent: int = 0
    # Folders are read once per day.
    folders_day: int = 0
    created_at: int
    # Where the reading of folders goes on, as JSON; "" if nothing is left.
    folders_left: str = ""

    @property
    def user(self) -> SourceUser:
        return SourceUser(self.network, self.source_user_id)

    @property
    def title(self) -> str:
        return TITLES[self.network]

    def __repr__(self) -> str:
        # The generated text would contain the encrypted tokens.
        return f"Connection({self.connection_id!r}, {self.network!r})"
