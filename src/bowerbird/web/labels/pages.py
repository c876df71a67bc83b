"""/labels: find a label, make one, rename it, choose its colour, merge it, delete it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.bulk.changes import BulkChanges
from bowerbird.library.labels.label_changes import LabelChanges
from bowerbird.library.labels.label_list import FoundLabel, LabelList
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkRow
from bowerbird.model.labels import COLORS, name_key
from bowerbird.requests import decoding
from bowerbird.requests.labels import LabelChange
from bowerbird.web.labels.words import in_words
from bowerbird.web.library import post_parts
from bowerbird.web.library.changes import UNDO
from bowerbird.web.library.sidebar import Sidebar
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit, is_own_path
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/labels"
_PER_PAGE: Final = 60
# The parameters of the list. `label` is the one that is being changed.
_FIND, _CURSOR, _EDITED = "q", "cursor", "label"
# What a change says about itself: the parameters of the page that it leads to.
_Said = dict[str, str]


class LabelPages:
    def __init__(
        self,
        listed: LabelList,
        changes: LabelChanges,
        bulk: BulkChanges,
        sidebar: Sidebar,
        pages: VisitPages,
    ) -> None:
        self._listed = listed
        self._bulk = bulk
        self._changes = changes
        self._sidebar = sidebar
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.show),
            PageRoute("POST", f"{PATH}/make", self.make, page=PATH),
            PageRoute("POST", f"{PATH}/change", self.change, page=PATH),
            PageRoute("POST", f"{PATH}/merge", self.merge, page=PATH),
            PageRoute("POST", f"{PATH}/delete", self.delete, page=PATH),
        ]

    async def show(self, visit: Visit) -> Reply:
        return await self._shown(visit, visit.query)

    async def make(self, visit: Visit) -> Reply:
        """The search box also names a new label."""
        name = visit.form.get(_FIND, "")
        try:
            wanted = _change({"label_name": name}).label_name
            assert isinstance(wanted, str)
            made, is_new = await self._changes.create(visit.signed_in.account, wanted)
        except Refusal as refused:
            return await self._shown(visit, {_FIND: name}, refused)
        said = "label-made" if is_new else "label-known"
        return self._go({_FIND: made.label_name, "said": said}, f"label-{made.id}")

    async def change(self, visit: Visit) -> Reply:
        sent = {"label_name": visit.form.get("name", ""), "color": visit.form.get("color") or None}

        async def change(account: Account, label_id: str) -> _Said:
            await self._changes.update(account, label_id, _change(sent))
            return {"said": "label-changed"}

        return await self._after(visit, change)

    async def merge(self, visit: Visit) -> Reply:
        async def merge(account: Account, label_id: str) -> _Said:
            into = await self._named(account, visit.form.get("into", ""))
            row = await self._bulk.run_label(account, label_id, into.label_id)
            return _said(row, "labels-merged", "labels-merging")

        return await self._after(visit, merge)

    async def delete(self, visit: Visit) -> Reply:
        async def delete(account: Account, label_id: str) -> _Said:
            row = await self._bulk.run_label(account, label_id)
            return _said(row, "label-deleted", "label-deleting")

        return await self._after(visit, delete)

    async def _named(self, account: Account, name: str) -> FoundLabel:
        found = await self._listed.matching(account, name, 1)
        if not name.strip() or not found or name_key(found[0].label_name) != name_key(name):
            raise Refusal(Code.NOT_FOUND, f"No label is named {errors.shown(name)}.")
        return found[0]

    async def _after(
        self, visit: Visit, change: Callable[[Account, str], Awaitable[_Said]]
    ) -> Reply:
        """Changes the label of the form, and returns to the list that sent it."""
        label_id, kept = visit.form.get(_EDITED, ""), _kept(visit.form.get("back", ""))
        try:
            said = await change(visit.signed_in.account, label_id)
        except Refusal as refused:
            return await self._shown(visit, {**kept, _EDITED: label_id}, refused)
        return self._go({**kept, **said}, f"label-{label_id}")

    def _go(self, values: Mapping[str, str], place: str) -> Reply:
        return self._pages.go(f"{_url(values)}#{place}")

    async def _shown(
        self, visit: Visit, values: Mapping[str, str], refused: Refusal | None = None
    ) -> Reply:
        account, text = visit.signed_in.account, values.get(_FIND, "").strip()
        cursor, edited = values.get(_CURSOR) or None, values.get(_EDITED, "")
        page = await self._listed.found_page(account, text, cursor, _PER_PAGE)
        side = await self._sidebar.values(account)
        back = {name: values[name] for name in (_FIND, _CURSOR) if values.get(name)}
        is_known = any(name_key(each.label_name) == name_key(text) for each in page.labels)
        return self._pages.show(
            visit,
            "labels.html",
            status=200 if refused is None else refused.status,
            problem="" if refused is None else in_words(refused),
            **side,
            title="Labels",
            here=PATH,
            back=_url(back),
            undo=UNDO.get(values.get("said", "")),
            undo_post=values.get("post", ""),
            search=values.get(_FIND, ""),
            can_make=bool(text) and not is_known,
            labels=[_row(each, back) for each in page.labels],
            edited=edited if any(each.label_id == edited for each in page.labels) else "",
            typed=visit.form.get("name", ""),
            colours=COLORS,
            found=page.total,
            more=_url({**back, _CURSOR: page.next_cursor}) if page.next_cursor else "",
        )


def _row(label: FoundLabel, back: Mapping[str, str]) -> dict[str, Any]:
    shown = post_parts.label(label.label_name, label.color)
    return {
        **shown,
        "id": label.label_id,
        "count": label.count,
        "chosen": label.color or "",
        "derived": post_parts.label(label.label_name)["colour"],
        # Without a fragment: browsers do not focus the field then.
        "edit_url": _url({**back, _EDITED: label.label_id}),
    }


def _said(row: BulkRow, done: str, working: str) -> _Said:
    """A job does the rest of a change of very many posts. Both can be undone."""
    return {"said": done if row.is_finished else working, "post": row.change_id}


def _change(sent: Mapping[str, str | None]) -> LabelChange:
    return decoding.decode(msgspec.json.encode(sent), LabelChange)


def _kept(back: str) -> dict[str, str]:
    """The search and the page of the list that sent a form."""
    if not is_own_path(back):
        return {}
    fields = dict(parse_qsl(urlsplit(back).query))
    return {name: fields[name] for name in (_FIND, _CURSOR) if name in fields}


def _url(values: Mapping[str, str]) -> str:
    return f"{PATH}?{urlencode(values)}" if values else PATH
