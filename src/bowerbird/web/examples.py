"""What the first page shows: the sandbox's first answer, shortened, and an agent's entry."""

from typing import Final

import msgspec

from bowerbird.settings import Settings

FIRST_ANSWER: Final = """{
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


def tool_entry(settings: Settings) -> str:
    entry = {
        "mcpServers": {
            "bowerbird": {
                "type": "http",
                "url": settings.tool_server,
                "headers": {"Authorization": "Bearer ${SERVICE_TOKEN}"},
            }
        }
    }
    return msgspec.json.format(msgspec.json.encode(entry), indent=2).decode()
