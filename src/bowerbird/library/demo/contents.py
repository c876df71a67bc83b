"""The posts and the Smart View of the demo.

They are some of the sample posts of the sandbox, with ids that no network gives, handles that
nobody can have, and dates that end today.
"""

from functools import cache
from importlib import resources
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.model import instants
from bowerbird.model.imports import FIRST_DEMO_ID
from bowerbird.requests.fields import read_scalar
from bowerbird.requests.views import NewView
from bowerbird.sources import own_json
from bowerbird.sources.found import FoundPost

_HOUR: Final = 3_600 * 1_000_000
# Reserved, so that no handle and no address can be real.
_HANDLE_END: Final = ".example"
_LINK: Final = "https://example.com/demo"


class _Chosen(Struct, frozen=True):
    """A sample post of the demo. Its labels are those of the sample."""

    sample: str
    saved_hours_ago: float
    is_read: bool = False
    is_archived: bool = False


class _Demo(Struct, frozen=True):
    view: NewView
    # The newest first.
    posts: list[_Chosen]


def view() -> NewView:
    return _demo().view


def size() -> int:
    return len(_demo().posts)


def posts(now: int) -> list[FoundPost]:
    """The newest first. The first one was saved two hours ago."""
    ids = {one.sample: str(FIRST_DEMO_ID + n) for n, one in enumerate(_demo().posts)}
    return [
        own_json.found_post(own_json.read(_record(one, ids, now)).incoming, line=n)
        for n, one in enumerate(_demo().posts, 1)
    ]


@cache
def label_names() -> frozenset[str]:
    samples = _samples()
    return frozenset(
        name for one in _demo().posts for name in samples[one.sample].get("tags") or ()
    )


def _record(chosen: _Chosen, ids: dict[str, str], now: int) -> bytes:
    """The sample as a record in the format of the API. Its place follows from the date."""
    sample = _samples()[chosen.sample]
    saved_at = now - int(chosen.saved_hours_ago * _HOUR)
    later = saved_at - _instant(sample["bookmarked_at"])
    post_id, details = ids[chosen.sample], sample["tweet_details"]
    meta = details["meta"]
    conversation = ids.get(meta["tweet_conversation_id"], post_id)
    quoted = details["quoted_tweet"]
    record = {
        **_by_nobody(sample),
        "post_id": post_id,
        "tweet_details": {
            **details,
            # There is no original to open.
            "link": "",
            "posted_at": _moved(details["posted_at"], later),
            "attachments": [_with_end(one, later) for one in details["attachments"]],
            "quoted_tweet": quoted and _quoted(quoted, later),
            "meta": {
                **meta,
                "tweet_conversation_id": conversation,
                "tweet_reply_to_tweet_id": ids.get(meta["tweet_reply_to_tweet_id"] or ""),
            },
        },
        "bookmarked_at": instants.with_offset(saved_at),
        "is_read": chosen.is_read,
        "is_archived": chosen.is_archived,
    }
    for name in ("imported_at", "sort_index"):
        del record[name]
    return msgspec.json.encode(record)


def _quoted(quoted: dict[str, Any], later: int) -> dict[str, Any]:
    changed = {**quoted, "link": f"{_LINK}/{quoted['post_id']}"}
    if "posted_at" in quoted:
        changed["posted_at"] = _moved(quoted["posted_at"], later)
    return _by_nobody(changed) if "author_username" in quoted else changed


def _by_nobody(post: dict[str, Any]) -> dict[str, Any]:
    """The post with a handle that nobody can have."""
    handle = f"{post['author_username']}{_HANDLE_END}"
    author = {**post["author_details"], "username": handle}
    return {**post, "author_username": handle, "author_details": author}


def _with_end(attachment: dict[str, Any], later: int) -> dict[str, Any]:
    """A poll ends as long after its post as that of the sample."""
    if "ends_at" not in attachment:
        return attachment
    return {**attachment, "ends_at": _moved(attachment["ends_at"], later)}


def _moved(date: str, later: int) -> str:
    return instants.with_offset(_instant(date) + later)


def _instant(text: str) -> int:
    instant = instants.parse(text)
    assert instant is not None, text
    return instant


@cache
def _samples() -> dict[str, dict[str, Any]]:
    return {one["post_id"]: one for one in msgspec.json.decode(_bytes("posts"))}


@cache
def _demo() -> _Demo:
    return msgspec.json.decode(_bytes("demo"), type=_Demo, dec_hook=read_scalar)


def _bytes(name: str) -> bytes:
    return (resources.files("bowerbird") / "fixtures" / f"{name}.json").read_bytes()
