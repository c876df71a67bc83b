"""/views: all Smart Views in their order, what their buttons do, and the fields of their form."""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

from msgspec import Struct, field

from bowerbird.assembly import Services
from bowerbird.library.views.views import ChangedView, ViewResponse
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import BulkAction, BulkRow
from bowerbird.model.labels import Query, View
from bowerbird.requests import decoding
from bowerbird.requests.filters import readers
from bowerbird.requests.limits import BUCKETS_MAX, VIEWS_MAX
from bowerbird.requests.views import ViewChange, ViewQuery
from bowerbird.web.library.addresses import of_view, shown_count
from bowerbird.web.library.changes import BulkPages
from bowerbird.web.library.filters import NAMES
from bowerbird.web.visits.formats import Times, in_form
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import PageRoute
from bowerbird.web.visits.visit import Form, Visit
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/views"
# The name of the button -> the message about it.
_SAID: Final = {
    "up": "view-moved",
    "down": "view-moved",
    "pin": "view-pinned",
    "unpin": "view-unpinned",
    "delete": "view-deleted",
}
_FLAG_WORDS: Final = {
    ("is_unread_only", "true"): "unread only",
    ("hide_archived", "false"): "with archived posts",
    ("is_archived_only", "true"): "archived only",
    ("unlabelled", "true"): "without labels",
    ("unlabelled", "false"): "with labels",
    ("has_note", "true"): "with a note",
    ("has_note", "false"): "without a note",
    ("is_gone", "true"): "gone",
    ("is_gone", "false"): "not gone",
    ("is_reply", "true"): "replies",
    ("is_reply", "false"): "without replies",
    ("is_thread", "true"): "threads",
    ("is_thread", "false"): "without threads",
    ("is_duplicate", "true"): "duplicates",
    ("is_duplicate", "false"): "without duplicates",
}
_FLAGS: Final = frozenset(name for name, _ in _FLAG_WORDS)


class ViewPages:
    def __init__(self, services: Services, many: BulkPages, pages: VisitPages) -> None:
        self._views = services.views
        self._recent = services.bulk.recent
        self._many = many
        self._write = services.write
        self._pages = pages

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self.shown),
            PageRoute("POST", PATH, self.change, page=PATH, back=(PATH, "Back")),
        ]

    async def shown(self, visit: Visit) -> Reply:
        account = visit.account
        views = await self._views.responses(account, await self._views.all(account))
        deleted = await self._recent.of_action(account, BulkAction.DELETE_VIEW)
        return self._pages.show(
            visit,
            "views.html",
            title="Smart Views",
            here=PATH,
            back=PATH,
            views=[_row(view) for view in views],
            deleted=[_deleted(each, visit.times) for each in deleted],
            moved=(visit.asked("view"), visit.asked("by")),
            **await self._many.values(visit),
        )

    async def change(self, visit: Visit) -> Reply:
        """The name of the button is the action, and its value the view."""
        action, slug = visit.button(_SAID)
        view, row = await self._change(visit.account, action, slug)
        values = {"said": _SAID[action], "view": view.slug}
        if row is not None:
            values["change"] = row.change_id
        if action in ("up", "down"):
            values["by"] = action
        return self._pages.go(f"{PATH}?{urlencode(values)}")

    async def _change(self, account: Account, action: str, slug: str) -> ChangedView:
        views, write = self._views, self._write
        if action == "delete":
            return await write(account, views.delete, slug)
        if action in ("pin", "unpin"):
            change = ViewChange(is_pinned=action == "pin")
        else:
            place = (await views.find(account, slug)).position + (-1 if action == "up" else 1)
            change = ViewChange(position=min(max(place, 1), VIEWS_MAX))
        return await write(account, views.update, slug, change)


def _row(view: ViewResponse) -> dict[str, Any]:
    return {
        "slug": view.slug,
        "name": view.name,
        "description": view.description,
        "url": of_view(view.slug),
        "edit_url": f"{PATH}/{quote(view.slug, safe='')}/edit",
        "count": shown_count(view),
        "filters": words(view.base_query),
        "buckets": [bucket.name for bucket in view.triage_buckets],
        "is_pinned": view.is_pinned,
    }


def _deleted(row: BulkRow, times: Times) -> dict[str, Any]:
    return {"change": row.change_id, "name": row.name, "at": times.moment(row.created_at)}


def words(query: Query) -> list[tuple[str, str]]:
    """The filters of a view as pairs of a name and a value."""
    texts = {name: text_of(value) for name, value in query.items()}
    found = [(LABELS[name].lower(), text) for name, text in texts.items() if name not in _FLAGS]
    return [*found, *((_FLAG_WORDS[flag], "") for flag in texts.items() if flag in _FLAG_WORDS)]


T = TypeVar("T", bound=Struct)

FILTERS: Final = tuple(readers(ViewQuery))
LABELS: Final = {
    "name": "Name",
    "description": "Note to yourself",
    "default_sort": "Order",
    "sort_by": "Order",
    "sort_order": "Order",
    "slug": "Name",
    **{name: words.name for name, words in NAMES.items()},
}
# Those that every form has a field for.
PLAIN: Final = frozenset(
    {
        *("q", "vector_search_term", "tag", "author", "language", "media_type", "hide_archived"),
        *("is_unread_only", "bookmarked_from", "bookmarked_to", "posted_from", "posted_to"),
    }
)
_FIELD: Final = re.compile(
    r"(?:triage_buckets\[(?P<bucket>\d+)\]\.(?:query\.)?|base_query\.|default_sort\.)?"
    r"(?P<name>\w+): (?P<problem>.*)",
    re.DOTALL,
)


class BucketDraft(Struct):
    # Kept when the bucket gets another name, so that its links stay.
    slug: str = ""
    name: str = ""
    filters: dict[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not self.name.strip() and not self.filters


class Draft(Struct):
    """The fields of the form as texts, valid or not."""

    name: str = ""
    description: str = ""
    # The field and the direction, such as "posted_at asc"; "" is the order of a list.
    order: str = ""
    is_pinned: bool = True
    filters: dict[str, str] = field(default_factory=dict)
    buckets: list[BucketDraft] = field(default_factory=list)

    def request(self, kind: type[T], name: str = "") -> T:
        """The fields as a request of the API, which checks them."""
        by, _, order = self.order.partition(" ")
        body = {
            "name": self.name or name,
            "description": self.description,
            "base_query": self.filters,
            "default_sort": {"sort_by": by, "sort_order": order or None} if by else None,
            "triage_buckets": [_bucket(each) for each in self.buckets if not each.is_empty],
            "is_pinned": self.is_pinned,
        }
        return decoding.convert(body, kind)

    def change_buckets(self, action: str, place: int) -> None:
        """Adds, removes or moves a bucket, as a button of the form asks."""
        if action == "add" and len(self.buckets) < BUCKETS_MAX:
            self.buckets.append(BucketDraft())
        if not 0 <= place < len(self.buckets):
            return
        if action == "remove":
            del self.buckets[place]
        if action in ("up", "down"):
            bucket = self.buckets.pop(place)
            self.buckets.insert(max(place + (1 if action == "down" else -1), 0), bucket)


def sent_draft(form: Form) -> Draft:
    """The fields that the form has sent."""
    buckets = [
        BucketDraft(
            form.get(f"b{place}-slug", ""),
            form[f"b{place}-name"],
            _filters(form, f"b{place}-"),
        )
        for place in range(BUCKETS_MAX)
        if f"b{place}-name" in form
    ]
    return Draft(
        name=form.get("name", ""),
        description=form.get("description", ""),
        order=form.get("order", ""),
        is_pinned="is_pinned" in form,
        filters=_filters(form),
        buckets=buckets,
    )


def draft_of_list(query: Form, name: str) -> Draft:
    """The filters and the order in the address of a list."""
    order = f"{query.get('sort_by', '')} {query.get('sort_order', '')}"
    # The direction alone is that of the default field.
    order = f"sort_index{order}" if order.startswith(" ") and order.strip() else order
    return Draft(name=name, order=order.strip(), filters=_filters(query))


def draft_of_view(view: View) -> Draft:
    sort = view.default_sort
    return Draft(
        name=view.name,
        description=view.description,
        order=f"{sort.sort_by} {sort.sort_order or ''}".strip() if sort else "",
        is_pinned=view.is_pinned,
        filters=_texts(view.base_query),
        buckets=[
            BucketDraft(each.slug, each.name, _texts(each.query)) for each in view.triage_buckets
        ],
    )


def problem_of(sentence: str, draft: Draft) -> str:
    """What the API says about a field, with the words of the form."""
    match = _FIELD.fullmatch(sentence)
    if match is None:
        return sentence
    name = match["name"]
    said = match["problem"].replace("base_query", "the view")
    said = in_form(f"{name}: {said}", {name: name, **LABELS})
    if match["bucket"] is None:
        return said
    # Empty buckets are not sent.
    places = [place for place, each in enumerate(draft.buckets, 1) if not each.is_empty]
    return f"Bucket {places[int(match['bucket'])]}: {said}"


def _bucket(draft: BucketDraft) -> dict[str, Any]:
    return {"name": draft.name, "slug": draft.slug or None, "query": draft.filters}


def _filters(fields: Form, prefix: str = "") -> dict[str, str]:
    values = {name: fields.get(prefix + name, "").strip() for name in FILTERS}
    return _without_defaults(values)


def _texts(query: Query) -> dict[str, str]:
    """The values of a stored query as the form has them."""
    return _without_defaults({n: text_of(v) for n, v in query.items() if n in FILTERS})


def text_of(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _without_defaults(values: Mapping[str, str]) -> dict[str, str]:
    """A flag with its default value is as good as none, and lets a bucket set it."""
    defaults = {name: str(value).lower() for name, value in ViewQuery.DEFAULTS.items()}
    return {n: v for n, v in values.items() if v and v.lower() != defaults.get(n)}
