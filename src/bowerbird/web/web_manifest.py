"""The manifest with which phones and computers install the site, and share links with it."""

from typing import Any, Final
from urllib.parse import urlsplit

from bowerbird.settings import Settings
from bowerbird.web import templating
from bowerbird.web.arrival.saving import PATH as SAVE
from bowerbird.web.arrival.saving import SHARED

PATH: Final = "/manifest.webmanifest"
MEDIA_TYPE: Final = "application/manifest+json"
# --paper of tokens.css by day.
_PAPER: Final = "#fbfaf8"
# File -> side in pixels, and whether a phone may cut it to its own shape.
ICONS: Final = {
    "icon-192.png": (192, "any"),
    "icon-512.png": (512, "any"),
    "icon-maskable.png": (512, "maskable"),
}


def fields(settings: Settings) -> dict[str, Any]:
    base_path = urlsplit(settings.site_origin).path.rstrip("/")
    return {
        "id": f"{base_path}/",
        "name": "Bowerbird",
        "short_name": "Bowerbird",
        "description": "A library for the posts you save.",
        "lang": "en",
        "start_url": f"{base_path}/library",
        "scope": f"{base_path}/",
        "display": "standalone",
        "background_color": _PAPER,
        "theme_color": _PAPER,
        "icons": [
            {
                "src": base_path + templating.paths()[name],
                "sizes": f"{side}x{side}",
                "type": "image/png",
                "purpose": purpose,
            }
            for name, (side, purpose) in ICONS.items()
        ],
        # By GET, because the page only shows what would be saved.
        "share_target": {
            "action": f"{base_path}{SAVE}",
            "method": "GET",
            "enctype": "application/x-www-form-urlencoded",
            "params": {name: name for name in SHARED},
        },
    }
