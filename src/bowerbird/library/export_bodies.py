"""Reads the body of an export. Its filters are checked by the code that reads a list's."""

from collections.abc import Mapping
from typing import Any, Final

from bowerbird.library import bodies, parameters, plans, view_bodies
from bowerbird.library.parameters import FILTER_PARAMETERS
from bowerbird.library.views import DEFAULTS
from bowerbird.model.accounts import Account
from bowerbird.model.exports import Asked
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


def view_slug(fields: Mapping[str, Any]) -> str | None:
    return bodies.text(fields, "view", most=_LONGEST_SLUG)


def asked_of(
    account: Account, format: str, fields: Mapping[str, Any], view: View | None, now: int
) -> Asked:
    bodies.only(fields, FIELDS)
    given = view_bodies.given(
        {name: fields[name] for name in FILTER_PARAMETERS if name in fields}, now
    )
    filter_of(given)
    if view is not None:
        kept = view_bodies.given({**_AS_SHOWN, **view.base_query}, now)
        plans.check_list(account, kept)
        words = [text for text in (kept.get("q"), given.get("q")) if text]
        given = kept | given | ({"q": " ".join(words)} if words else {})
    return Asked(
        format=format,
        given=given,
        post_ids=_post_ids(fields),
        view_slug=view.slug if view else "",
        view_name=view.name if view else "",
    )


def _post_ids(fields: Mapping[str, Any]) -> list[str] | None:
    """Ids are digits; any other text names nothing, and some of it no database would take."""
    if fields.get("tweet_ids") is None:
        return None
    return [text for text in bodies.post_ids(fields) if text.isascii() and text.isdigit()]


def filter_of(given: Mapping[str, str]) -> BookmarkFilter:
    return parameters.read_filter({**_EVERYTHING, **given})


def description_of(asked: Asked) -> str:
    """What the export holds, in a sentence for its cover."""
    told = [f"{name} {value}" for name, value in sorted(asked.given.items())]
    if asked.view_name:
        return f"The Smart View {asked.view_name}."
    if asked.post_ids is not None:
        told.append(f"{len(asked.post_ids)} chosen posts")
    return f"Narrowed by {', '.join(told)}." if told else "The whole library."
