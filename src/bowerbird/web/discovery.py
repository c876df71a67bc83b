"""Discovery documents: OAuth metadata, the AI catalogue, and the manifest of the web app.

Every URL comes from the settings, never from a request header, so it is correct behind any proxy.
With the manifest, phones and computers install the site and share links with it.
"""

from typing import Any, Final
from urllib.parse import urlsplit

from bowerbird.settings import Settings
from bowerbird.web import templating
from bowerbird.web.imports.saving import PATH as SAVE
from bowerbird.web.imports.saving import SHARED
from bowerbird.wire.responses import documents

Json = dict[str, Any]

PROTECTED_RESOURCE: Final = "/.well-known/oauth-protected-resource"
AUTHORIZATION_SERVER: Final = "/.well-known/oauth-authorization-server"
SERVER_CARD: Final = "/.well-known/mcp/server-card.json"
AI_CATALOG: Final = "/.well-known/ai-catalog.json"
AI_CATALOG_TYPE: Final = "application/ai-catalog+json"


def protected_resources(settings: Settings) -> dict[str, Json]:
    """Path -> metadata (RFC 9728), for the API origin, the API and the MCP server."""
    api = f"{settings.api_origin}/v1"
    mcp = settings.tool_server
    origin = protected_resource(settings, settings.api_origin, "Bowerbird API")
    return {
        # First, so that an MCP URL without a path does not replace the API's document below.
        _metadata_path(mcp): protected_resource(settings, mcp, "Bowerbird MCP server"),
        _metadata_path(api): protected_resource(settings, api, "Bowerbird API"),
        **dict.fromkeys((_metadata_path(settings.api_origin), PROTECTED_RESOURCE), origin),
    }


def protected_resource(settings: Settings, resource: str, name: str) -> Json:
    return {
        "resource": resource,
        "resource_name": name,
        "authorization_servers": [settings.site_origin],
        "bearer_methods_supported": ["header"],
        "scopes_supported": [],
        "resource_documentation": f"{settings.site_origin}/docs",
    }


def authorization_servers(settings: Settings) -> dict[str, Json]:
    """Path -> metadata. An issuer URL with a path has a second path (RFC 8414)."""
    paths = (_metadata_path(settings.site_origin, AUTHORIZATION_SERVER), AUTHORIZATION_SERVER)
    return dict.fromkeys(paths, authorization_server(settings))


def authorization_server(settings: Settings) -> Json:
    """RFC 8414 metadata without any OAuth flow: only people create keys."""
    key_page = settings.register_url
    return {
        "issuer": settings.site_origin,
        "service_documentation": f"{settings.site_origin}/auth.md",
        "response_types_supported": [],
        "grant_types_supported": [],
        "agent_auth": {
            "skill": f"{settings.site_origin}/auth.md",
            "register_uri": key_page,
            "claim_uri": key_page,
            "revocation_uri": key_page,
            "identity_types_supported": ["anonymous"],
            "anonymous": {"credential_types_supported": ["api_key"]},
        },
    }


def ai_catalog(settings: Settings) -> Json:
    site = settings.site_origin
    return {
        "specVersion": "1.0",
        "host": {
            "displayName": documents.TITLE,
            "documentationUrl": f"{site}/docs",
            "logoUrl": f"{site}/icon.svg",
        },
        "entries": [
            {
                "identifier": f"urn:air:{documents.publisher(settings)}:mcp:bowerbird",
                "displayName": f"{documents.TITLE} MCP server",
                "type": documents.MEDIA_TYPE,
                "url": f"{settings.tool_server}/server-card",
            }
        ],
    }


def _metadata_path(url: str, well_known: str = PROTECTED_RESOURCE) -> str:
    """The path of the metadata for `url`: the well-known part, then the path of the URL."""
    return well_known + urlsplit(url).path.rstrip("/")


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
