"""What the operator's page shows of each thing."""

import platform
from collections.abc import Sequence
from typing import Any, Final

from bowerbird import __version__
from bowerbird.library.sharing.shares import PATH
from bowerbird.library.upkeep.health import Mark, Result
from bowerbird.library.upkeep.overview import State, UsedVersion
from bowerbird.model.jobs import KIND_NAMES, JobState, OpenJob
from bowerbird.model.shares import Audience, Share
from bowerbird.model.words import ListedVectorStore
from bowerbird.settings import Settings
from bowerbird.web.visits.formats import Times
from bowerbird.wire import deprecation
from bowerbird.wire.deprecation import Deprecation

_KINDS: Final = {Mark.GOOD: "on", Mark.WARNING: "hold", Mark.BROKEN: "err"}
_STATES: Final = {
    JobState.PENDING: ("waiting", "hold"),
    JobState.PROCESSING: ("running", "busy"),
    JobState.FAILED: ("failed", "err"),
}
_AUDIENCES: Final = {
    Audience.LINK: "with the link",
    Audience.PUBLIC: "everybody",
    Audience.FEED: "private feed",
}
_MEGABYTE: Final = 1_000_000
_GIGABYTE: Final = 1_000_000_000
_PARTLY_DELETED: Final = "being deleted"
_NO_ADDRESS: Final = "no address"


def check(result: Result) -> dict[str, Any]:
    return {
        "name": result.subject.capitalize(),
        "kind": _KINDS[result.mark],
        "text": result.sentence,
        "fix": result.fix,
        "is_good": result.mark is Mark.GOOD,
    }


def facts(state: State, settings: Settings, times: Times) -> list[dict[str, str]]:
    return [
        {"name": "Version", "text": f"{__version__}, Python {platform.python_version()}"},
        {"name": "Database", "text": f"{state.engine}, {_size(state.database_bytes)}"},
        {"name": "Free disk space", "text": _size(state.free_bytes)},
        {"name": "Last backup", "text": _backup(state, settings, times)},
    ]


def version(used: UsedVersion, deprecations: Sequence[Deprecation], times: Times) -> dict[str, Any]:
    row = deprecation.of_version(deprecations, used.version)
    return {
        "name": used.version,
        "accounts": used.accounts,
        "last_used": times.utc_day(used.last_day),
        "ends_at": None if row is None else times.date(row.sunset),
    }


def job(found: OpenJob, times: Times) -> dict[str, Any]:
    state, kind = _STATES[JobState(found.state)]
    return {
        "id": found.job_id,
        "account_id": found.account_id,
        "kind": KIND_NAMES.get(found.kind, found.kind),
        "account": _holder(found.email),
        "created_at": times.moment(found.created_at),
        "state": state,
        "state_kind": kind,
        "done": found.done,
        "total": found.total,
        "error": found.error or "",
        "can_retry": found.state == JobState.FAILED,
        "can_cancel": found.state != JobState.FAILED,
    }


def store(found: ListedVectorStore) -> dict[str, Any]:
    return {
        "account": _holder(found.email),
        "model": found.name,
        # Vectors of posts deleted just now may still be counted.
        "done": min(found.embedded, found.total),
        "total": found.total,
    }


def _holder(email: str | None) -> str:
    return _PARTLY_DELETED if email is None else email or _NO_ADDRESS


def _backup(state: State, settings: Settings, times: Times) -> str:
    if not settings.is_sqlite:
        return "not known: PostgreSQL makes its own backups"
    if state.backup is None:
        return "none yet"
    moment = times.moment(state.backup.made_at)
    return f"{moment.inline}, {_size(state.backup.bytes)}"


def _size(count: int) -> str:
    unit, name = (_GIGABYTE, "GB") if count >= _GIGABYTE else (_MEGABYTE, "MB")
    return f"{count / unit:,.1f} {name}"


def share(found: Share, state: str, times: Times) -> dict[str, Any]:
    is_public = found.audience is Audience.PUBLIC
    return {
        "id": found.share_id,
        "account": str(found.account_id),
        # A secret address would open the list.
        "path": f"{PATH}{found.address}" if is_public else "",
        "audience": _AUDIENCES[found.audience],
        "what": f"A {found.kind.value}",
        "title": found.choices.title,
        "state": state,
        "is_stopped": found.is_stopped,
        "created_at": times.day(found.created_at),
    }
