"""Posts of every kind, as the design of the library shows them."""

from typing import Any


def _post(number: int, name: str, handle: str, text: str, **more: Any) -> dict[str, Any]:
    details = {
        key: more.pop(key) for key in ("attachments", "article", "quoted_tweet") if key in more
    }
    meta = {**more.pop("meta", {}), "non_real_time_engagement_metrics": more.pop("metrics", {})}
    return {
        "post_id": str(1_900_000_000_000_000_000 + number),
        "sort_index": 10_000 - number,
        "author_id": str(number),
        "author_username": handle,
        "author_details": {"name": name, "username": handle, "profile_image": ""},
        "bookmarked_at": f"2026-08-{28 - number:02}T08:12:00+00:00",
        "tweet_details": {
            "text": text,
            "link": f"https://x.com/{handle}/status/{1_900_000_000_000_000_000 + number}",
            "posted_at": f"2026-08-{27 - number:02}T06:30:00+00:00",
            "meta": meta,
            **details,
        },
        "is_read": False,
        "is_archived": False,
        "tags": [],
        **more,
    }


def _picture(alt: str, **more: Any) -> dict[str, Any]:
    return {"type": "image", "url": "https://img.example/1.jpg", "alt_text": alt, **more}


_THREAD = str(1_900_000_000_000_000_003)
POSTS = [
    _post(
        1,
        "Mara Lindqvist",
        "mara_fieldnotes",
        "A bower is not a nest. The male builds it to be looked at, and paints the walls with "
        "chewed berries. This one had bottle caps, a pen, a peg, two feathers and somebody's "
        "hotel key card. They had one thing in common.",
        attachments=[
            _picture("The avenue of a satin bowerbird, forty blue objects before the entrance"),
            _picture("A blue bottle cap, a clothes peg and two parrot feathers on dry grass"),
        ],
        tags=["birds", "field notes"],
    ),
    _post(2, "Deniz", "denizk", "Finally."),
    _post(
        3,
        "Ines Okafor",
        "ines_builds",
        "We took our slowest page from 900 ms to 40 ms without buying anything. Nine boring "
        "things that did it, in the order of what they gave us:\n\n1. We looked at the query "
        "instead of at the dashboard. #performance with @tomasz_k https://example.org/slow-pages",
        meta={"tweet_is_thread": True, "tweet_conversation_id": _THREAD},
        metrics={"favorite_count": 1204, "retweet_count": 318, "reply_count": 47},
        tags=["databases"],
        note="Print this for the office.",
    ),
    _post(
        4,
        "Ines Okafor",
        "ines_builds",
        "2. We added one index, and removed three.",
        meta={"is_sub_tweet_of_thread": True, "tweet_conversation_id": _THREAD},
    ),
    _post(
        5,
        "Priya Raman",
        "priya_reads",
        "The best description of reading I know, and it is in a reply to a question about shelves:",
        quoted_tweet={
            "text": "The collector's question is never “is it valuable?” It is “does it belong "
            "with the others?”",
            "author_username": "tomasz_k",
            "author_details": {"name": "Tomasz Kowal"},
            "posted_at": "2026-01-09T10:00:00+00:00",
            "link": "https://x.com/tomasz_k/status/9",
        },
        is_read=True,
    ),
    _post(
        6,
        "Jonas Weidt",
        "jonasw",
        "https://t.co/abc",
        article={
            "title": "The quiet web: what one small server taught me in ten years",
            "plain_text": "It has been rebooted eleven times. It has had one disk replaced.\n\n"
            "When I set it up, I had a list of things it would do. Most of them it never did.\n"
            * 8,
            "preview_text": "It has been rebooted eleven times. It has had one disk replaced. In "
            "that time it has outlived four of the companies that offered to host it for me.",
            "cover_image": "https://img.example/cover.jpg",
        },
        tags=["quiet web", "to read"],
    ),
    _post(
        7, "佐藤みどり", "midori_s", "雨の日の古本屋がいちばん静かだ。誰かが線を引いた一行を読む。"
    ),
    _post(
        8,
        "Hanne Brandt",
        "hannebrandt",
        "Where do the things go that you mean to read one day?",
        attachments=[
            {
                "type": "poll",
                "choices": ["A folder", "Forty open tabs", "Nowhere"],
                "ends_at": "2026-08-20T00:00:00+00:00",
            }
        ],
    ),
    _post(
        9,
        "ليلى حداد",
        "layla_h",
        "الخط الجيد لا يلفت النظر إلى نفسه، بل يفسح الطريق للمعنى.",
        tags=["تصميم"],
    ),
    _post(
        10,
        "Tomasz Kowal",
        "tomasz_k",
        "I keep coming back to this one.",
        quoted_tweet={"unavailable": True, "link": "https://x.com/gone/status/12"},
        is_read=True,
        gone_at="2026-08-25T00:00:00+00:00",
        gone_reason="This account was suspended",
    ),
    _post(
        11,
        "Kwame Asante",
        "kwame_db",
        "Read this before you add a second database. Then read it again.",
        attachments=[
            {
                "type": "link",
                "url": "https://example.org/one-database",
                "title": "One database is enough, and other unfashionable advice",
                "description": "Twelve years of operating small systems, in nine rules.",
                "domain": "example.org",
            }
        ],
        tags=["databases"],
    ),
    _post(
        12,
        "Oren Castellanos-Whitfield",
        "oren_press",
        "Setting a line by hand takes me about four minutes.",
        attachments=[{"type": "video", "url": "https://img.example/v.mp4", "duration_ms": 61_000}],
    ),
    _post(
        13,
        "Tomasz Kowal",
        "tomasz_k",
        "Every library I have loved was somebody's private disorder first. " * 14,
    ),
    _post(14, "Ada <Script>", "ada", "<script>alert(1)</script> & <b>bold</b>", is_archived=True),
]
