"""Posts that clients save during the upgrade: each can be found by a word of its own."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from benchmarks import posts as generated

LABELS: Final = ("garden", "Straße", "读书", "later", "node.js")
_FIRST: Final = datetime(2015, 1, 1, tzinfo=UTC)
# Forms of words, scripts without spaces, marks and addresses: everything that an index text has.
_TEXTS: Final = (
    "Libraries and Node.js compounds, snake_case_words and camelCaseWords.",
    "Bücher in der Bibliothek, und Grüße aus München.",
    "図書館で本を読みます。",
    "Die Bücherei hat heute geöffnet: https://library.example/opening-hours",
    "Colour of the neighbours' harbour, C++ and C# and .NET.",
)


def word(number: int) -> str:
    """A word that only this post has."""
    return f"zq{number}xw"


def author(number: int) -> str:
    return f"upgrader_{number % 40}"


def posted(number: int) -> datetime:
    """Each post has a minute of its own."""
    return _FIRST + timedelta(minutes=number)


def around(number: int) -> dict[str, str]:
    """The filter of the minute of a post. Its bounds are exclusive."""
    second = timedelta(seconds=1)
    at = posted(number)
    return {"posted_from": (at - second).isoformat(), "posted_to": (at + second).isoformat()}


def post_id(number: int) -> str:
    return str(7_000_000_000_000 + number)


def is_gif(number: int) -> bool:
    return number % 4 == 0


def saved_post(number: int, label: str) -> dict[str, Any]:
    """A post as a client saves it. The fields that depend on the time are given."""
    name = author(number)
    gif = {"type": "gif", "url": f"https://video.example/{number}.mp4", "width": 10, "height": 10}
    return {
        "post_id": post_id(number),
        "tweet_details": {
            "text": f"{word(number)} {_TEXTS[number % len(_TEXTS)]}",
            "link": f"https://x.com/{name}/status/{post_id(number)}",
            "posted_at": posted(number).isoformat(),
            "attachments": [gif] if is_gif(number) else [],
        },
        "author_id": str(90_000 + number % 40),
        "author_username": name,
        "author_details": {"name": f"Upgrader {number % 40}", "username": name},
        "bookmarked_at": posted(number).isoformat(),
        "imported_at": posted(number).isoformat(),
        "sort_index": 1_000_000_000_000_000_000 + number,
        "tags": [label],
        "is_read": False,
        "is_archived": False,
    }


def first_posts(count: int) -> list[bytes]:
    """The posts of the account that the library has from the start, one JSON object each."""
    return [
        post
        for first in range(0, count, 1_000)
        for post in generated.batch(1, first, min(1_000, count - first))
    ]
