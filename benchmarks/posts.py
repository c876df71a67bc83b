"""Generates realistic posts in the format of the API; the same posts in every run.

A post has about 1.2 kB of JSON. A batch depends only on its account and its position, so several
processes can generate batches in any order.
"""

import random
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

import msgspec

from benchmarks.vocabulary import FUNCTION_WORD_SHARE, FUNCTION_WORDS, Language, latin, others

Post = dict[str, Any]

_NON_LATIN_SHARE: Final = 0.10
_ATTACHED_SHARE: Final = 0.45
_QUOTE_SHARE: Final = 0.12
_ARTICLE_SHARE: Final = 0.02
_TAGGED_SHARE: Final = 0.20
_READ_SHARE: Final = 0.30
_ARCHIVED_SHARE: Final = 0.10
_AUTHORS: Final = 20_000
_LABELS: Final = 40
_FIRST: Final = datetime(2019, 1, 1, tzinfo=UTC)
_BETWEEN: Final = timedelta(minutes=28)
_X_EPOCH_MS: Final = 1_288_834_974_657

_encode: Final = msgspec.json.Encoder().encode


def batch(account: int, first: int, count: int) -> list[bytes]:
    """The JSON of posts `first` to `first + count` of an account, oldest first."""
    rng = random.Random(f"{account}/{first}")
    return [_encode(_bookmark(rng, account, first + offset)) for offset in range(count)]


def frequent_author() -> str:
    """The username of the author with the most posts."""
    username: str = _authors()[0]["author_username"]
    return username


def first_label() -> str:
    """A label that one post in a hundred has."""
    return _labels()[0]


@lru_cache(maxsize=1)
def _latin() -> Language:
    return latin()


@lru_cache(maxsize=1)
def _others() -> list[Language]:
    return others()


@lru_cache(maxsize=1)
def _authors() -> list[Post]:
    rng = random.Random("authors")
    return [_author(rng, number) for number in range(_AUTHORS)]


@lru_cache(maxsize=1)
def _labels() -> list[str]:
    return [word.capitalize() for word in _latin().phrase(random.Random("labels"), _LABELS)]


def _author(rng: random.Random, number: int) -> Post:
    first, last = _latin().phrase(rng, 2)
    username = f"{first}_{last}{number}"[:15]
    picture = f"{rng.getrandbits(60)}/{rng.getrandbits(40):x}"
    return {
        "author_id": str(10_000 + number * 7_919),
        "author_username": username,
        "author_details": {
            "name": f"{first.capitalize()} {last.capitalize()}",
            "username": username,
            "profile_image": f"https://pbs.twimg.com/profile_images/{picture}_normal.jpg",
        },
    }


def _bookmark(rng: random.Random, account: int, number: int) -> Post:
    # A few hours of jitter: people do not import posts in the order in which they saved them.
    bookmarked = _FIRST + number * _BETWEEN + timedelta(milliseconds=rng.randrange(20_000_000))
    posted = bookmarked - timedelta(seconds=int(rng.expovariate(1 / 86_400)) + 60)
    post = _post(rng, posted, rng.random() < _NON_LATIN_SHARE)
    details = post["tweet_details"]
    if rng.random() < _QUOTE_SHARE:
        details["quoted_tweet"] = _quoted(rng, posted)
    if rng.random() < _ARTICLE_SHARE:
        details["article"] = _article(rng, posted)
    details["meta"] = _meta(rng, post["post_id"])
    return post | {
        "imported_at": (bookmarked + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.%f"),
        "sort_index": int(bookmarked.timestamp() * 1000) << 20 | account,
        "bookmarked_at": bookmarked.isoformat(timespec="milliseconds"),
        "tags": rng.sample(_labels(), rng.randint(1, 3)) if rng.random() < _TAGGED_SHARE else None,
        "is_read": rng.random() < _READ_SHARE,
        "is_archived": rng.random() < _ARCHIVED_SHARE,
    }


def _post(rng: random.Random, posted: datetime, is_non_latin: bool) -> Post:  # noqa: FBT001 - a random value of the caller
    author = _authors()[int(_AUTHORS * rng.random() ** 1.5)]
    post_id = str((int(posted.timestamp() * 1000) - _X_EPOCH_MS) << 22 | rng.getrandbits(22))
    details = {
        "text": _text(rng, rng.choice(_others()) if is_non_latin else _latin()),
        "link": f"https://x.com/{author['author_username']}/status/{post_id}",
        "posted_at": posted.isoformat(timespec="seconds"),
        "attachments": _attachments(rng) if rng.random() < _ATTACHED_SHARE else [],
        "article": None,
        "quoted_tweet": None,
    }
    return {"post_id": post_id, "tweet_details": details, **author}


def _text(rng: random.Random, language: Language) -> str:
    words = language.phrase(rng, rng.randint(8, 26))
    for word in FUNCTION_WORDS:
        if rng.random() < FUNCTION_WORD_SHARE:
            words.insert(rng.randrange(len(words)), f" {word} " if not language.separator else word)
    if rng.random() < 0.3:
        words.insert(len(words) // 2, "\n\n")
    text = language.separator.join(words)
    if rng.random() < 0.25:
        text += f" https://t.co/{rng.getrandbits(50):x}"
    return text


def _quoted(rng: random.Random, posted: datetime) -> Post:
    quoted = _post(rng, posted - timedelta(hours=rng.randrange(1, 100)), is_non_latin=False)
    details: Post = quoted.pop("tweet_details")
    # Without function words, so that their share depends only on the text of the post itself.
    details["text"] = " ".join(_latin().phrase(rng, rng.randint(6, 30)))
    return quoted | details


def _article(rng: random.Random, posted: datetime) -> Post:
    words = _latin().phrase(rng, rng.randint(100, 400))
    return {
        "id": str(rng.getrandbits(60)),
        "title": " ".join(words[:7]).capitalize(),
        "plain_text": " ".join(words),
        "preview_text": " ".join(words[:30]),
        "cover_image": f"https://pbs.twimg.com/media/{rng.getrandbits(70):x}.jpg",
        "url": f"https://x.com/i/article/{rng.getrandbits(60)}",
        "published_at": posted.isoformat(timespec="seconds"),
    }


def _attachments(rng: random.Random) -> list[Post]:
    kind = rng.choices(("image", "video", "gif", "link"), weights=(60, 18, 4, 18))[0]
    if kind == "link":
        return [_link(rng)]
    return [_picture(rng, kind) for _ in range(rng.choice((1, 1, 1, 2, 4)))][:4]


def _picture(rng: random.Random, kind: str) -> Post:
    address = f"https://pbs.twimg.com/media/{rng.getrandbits(70):x}.jpg"
    picture = {"type": kind, "url": address, "width": rng.choice((1200, 1080, 720)), "height": 900}
    if kind != "image":
        video = f"https://video.twimg.com/ext_tw_video/{rng.getrandbits(60)}/pu/vid/720x1280/a.mp4"
        picture |= {"url": video, "preview_image": address, "duration_ms": rng.randrange(90_000)}
    elif rng.random() < 0.2:
        picture["alt_text"] = " ".join(_latin().phrase(rng, 12))
    return picture


def _link(rng: random.Random) -> Post:
    words = _latin().phrase(rng, 24)
    domain = f"{words[0]}.example"
    return {
        "type": "link",
        "url": f"https://{domain}/{words[1]}/{rng.getrandbits(30)}",
        "title": " ".join(words[:8]).capitalize(),
        "description": " ".join(words[8:]),
        "domain": domain,
    }


def _meta(rng: random.Random, post_id: str) -> Post:
    favorites = int(rng.paretovariate(0.9)) % 1_000_000
    is_reply = rng.random() < 0.1
    return {
        "tweet_reply_to_tweet_id": str(rng.getrandbits(60)) if is_reply else None,
        "tweet_reply_to_user_id": str(rng.getrandbits(40)) if is_reply else None,
        "tweet_conversation_id": post_id,
        "tweet_is_thread": rng.random() < 0.08,
        "is_sub_tweet_of_thread": False,
        "non_real_time_engagement_metrics": {
            "quote_count": favorites // 50,
            "reply_count": favorites // 20,
            "retweet_count": favorites // 8,
            "bookmark_count": favorites // 5,
            "favorite_count": favorites,
        },
    }
