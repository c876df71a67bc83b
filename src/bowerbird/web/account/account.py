"""The account: plan, address, preferences, ways to sign in, sessions, and a copy of everything.

/activity: what happened in it, and the changes that can be undone. Its deletion.
"""

import re
from datetime import date
from typing import Any, Final

from bowerbird.assembly import Services
from bowerbird.clock import first_of_next_month
from bowerbird.library.access.activity import KEPT_DAYS, PAGE, Activity, sentence
from bowerbird.library.accounts.account_export import AccountDownload
from bowerbird.library.accounts.accounts import AccountDeletion, OwnerStays
from bowerbird.library.bulk.summaries import RecentChange, RecentChanges
from bowerbird.model.accounts import ActivityEntry
from bowerbird.model.bulk import Maker
from bowerbird.model.instants import without_offset, zone_names
from bowerbird.model.words import fold
from bowerbird.requests.bookmarks import ChangesQuery
from bowerbird.web.account.reading import reading_form
from bowerbird.web.digests import preferences
from bowerbird.web.library.changes import BulkPages
from bowerbird.web.media import on_account_page
from bowerbird.web.sign_in.parts import SignInParts
from bowerbird.web.visits.formats import Times
from bowerbird.web.visits.pages import VisitPages, attachment
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/account"
_SESSIONS: Final = f"{PATH}/sessions"
_UNKNOWN_ZONE: Final = "There is no such time zone. Examples: Europe/Berlin, America/New_York, UTC."
# Names that only older programs use.
_OLD_ZONES: Final = ("Etc/", "US/", "Brazil/", "Canada/", "Chile/", "Mexico/")


def routes(services: Services, parts: SignInParts, pages: VisitPages) -> list[PageRoute]:
    page = _AccountPage(services, parts, pages)
    return [
        PageRoute("GET", PATH, page.show),
        PageRoute(
            *("POST", f"{PATH}/preferences", page.change_preferences), page=PATH, again=page.show
        ),
        PageRoute("POST", f"{PATH}/email", page.change_email, page=PATH, again=page.show),
        PageRoute("POST", f"{PATH}/export", page.download, page=PATH),
        PageRoute("POST", "/sign-out", page.sign_out, Access.ANYONE),
        PageRoute("POST", f"{_SESSIONS}/{{session_id}}/end", page.end_session, page=PATH),
        PageRoute("POST", f"{_SESSIONS}/end-others", page.end_other_sessions, page=PATH),
    ]


class _AccountPage:
    def __init__(self, services: Services, parts: SignInParts, pages: VisitPages) -> None:
        self._services = services
        self._parts = parts
        self._emails = parts.emails
        self._download = AccountDownload(services.database, services.files, services.clock)
        self._pages = pages

    async def sign_out(self, visit: Visit) -> Reply:
        if visit.visitor is not None:
            await self._services.sessions.sign_out(visit.visitor)
        visit.leave()
        return self._pages.go("/")

    async def end_session(self, visit: Visit) -> Reply:
        session_id = visit.named("session_id")
        await self._services.sessions.end(visit.signed_in, session_id)
        if session_id == visit.signed_in.session.session_id:
            visit.leave()
            return self._pages.go("/")
        return self._pages.go(f"{PATH}?said=session-ended#sessions")

    async def end_other_sessions(self, visit: Visit) -> Reply:
        await self._services.sessions.end_others(visit.signed_in)
        return self._pages.go(f"{PATH}?said=sessions-ended#sessions")

    async def change_preferences(self, visit: Visit) -> Reply:
        request = preferences(visit, can_mail=self._emails.can_mail)
        await self._services.digests.change_preferences(visit.account, request)
        return self._pages.go(f"{PATH}?said=preferences-saved#you")

    async def change_email(self, visit: Visit) -> Reply:
        emails = self._emails
        change = emails.ask if emails.can_mail else emails.change
        await change(visit.signed_in, _typed_email(visit))
        said = "email-sent" if emails.can_mail else "email-changed"
        return self._pages.go(f"{PATH}?said={said}#you")

    async def download(self, visit: Visit) -> Reply:
        pieces = await self._download.start(visit.account)
        day = without_offset(self._services.clock())[:10]
        return attachment(f"bowerbird-{day}.json", "application/json", stream=pieces)

    async def show(self, visit: Visit) -> Reply:
        visitor, services = visit.signed_in, self._services
        is_email = "email" in visit.form
        is_zone = not is_email and "time_zone" in visit.problem
        methods = await self._parts.methods_of(visit)
        return self._pages.show(
            visit,
            "account.html",
            plan=visitor.account.plan,
            usage=await self._usage(visit),
            time_zone=visitor.time_zone,
            time_zone_error=_UNKNOWN_ZONE if is_zone else "",
            change_email=self._how_to_change_email(visit),
            new_email=_typed_email(visit),
            new_email_error=visit.problem if is_email else "",
            passkeys=methods.passkeys,
            providers=methods.providers,
            can_disconnect=methods.can_disconnect,
            sessions=await services.sessions.all(visit.account_id),
            this_session=visitor.session.session_id,
            removed_posts=await services.accounts.removed_posts(visit.account_id),
            reading=reading_form(visit),
            zones=_zones(visitor.time_zone),
            images=on_account_page(await services.media_preferences.state(visitor.account)),
            problem="" if is_email or is_zone else visit.problem,
        )

    def _how_to_change_email(self, visit: Visit) -> str:
        """`confirm` with a link to the new address, `direct`, or `ask` the operator."""
        if self._emails.can_mail:
            return "confirm"
        return "direct" if visit.signed_in.is_owner else "ask"

    async def _usage(self, visit: Visit) -> dict[str, Any]:
        services, account = self._services, visit.account
        next_month = date.fromisoformat(first_of_next_month(services.clock()))
        return {
            "posts": account.total,
            "key_count": await services.keys.count_live(account.account_id),
            "calls": services.calls.used(account),
            # Calls of paid accounts are not counted.
            "calls_limit": services.calls.calls_per_month if account.is_free else None,
            "next_month": visit.times.date(next_month),
        }


def _typed_email(visit: Visit) -> str:
    return visit.sent("email").strip()


def _zones(chosen: str) -> list[tuple[str, str]]:
    """The time zones that people know by a place, and the one that is chosen."""
    places = {name for name in zone_names() if "/" in name and not name.startswith(_OLD_ZONES)}
    return [(name, name.replace("_", " ")) for name in sorted(places | {"UTC", chosen})]


ACTIVITY: Final = "/activity"
_CHANGES: Final = 20
_CURSOR: Final = re.compile(r"([0-9]{1,18})-([0-9a-f]{1,32})", re.ASCII)


def activity_routes(
    activity: Activity, recent: RecentChanges, many: BulkPages, pages: VisitPages
) -> list[PageRoute]:
    async def show(visit: Visit) -> Reply:
        before = _before(visit.asked("cursor"))
        found = await activity.page(visit.account_id, before, PAGE + 1)
        entries = found[:PAGE]
        times = visit.times
        changes: list[RecentChange] = []
        if before is None:
            account = visit.account
            changes = (await recent.list(account, ChangesQuery(limit=_CHANGES))).changes
        return pages.show(
            visit,
            "activity.html",
            events=[_event(entry, times) for entry in entries],
            days=KEPT_DAYS,
            older=_cursor(entries[-1]) if len(found) > PAGE else "",
            is_first=before is None,
            changes=[_change(change, times) for change in changes],
            **await many.values(visit),
        )

    return [PageRoute("GET", ACTIVITY, show)]


def _before(cursor: str) -> tuple[int, str] | None:
    """The entry that a cursor names; None for the first page, and for a text that is no cursor."""
    match = _CURSOR.fullmatch(cursor)
    return (int(match[1]), match[2]) if match else None


def _cursor(entry: ActivityEntry) -> str:
    return f"{entry.at}-{entry.entry_id}"


def _change(change: RecentChange, times: Times) -> dict[str, Any]:
    key = f"the key “{change.key_name}”" if change.key_name else "a key"
    by: dict[str, str] = {
        Maker.KEY: key,
        Maker.AGENT: f"an agent with {key}",
        Maker.PAGE: "this website",
        Maker.RULE: f"the rule “{change.rule_name}”",
    }
    can_undo = change.undo_until is not None and change.changed > 0
    return {
        "at": times.moment_of(change.created_at),
        "text": change.summary,
        "by": by.get(change.made_by, "this server"),
        "undo": change.change_id if can_undo else "",
    }


def _event(entry: ActivityEntry, times: Times) -> dict[str, Any]:
    return {"at": times.moment(entry.at), "text": sentence(entry), "address": entry.address}


DELETE: Final = "/account/delete"
GOODBYE: Final = "/goodbye"
_WITHOUT_ADDRESS: Final = "delete"


def deletion_routes(deletion: AccountDeletion, pages: VisitPages) -> list[PageRoute]:
    async def shown(visit: Visit, *, error: str = "", status: int = 200) -> Reply:
        lost = await deletion.losses(visit.account_id)
        return pages.show(
            visit,
            "account_delete.html",
            status=status,
            posts=visit.account.total,
            labels=lost.labels,
            views=lost.views,
            keys=lost.keys,
            obstacle=await deletion.obstacle(visit.account_id),
            phrase=_phrase(visit),
            phrase_error=error,
        )

    async def show(visit: Visit) -> Reply:
        return await shown(visit)

    async def delete(visit: Visit) -> Reply:
        if fold(visit.sent("phrase").strip()) != fold(_phrase(visit)):
            sentence = f"Type “{_phrase(visit)}” to delete the account."
            return await shown(visit, error=sentence, status=400)
        try:
            await deletion.start(visit.account_id)
        except OwnerStays as refused:
            return await shown(visit, status=refused.status)
        visit.leave()
        return pages.go(GOODBYE)

    async def goodbye(visit: Visit) -> Reply:
        return pages.show(visit, "goodbye.html")

    return [
        PageRoute("GET", DELETE, show, Access.PROVED),
        PageRoute("POST", DELETE, delete, Access.PROVED, DELETE),
        PageRoute("GET", GOODBYE, goodbye, Access.ANYONE),
    ]


def _phrase(visit: Visit) -> str:
    return visit.signed_in.email or _WITHOUT_ADDRESS
