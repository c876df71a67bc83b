"""Creates posts for tests. Every field has a default; a test names only the fields it needs."""

import json
from itertools import count
from typing import Any

_numbers = count(1)


def post(**fields: Any) -> dict[str, Any]:
    """A bookmark in the format of the API, without the fields that the library adds.

    Short names set nested fields: text, posted_at, author, name, article, quoted,
    attachments, meta, metrics.
    """
    number = next(_numbers)
    author = fields.pop("author", "ada")
    details = {
        "text": fields.pop("text", f"post {number}"),
        "link": f"https://x.com/{author}/status/{1000 + number}",
        "posted_at": fields.pop("posted_at", "2026-01-01T00:00:00+00:00"),
        "attachments": fields.pop("attachments", []),
        "article": fields.pop("article", None),
        "quoted_tweet": fields.pop("quoted", None),
        "meta": {
            **fields.pop("meta", {}),
            "non_real_time_engagement_metrics": fields.pop("metrics", {}),
        },
    }
    return {
        "post_id": str(1000 + number),
        "tweet_details": details,
        "author_id": "7",
        "author_username": author,
        "author_details": {"name": fields.pop("name", "Ada L."), "username": author},
        "sort_index": number,
        **fields,
    }


def raw(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode()
