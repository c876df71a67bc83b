"""The tool server's card, which describes it to clients before they connect.

It is in this package because both the site and the tool server serve it.
"""

import re
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from bowerbird import __version__
from bowerbird.settings import Settings
from bowerbird.wire.responses.documents import Document

MEDIA_TYPE: Final = "application/mcp-server-card+json"
TITLE: Final = "Bowerbird"
DESCRIPTION: Final = (
    "Your saved posts: list, search, label, save Smart Views, export, read digests."
)
# Repeated here because importing the protocol's package takes a second.
PROTOCOL_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"


def server_card(settings: Settings) -> dict[str, Any]:
    return {
        "$schema": _SCHEMA,
        "name": server_name(settings),
        "version": __version__,
        "title": TITLE,
        "description": DESCRIPTION,
        "websiteUrl": settings.site_origin,
        "icons": [
            {
                "src": f"{settings.site_origin}/icon.svg",
                "mimeType": "image/svg+xml",
                "sizes": ["any"],
            }
        ],
        "remotes": [
            {
                "type": "streamable-http",
                "url": settings.tool_server,
                "supportedProtocolVersions": list(PROTOCOL_VERSIONS),
                "headers": [
                    {
                        "name": "Authorization",
                        "description": f"An API key from {settings.register_url}.",
                        "value": "Bearer {api_key}",
                        "isRequired": True,
                        "isSecret": True,
                        "variables": {
                            "api_key": {
                                "description": "The API key, which starts with bwr_.",
                                "isRequired": True,
                                "isSecret": True,
                            }
                        },
                    }
                ],
            }
        ],
    }


def server_name(settings: Settings) -> str:
    """The reversed host name of the site, and our name: `org.example.posts/bowerbird`."""
    host = publisher(settings)
    try:
        ip_address(host)
    except ValueError:
        host = ".".join(reversed(host.split(".")))
    return re.sub(r"[^A-Za-z0-9.-]", "-", host) + "/bowerbird"


def publisher(settings: Settings) -> str:
    return urlsplit(settings.site_origin).hostname or "localhost"


def card_path(settings: Settings) -> str:
    return f"{tool_path(settings)}/server-card"


def tool_path(settings: Settings) -> str:
    return urlsplit(settings.tool_server).path.rstrip("/")


def card_document(settings: Settings) -> Document:
    return Document(msgspec.json.encode(server_card(settings)), MEDIA_TYPE)
