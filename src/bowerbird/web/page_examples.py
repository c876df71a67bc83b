"""Examples on the pages, with their syntax highlighted.

Tests send the requests to the sandbox and compare the response.
"""

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bowerbird.settings import Settings

if TYPE_CHECKING:
    from markupsafe import Markup

_JSON: Final = re.compile(
    r'(?P<name>"(?:[^"\\]|\\.)*")(?=\s*:)'
    r'|(?P<text>"(?:[^"\\]|\\.)*")'
    r"|(?P<value>\b(?:true|false|null)\b|-?\d+(?:\.\d+)?)"
)
_SHELL: Final = re.compile(
    r"(?P<comment>#[^\n]*)"
    r"|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<value>\$\w+)"
    r"|(?P<name>^(?:curl|bowerbird|export)\b)",
    re.MULTILINE,
)


def json(text: str) -> "Markup":
    return _highlighted(text, _JSON)


def shell(text: str) -> "Markup":
    return _highlighted(text, _SHELL)


def breakable(path: str) -> "Markup":
    """Lets the browser break the path before a slash, and nowhere else."""
    from markupsafe import Markup  # noqa: PLC0415 - see _highlighted

    return Markup("<wbr>/").join(path.split("/"))


def _highlighted(text: str, tokens: re.Pattern[str]) -> "Markup":
    from markupsafe import Markup, escape  # noqa: PLC0415 - loaded with Jinja2, on the first page request

    parts: list[str] = []
    end = 0
    for match in tokens.finditer(text):
        parts.append(escape(text[end : match.start()]))
        parts.append(Markup('<span class="t-{}">{}</span>').format(match.lastgroup, match[0]))
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


FIRST_RESPONSE: Final = """{
  "status": true,
  "data": [
    {
      "post_id": "2108083720811992683",
      "tweet_details": {
        "text": "Field recording, 06:10, light rain: robin, robin, a gate, robin, and …",
        "link": "https://x.com/wren_and_reed/status/2108083720811992683",
        "posted_at": "2026-10-08T06:35:00+00:00"
      },
      "author_username": "wren_and_reed",
      "tags": ["birds", "to try"],
      "is_read": false
    }
  ],
  "meta": {"next_cursor": "…", "limit": 1, "total_count": 55, "count": 1, "sandbox": true}
}"""

_POST: Final = "2108083720811992683"
# Initial values of the "Try it" forms, so that every form can be sent unchanged.
PATH_PARAMETERS: Final = {"post_id": _POST, "slug": "birds"}
REQUEST_BODIES: Final[dict[str, dict[str, Any]]] = {
    "/v1/labels/add": {"tweet_ids": [_POST], "label_name": "to read"},
    "/v1/labels/remove": {"tweet_ids": [_POST], "label_name": "birds"},
    "/v1/labels/batch": {
        "operations": [
            {"op": "add", "tweet_ids": [_POST], "label_name": "to read"},
            {"op": "remove", "tweet_ids": [_POST], "label_name": "birds"},
        ]
    },
    "/v1/exports/pdf": {"tag": "birds"},
    "/v1/exports/csv": {"tag": "birds"},
    "/v1/exports/json": {"tag": "birds"},
    "/v1/exports/markdown": {"tag": "birds"},
    "/v1/exports/netscape": {"tag": "birds"},
}


def mcp_client_config(settings: Settings) -> str:
    config = {
        "mcpServers": {
            "bowerbird": {
                "type": "http",
                "url": settings.tool_server,
                "headers": {"Authorization": "Bearer ${SERVICE_TOKEN}"},
            }
        }
    }
    return msgspec.json.format(msgspec.json.encode(config), indent=2).decode()
