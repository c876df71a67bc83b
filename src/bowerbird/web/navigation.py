"""The places of the signed-in site: the sidebar, the tabs of the settings and the bar on phones."""

from typing import Final, NamedTuple


class Place(NamedTuple):
    path: str
    name: str
    icon: str = ""


HIGHLIGHTS: Final = Place("/highlights", "Highlights", "highlight")
# Below the lists, views and labels of the sidebar.
ROOMS: Final = (
    HIGHLIGHTS,
    Place("/digests", "Digests", "digest"),
    Place("/statistics", "Statistics", "stats"),
    Place("/import", "Import", "import"),
)
SETTINGS: Final = (
    Place("/account", "Account"),
    Place("/keys", "Keys"),
    Place("/connect", "Extension"),
    Place("/sources", "Sources"),
    Place("/rules", "Rules"),
    Place("/sharing", "Sharing"),
    Place("/webhooks", "Webhooks"),
    Place("/exports", "Exports"),
    Place("/activity", "Activity"),
)
OPERATOR: Final = Place("/operator", "Operator")
DOCS: Final = Place("/docs", "API reference")
SAVE: Final = Place("/save", "Save", "plus")
# The places that a thumb reaches on a phone. The menu has the others.
TABS: Final = (Place("/library", "Library", "library"), HIGHLIGHTS, SAVE)


def settings(*, is_owner: bool) -> tuple[Place, ...]:
    return (*SETTINGS, OPERATOR) if is_owner else SETTINGS


# What templates know as `places`.
PLACES: Final = {
    "rooms": ROOMS,
    "settings": settings,
    "settings_paths": frozenset(place.path for place in settings(is_owner=True)),
    "tabs": TABS,
}
