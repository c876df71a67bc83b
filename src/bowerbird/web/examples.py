"""What the first page shows: the sandbox's first answer, shortened, and an agent's entry."""

from typing import Final

import msgspec

from bowerbird.settings import Settings

FIRST_ANSWER: Final = """{
  "status": true,
  "data": [
    {
      "post_id": "2032750078325686277",
      "tweet_details": {
        "text": "A bower is not a nest: the male builds it to be looked at, and paints the walls.",
        "posted_at": "2026-03-14T09:26:00+00:00"
      },
      "author_username": "mara_fieldnotes",
      "tags": ["birds"],
      "is_read": false
    }
  ],
  "meta": {"next_cursor": "…", "limit": 1, "total_count": 61, "count": 1, "sandbox": true}
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
