"""The places of the signed-in site, as the navigation of every page lists them."""

from typing import Final, NamedTuple


class Place(NamedTuple):
    path: str
    icon: str
    name: str


LIBRARY: Final = Place("/library", "library", "Library")
# What the library has beside its lists.
SHELVES: Final = (
    Place("/labels", "label", "Labels"),
    Place("/views", "view", "Smart Views"),
    Place("/digests", "digest", "Digests"),
    Place("/statistics", "stats", "Statistics"),
    Place("/trash", "trash", "Trash"),
)
DOORS: Final = (
    Place("/import", "import", "Import"),
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
TABS: Final = (LIBRARY, SHELVES[2], DOORS[0])
EVERYWHERE: Final = (LIBRARY, *SHELVES, *DOORS, *OFFICE, DOCS)

# What templates know as `places`.
PLACES: Final = {
    "groups": (SHELVES, DOORS, (*OFFICE, OPERATOR, DOCS)),
    "operator": OPERATOR,
    "tabs": TABS,
}
