"""Reads the body of a view. Its query is checked by the code that reads a list's parameters."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from bowerbird import errors
from bowerbird.errors import Refusal
from bowerbird.library.access import bodies
from bowerbird.library.bookmarks import parameters, relative_dates
from bowerbird.library.bookmarks.parameters import FILTER_PARAMETERS
from bowerbird.model.views import Bucket, Query, ViewSort

FIELDS: Final = ("name", "description", "base_query", "default_sort", "triage_buckets")
_LONGEST_NAME: Final = 100
_LONGEST_TEXT: Final = 1_000
_MOST_BUCKETS: Final = 20
_LONGEST_SLUG: Final = 60
_DATES: Final = frozenset({"posted_from", "posted_to", "bookmarked_from", "bookmarked_to"})


def name_of(fields: Mapping[str, Any]) -> str:
    text = bodies.text(fields, "name", most=_LONGEST_NAME)
    name = " ".join((text or "").split())
    if not name:
        raise errors.invalid("name", f"must have 1 to {_LONGEST_NAME} characters")
    return name


def description_of(fields: Mapping[str, Any]) -> str:
    return bodies.text(fields, "description", most=_LONGEST_TEXT) or ""


def query_of(value: Any, field: str) -> Query:
    """A kept query, once it is known that a list would take it."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise errors.invalid(field, "must be an object of a list's filters")
    with _within(field):
        for name in value:
            if name not in FILTER_PARAMETERS:
                accepted = ", ".join(FILTER_PARAMETERS)
                raise errors.invalid(name[:40], f"is no filter of the list; {accepted} are")
        parameters.read_filter(given(value, now=0))
    # Nothing is no filter, and must not stand where a view or a bucket has its own value.
    return {name: kept for name, kept in value.items() if kept not in (None, "")}


def given(query: Query, now: int) -> dict[str, str]:
    """A kept query as the parameters of a list asked now."""
    texts = {name: _text(name, value) for name, value in query.items() if value not in (None, "")}
    for name in _DATES & texts.keys():
        texts[name] = relative_dates.resolved(texts[name], now) or texts[name]
    return texts


def moves(query: Query) -> bool:
    """Whether the query has a date that moves with the day."""
    return any(
        isinstance(query.get(name), str) and relative_dates.resolved(query[name], 0)
        for name in _DATES
    )


def sort_of(value: Any) -> ViewSort | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = {"sort_by": value}
    if not isinstance(value, dict):
        raise errors.invalid("default_sort", "must be an object with sort_by")
    with _within("default_sort"):
        bodies.only(value, ("sort_by", "sort_order"))
        sort_by = bodies.text(value, "sort_by", most=40)
        sort_order = bodies.text(value, "sort_order", most=40)
        if not sort_by:
            raise errors.invalid("sort_by", "is missing")
        asked = {"sort_by": sort_by, "q": "x", **({"sort_order": sort_order} if sort_order else {})}
        parameters.read_list(asked)
    return ViewSort(sort_by, sort_order or None)


def buckets_of(value: Any, base_query: Query) -> list[Bucket]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > _MOST_BUCKETS:
        raise errors.invalid("triage_buckets", f"must be an array of at most {_MOST_BUCKETS}")
    buckets: dict[str, Bucket] = {}
    for position, item in enumerate(value):
        bucket = _bucket(item, f"triage_buckets[{position}]", base_query)
        if bucket.slug in buckets:
            raise errors.invalid(
                f"triage_buckets[{position}].slug", f"{errors.shown(bucket.slug)} is taken"
            )
        buckets[bucket.slug] = bucket
    return list(buckets.values())


def slug_of(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_SLUG].strip("-")
    return slug or "view"


def _bucket(item: Any, field: str, base_query: Query) -> Bucket:
    if not isinstance(item, dict):
        raise errors.invalid(field, "must be an object with name and query")
    with _within(field):
        bodies.only(item, ("slug", "name", "query"))
        name = name_of(item)
        slug = bodies.text(item, "slug", most=_LONGEST_SLUG)
    query = query_of(item.get("query"), f"{field}.query")
    # Words add up; every other filter has one value, so a bucket cannot narrow it again.
    for taken in sorted((query.keys() & base_query.keys()) - {"q"}):
        raise errors.invalid(f"{field}.query.{taken}", "is set by the view's base_query already")
    return Bucket(slug_of(slug or name), name, query)


@contextmanager
def _within(field: str) -> Iterator[None]:
    """Names the place of a mistake by the way to it."""
    try:
        yield
    except Refusal as refused:
        raise Refusal(refused.code, f"{field}.{refused.sentence}") from None


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise errors.invalid(name, f"must be a string of at most {_LONGEST_TEXT:,} characters")
    return value
