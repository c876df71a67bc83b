"""Public documents: the same for everyone, cacheable, and readable by any web page.

The tool server's card, which describes it to clients before they connect, is here because both the
site and the tool server serve it.
"""

import hashlib
import re
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from bowerbird import __version__
from bowerbird.settings import Settings
from bowerbird.wire.responses import answer_cache
from bowerbird.wire.responses.answer_cache import RequestTarget, is_among
from bowerbird.wire.responses.replies import Header, Reply

METHODS: Final = b"GET, HEAD, OPTIONS"
HOUR_S: Final = 3_600
FOREVER: Final = b"public, max-age=31536000, immutable"
# Tool clients send their own headers here too, and browsers check each in a preflight.
_PREFLIGHT: Final[list[Header]] = [
    (b"allow", METHODS),
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", METHODS),
    (b"access-control-allow-headers", b"*, Authorization"),
    (b"access-control-max-age", b"86400"),
]
_OPEN: Final[list[Header]] = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", b"ETag"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"x-content-type-options", b"nosniff"),
]


class Document(Struct, frozen=True):
    body: bytes
    media_type: str
    cache_control: bytes = b"public, max-age=%d" % HOUR_S

    def answer(self, target: RequestTarget) -> Reply:
        encoding = answer_cache.chosen(target.accept_encoding)
        if len(self.body) < answer_cache.LEAST_BYTES:
            encoding = ""
        body, tag = _encoded(self.body, encoding)
        headers = [
            (b"etag", tag),
            (b"cache-control", self.cache_control),
            (b"vary", b"Accept-Encoding"),
            *_OPEN,
        ]
        if is_among(tag, target.if_none_match):
            return Reply(304, headers)
        if encoding:
            headers.append((b"content-encoding", encoding.encode()))
        headers.append((b"content-type", self.media_type.encode()))
        return Reply(200, headers, body)


def preflight() -> Reply:
    return Reply(204, list(_PREFLIGHT))


@lru_cache(maxsize=128)
def _encoded(body: bytes, encoding: str) -> tuple[bytes, bytes]:
    """The encoded bytes and their ETag. A strong ETag belongs to one encoding."""
    sent = answer_cache.compressed_once(body, encoding) if encoding else body
    text = encoding.encode() + b"\0" + body
    return sent, b'"%b"' % hashlib.blake2b(text, digest_size=16).hexdigest().encode()


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
