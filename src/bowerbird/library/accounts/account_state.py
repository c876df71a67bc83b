"""The state of an account: plan, limits, calls, counts and progress of its vectors."""

from enum import StrEnum

from msgspec import Struct

from bowerbird.clock import Clock, first_of_next_month
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account
from bowerbird.requests.limits import PAGE_MAX, RANKED_MAX


class VectorState(StrEnum):
    OFF = "off"
    BUILDING = "building"
    READY = "ready"
    UNAVAILABLE = "unavailable"


class Limits(Struct, frozen=True):
    """The limits of the plan. `calls_per_month` is null if the plan has no call limit."""

    calls_per_month: int | None
    """Calls per month; null if the plan has no limit."""
    page_size: int
    """Maximum number of bookmarks per page."""
    ranked_results: int
    """Maximum number of bookmarks in a ranked list."""
    filtering: bool
    """Whether the plan includes filters."""
    paging: bool
    """Whether the plan includes more than the first page of a list."""
    writing: bool
    """Whether the plan includes writing labels and Smart Views."""
    vector_search: bool
    """Whether the plan includes search by meaning."""


class Calls(Struct, frozen=True):
    """The calls of this calendar month, in UTC. `left` is null if the plan has no call limit."""

    used: int
    """Calls counted this month."""
    left: int | None
    """Calls left this month; null if the plan has no limit."""
    next_month_begins: str
    """The day on which the count restarts (UTC)."""


class LibraryCounts(Struct, frozen=True):
    total: int
    """All bookmarks."""
    unread: int
    """Unread bookmarks, archived ones too."""
    archived: int
    """Archived bookmarks."""


class Vectors(Struct, frozen=True):
    """Search by meaning: `embedded` of `total` posts have a vector of `model`."""

    state: VectorState
    """off, building, ready or unavailable. When it is ready, search by meaning works, but does not
    find bookmarks that are not embedded yet."""
    embedded: int
    """Bookmarks that search by meaning can find."""
    total: int
    """All bookmarks."""
    model: str | None
    """The model that creates the vectors; null if there is none."""
    problem: str | None
    """Why posts cannot be embedded at the moment, or null."""


class AccountResponse(Struct, frozen=True):
    plan: str
    """free or pro."""
    limits: Limits
    """What the plan includes."""
    calls: Calls
    """Calls in this calendar month (UTC)."""
    library: LibraryCounts
    """How many bookmarks the account has."""
    vector_store: Vectors
    """State of the vectors that search by meaning needs."""


class AccountState:
    def __init__(self, calls: CallCounter, meaning: SemanticSearch, clock: Clock) -> None:
        self._calls = calls
        self._meaning = meaning
        self._clock = clock

    async def to_response(self, account: Account) -> AccountResponse:
        is_paid = not account.is_free
        used = self._calls.used(account)
        limit = None if is_paid else self._calls.calls_per_month
        return AccountResponse(
            plan=account.plan,
            limits=Limits(
                calls_per_month=limit,
                page_size=PAGE_MAX,
                ranked_results=RANKED_MAX,
                filtering=is_paid,
                paging=is_paid,
                writing=is_paid,
                vector_search=is_paid,
            ),
            calls=Calls(
                used=used,
                left=None if limit is None else max(limit - used, 0),
                next_month_begins=first_of_next_month(self._clock()),
            ),
            library=LibraryCounts(account.total, account.unread, account.archived),
            vector_store=await self._vectors(account),
        )

    async def _vectors(self, account: Account) -> Vectors:
        if account.is_free:
            return Vectors(VectorState.OFF, 0, account.total, None, None)
        serving = await self._meaning.serving(account)
        building = await self._meaning.building(account)
        store = serving or building
        embedded = 0 if store is None else account.total - store.missing(account.total)
        problem = self._meaning.problem
        state = VectorState.READY if problem is None else VectorState.UNAVAILABLE
        if problem is None and embedded < account.total:
            problem = await self._meaning.build_problem(account)
        if serving is None and account.total:
            state = VectorState.BUILDING if problem is None else VectorState.UNAVAILABLE
        name = store.name if store is not None else self._meaning.model_name
        return Vectors(state, embedded, account.total, name, problem)
