"""Reads the body of an export. Its filters are checked by the code that reads a list's."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from bowerbird import errors
from bowerbird.library.access import bodies, plans
from bowerbird.library.bookmarks import parameters
from bowerbird.library.bookmarks.parameters import FILTER_PARAMETERS
from bowerbird.library.views import view_bodies
from bowerbird.library.views.views import DEFAULTS
from bowerbird.model.accounts import Account
from bowerbird.model.exports import ExportQuery
from bowerbird.model.filters import BookmarkFilter
from bowerbird.model.views import View

FIELDS: Final = (*FILTER_PARAMETERS, "view", "tweet_ids")
_LONGEST_SLUG: Final = 200
# An export is of everything, unless it is asked for less.
_EVERYTHING: Final = {"is_unread_only": "false", "hide_archived": "false"}
# Of a view, what it shows.
_AS_SHOWN: Final = {"hide_archived": "true", **DEFAULTS}


def check_plan(account: Account, fields: Mapping[str, Any]) -> None:
    """The plan speaks before the fields' shape."""
    plans.check_list(
        account, [name for name in FILTER_PARAMETERS if fields.get(name) not in (None, "")]
    )


class Wanted(Struct, frozen=True):
    """The fields of a body, once each is known to be right by itself."""

    given: dict[str, str]
    post_ids: list[str] | None
    view_slug: str | None


def wanted_of(fields: Mapping[str, Any], now: int) -> Wanted:
    bodies.only(fields, FIELDS)
    given = view_bodies.given(
        {name: fields[name] for name in FILTER_PARAMETERS if name in fields}, now
    )
    filter_of(given)
    slug = bodies.text(fields, "view", most=_LONGEST_SLUG)
    return Wanted(given, _post_ids(fields), slug or None)


def asked_of(
    account: Account, format: str, wanted: Wanted, view: View | None, now: int
) -> ExportQuery:
    if view is None:
        return ExportQuery(format=format, given=wanted.given, post_ids=wanted.post_ids)
    kept = view_bodies.given({**_AS_SHOWN, **view.base_query}, now)
    plans.check_list(account, kept)
    return ExportQuery(
        format=format,
        given=_narrowed(kept, wanted.given),
        post_ids=wanted.post_ids,
        view_slug=view.slug,
        view_name=view.name,
        further=wanted.given,
    )


def _narrowed(kept: dict[str, str], given: dict[str, str]) -> dict[str, str]:
    """What a view shows, less what the body leaves out. Never more than the view shows."""
    for name in sorted((given.keys() & kept.keys()) - {"q", *_EVERYTHING}):
        raise errors.invalid(name, "is set by the view already")
    for name in _EVERYTHING:
        if _is_on(kept, name) and name in given and not _is_on(given, name):
            raise errors.invalid(name, "would show more than the view does")
    words = [text for text in (kept.get("q"), given.get("q")) if text]
    return kept | given | ({"q": " ".join(words)} if words else {})


def _is_on(given: Mapping[str, str], name: str) -> bool:
    filter = filter_of({name: given.get(name, "false")})
    return filter.unread_only or filter.hide_archived


def _post_ids(fields: Mapping[str, Any]) -> list[str] | None:
    """Ids are digits; any other text names nothing, and some of it no database would take."""
    if fields.get("tweet_ids") is None:
        return None
    return [text for text in bodies.post_ids(fields) if text.isascii() and text.isdigit()]


def filter_of(given: Mapping[str, str]) -> BookmarkFilter:
    return parameters.read_filter({**_EVERYTHING, **given})


def description_of(asked: ExportQuery) -> str:
    """What the export holds, in a sentence for its cover."""
    narrowing = asked.further if asked.view_name else asked.given
    told = [f"{name} {value}" for name, value in sorted(narrowing.items())]
    if asked.post_ids is not None:
        count = len(asked.post_ids)
        told.append(f"{count:,} chosen {'post' if count == 1 else 'posts'}")
    if asked.view_name:
        further = f", narrowed by {', '.join(told)}" if told else ""
        return f"The Smart View {asked.view_name}{further}."
    return f"Narrowed by {', '.join(told)}." if told else "The whole library."
