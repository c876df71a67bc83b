"""The form of a Smart View: its fields, and the request that they make."""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from msgspec import Struct, field

from bowerbird.model.labels import Query, View
from bowerbird.requests import decoding
from bowerbird.requests.filters import readers
from bowerbird.requests.limits import BUCKETS_MAX
from bowerbird.requests.views import ViewQuery
from bowerbird.web.library.filters import NAMES
from bowerbird.web.visits.formats import in_form
from bowerbird.web.visits.visit import Form

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


def sent(form: Form) -> Draft:
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


def of_list(query: Form, name: str) -> Draft:
    """The filters and the order in the address of a list."""
    order = f"{query.get('sort_by', '')} {query.get('sort_order', '')}"
    # The direction alone is that of the default field.
    order = f"sort_index{order}" if order.startswith(" ") and order.strip() else order
    return Draft(name=name, order=order.strip(), filters=_filters(query))


def of_view(view: View) -> Draft:
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


def problem(sentence: str, draft: Draft) -> str:
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
