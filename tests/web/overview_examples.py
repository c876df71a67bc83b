"""Example values of the pages for digests and statistics."""

from datetime import date, timedelta
from typing import Final

from bowerbird.library.statistics.periods import StatisticsPeriod
from bowerbird.library.statistics.statistics import DomainCount, SliceCount, Summary
from bowerbird.model.digests import AuthorCount, LabelCount
from bowerbird.web.statistics.pages import StatisticsValues
from bowerbird.web.visits.formats import Times, accepted
from tests.web.example_values import AUGUST, FRAME, SEPTEMBER, TODAY, Values

_ARABIC: Final = accepted(b"ar")


def _month(number: int) -> date:
    return date(2024 + (number + 8) // 12, (number + 8) % 12 + 1, 1)


def _summary(count: int) -> Summary:
    slices = [
        SliceCount(_month(n), n * 10**12, (n + 1) * 10**12, 40 + n * 37 % 130, n * 37 % 130)
        for n in range(count)
    ]
    return Summary(
        period=StatisticsPeriod.MONTHS,
        time_zone="Europe/Berlin",
        first_day=date(2019, 5, 3),
        is_by_year=False,
        slices=slices,
        hours=[(hour * hour) % 31 if hour % 24 > 6 else 0 for hour in range(168)],
        author_total=1_038,
        authors=[
            AuthorCount("mara_fieldnotes", "Mara Lindqvist", 96),
            AuthorCount("layla_h", "ليلى حداد", 41),
            AuthorCount("midori_s", "佐藤みどり 🐦", 33),
            AuthorCount("oren", "Oren Castellanos-Whitfield of the very long name", 3),
        ],
        labelled=1_200,
        labels=[LabelCount("birds", 128), LabelCount("تصميم", 40), LabelCount("to read", 12)],
        linked_posts=5_000,
        domains=[DomainCount("example.org", 61), DomainCount("müller.example", 9)],
    )


_STATISTICS: Final[Values] = FRAME | {
    "total": 4_218,
    "periods": [
        {"text": "Last 24 months", "url": "/statistics", "is_chosen": True},
        {"text": "This year", "url": "/statistics?period=year", "is_chosen": False},
        {"text": "Everything", "url": "/statistics?period=all", "is_chosen": False},
    ],
    "again": "/statistics",
    "counted": True,
    **StatisticsValues(Times("Europe/Berlin"), "", can_filter=True).of(_summary(24)),
}
_DIGESTS: Final[Values] = FRAME | {
    "digests": [
        {
            "url": f"/digests/weekly-{date(2026, 8, 10) - timedelta(weeks=week)}",
            "title": f"{10 - week} to {16 - week} August 2026",
            "kind": "weekly" if week else "daily",
            "saved_count": 38 - week,
            "mailed": week == 1,
        }
        for week in range(5)
    ],
    "total": 5,
    "older": "/digests?cursor=abc",
    "is_first": False,
    "next_at": AUGUST,
    "digest": {"frequency": "weekly", "hour": 8, "mail": True},
    "can_mail": True,
    "time_zone": "Europe/Berlin",
}


def _post(text: str, name: str, language: str | None = None, **more: object) -> Values:
    plain = {"url": "/p/1", "is_article": False, "saved": AUGUST, "is_read": False}
    return {"text": text, "name": name, "language": language, **plain, **more}


_POSTS: Final = [
    _post("A bower is not a nest. The male builds it to be looked at. " * 4, "Mara Lindqvist"),
    _post("The quiet web: what one small server taught me", "Jonas Weidt", is_article=True),
    _post("雨の日の古本屋がいちばん静かだ。誰かが線を引いた一行を読む。", "佐藤みどり", "ja"),
    _post("الخط الجيد لا يلفت النظر إلى نفسه، بل يفسح الطريق للمعنى.", "ليلى حداد", "ar"),
    _post("", "Deniz 🐦", is_read=True),
]


def _section(heading: str, posts: list[Values], **more: object) -> Values:
    plain = {"note": "", "is_saved": False, "more": 0, "count": len(posts), "url": ""}
    return {"heading": heading, "posts": posts, **plain, **more}


_DIGEST: Final[Values] = FRAME | {
    "title": "10 to 16 August 2026",
    "span": "Week of",
    "opening": "You saved 38 posts this week.",
    "labels": [
        {"name": "birds", "count": 9, "url": "/library?tag=birds"},
        {"name": "تصميم", "count": 7, "url": "/library?tag=x"},
        {"name": "quiet web", "count": 5, "url": ""},
    ],
    "introduction": "",
    "sections": [
        _section("Worth reading", _POSTS, note="Out of 312 unread posts."),
        _section("A year ago that week", _POSTS[:1], more=2),
        _section("Saved", _POSTS, is_saved=True, more=31, count=38, url="/library?x"),
    ],
    "earlier": {"url": "/digests/weekly-2026-08-03", "title": "3 to 9 August 2026"},
    "made_at": TODAY,
    "mailed": "Sent by email",
    "next_at": SEPTEMBER,
}

EXAMPLES: Final[dict[str, tuple[str, Values]]] = {
    "statistics": ("statistics.html", _STATISTICS),
    "statistics-right-to-left": (
        "statistics.html",
        _STATISTICS
        | {"time_lang": _ARABIC.attributes}
        | StatisticsValues(Times("Africa/Cairo", _ARABIC), "", can_filter=False).of(_summary(60)),
    ),
    "statistics-counting": ("statistics.html", _STATISTICS | {"counted": False}),
    "statistics-empty": ("statistics.html", _STATISTICS | {"total": 0}),
    "digests": ("digests.html", _DIGESTS),
    "digests-empty": (
        "digests.html",
        _DIGESTS | {"digests": [], "older": "", "is_first": True, "can_mail": False},
    ),
    "digest": ("digest.html", _DIGEST),
    "digest-right-to-left": (
        "digest.html",
        _DIGEST
        | {
            "time_lang": _ARABIC.attributes,
            "title": "10 أغسطس 2026 \u2013 16 أغسطس 2026",
            "introduction": "A week of birds.",
            "earlier": None,
            "next_at": None,
        },
    ),
}
