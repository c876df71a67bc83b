"""What the page shows about each source and device."""

from collections.abc import Sequence
from typing import Any, Final

from bowerbird.clock import day_of
from bowerbird.library.connections import connections, x_lists
from bowerbird.library.connections.connections import DeviceRun
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import VISIT, IngestRun, RunState
from bowerbird.model.connections import (
    NEEDS_PERSON,
    Connection,
    ConnectionState,
    Network,
    Problem,
)
from bowerbird.web.visits.formats import Moment, Times


def run_state(run: IngestRun) -> tuple[str, str]:
    """Words, and how they are marked."""
    # The pages prove it, not the client.
    if run.state == RunState.FINISHED and run.is_complete:
        return "complete", "on"
    if run.kind == VISIT:
        return "read while you browsed", ""
    if run.state == RunState.RUNNING:
        return "running", "busy"
    return "stopped before the end", "hold"


INTERVALS: Final = (
    (1_800, "every 30 minutes"),
    (3_600, "every hour"),
    (21_600, "every 6 hours"),
    (86_400, "once a day"),
)
_STATES: Final = {
    ConnectionState.UNFINISHED: ("not connected yet", "hold"),
    ConnectionState.PRICED: ("waits for your consent", "hold"),
    ConnectionState.PAUSED: ("paused", "hold"),
}
# Names as the forms that connect a source have them.
_SECRETS: Final = {
    Network.MASTODON: {"name": "mastodon_token", "label": "New access token"},
    Network.BLUESKY: {"name": "bluesky_password", "label": "New app password"},
}
# They pass by themselves, so nothing is broken.
_WAITING: Final = frozenset({Problem.RATE_LIMITED, Problem.BUDGET, Problem.DAILY_LIMIT})


def source(connection: Connection, account: Account, times: Times, now: int) -> dict[str, Any]:
    state, kind = _state(connection, now)
    is_active = connection.state is ConnectionState.ACTIVE
    last = connection.last_run_at
    spent = connection.spent if connection.spent_day == day_of(now) else 0
    return {
        "id": connection.connection_id,
        "network": connection.title,
        "name": connection.name,
        "state": state,
        "state_kind": kind,
        "problem": connections.sentence(connection),
        "last_run": None if last is None else times.moment(last),
        "next_run": _next_run(connection, times, now),
        "new": connection.new,
        "changed": connection.changed,
        "total": connection.total,
        "is_active": is_active,
        "is_paused": connection.state is ConnectionState.PAUSED,
        "is_unfinished": connection.state is ConnectionState.UNFINISHED,
        "is_x": connection.network is Network.X,
        "must_connect": _must_connect(connection),
        "again": _again(connection),
        "secret": _SECRETS.get(connection.network),
        "interval": str(connection.interval_s),
        "posts_per_day": connection.posts_per_day,
        "spent": spent,
        "estimate": _estimate(connection, account),
    }


def device(run: DeviceRun, times: Times) -> dict[str, Any]:
    state, kind = "not used yet", ""
    if run.run is not None:
        state, kind = run_state(run.run)
    elif run.device.last_used_at is not None:
        state, kind = "connected", "on"
    at = run.run.updated_at if run.run is not None else run.device.last_used_at
    return {
        "id": run.device.device_id,
        "name": run.device.name,
        "state": state,
        "state_kind": kind,
        "last_run": None if at is None else times.moment(at),
        "new": run.counts.new,
        "changed": run.counts.changed,
    }


def _state(connection: Connection, now: int) -> tuple[str, str]:
    if connection.state in _STATES:
        return _STATES[connection.state]
    if connection.next_run_at <= now:
        return "running", "busy"
    if connection.problem in _WAITING:
        return "waits", "hold"
    if connection.problem in NEEDS_PERSON:
        return "needs a new token", "err"
    if connection.problem is not Problem.NONE:
        return "failed", "err"
    return ("running", "busy") if connection.run_id else ("up to date", "on")


def _next_run(connection: Connection, times: Times, now: int) -> Moment | str:
    if connection.state is not ConnectionState.ACTIVE:
        return "when you resume it"
    if connection.next_run_at <= now:
        return "now"
    if connection.problem in NEEDS_PERSON:
        return "when you connect again"
    return times.moment(connection.next_run_at)


def _must_connect(connection: Connection) -> bool:
    """At X, a request is refused because of the person's app, which another token does not help."""
    is_refused = connection.problem is Problem.FORBIDDEN and connection.network is not Network.X
    return is_refused or connection.problem in NEEDS_PERSON


def _again(connection: Connection) -> list[tuple[str, str]]:
    """What is known of the form with which the source was connected; nothing for X."""
    if connection.network is Network.MASTODON:
        return [("mastodon_server", connection.server)]
    if connection.network is Network.BLUESKY:
        # A handle can change.
        handle = ("bluesky_handle", connection.source_user_id)
        return [handle, ("bluesky_server", connection.server)]
    return []


def mark(connections: Sequence[Connection], now: int) -> str:
    """Changes when a source starts or ends; "" if nothing is running."""
    states = {one.connection_id: _state(one, now) for one in connections}
    if all(kind != "busy" for _, kind in states.values()):
        return ""
    return " ".join(f"{name}:{words}" for name, (words, _) in states.items())


def _estimate(connection: Connection, account: Account) -> dict[str, Any] | None:
    """The cost of a first run, until the person has agreed to it."""
    if connection.state is not ConnectionState.PRICED:
        return None
    first = x_lists.of_first_run(account.total)
    day = x_lists.of_posts(connection.posts_per_day)
    return {
        "posts": first.posts,
        "is_example": not account.total,
        "cost": first.cost,
        "owned_cost": first.owned_cost,
        "per_post": f"${x_lists.PER_POST}",
        "per_owned_post": f"${x_lists.PER_OWNED_POST}",
        "per_user": f"${x_lists.PER_USER}",
        "authors_cost": first.authors_cost,
        "day_cost": day.cost,
        "day_owned_cost": day.owned_cost,
    }
