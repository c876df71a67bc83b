"""Posts, and what each operator of a search finds among them, in every spelling."""

from typing import Any, Final

from tests.support import make
from tests.support.service import Member

ADDRESS: Final = "https://www.arxiv.org/abs/2309.17453?utm_source=x"
LONG: Final = " ".join(["long"] * 501)


def _link(url: str, title: str = "") -> dict[str, Any]:
    return {"type": "link", "url": url, "title": title}


# Unless an operator is about their time, posts were posted long ago.
POSTS: Final[dict[str, dict[str, Any]]] = {
    "plain": {"text": "a blue pen and bottle caps"},
    "reversed": {"text": "caps, the bottle, lids"},
    "bower": {"text": "bowerbirds nest"},
    "hers": {"author": "grace_h", "name": "Grace H.", "text": "compilers"},
    "about_her": {"text": "thanks @grace_h"},
    "yesterday": {"posted_at": "2026-07-17T12:00:00+00:00"},
    "days_ago": {"posted_at": "2026-07-13T00:00:00+00:00"},
    "last_month": {"posted_at": "2026-06-25T00:00:00+00:00"},
    "labelled": {"tags": ["To read"]},
    "family": {"tags": ["family"]},
    "sigil": {"tags": ["#birds"]},
    "feathered": {"text": "photos of #birds"},
    "hashtag": {"text": "photos of the #family"},
    "image": {"attachments": [{"type": "image", "url": "https://pbs.twimg.com/media/a.jpg"}]},
    "video": {"attachments": [{"type": "video", "url": "https://video.example/a.mp4"}]},
    "article": {"article": {"title": "Zephyr winds", "plain_text": "of the west"}},
    "noted": {"note": "remember"},
    "linked": {"attachments": [_link(ADDRESS, "Attention sinks")]},
    "youtube": {"text": "see https://youtube.com/watch?v=dQw4w9WgXcQ"},
    "german": {"text": "Das ist nicht der Ort, an dem wir gestern waren"},
    "archived": {"is_archived": True},
    "read": {"is_read": True},
    "starred": {"tags": ["favourite"]},
    "threaded": {"meta": {"tweet_is_thread": True}},
    "gone": {"gone_at": "2026-07-01T00:00:00+00:00"},
    "reply": {"meta": {"tweet_reply_to_tweet_id": "7"}},
    "liked": {"metrics": {"favorite_count": 120}},
    "long": {"text": LONG},
    "version": {"text": "Python v2.0 is out"},
    "candidate": {"text": "we run 2.0.0-rc.1 now"},
    "mastodon": {"source": "mastodon", "source_id": "example.social/1032"},
}
EVERY: Final = frozenset(POSTS)
_RECENT: Final = {"yesterday", "days_ago", "last_month"}
_PICTURES: Final = {"image", "video"}
# The first query is how the documents write it.
ROWS: Final[tuple[tuple[set[str] | frozenset[str], tuple[str, ...]], ...]] = (
    ({"plain"}, ("blue pen", "pen and the blue", '"a blue pen"')),
    ({"plain"}, ('"bottle caps"', "“bottle caps”")),
    ({"plain"}, ("caps -lids", "caps NOT lids", "caps !lids", "NOT lids caps", "caps -(lids)")),
    ({"bower"}, ("bow*", "bowerbird", "nests bow*")),
    ({"plain", "reversed"}, ("caps OR lids", "pen | lids", "pen OR lids", "pen || lids")),
    ({"plain"}, ("(caps OR lids) -lids", "(pen OR nothing) blue")),
    ({"hers", "about_her"}, ("@grace_h",)),
    (
        {"hers"},
        (
            *("from:grace_h", "author:grace_h", "by:grace_h", "user:@grace_h", "username:GRACE_H"),
            'by:"grace h."',
        ),
    ),
    (
        {"labelled"},
        (
            'label:"to read"',
            'tag:"To Read"',
            'tags:"to read"',
            'labels:"to read"',
            'folder:"to read"',
        ),
    ),
    ({"labelled"}, ("#toread", "tag:#ToRead")),
    ({"sigil"}, ("label:#birds", 'label:"#birds"', 'tag:"#birds"')),
    ({"sigil", "feathered"}, ("tag:#birds", "#birds")),
    (EVERY - {"sigil"}, ("-label:#birds",)),
    (EVERY - {"sigil", "feathered"}, ("-tag:#birds",)),
    ({"family"}, ("label:family", "tag:FAMILY")),
    ({"family", "hashtag"}, ("#family", "tag:#family")),
    ({"german"}, ("lang:german", "lang:de", "language:Deutsch", "lang:de-AT")),
    ({"image"}, ("has:image", "type:image", "filter:images", "media:photo", "has:photos")),
    ({"video"}, ("has:video", "type:videos", "filter:video", "media_type:video")),
    (_PICTURES, ("has:media", "filter:media", "type:media")),
    ({"article"}, ("has:article", "type:article", "filter:articles")),
    ({"linked", "youtube"}, ("has:link", "filter:links", "type:link")),
    ({"noted"}, ("has:note", "filter:notes")),
    (set(), ("has:highlight", "has:highlights")),
    ({"read"}, ("is:read", "state:read")),
    (EVERY - {"read"}, ("is:unread", "in:inbox", "-is:read", "NOT is:read")),
    ({"archived"}, ("is:archived", "in:archive", "in:archived")),
    (EVERY, ("is:all", "in:all", "in:anywhere", "-in:trash")),
    (set(), ("in:trash", "is:trash")),
    ({"starred"}, ("is:starred", "is:favourite", "is:favorite")),
    ({"threaded"}, ("is:thread", "has:thread", "type:thread", "filter:threads")),
    ({"gone"}, ("is:gone", "is:deleted")),
    ({"reply"}, ("is:reply", "filter:replies")),
    ({"mastodon"}, ("site:mastodon", "network:mastodon")),
    ({"youtube"}, ("site:youtube.com", "domain:youtube.com", "url:youtu.be/dQw4w9WgXcQ")),
    (
        {"linked"},
        (
            *("url:arxiv.org/abs/2309.17453", "link:arxiv.org", "inurl:arxiv.org/abs"),
            *("site:arxiv.org", "domain:arxiv.org", ADDRESS, "arxiv.org/abs/2309.17453"),
        ),
    ),
    ({"article"}, ("title:zephyr", "intitle:Zephyr", 'title:"zephyr winds"')),
    ({"long"}, ("words:>500", "words:501..", "length:>=501", "words:>500 long")),
    ({"liked"}, ("min_likes:100", "min_faves:120")),
    (_RECENT, ("since:2026-06-01", "since:60d", 'since:"last month"', "after:2026-06")),
    (
        {"yesterday"},
        (
            *("since:yesterday", "newer_than:2d", "newer:48h", "from_date:2026-07-17"),
            *("after:yesterday", 'since:"2 days"', "since:2026-07-17"),
        ),
    ),
    (
        _RECENT - {"last_month"},
        ("since:7d", 'since:"last 7 days"', "newer_than:1w", 'since:"this month"', "after:1w"),
    ),
    (
        EVERY - _RECENT,
        ("until:30d", "before:2026-06", "older_than:30d", "older:4w", "to_date:2026-06-25"),
    ),
    ({"last_month"}, ('since:"last month" until:"this month"', "after:2026-06-24 till:2026-07")),
    ({"version", "candidate"}, ("2.0", "v2.0")),
    ({"version"}, ('"v2.0"',)),
    ({"candidate"}, ("2.0.0-rc.1", "v2.0.0-rc.1")),
)
QUERIES: Final = [(query, found) for found, queries in ROWS for query in queries]


async def fill(member: Member) -> dict[str, str]:
    """Saves the posts; returns their names by id."""
    records = {
        name: make.post(**{"text": name, "posted_at": "2020-01-01T00:00:00+00:00", **fields})
        for name, fields in POSTS.items()
    }
    await member.save_all(list(records.values()))
    return {record["post_id"]: name for name, record in records.items()}
