"""Requests that count bookmarks by one of their properties."""

from typing import Annotated, Final, Literal, get_args

from bowerbird.requests.bookmarks import Limit
from bowerbird.requests.fields import about
from bowerbird.requests.filters import ImportedQuery

By = Literal["author", "label", "month", "domain", "media"]
KINDS: Final[tuple[By, ...]] = get_args(By)
FacetBy = Annotated[
    By,
    about(
        "What to count by. month: when the post was bookmarked, in the account's time zone. "
        "domain: the sites that posts link to.",
        "author",
        parameter={"enum": list(KINDS)},
    ),
]


class FacetsQuery(ImportedQuery, frozen=True, kw_only=True):
    """GET /bookmarks/facets."""

    by: FacetBy
    limit: Limit = None
