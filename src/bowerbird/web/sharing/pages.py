"""/sharing: what an account shares, and its private feeds."""

from datetime import date
from functools import partial
from typing import Any, Final

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.library.sharing.shares import ShareResponse
from bowerbird.model import instants
from bowerbird.model.instants import with_offset, zone_of
from bowerbird.model.labels import Audience, ListName, Share
from bowerbird.requests import decoding, limits
from bowerbird.requests.shares import NewShare, ShareChange
from bowerbird.web.visits.formats import Moment, Times, in_form
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/sharing"
NEW: Final = f"{PATH}/new"
ONE: Final = f"{PATH}/{{id}}"
_FLAGS: Final = ("pictures", "saved_dates", "highlights", "notes", "hides_gone", "is_indexed")
_TEXTS: Final = ("title", "description", "curator")
# Chosen in the form of a new share.
_DEFAULTS: Final = {"pictures": "on", "hides_gone": "on", "audience": Audience.LINK.value}
_LISTS: Final = [(name.value, name.value.capitalize()) for name in ListName]
_STATES: Final = {
    "open": ("open", "on"),
    "off": ("switched off", ""),
    "ended": ("ended", ""),
    "stopped": ("stopped by the operator", "err"),
    "forbidden": ("forbidden by the operator", "err"),
}
# What the form calls the fields of the API.
_LABELS: Final = {
    "name": "Name in the address",
    "title": "Title",
    "description": "A sentence about it",
    "curator": "Your name there",
    "ends_at": "Last day",
}
_SAID: Final = {"off": "share-off", "on": "share-on", "renew": "share-renewed"}


class SharingPages:
    def __init__(self, services: Services, pages: VisitPages) -> None:
        self._shares = services.shares
        self._write = services.write
        self._views = services.views
        self._labels = services.labels.listed
        self._clock = services.clock
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.shown),
            PageRoute("POST", PATH, self.create_feed, page=PATH, again=self.shown),
            PageRoute("GET", NEW, self.new),
            PageRoute("POST", NEW, self.create, page=PATH, again=self.new),
            PageRoute("GET", ONE, self.one),
            PageRoute("POST", ONE, self.change, page=PATH, again=self.one),
        ]

    async def shown(self, visit: Visit) -> Reply:
        account = visit.account
        shares = await self._shares.all(account)
        labels, _ = await self._labels.uses(account)
        return self._pages.show(
            visit,
            "sharing.html",
            is_allowed=self._shares.is_allowed,
            shares=[each for each in shares if each.url],
            feeds=[each for each in shares if not each.url],
            state_words=_STATES,
            last_day=partial(_shown_last_day, visit.times),
            lists=_LISTS,
            label_names=[each.label_name for each in labels],
            views=[(view.slug, view.name) for view in await self._views.all(account)],
            most=limits.FREE_SHARES_MAX if account.is_free else limits.SHARES_MAX,
        )

    async def create_feed(self, visit: Visit) -> Reply:
        """A private feed of a list, a label or a view."""
        kind, _, name = visit.sent("of").partition(" ")
        named = {"list": "list", "label": "label_name", "view": "view"}.get(kind, "list")
        await self._create(visit, {named: name, "audience": Audience.FEED})
        return self._pages.go(f"{PATH}?said=feed-created#feeds")

    async def new(self, visit: Visit) -> Reply:
        """The form of a label or view that is not shared yet."""
        sent = visit.form or {**_DEFAULTS, **visit.query}
        kind = "view" if sent.get("view") else "label"
        name = sent.get(kind, "")
        account = visit.account
        request = NewShare(view=name) if kind == "view" else NewShare(label_name=name or "-")
        target = await self._shares.target(account, request)
        if not visit.form:
            for share in await self._shares.stored(account):
                if (share.kind, share.target) == target and share.audience is not Audience.FEED:
                    return self._pages.go(f"{PATH}/{share.share_id}")
        title = (await self._views.find(account, name)).name if kind == "view" else name
        return self._form(visit, sent, target={kind: name}, name=title)

    async def create(self, visit: Visit) -> Reply:
        form = visit.form
        named = (
            {"view": form["view"]} if form.get("view") else {"label_name": form.get("label", "")}
        )
        share = await self._create(
            visit, {**named, **_sent(visit), **self._ends(visit), **_address(form)}
        )
        return self._pages.go(f"{PATH}/{share.share_id}?said=shared")

    async def one(self, visit: Visit) -> Reply:
        account = visit.account
        share = await self._shares.find(account, visit.named("id"))
        shown = await self._shares.response(account, share)
        return self._form(
            visit,
            visit.form if visit.refused else _stored(share, visit),
            share=shown,
            name=await self._shares.name_of(account, share),
        )

    async def change(self, visit: Visit) -> Reply:
        """The name of the button says what it does."""
        account, share_id = visit.account, visit.named("id")
        do = visit.form.get("do", "save")
        share = await self._shares.find(account, share_id)
        if do == "delete":
            await self._write(account, self._shares.delete, share_id)
            return self._pages.go(f"{PATH}?said=share-deleted")
        if do == "renew":
            fields: dict[str, Any] = {"new_address": True}
        elif do in ("on", "off"):
            fields = {"is_on": do == "on"}
        elif share.audience is Audience.FEED:
            fields = {"title": visit.sent("title")}
        else:
            # The form has days: another hour, set by a program, stays.
            is_same_end = visit.sent("ends").strip() == _last_day(share, visit)
            ends = {} if is_same_end else self._ends(visit)
            fields = {**_sent(visit), **ends, **_address(visit.form)}
        request = decoding.convert(fields, ShareChange)
        await self._write(account, self._shares.change, share_id, request)
        return self._pages.go(f"{PATH}/{share_id}?said={_SAID.get(do, 'share-saved')}")

    def _ends(self, visit: Visit) -> dict[str, str | None]:
        day = visit.sent("ends").strip()
        try:
            zone = zone_of(visit.times.time_zone)
            ends = instants.end_of(date.fromisoformat(day), zone) if day else None
        except (ValueError, OverflowError):
            raise errors.invalid("ends_at", "must be a day, such as 2026-09-30") from None
        if ends is not None and ends <= self._clock():
            raise errors.invalid("ends_at", "is over: choose today or a later day, or none")
        return {"ends_at": None if ends is None else with_offset(ends)}

    async def _create(self, visit: Visit, fields: dict[str, Any]) -> Share:
        account = visit.account
        request = decoding.convert(fields, NewShare)
        target = await self._shares.target(account, request)
        return await self._write(account, self._shares.create, request, target)

    def _form(
        self,
        visit: Visit,
        sent: Any,
        *,
        name: str,
        share: ShareResponse | None = None,
        target: dict[str, str] | None = None,
    ) -> Reply:
        return self._pages.show(
            visit,
            "sharing_one.html",
            problem=in_form(visit.problem, _LABELS),
            share=share,
            state_words=_STATES,
            last_day=partial(_shown_last_day, visit.times),
            target=target or {},
            named=name,
            sent={
                each: sent.get(each, "") for each in (*_TEXTS, *_FLAGS, "audience", "name", "ends")
            },
            is_allowed=self._shares.is_allowed,
            name_max=limits.SHARE_NAME_MAX,
            title_max=limits.SHARE_TITLE_MAX,
            text_max=limits.TEXT_MAX,
        )


def _sent(visit: Visit) -> dict[str, Any]:
    """The texts and boxes of the form, which both requests have."""
    form = visit.form
    return {
        **{name: form.get(name, "") for name in _TEXTS},
        **{name: name in form for name in _FLAGS},
    }


def _address(form: Any) -> dict[str, Any]:
    if form.get("audience") == Audience.PUBLIC:
        return {"audience": Audience.PUBLIC, "name": form.get("name", "").strip()}
    return {"audience": Audience.LINK}


def _stored(share: Share, visit: Visit) -> dict[str, str]:
    """What the form shows of a share."""
    choices = share.choices
    is_public = share.audience is Audience.PUBLIC
    return {
        **{name: getattr(choices, name) for name in _TEXTS},
        **{name: "on" for name in _FLAGS if getattr(choices, name)},
        "audience": share.audience,
        "name": share.address if is_public else "",
        "ends": _last_day(share, visit),
    }


def _last_day(share: Share, visit: Visit) -> str:
    return visit.times.local(share.ends_at - 1).date().isoformat() if share.ends_at else ""


def _shown_last_day(times: Times, share: ShareResponse) -> Moment | None:
    ends = instants.parse(share.ends_at or "")
    return None if ends is None else times.day(ends - 1)
