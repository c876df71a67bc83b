"""What software reads to find its way: who protects what, where keys come from, what there is.

Every address comes from the settings, so it is right behind any proxy.
"""

from typing import Any, Final
from urllib.parse import urlsplit

from bowerbird.settings import Settings
from bowerbird.wire import server_card

Json = dict[str, Any]

PROTECTED_RESOURCE: Final = "/.well-known/oauth-protected-resource"
AUTHORIZATION_SERVER: Final = "/.well-known/oauth-authorization-server"
SERVER_CARD: Final = "/.well-known/mcp/server-card.json"
AI_CATALOG: Final = "/.well-known/ai-catalog.json"
AI_CATALOG_TYPE: Final = "application/ai-catalog+json"


def protected_resources(settings: Settings) -> dict[str, Json]:
    """Path -> metadata (RFC 9728): for the origin, and for each address behind it."""
    api = f"{settings.api_origin}/v1"
    tools = settings.tool_server
    origin = protected_resource(settings, settings.api_origin, "Bowerbird API")
    return {
        # The tool server first: at an address without a path, the origin's own form is the API's.
        _inserted(tools): protected_resource(settings, tools, "Bowerbird tool server"),
        _inserted(api): protected_resource(settings, api, "Bowerbird API"),
        **dict.fromkeys((_inserted(settings.api_origin), PROTECTED_RESOURCE), origin),
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
    """Path -> metadata: where everybody looks, and where RFC 8414 wants an issuer with a path."""
    paths = (_inserted(settings.site_origin, AUTHORIZATION_SERVER), AUTHORIZATION_SERVER)
    return dict.fromkeys(paths, authorization_server(settings))


def authorization_server(settings: Settings) -> Json:
    """RFC 8414 for a service that runs no flow: keys come from people."""
    keys = settings.register_url
    return {
        "issuer": settings.site_origin,
        "service_documentation": f"{settings.site_origin}/auth.md",
        "response_types_supported": [],
        "grant_types_supported": [],
        "agent_auth": {
            "skill": f"{settings.site_origin}/auth.md",
            "register_uri": keys,
            "claim_uri": keys,
            "revocation_uri": keys,
            "identity_types_supported": ["anonymous"],
            "anonymous": {"credential_types_supported": ["api_key"]},
        },
    }


def ai_catalog(settings: Settings) -> Json:
    site = settings.site_origin
    return {
        "specVersion": "1.0",
        "host": {
            "displayName": server_card.TITLE,
            "documentationUrl": f"{site}/docs",
            "logoUrl": f"{site}/icon.svg",
        },
        "entries": [
            {
                "identifier": f"urn:air:{server_card.publisher(settings)}:mcp:bowerbird",
                "displayName": f"{server_card.TITLE} tool server",
                "type": server_card.MEDIA_TYPE,
                "url": f"{settings.tool_server}/server-card",
            }
        ],
    }


def _inserted(address: str, well_known: str = PROTECTED_RESOURCE) -> str:
    """Where the metadata of an address stands: the well-known part goes before its path."""
    return well_known + urlsplit(address).path.rstrip("/")
