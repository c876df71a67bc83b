"""The account: plan, address, preferences, ways to sign in, sessions, and a copy of everything."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock, first_of_next_month
from bowerbird.errors import Refusal
from bowerbird.library.access.call_allowance import CallCounter
from bowerbird.library.accounts.account_export import AccountDownload
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.accounts.keys import Keys
from bowerbird.library.digests.digests import Digests
from bowerbird.library.media.preferences import MediaPreferences
from bowerbird.library.sign_in.email_changes import EmailChanges
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.model.instants import without_offset, zone_names
from bowerbird.model.sign_in import Session
from bowerbird.requests import decoding
from bowerbird.requests.digests import PreferencesRequest
from bowerbird.web.account.methods import Methods
from bowerbird.web.account.reading import reading_form
from bowerbird.web.media.pages import on_account_page
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/account"
# Has the same form for the schedule of digests.
DIGESTS: Final = "/digests"
_UNKNOWN_ZONE: Final = "There is no such time zone. Examples: Europe/Berlin, America/New_York, UTC."
_HOUR_DIGITS: Final = 2
# Names that only older programs use.
_OLD_ZONES: Final = ("Etc/", "US/", "Brazil/", "Canada/", "Chile/", "Mexico/")


class AccountParts(Struct, frozen=True):
    """What the page shows and changes."""

    accounts: Accounts
    keys: Keys
    calls: CallCounter
    digests: Digests
    sessions: Sessions
    methods: Methods
    emails: EmailChanges
    download: AccountDownload
    media: MediaPreferences
    clock: Clock


class _Typed(Struct, frozen=True):
    """What was typed into a form, and the sentence about it."""

    time_zone_error: str = ""
    new_email: str = ""
    new_email_error: str = ""
    problem: str = ""


def routes(parts: AccountParts, pages: VisitPages) -> list[PageRoute]:
    page = _AccountPage(parts, pages)
    return [
        PageRoute("GET", PATH, page.show),
        PageRoute("POST", f"{PATH}/preferences", page.change_preferences, page=PATH),
        PageRoute("POST", f"{PATH}/email", page.change_email, page=PATH),
        PageRoute("POST", f"{PATH}/export", page.download, page=PATH),
    ]


class _AccountPage:
    def __init__(self, parts: AccountParts, pages: VisitPages) -> None:
        self._parts = parts
        self._pages = pages

    async def show(self, visit: Visit) -> Reply:
        return await self._shown(visit, _Typed())

    async def change_preferences(self, visit: Visit) -> Reply:
        try:
            request = _preferences(visit, can_mail=self._parts.emails.can_mail)
        except Refusal as refused:
            is_zone = "time_zone" in refused.sentence
            typed = _Typed(
                time_zone_error=_UNKNOWN_ZONE if is_zone else "",
                problem="" if is_zone else refused.sentence,
            )
            return await self._shown(visit, typed, refused.status)
        await self._parts.digests.change_preferences(visit.signed_in.account, request)
        if visit.form.get("back") == DIGESTS:
            return self._pages.go(f"{DIGESTS}?said=preferences-saved#schedule")
        return self._pages.go(f"{PATH}?said=preferences-saved#you")

    async def change_email(self, visit: Visit) -> Reply:
        emails, email = self._parts.emails, visit.form.get("email", "").strip()
        change = emails.ask if emails.can_mail else emails.change
        try:
            await change(visit.signed_in, email)
        except Refusal as refused:
            typed = _Typed(new_email=email, new_email_error=refused.sentence)
            return await self._shown(visit, typed, refused.status)
        said = "email-sent" if emails.can_mail else "email-changed"
        return self._pages.go(f"{PATH}?said={said}#you")

    async def download(self, visit: Visit) -> Reply:
        pieces = await self._parts.download.start(visit.signed_in.account)
        day = without_offset(self._parts.clock())[:10]
        saved_as = f'attachment; filename="bowerbird-{day}.json"'
        return Reply(
            200,
            [
                (b"content-type", b"application/json"),
                (b"content-disposition", saved_as.encode()),
                (b"cache-control", b"no-store"),
                (b"x-content-type-options", b"nosniff"),
                (b"cross-origin-resource-policy", b"same-origin"),
            ],
            stream=pieces,
        )

    async def _shown(self, visit: Visit, typed: _Typed, status: int = 200) -> Reply:
        visitor, parts = visit.signed_in, self._parts
        methods = await parts.methods.of(visit)
        preferences = await parts.digests.preferences(visitor.account)
        return self._pages.show(
            visit,
            "account.html",
            status=status,
            plan=visitor.account.plan,
            usage=await self._usage(visit),
            time_zone=visitor.time_zone,
            time_zone_error=typed.time_zone_error,
            change_email=self._how_to_change_email(visit),
            new_email=typed.new_email,
            new_email_error=typed.new_email_error,
            passkeys=methods.passkeys,
            providers=methods.providers,
            can_disconnect=methods.can_disconnect,
            sessions=_sessions(visit, await parts.sessions.all(visit.account_id)),
            digest={
                "frequency": preferences.frequency,
                "hour": preferences.hour,
                "mail": preferences.mail,
            },
            removed_posts=await parts.accounts.removed_posts(visit.account_id),
            reading=reading_form(visit),
            zones=_zones(visitor.time_zone),
            images=on_account_page(await parts.media.state(visitor.account)),
            can_mail=parts.emails.can_mail,
            problem=typed.problem,
        )

    def _how_to_change_email(self, visit: Visit) -> str:
        """`confirm` with a link to the new address, `direct`, or `ask` the operator."""
        if self._parts.emails.can_mail:
            return "confirm"
        return "direct" if visit.signed_in.is_owner else "ask"

    async def _usage(self, visit: Visit) -> dict[str, Any]:
        parts, account = self._parts, visit.signed_in.account
        next_month = date.fromisoformat(first_of_next_month(parts.clock()))
        return {
            "posts": account.total,
            "key_count": await parts.keys.count_live(account.account_id),
            "calls": parts.calls.used(account),
            # Calls of paid accounts are not counted.
            "calls_limit": parts.calls.calls_per_month if account.is_free else None,
            "next_month": visit.times.date(next_month),
        }


def _zones(chosen: str) -> list[tuple[str, str]]:
    """The time zones that people know by a place, and the one that is chosen."""
    places = {name for name in zone_names() if "/" in name and not name.startswith(_OLD_ZONES)}
    return [(name, name.replace("_", " ")) for name in sorted(places | {"UTC", chosen})]


def _sessions(visit: Visit, sessions: Sequence[Session]) -> list[dict[str, Any]]:
    moment = visit.times.moment
    return [
        {
            "id": session.session_id,
            "browser": session.device,
            "address": session.address,
            "last_used": moment(session.last_used_at),
            "is_current": session.session_id == visit.signed_in.session.session_id,
        }
        for session in sessions
    ]


def _preferences(visit: Visit, *, can_mail: bool) -> PreferencesRequest:
    """The request in the form, read by the rules of the API."""
    sent: dict[str, Any] = {
        name: visit.form[name].strip() for name in ("time_zone", "frequency") if name in visit.form
    }
    if hour := visit.form.get("hour", ""):
        is_number = hour.isascii() and hour.isdigit() and len(hour) <= _HOUR_DIGITS
        sent["hour"] = int(hour) if is_number else hour
    # A switch that is off is not sent, and neither is one that cannot be used.
    if can_mail and visit.signed_in.email:
        sent["mail"] = "mail" in visit.form
    return decoding.decode(msgspec.json.encode(sent), PreferencesRequest)
