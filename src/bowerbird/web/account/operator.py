"""The operator's page: accounts, invitations, jobs, vectors and the state of the service."""

import platform
from collections.abc import Awaitable, Sequence
from typing import Any, Final

from bowerbird import __version__, errors
from bowerbird.assembly import Services
from bowerbird.errors import Refusal
from bowerbird.library.accounts import accounts
from bowerbird.library.sharing.shares import PATH as SHARED
from bowerbird.library.sharing.shares import PER_PAGE as SHARES_PER_PAGE
from bowerbird.library.sharing.shares import ShareOverview
from bowerbird.library.sign_in.one_time_links import Invitations
from bowerbird.library.upkeep import installation_checks as overview
from bowerbird.library.upkeep.health import Mark, Result
from bowerbird.library.upkeep.installation_checks import OpenJobs, Overview, State, UsedVersion
from bowerbird.model.accounts import Membership, Plan
from bowerbird.model.jobs import KIND_NAMES, JobState, OpenJob
from bowerbird.model.labels import Audience, Share
from bowerbird.model.words import ListedVectorStore
from bowerbird.settings import Settings
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire import deprecation
from bowerbird.wire.deprecation import Deprecation
from bowerbird.wire.responses.replies import Reply

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


def _check_row(result: Result) -> dict[str, Any]:
    return {
        "name": result.subject.capitalize(),
        "kind": _KINDS[result.mark],
        "text": result.sentence,
        "fix": result.fix,
        "is_good": result.mark is Mark.GOOD,
    }


def _facts(state: State, settings: Settings, times: Times) -> list[dict[str, str]]:
    return [
        {"name": "Version", "text": f"{__version__}, Python {platform.python_version()}"},
        {"name": "Database", "text": f"{state.engine}, {_size(state.database_bytes)}"},
        {"name": "Free disk space", "text": _size(state.free_bytes)},
        {"name": "Last backup", "text": _backup(state, settings, times)},
    ]


def _version_row(
    used: UsedVersion, deprecations: Sequence[Deprecation], times: Times
) -> dict[str, Any]:
    row = deprecation.of_version(deprecations, used.version)
    return {
        "name": used.version,
        "accounts": used.accounts,
        "last_used": times.utc_day(used.last_day),
        "ends_at": None if row is None else times.date(row.sunset),
    }


def _job_row(found: OpenJob, times: Times) -> dict[str, Any]:
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


def _store_row(found: ListedVectorStore) -> dict[str, Any]:
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


def _share_row(found: Share, state: str, times: Times) -> dict[str, Any]:
    is_public = found.audience is Audience.PUBLIC
    return {
        "id": found.share_id,
        "account": str(found.account_id),
        # A secret address would open the list.
        "path": f"{SHARED}{found.address}" if is_public else "",
        "audience": _AUDIENCES[found.audience],
        "what": f"A {found.kind.value}",
        "title": found.choices.title,
        "state": state,
        "is_stopped": found.is_stopped,
        "created_at": times.day(found.created_at),
    }


_LARGEST = 2**63


def of_account(account: Membership) -> str:
    return f"{account.created_at}-{account.account_id}"


def of_job(job: OpenJob) -> str:
    return f"{job.account_id}-{job.created_at}-{job.job_id}"


def of_store(store: ListedVectorStore) -> str:
    return f"{store.account_id}-{store.model.hex()}"


def of_share(share: Share) -> str:
    return f"{share.created_at}-{share.share_id}"


def share(text: str) -> tuple[int, str]:
    first, rest = _parts(text)
    if not (rest.isascii() and rest.isalnum()):
        raise _unknown()
    return first, rest


def account(text: str) -> tuple[int, int]:
    first, rest = _parts(text)
    return first, number(rest)


def job(text: str) -> tuple[int, int, str]:
    account_id, rest = _parts(text)
    return account_id, *_parts(rest)


def store(text: str) -> tuple[int, bytes]:
    first, rest = _parts(text)
    try:
        return first, bytes.fromhex(rest)
    except ValueError:
        raise _unknown() from None


def number(text: str) -> int:
    """A whole number that a database can store. Raises a refusal for anything else."""
    if not (text.isascii() and text.isdigit()) or int(text[:20]) >= _LARGEST:
        raise _unknown()
    return int(text[:20])


def _parts(text: str) -> tuple[int, str]:
    first, _, rest = text.partition("-")
    return number(first), rest


def _unknown() -> errors.Refusal:
    return errors.invalid("page", "is unknown; open the list again")


PATH: Final = "/operator"
_ALL_CHECKS: Final = "all"


def routes(
    services: Services, pages: VisitPages, deprecations: Sequence[Deprecation]
) -> list[PageRoute]:
    page = _OperatorPage(services, pages, deprecations)
    changes = {
        "/plan": page.change_plan,
        "/invitations": page.invite,
        "/invitations/withdraw": page.withdraw,
        "/shares/stop": page.stop_share,
        "/shares/allow": page.allow_share,
        "/jobs/retry": page.retry,
        "/jobs/cancel": page.cancel,
    }
    return [
        PageRoute("GET", PATH, page.shown, Access.OWNER),
        *(
            PageRoute("POST", PATH + path, change, Access.OWNER, PATH, again=page.shown)
            for path, change in changes.items()
        ),
    ]


class _OperatorPage:
    def __init__(
        self, services: Services, pages: VisitPages, deprecations: Sequence[Deprecation]
    ) -> None:
        database, clock = services.database, services.clock
        self._settings = services.settings
        self._accounts = services.accounts
        self._invitations = Invitations(database, clock)
        self._open_jobs = OpenJobs(database, clock)
        self._shares = ShareOverview(database, clock)
        self._overview = Overview(self._settings, database, clock)
        self._deprecations = deprecations
        self._pages = pages

    async def shown(self, visit: Visit, *, status: int = 0, **more: Any) -> Reply:
        state = await self._overview.state()
        times = visit.times
        values = {
            "account_count": state.accounts,
            "account_count_max": overview.MAX_COUNTED,
            "facts": _facts(state, self._settings, times),
            "versions": [_version_row(each, self._deprecations, times) for each in state.versions],
            "called_days": overview.CALLED_DAYS,
            "plans": [plan.value for plan in Plan],
            "sign_up": self._settings.sign_up,
            "new_note": "",
            "note_error": "",
            "invitation_link": "",
            **await self._checks(visit, [_check_row(each) for each in state.results]),
            **await self._listed_accounts(visit),
            **await self._jobs(visit),
            **await self._stores(visit),
            **await self._listed_shares(visit),
            "is_sharing": self._settings.sharing == "on",
            "invitations": await self._invitations.all(),
        }
        return self._pages.show(visit, "operator.html", status=status, **(values | more))

    async def change_plan(self, visit: Visit) -> Reply:
        account_id, plan = visit.form.get("account", ""), visit.form.get("plan", "")
        change = self._accounts.set_plan(str(number(account_id)), plan)
        return await self._after(change, "plan-changed", "accounts")

    async def invite(self, visit: Visit) -> Reply:
        note = visit.form.get("note", "")
        try:
            token = await self._invitations.create(note)
        except Refusal as refused:
            return await self.shown(
                visit, status=refused.status, new_note=note, note_error=refused.sentence
            )
        # Not after a redirect: the link would have to be kept until then.
        return await self.shown(visit, invitation_link=self._settings.invitation_url(token))

    async def withdraw(self, visit: Visit) -> Reply:
        change = self._invitations.withdraw(visit.form.get("invitation", ""))
        return await self._after(change, "invitation-withdrawn", "invitations")

    async def stop_share(self, visit: Visit) -> Reply:
        change = self._shares.stop(visit.form.get("share", ""))
        return await self._after(change, "share-stopped", "shares")

    async def allow_share(self, visit: Visit) -> Reply:
        change = self._shares.stop(visit.form.get("share", ""), is_stopped=False)
        return await self._after(change, "share-allowed", "shares")

    async def retry(self, visit: Visit) -> Reply:
        change = self._open_jobs.retry(*_job(visit))
        return await self._after(change, "job-queued", "jobs")

    async def cancel(self, visit: Visit) -> Reply:
        change = self._open_jobs.cancel(*_job(visit))
        return await self._after(change, "job-cancelled", "jobs")

    async def _after(self, change: Awaitable[None], said: str, section: str) -> Reply:
        """Makes a change, and returns to its section with a message about it."""
        await change
        return self._pages.go(f"{PATH}?said={said}#{section}")

    async def _checks(self, visit: Visit, checks: list[dict[str, Any]]) -> dict[str, Any]:
        is_complete = visit.query.get("checks") == _ALL_CHECKS
        found = await self._overview.installation() if is_complete else []
        return {
            "checks": checks + [_check_row(each) for each in found or []],
            "has_all_checks": is_complete,
            "are_checks_running": found is None,
        }

    async def _listed_accounts(self, visit: Visit) -> dict[str, Any]:
        search, before = visit.query.get("search", "").strip(), visit.query.get("accounts", "")
        if search:
            found = await self._accounts.starting_with(search)
        elif before:
            found = await self._accounts.page(account(before))
        else:
            found = await self._accounts.page()
        shown = found[: accounts.PER_PAGE]
        has_more = len(found) > len(shown)
        return {
            "accounts": shown,
            "search": search[: accounts.MAX_SEARCH],
            "has_more_found": has_more and bool(search),
            "older_accounts": of_account(shown[-1]) if has_more and not search else "",
            "is_first_accounts": not before,
        }

    async def _jobs(self, visit: Visit) -> dict[str, Any]:
        after, jobs = visit.query.get("jobs", ""), self._open_jobs
        found = await (jobs.page(job(after)) if after else jobs.page())
        shown, times = found[: overview.PER_PAGE], visit.times
        return {
            "jobs": [_job_row(each, times) for each in shown],
            "more_jobs": of_job(shown[-1]) if len(found) > len(shown) else "",
            "is_first_jobs": not after,
        }

    async def _stores(self, visit: Visit) -> dict[str, Any]:
        after, view = visit.query.get("stores", ""), self._overview
        found = await (view.stores(store(after)) if after else view.stores())
        shown = found[: overview.STORES_PER_PAGE]
        return {
            "stores": [_store_row(each) for each in shown],
            "more_stores": of_store(shown[-1]) if len(found) > len(shown) else "",
            "is_first_stores": not after,
        }

    async def _listed_shares(self, visit: Visit) -> dict[str, Any]:
        before, shares = visit.query.get("shares", ""), self._shares
        found = await (shares.page(share(before)) if before else shares.page())
        shown, times = found[:SHARES_PER_PAGE], visit.times
        return {
            "shares": [_share_row(each, shares.state(each), times) for each in shown],
            "older_shares": of_share(shown[-1]) if len(found) > len(shown) else "",
            "is_first_shares": not before,
        }


def _job(visit: Visit) -> tuple[int, str]:
    return number(visit.form.get("account", "")), visit.form.get("job", "")
