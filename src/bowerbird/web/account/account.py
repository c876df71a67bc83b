"""The account: plan, address, preferences, ways to sign in, sessions, a copy of everything."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.assembly import Services
from bowerbird.clock import first_of_next_month
from bowerbird.library.accounts.account_export import AccountDownload
from bowerbird.model.accounts import Passkey
from bowerbird.model.instants import without_offset, zone_names
from bowerbird.requests import decoding
from bowerbird.requests.digests import PreferencesRequest
from bowerbird.web.account.reading import reading_form
from bowerbird.web.media.pages import on_account_page
from bowerbird.web.sign_in.parts import SignInParts
from bowerbird.web.visits.pages import VisitPages, attachment
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply


class ShownMethods(Struct, frozen=True):
    passkeys: Sequence[Passkey]
    providers: list[dict[str, Any]]

    @property
    def can_disconnect(self) -> bool:
        """Whether another way to sign in would be left."""
        usable = [each for each in self.providers if each["address"] and each["path"]]
        return len(self.passkeys) + len(usable) > 1


async def methods_of(parts: SignInParts, visit: Visit) -> ShownMethods:
    passkeys = await parts.passkeys.all(visit.account_id)
    return ShownMethods(passkeys, await parts.providers.for_account(visit))


PATH: Final = "/account"
_SESSIONS: Final = f"{PATH}/sessions"
# Has the same form for the schedule of digests.
DIGESTS: Final = "/digests"
_UNKNOWN_ZONE: Final = "There is no such time zone. Examples: Europe/Berlin, America/New_York, UTC."
_HOUR_DIGITS: Final = 2
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
        session_id = visit.request.path_params["session_id"]
        await self._services.sessions.end(visit.signed_in, session_id)
        if session_id == visit.signed_in.session.session_id:
            visit.leave()
            return self._pages.go("/")
        return self._pages.go(f"{PATH}?said=session-ended#sessions")

    async def end_other_sessions(self, visit: Visit) -> Reply:
        await self._services.sessions.end_others(visit.signed_in)
        return self._pages.go(f"{PATH}?said=sessions-ended#sessions")

    async def change_preferences(self, visit: Visit) -> Reply:
        request = _preferences(visit, can_mail=self._emails.can_mail)
        await self._services.digests.change_preferences(visit.signed_in.account, request)
        if visit.form.get("back") == DIGESTS:
            return self._pages.go(f"{DIGESTS}?said=preferences-saved#schedule")
        return self._pages.go(f"{PATH}?said=preferences-saved#you")

    async def change_email(self, visit: Visit) -> Reply:
        emails = self._emails
        change = emails.ask if emails.can_mail else emails.change
        await change(visit.signed_in, _typed_email(visit))
        said = "email-sent" if emails.can_mail else "email-changed"
        return self._pages.go(f"{PATH}?said={said}#you")

    async def download(self, visit: Visit) -> Reply:
        pieces = await self._download.start(visit.signed_in.account)
        day = without_offset(self._services.clock())[:10]
        return attachment(f"bowerbird-{day}.json", "application/json", stream=pieces)

    async def show(self, visit: Visit) -> Reply:
        visitor, services = visit.signed_in, self._services
        is_email = "email" in visit.form
        is_zone = not is_email and "time_zone" in visit.problem
        methods = await methods_of(self._parts, visit)
        preferences = await services.digests.preferences(visitor.account)
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
            digest=preferences,
            removed_posts=await services.accounts.removed_posts(visit.account_id),
            reading=reading_form(visit),
            zones=_zones(visitor.time_zone),
            images=on_account_page(await services.media_preferences.state(visitor.account)),
            can_mail=self._emails.can_mail,
            problem="" if is_email or is_zone else visit.problem,
        )

    def _how_to_change_email(self, visit: Visit) -> str:
        """`confirm` with a link to the new address, `direct`, or `ask` the operator."""
        if self._emails.can_mail:
            return "confirm"
        return "direct" if visit.signed_in.is_owner else "ask"

    async def _usage(self, visit: Visit) -> dict[str, Any]:
        services, account = self._services, visit.signed_in.account
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
    return visit.form.get("email", "").strip()


def _zones(chosen: str) -> list[tuple[str, str]]:
    """The time zones that people know by a place, and the one that is chosen."""
    places = {name for name in zone_names() if "/" in name and not name.startswith(_OLD_ZONES)}
    return [(name, name.replace("_", " ")) for name in sorted(places | {"UTC", chosen})]


def _preferences(visit: Visit, *, can_mail: bool) -> PreferencesRequest:
    """The request in the form, read by the rules of the API."""
    sent: dict[str, Any] = {
        name: visit.form[name].strip() for name in ("time_zone", "frequency") if name in visit.form
    }
    if hour := visit.form.get("hour", ""):
        is_number = hour.isascii() and hour.isdigit() and len(hour) <= _HOUR_DIGITS
        sent["hour"] = int(hour) if is_number else hour
        sent["highlight"] = "highlight" in visit.form
    # A switch that is off is not sent, and neither is one that cannot be used.
    if can_mail and visit.signed_in.email:
        sent["mail"] = "mail" in visit.form
    return decoding.decode(msgspec.json.encode(sent), PreferencesRequest)
