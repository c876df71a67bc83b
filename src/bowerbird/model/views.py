"""Smart Views: saved queries with a name."""

from typing import Any

from msgspec import Struct

Query = dict[str, Any]
"""Filter parameters of a list with their values; dates may be relative."""


class Bucket(Struct, frozen=True):
    """A part of a view: its query adds filters to those of the view."""

    slug: str
    """The bucket's name in URLs."""
    name: str
    """Its display name."""
    query: Query


class ViewSort(Struct, frozen=True, omit_defaults=True):
    sort_by: str
    sort_order: str | None = None


class View(Struct, frozen=True):
    slug: str
    name: str
    description: str
    base_query: Query
    default_sort: ViewSort | None
    triage_buckets: list[Bucket]
    created_at: int
    updated_at: int
    # The place in the list, from 1.
    position: int = 1
    # Whether the sidebar of the website shows it.
    is_pinned: bool = True


class DeletedView(Struct, frozen=True):
    """A view that can still be restored."""

    view: View
    deleted_at: int
