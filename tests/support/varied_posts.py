"""Posts of every kind, as many as a test asks for: the same posts each time.

Kinds follow each other with a period of 20 posts. The words of a text depend on the number of its
post, so that a search finds as many posts as a test expects.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

HOSTILE: Final = "<img src=x onerror=alert(1)><script>alert(2)</script>"
# Ids above those of the demo and of other tests; the same number of digits, so texts sort as well.
FIRST_ID: Final = 1_700_000_000_000_000_000
KINDS: Final = 20
AUTHORS: Final = 400
LABELS: Final = ("birds", "databases", "field notes", "quiet web", "تصميم", "読書", "🎨 colour")
# Every post has one of these words by its number modulo their count.
WORDS: Final = ("bower", "feather", "berry", "twig", "avenue")
# The posts whose number is a multiple of this have the word.
RARE_WORD, RARE_EVERY = "halcyon", 160
# Author of all threads, and the places of some kinds within a period.
THREADS: Final = "threads"
_IN_THREADS, _GONE, _NOTED, _HOSTILE = (1, 2, 3), 12, 13, 15
_NEWEST: Final = datetime(2026, 8, 28, 8, 12, tzinfo=UTC)
_BETWEEN: Final = timedelta(hours=2)
_NAMES: Final = (
    "Mara Lindqvist",
    "佐藤みどり",
    "ليلى حداد",
    "Oren Castellanos-Whitfield",
    "דנה כהן",
    "🪶 Feathers 🇩🇪",
    HOSTILE,
    "김민준",
)
_TEXTS: Final = (
    "A bower is not a nest. The male builds it to be looked at. #birds with @tomasz_k",
    "雨の日の古本屋がいちばん静かだ。誰かが線を引いた一行を読む。",
    "الخط الجيد لا يلفت النظر إلى نفسه، بل يفسح الطريق للمعنى.",
    "👩‍👩‍👧‍👦 🏳️‍🌈 Families and flags, e\u0301 and ﬁ ligatures 🇯🇵",
    "Every library I have loved was somebody's private disorder first. " * 6,
)


def post_id(number: int) -> str:
    return str(FIRST_ID + number)


def text_of(number: int) -> str:
    """A number is a word of its own, which finds exactly this post."""
    rare = f" {RARE_WORD}" if number % RARE_EVERY == 0 else ""
    own = f"{WORDS[number % len(WORDS)]}{rare} n{number}"
    return f"{_TEXTS[number % len(_TEXTS)]} {own}"


def is_archived(number: int) -> bool:
    return number % 25 == 3


def post(number: int) -> dict[str, Any]:
    """A bookmark in the format of the API; a higher number is newer."""
    author = number * 7 % AUTHORS
    handle = f"author_{author}"
    saved = _NEWEST - _BETWEEN * (20_000 - number)
    link = f"https://x.com/{handle}/status/{post_id(number)}"
    bookmark = {
        "post_id": post_id(number),
        "sort_index": number,
        "author_id": str(author),
        "author_username": handle,
        "author_details": {
            "name": f"{_NAMES[author % len(_NAMES)]} {author}",
            "username": handle,
            "profile_image": "https://img.example/face.jpg",
        },
        "bookmarked_at": saved.isoformat(),
        "tweet_details": {
            "text": text_of(number),
            "link": link,
            "posted_at": (saved - timedelta(days=1)).isoformat(),
            "meta": {
                "non_real_time_engagement_metrics": {"favorite_count": number % 977},
            },
        },
        "is_read": number % 4 == 0,
        "is_archived": is_archived(number),
        "tags": [LABELS[number % len(LABELS)]] if number % 3 else [],
    }
    _make_special(bookmark, number)
    return bookmark


def _make_special(bookmark: dict[str, Any], number: int) -> None:
    place = number % KINDS
    bookmark["tweet_details"] |= _details(number).get(place, {})
    if place in _IN_THREADS:
        role = "tweet_is_thread" if place == 1 else "is_sub_tweet_of_thread"
        conversation = post_id(number - place + 1)
        bookmark["tweet_details"]["meta"] |= {role: True, "tweet_conversation_id": conversation}
        bookmark["author_username"] = THREADS
        bookmark["author_details"] = {"name": "Ines Okafor", "username": THREADS}
    elif place == _GONE:
        bookmark |= {"gone_at": "2026-08-25T00:00:00+00:00", "gone_reason": "Suspended"}
    elif place == _NOTED:
        bookmark["note"] = f"Print **this** for the office, {number}."
    elif place == _HOSTILE:
        _make_hostile(bookmark)


def _details(number: int) -> dict[int, dict[str, Any]]:
    """What differs in the details, by the place within a period."""
    video = {"type": "video", "url": "https://img.example/v.mp4", "duration_ms": 61_000}
    return {
        4: {"quoted_tweet": _quoted(f"Does it belong with the others? {number}", "Tomasz")},
        5: {"quoted_tweet": {"unavailable": True, "link": "https://x.com/gone/status/12"}},
        6: {
            "article": _article("The quiet web: one small server in ten years", number),
            "text": f"https://t.co/{number}",
        },
        7: {"attachments": [{"type": "poll", "choices": ["A folder", "Tabs", "巣"]}]},
        8: {"attachments": [_picture("The avenue of a satin bowerbird", number)]},
        9: {"attachments": [_picture("鳥の巣", number), _picture("", number + 1)]},
        10: {"attachments": [video]},
        11: {"attachments": [_link("One database is enough", "https://example.org/one")]},
        14: {"text": ""},
    }


def _make_hostile(bookmark: dict[str, Any]) -> None:
    """Markup in every field that is a text."""
    details = bookmark["tweet_details"]
    details["text"] = f"{HOSTILE} {details['text']}"
    details["link"] = "javascript:alert(3)"
    details["quoted_tweet"] = _quoted(HOSTILE, HOSTILE) | {"link": "javascript:alert(4)"}
    details["article"] = _article(HOSTILE, 0) | {"plain_text": HOSTILE, "preview_text": HOSTILE}
    details["attachments"] = [
        {**_picture(HOSTILE, 0), "url": "javascript:alert(5)"},
        _link(HOSTILE, "javascript:alert(6)") | {"description": HOSTILE, "domain": HOSTILE},
        {"type": "poll", "choices": [HOSTILE, {"label": HOSTILE}], "ends_at": HOSTILE},
    ]
    bookmark["author_username"] = "<b>handle</b>"
    bookmark["author_details"] = {
        "name": HOSTILE,
        "username": "<b>handle</b>",
        "profile_image": "javascript:alert(7)",
    }
    bookmark |= {
        "tags": [HOSTILE[:60], "birds"],
        "note": f"{HOSTILE} [x](javascript:alert(8))",
        "gone_at": "2026-08-25T00:00:00+00:00",
        "gone_reason": HOSTILE,
    }


def _quoted(text: str, name: str) -> dict[str, Any]:
    return {
        "text": text,
        "author_username": "tomasz_k",
        "author_details": {"name": name},
        "posted_at": "2026-01-09T10:00:00+00:00",
        "link": "https://x.com/tomasz_k/status/9",
    }


def _article(title: str, number: int) -> dict[str, Any]:
    return {
        "title": f"{title}, part {number}",
        "plain_text": f"It has been rebooted eleven times.\n\nMost of it never did. n{number}\n"
        * 3,
        "preview_text": "It has been rebooted eleven times. It has had one disk replaced.",
        "cover_image": "https://img.example/cover.jpg",
    }


def _picture(alt: str, number: int) -> dict[str, Any]:
    return {"type": "image", "url": f"https://img.example/{number}.jpg", "alt_text": alt}


def _link(title: str, url: str) -> dict[str, Any]:
    return {
        "type": "link",
        "url": url,
        "title": title,
        "description": "Twelve years of operating small systems, in nine rules.",
        "domain": "example.org",
    }
