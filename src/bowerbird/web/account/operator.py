"""The operator's page: accounts, invitations, jobs, vectors and the state of the service."""

import platform
from collections.abc import Awaitable, Callable, Sequence
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
from bowerbird.library.upkeep.health import Mark
from bowerbird.library.upkeep.installation_checks import OpenJobs, Overview, State
from bowerbird.model.accounts import Plan
from bowerbird.model.jobs import KIND_NAMES, JobState
from bowerbird.model.labels import Audience
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire import deprecation
from bowerbird.wire.deprecation import Deprecation
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/operator"
_LARGEST: Final = 2**63
_MEGABYTE: Final = 1_000_000
_GIGABYTE: Final = 1_000_000_000
# What the template calls each of these, and how it marks them.
_WORDS: Final = {
    "kind_names": KIND_NAMES,
    "marks": {Mark.GOOD: "on", Mark.WARNING: "hold", Mark.BROKEN: "err"},
    "good": Mark.GOOD,
    "job_states": {
        JobState.PENDING: ("waiting", "hold"),
        JobState.PROCESSING: ("running", "busy"),
        JobState.FAILED: ("failed", "err"),
    },
    "audiences": {
        Audience.LINK: "with the link",
        Audience.PUBLIC: "everybody",
        Audience.FEED: "private feed",
    },
    "plans": [plan.value for plan in Plan],
    "shared_path": SHARED,
    "account_count_max": overview.MAX_COUNTED,
    "called_days": overview.CALLED_DAYS,
}


def number(text: str) -> int:
    """A whole number that a database can store. Raises a refusal for anything else."""
    if not (text.isascii() and text.isdigit()) or int(text[:20]) >= _LARGEST:
        raise _unknown()
    return int(text[:20])


def _name(text: str) -> str:
    if not (text.isascii() and text.isalnum()):
        raise _unknown()
    return text


def _unknown() -> errors.Refusal:
    return errors.invalid("page", "is unknown; open the list again")


def routes(
    services: Services, pages: VisitPages, deprecations: Sequence[Deprecation]
) -> list[PageRoute]:
    page = _OperatorPage(services, pages, deprecations)
    jobs, shares, invitations = page.open_jobs, page.shares, page.invitations

    def change(
        path: str, said: str, section: str, make: Callable[[Visit], Awaitable[None]]
    ) -> PageRoute:
        done = f"{PATH}?said={said}#{section}"
        return PageRoute("POST", PATH + path, make, Access.OWNER, PATH, again=page.shown, done=done)

    def set_plan(visit: Visit) -> Awaitable[None]:
        account_id = str(number(visit.sent("account")))
        return services.accounts.set_plan(account_id, visit.sent("plan"))

    return [
        PageRoute("GET", PATH, page.shown, Access.OWNER),
        PageRoute(
            *("POST", f"{PATH}/invitations", page.invite, Access.OWNER, PATH),
            again=page.shown,
            is_once=True,
        ),
        change("/plan", "plan-changed", "accounts", set_plan),
        change(
            *("/invitations/withdraw", "invitation-withdrawn", "invitations"),
            lambda visit: invitations.withdraw(visit.sent("invitation")),
        ),
        change(
            *("/shares/stop", "share-stopped", "shares"),
            lambda visit: shares.stop(visit.sent("share")),
        ),
        change(
            *("/shares/allow", "share-allowed", "shares"),
            lambda visit: shares.stop(visit.sent("share"), is_stopped=False),
        ),
        change(
            *("/jobs/retry", "job-queued", "jobs"),
            lambda visit: jobs.retry(number(visit.sent("account")), visit.sent("job")),
        ),
        change(
            *("/jobs/cancel", "job-cancelled", "jobs"),
            lambda visit: jobs.cancel(number(visit.sent("account")), visit.sent("job")),
        ),
    ]


class _OperatorPage:
    def __init__(
        self, services: Services, pages: VisitPages, deprecations: Sequence[Deprecation]
    ) -> None:
        database, clock = services.database, services.clock
        self.invitations = Invitations(database, clock)
        self.open_jobs = OpenJobs(database, clock)
        self.shares = ShareOverview(database, clock)
        self._settings = services.settings
        self._accounts = services.accounts
        self._overview = Overview(self._settings, database, clock)
        self._deprecations = deprecations
        self._pages = pages

    async def shown(self, visit: Visit, *, status: int = 0, **more: Any) -> Reply:
        state = await self._overview.state()
        is_complete = visit.asked("checks") == "all"
        checked = await self._overview.installation() if is_complete else []
        search = visit.asked("search").strip()
        newest, stores = self._accounts.page, self._overview.stores
        lists = [
            await self._found(search)
            if search
            else await _page(
                *(visit, "accounts", accounts.PER_PAGE, newest, (number, number)),
                place=lambda one: (one.created_at, one.account_id),
            ),
            await _page(
                *(visit, "jobs", overview.PER_PAGE, self.open_jobs.page, (number, number, str)),
                place=lambda one: (one.account_id, one.created_at, one.job_id),
            ),
            await _page(
                *(visit, "stores", overview.STORES_PER_PAGE, stores, (number, _model)),
                place=lambda one: (one.account_id, one.model.hex()),
            ),
            await _page(
                *(visit, "shares", SHARES_PER_PAGE, self.shares.page, (number, _name)),
                place=lambda one: (one.created_at, one.share_id),
            ),
        ]
        values = {
            **_WORDS,
            "has_more_found": False,
            **{name: value for each in lists for name, value in each.items()},
            "account_count": state.accounts,
            "checks": [*state.results, *(checked or [])],
            "has_all_checks": is_complete,
            "are_checks_running": checked is None,
            "facts": _facts(state, self._settings.is_sqlite, visit.times),
            "versions": [
                (each, deprecation.of_version(self._deprecations, each.version))
                for each in state.versions
            ],
            "search": search[: accounts.MAX_SEARCH],
            "share_state": self.shares.state,
            "is_sharing": self._settings.sharing == "on",
            "invitations": await self.invitations.all(),
            "sign_up": self._settings.sign_up,
            "new_note": "",
            "note_error": "",
            "invitation_link": "",
        }
        return self._pages.show(visit, "operator.html", status=status, **(values | more))

    async def invite(self, visit: Visit) -> Reply:
        note = visit.sent("note")
        try:
            token = await self.invitations.create(note)
        except Refusal as refused:
            return await self.shown(
                visit, status=refused.status, new_note=note, note_error=refused.sentence
            )
        # Not after a redirect: the link would have to be kept until then.
        return await self.shown(visit, invitation_link=self._settings.invitation_url(token))

    async def _found(self, search: str) -> dict[str, Any]:
        found = await self._accounts.starting_with(search)
        has_more = len(found) > accounts.PER_PAGE
        shown = {"accounts": found[: accounts.PER_PAGE], "has_more_found": has_more}
        return {**shown, "next_accounts": "", "is_first_accounts": True}


async def _page(
    visit: Visit,
    name: str,
    size: int,
    read: Callable[..., Awaitable[Sequence[Any]]],
    kinds: Sequence[Callable[[str], Any]],
    *,
    place: Callable[[Any], tuple[Any, ...]],
) -> dict[str, Any]:
    """A page of a list, which begins at the place that the address names, and the next place."""
    sent = visit.asked(name)
    found = await (read(_place(sent, kinds)) if sent else read())
    is_last = len(found) <= size
    return {
        name: found[:size],
        f"next_{name}": "" if is_last else "-".join(map(str, place(found[size - 1]))),
        f"is_first_{name}": not sent,
    }


def _place(text: str, kinds: Sequence[Callable[[str], Any]]) -> tuple[Any, ...]:
    parts = text.split("-", len(kinds) - 1)
    if len(parts) < len(kinds):
        raise _unknown()
    return tuple(read(part) for read, part in zip(kinds, parts, strict=True))


def _model(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise _unknown() from None


def _facts(state: State, is_sqlite: bool, times: Times) -> list[tuple[str, str]]:  # noqa: FBT001
    backup = "none yet" if is_sqlite else "not known: PostgreSQL makes its own backups"
    if is_sqlite and state.backup:
        backup = f"{times.moment(state.backup.made_at).inline}, {_size(state.backup.bytes)}"
    return [
        ("Version", f"{__version__}, Python {platform.python_version()}"),
        ("Database", f"{state.engine}, {_size(state.database_bytes)}"),
        ("Free disk space", _size(state.free_bytes)),
        ("Last backup", backup),
    ]


def _size(count: int) -> str:
    unit, name = (_GIGABYTE, "GB") if count >= _GIGABYTE else (_MEGABYTE, "MB")
    return f"{count / unit:,.1f} {name}"
