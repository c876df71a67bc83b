"""Examples on the pages. Tests send the requests to the sandbox and compare the response."""

from typing import Any, Final

import msgspec

from bowerbird.settings import Settings

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
