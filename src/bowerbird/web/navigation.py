"""The places of the signed-in site, as the navigation of every page lists them."""

from typing import Final, NamedTuple


class Place(NamedTuple):
    path: str
    icon: str
    name: str


LIBRARY: Final = Place("/library", "library", "Library")
# Pages of the library list these with their contents and counts; other pages have only the links.
SHELVES: Final = (
    LIBRARY,
    Place("/views", "view", "Smart Views"),
    Place("/labels", "label", "Labels"),
    Place("/trash", "trash", "Trash"),
)
OVERVIEWS: Final = (
    Place("/digests", "digest", "Digests"),
    Place("/statistics", "stats", "Statistics"),
)
DOORS: Final = (
    Place("/import", "import", "Import"),
    Place("/sources", "sync", "Sources"),
    Place("/exports", "export", "Exports"),
)
OFFICE: Final = (
    Place("/keys", "key", "Keys"),
    Place("/account", "user", "Account"),
    Place("/activity", "rows", "Activity"),
)
OPERATOR: Final = Place("/operator", "pulse", "Operator")
DOCS: Final = Place("/docs", "article", "Docs")
# The places that a thumb reaches on a phone. The menu has the others.
TABS: Final = (LIBRARY, OVERVIEWS[0], DOORS[0])
EVERYWHERE: Final = (*SHELVES, *OVERVIEWS, *DOORS, *OFFICE, DOCS)

# What templates know as `places`.
PLACES: Final = {
    "shelves": SHELVES,
    "groups": (OVERVIEWS, DOORS, (*OFFICE, OPERATOR, DOCS)),
    "operator": OPERATOR,
    "tabs": TABS,
}
