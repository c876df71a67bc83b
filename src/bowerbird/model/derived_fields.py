"""What a post shows although its source did not say it.

The time of an undated post is the one in its id, and without one the time at which it was saved. A
post that quotes an article has the article too. What a source says later replaces both.
"""

from typing import Any, Final

import msgspec

from bowerbird.model import instants
from bowerbird.model.bookmarks import P, Post
from bowerbird.model.networks import NETWORKS, X

_MILLISECOND: Final = 1_000
# Ids of X have their time since November 2010. Older ids are smaller numbers, in sequence.
_FIRST_TIMED_ID: Final = 29_700_859_247
_LAST_X_ID: Final = 2**63 - 1
_X_EPOCH_MS: Final = 1_288_834_974_657
# Servers of other programs number their posts differently. Years outside of these show it.
_FIRST_YEAR: Final = 1_136_073_600_000_000
_LAST_YEAR: Final = 4_102_444_800_000_000


def completed(post: P) -> P:
    """The post with the time in its id and the article that it quotes, if it has none itself."""
    details = post.tweet_details
    missing: dict[str, Any] = {}
    if not details.posted_at and (time := time_in_id(post)):
        missing["posted_at"] = time
    if details.article is None and details.quoted_tweet:
        missing["article"] = details.quoted_tweet.get("article") or None
    if not missing:
        return post
    details = msgspec.structs.replace(details, **missing)
    return msgspec.structs.replace(post, tweet_details=details)


def takes_article(post: Post) -> bool:
    """Whether `completed` has given the post the article of the post that it quotes."""
    article, quoted = post.tweet_details.article, post.tweet_details.quoted_tweet
    # The same object: one that was stored with the post is only equal.
    return article is not None and quoted is not None and article is quoted.get("article")


def known_time(post: Post) -> str:
    """The time that a source gave; "" if it is only known from the id."""
    posted_at = post.tweet_details.posted_at
    return "" if posted_at == time_in_id(post) else posted_at


def with_known_time(post: P, before: Post) -> P:
    """The post with the time that a source gave before, if its own is only known from its id."""
    if known_time(post) or not (posted_at := known_time(before)):
        return post
    details = msgspec.structs.replace(post.tweet_details, posted_at=posted_at)
    return msgspec.structs.replace(post, tweet_details=details)


def without_saving_time(post: P, bookmarked_at: int) -> P:
    """The post without a time if that is only the time at which it was saved."""
    details = post.tweet_details
    if details.posted_at != instants.with_offset(bookmarked_at) or time_in_id(post):
        return post
    details = msgspec.structs.replace(details, posted_at="")
    return msgspec.structs.replace(post, tweet_details=details)


def time_in_id(post: Post) -> str:
    """When a post was written, according to its id. "" if the id does not contain a time."""
    if not post.source or post.source == X:
        return time_in_x_id(post.post_id)
    known = NETWORKS.get(post.source)
    read = known.time_in_id if known else None
    instant = read(post.source_id or "") if read else None
    if instant is None or not _FIRST_YEAR <= instant < _LAST_YEAR:
        return ""
    return instants.with_offset(instant)


def time_in_x_id(post_id: str) -> str:
    number = int(post_id)
    if not _FIRST_TIMED_ID <= number <= _LAST_X_ID:
        return ""
    return instants.with_offset(((number >> 22) + _X_EPOCH_MS) * _MILLISECOND)
