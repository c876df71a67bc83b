"""The library in which the wishes are played: 130 posts, the same ones in every run.

70 were saved before 2025, 20 in the last months, and 40 in the last six days.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tests.support import make

# In the length and manner of posts that people save.
TEXTS: Final = (
    (
        "Bowerbirds again: this male sorted 41 bottle caps by size so that his court looks "
        "larger than it is. Forced perspective, long before any architect. Paper in the first "
        "reply, photos from the hide below."
    ),
    (
        "SQLite in production, year three. One writer is enough, WAL checkpoints need a budget,"
        " backups are boring (good), and the only outage we had was a full disk. Numbers and "
        "configs in the thread."
    ),
    (
        "the best code review comment I ever got was “what would have to be true for this to be"
        " wrong?” and I have used it every week since"
    ),
    (
        "New post: how we cut p99 of our search service from 900 ms to 120 ms without new "
        "hardware. Most of it was deleting things. Profiles, flame graphs and the N+1 from 2019"
        " are in there: https://example.com/blog/p99"
    ),
    (
        "Sourdough notes after 200 loaves: hydration matters less than you think, temperature "
        "matters more, and a cheap thermometer beats every gadget I bought. Recipe card below, "
        "no starter wasted."
    ),
    (
        "PostgreSQL tip: before you add an index, look at the buffers and not at the "
        "milliseconds. A query that reads 40,000 pages from a warm cache is fast until the "
        "afternoon when it is not."
    ),
    (
        "Tidal flats at dawn: 3,000 knots turned at once and made the sound of a sheet being "
        "folded. I have no photo because I forgot that I had a camera."
    ),
)
AUTHORS: Final = ("nest_notes", "benfromdb", "marta_codes", "the_latency_guy", "simonetta_v")
SIZE: Final = 130
OLD: Final = 70
WEEK: Final = 40
GONE: Final = (3, 25, 80, 111)
# Each is a copy of the post before it.
COPIES: Final = (20, 60, 100)
_MOST_LIKED: Final = 77


def records(now: datetime) -> list[dict[str, Any]]:
    return list(_records(now.astimezone(UTC).replace(microsecond=0)))


def post_id(number: int) -> str:
    return str(1_846_987_139_428_634_876 + number * 7_919_000_003)


def is_unread(number: int) -> bool:
    return number >= OLD and number % 3 > 0


def label_of(number: int) -> list[str]:
    """Every fourth post has one; five have the one that is to be merged."""
    if number % 4:
        return []
    return ["database"] if number % 28 == 0 else ["databases"] if number % 8 else ["to try"]


def _records(now: datetime) -> Iterator[dict[str, Any]]:
    for number in range(SIZE):
        saved = _saved_at(number, now)
        told = number - 1 if number in COPIES else number
        author = AUTHORS[told % len(AUTHORS)]
        # A number makes texts differ, except for copies.
        text = (
            TEXTS[told % len(TEXTS)]
            .replace("/p99", f"/p99-{told}")
            .replace(". ", f" ({told}). ", 1)
        )
        record = make.post(
            post_id=post_id(number),
            author=author,
            text=text if text != TEXTS[told % len(TEXTS)] else f"{text} ({told})",
            posted_at=(saved - timedelta(days=1)).isoformat(),
            bookmarked_at=saved.isoformat(),
            tags=label_of(number),
            is_read=not is_unread(number),
            is_archived=False,
        )
        details = record["tweet_details"]
        details["link"] = f"https://x.com/{author}/status/{post_id(number)}"
        likes = 9_000 if number == _MOST_LIKED else number * 7 % 500
        counts = {"favorite_count": likes, "reply_count": 1}
        details.setdefault("meta", {})["non_real_time_engagement_metrics"] = counts
        if number in GONE:
            record["gone_at"] = saved.isoformat()
        yield record


def _saved_at(number: int, now: datetime) -> datetime:
    if number < OLD:
        return datetime(2023, 1, 1, 12, tzinfo=UTC) + timedelta(days=10 * number)
    if number < SIZE - WEEK:
        return now - timedelta(days=20 + 2 * (SIZE - WEEK - number))
    return now - timedelta(hours=3 * (SIZE - number))
