"""The places of Smart Views in the list: 1, 2, 3 and so on, without gaps."""

from collections.abc import Iterable, Sequence

import msgspec

from bowerbird.model.labels import View


def inserted(others: Iterable[View], view: View, position: int) -> list[View]:
    """The views with this one at a place, or at the end if there are fewer."""
    views = list(others)
    views.insert(position - 1, view)
    return views


def position_in(views: Sequence[View], slug: str) -> int:
    return next(place for place, view in enumerate(views, 1) if view.slug == slug)


def misplaced(views: Sequence[View]) -> dict[str, int]:
    """The views whose place is not that of this order, with their new places."""
    return {view.slug: place for place, view in enumerate(views, 1) if view.position != place}


def placed(view: View, views: Sequence[View]) -> View:
    """The view with its place in this order."""
    return msgspec.structs.replace(view, position=position_in(views, view.slug))
