"""/labels: find a label, make one, rename it, choose its colour, merge it, delete it.

/import/labels: labels that fit the posts of an import, added as one change with its undo.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.labels.import_labels import FittingLabel, LabelsOfImport
from bowerbird.library.labels.label_list import FoundLabel
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkRow
from bowerbird.model.labels import COLORS, name_key
from bowerbird.requests import decoding
from bowerbird.requests.labels import ImportLabelling, LabelChange
from bowerbird.web.imports.pages import PATH as IMPORT
from bowerbird.web.imports.pages import posts_of
from bowerbird.web.library import addresses
from bowerbird.web.library.addresses import LABELS, of_post
from bowerbird.web.library.changes import BulkPages
from bowerbird.web.library.suggesting import in_words, name_problem
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Visit, is_own_path
from bowerbird.wire.responses.replies import Reply

_MAKE: Final = f"{LABELS}/make"
_PER_PAGE: Final = 60
# The parameters of the list. `label` is the one that is being changed.
_FIND, _CURSOR, _EDITED = "q", "cursor", "label"


class LabelPages:
    def __init__(self, services: Services, many: BulkPages, pages: VisitPages) -> None:
        self._listed = services.labels.listed
        self._many = many
        self._labels, self._write = services.labels, services.write
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", LABELS, self.show),
            PageRoute("POST", _MAKE, self.make, page=LABELS, again=self.show),
            PageRoute("POST", f"{LABELS}/change", self.change, page=LABELS, again=self.show),
            PageRoute("POST", f"{LABELS}/merge", self.merge, page=LABELS, again=self.show),
            PageRoute("POST", f"{LABELS}/delete", self.delete, page=LABELS, again=self.show),
        ]

    async def make(self, visit: Visit) -> Reply:
        """The search box also names a new label."""
        wanted = _change({"label_name": visit.sent(_FIND)}).label_name
        assert isinstance(wanted, str)
        made, row = await self._write(visit.account, self._labels.create, wanted)
        said = "label-known" if row is None else "label-made"
        return self._go({_FIND: made.label_name, **_told(said, row)}, f"label-{made.id}")

    async def change(self, visit: Visit) -> Reply:
        account, label_id = visit.account, visit.sent(_EDITED)
        sent = {"label_name": visit.sent("name"), "color": visit.form.get("color") or None}
        _, row = await self._write(account, self._labels.update, label_id, _change(sent))
        if row is not None and not row.is_finished:
            await self._labels.changes.finish_soon(account, row.change_id)
        kept = _kept(visit.sent("back"))
        return self._go({**kept, **_told("label-changed", row)}, f"label-{label_id}")

    async def merge(self, visit: Visit) -> Reply:
        account, label_id = visit.account, visit.sent(_EDITED)
        into = await self._named(account, visit.sent("into"))
        row = await self._many.changes.run_label(account, label_id, into.label_id)
        return await self._many.after(visit, row, LABELS)

    async def delete(self, visit: Visit) -> Reply:
        account, label_id = visit.account, visit.sent(_EDITED)
        row = await self._many.changes.run_label(account, label_id)
        return await self._many.after(visit, row, LABELS)

    async def _named(self, account: Account, name: str) -> FoundLabel:
        found = await self._listed.matching(account, name, 1)
        if not name.strip() or not found or name_key(found[0].label_name) != name_key(name):
            raise Refusal(Code.NOT_FOUND, f"No label is named {errors.shown(name)}.")
        return found[0]

    def _go(self, values: Mapping[str, str], place: str) -> Reply:
        return self._pages.go(f"{_url(values)}#{place}")

    async def show(self, visit: Visit) -> Reply:
        values, refused = _asked(visit), visit.refused
        account, text = visit.account, values.get(_FIND, "").strip()
        cursor, edited = values.get(_CURSOR) or None, values.get(_EDITED, "")
        page = await self._listed.found_page(account, text, cursor, _PER_PAGE)
        back = {name: values[name] for name in (_FIND, _CURSOR) if values.get(name)}
        is_known = any(name_key(each.label_name) == name_key(text) for each in page.labels)
        return self._pages.show(
            visit,
            "labels.html",
            problem="" if refused is None else in_words(refused, visit.form.get("name", text)),
            title="Labels",
            here=LABELS,
            back=_url(back),
            **await self._many.values(visit),
            search=values.get(_FIND, ""),
            can_make=not name_problem(text) and not is_known,
            # Said once.
            name_problem="" if refused else name_problem(text),
            labels=[_row(each, back) for each in page.labels],
            edited=edited if any(each.label_id == edited for each in page.labels) else "",
            typed=refused and {one: visit.sent(one) for one in ("name", "color", "into")},
            colours=COLORS,
            found=page.total,
            more=_url({**back, _CURSOR: page.next_cursor}) if page.next_cursor else "",
        )


def _asked(visit: Visit) -> Mapping[str, str]:
    """What the page shows: as its address says, or as the form that was refused."""
    if visit.refused is None:
        return visit.query
    if visit.request.path == _MAKE:
        return {_FIND: visit.sent(_FIND)}
    return {**_kept(visit.sent("back")), _EDITED: visit.sent(_EDITED)}


def _row(label: FoundLabel, back: Mapping[str, str]) -> dict[str, Any]:
    shown = addresses.label(label.label_name, label.color)
    return {
        **shown,
        "id": label.label_id,
        "count": label.count,
        "chosen": label.color or "",
        "derived": addresses.label(label.label_name)["colour"],
        # Without a fragment: browsers do not focus the field then.
        "edit_url": _url({**back, _EDITED: label.label_id}),
    }


def _change(sent: Mapping[str, str | None]) -> LabelChange:
    return decoding.convert(sent, LabelChange)


def _told(said: str, row: BulkRow | None) -> dict[str, str]:
    return {"said": said} if row is None else {"said": said, "change": row.change_id}


def _kept(back: str) -> dict[str, str]:
    """The search and the page of the list that sent a form."""
    if not is_own_path(back):
        return {}
    fields = dict(parse_qsl(urlsplit(back).query))
    return {name: fields[name] for name in (_FIND, _CURSOR) if name in fields}


def _url(values: Mapping[str, str]) -> str:
    return f"{LABELS}?{urlencode(values)}" if values else LABELS


_OF_IMPORT: Final = f"{IMPORT}/labels/{{run_id}}"
# The names of the boxes begin with it, followed by the id of a label.
_BOX: Final = "label-"


class ImportLabelPages:
    def __init__(self, services: Services, many: BulkPages, pages: VisitPages) -> None:
        self._labels = services.import_labels
        self._many = many
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", _OF_IMPORT, self.look, page=IMPORT),
            PageRoute("POST", _OF_IMPORT, self.apply, page=IMPORT, again=self.look),
        ]

    async def look(self, visit: Visit) -> Reply:
        run_id = visit.named("run_id")
        found = await self._labels.of_run(visit.account, run_id)
        return self._pages.show(
            visit,
            "import_labels.html",
            run_id=run_id,
            posts_url=posts_of(run_id),
            sentence=_sentence(found),
            labels=[_shown(one) for one in found.labels],
            note=found.notice or "",
        )

    async def apply(self, visit: Visit) -> Reply:
        account, run_id = visit.account, visit.named("run_id")
        plans.check_writes(account)
        chosen = [name.removeprefix(_BOX) for name in visit.form if name.startswith(_BOX)]
        if not chosen:
            raise Refusal(Code.INVALID_REQUEST, "Choose at least one label.")
        request = ImportLabelling(label_ids=chosen)
        change = await self._labels.change(account, run_id, request)
        row = await self._many.changes.run(account, change)
        return await self._many.after(visit, row)


def _sentence(found: LabelsOfImport) -> str:
    if not found.compared:
        return "Every post of this import has a label."
    posts = "1 post" if found.compared == 1 else f"{found.compared:,} posts"
    if not found.count:
        return f"None of the {posts} without a label has a clear one."
    have = "has" if found.count == 1 else "have"
    return f"{found.count:,} of {posts} without a label {have} a clear one."


def _shown(one: FittingLabel) -> dict[str, Any]:
    return {
        **addresses.label(one.label_name, one.color),
        "box": f"{_BOX}{one.label_id}",
        "count": "1 post" if one.count == 1 else f"{one.count:,} posts",
        "examples": [
            {"url": of_post(each.post_id), "name": each.author_username, "text": each.text}
            for each in one.examples
        ],
    }
