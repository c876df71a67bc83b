"""What a network says about posts, and how it is asked."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

import msgspec
from msgspec import UNSET, Struct

from bowerbird.connections.records import Answer
from bowerbird.model.imports import OrderSource
from bowerbird.model.instants import with_offset
from bowerbird.model.links import Reason
from bowerbird.sources.found import Found, FoundPost, mark
from bowerbird.sources.post_links import PostLink, X

OK: Final = 200
NOT_ALLOWED: Final = 401
FORBIDDEN: Final = frozenset({NOT_ALLOWED, 403})
GONE: Final = frozenset({404, 410})


class Busy(Exception):  # noqa: N818 - named for what it is
    """The host gives no answers now. `retry_at` is when it allows the next request, or 0."""

    def __init__(self, reason: Reason = Reason.BUSY, retry_at: int = 0) -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.retry_at = retry_at


# A post, or why there is none.
Outcome: TypeAlias = FoundPost | Reason
# Sends a request when it is the turn of the host, and returns what the host answers.
Ask: TypeAlias = Callable[[str], Awaitable[Answer]]
Read: TypeAlias = Callable[[Sequence[PostLink], Ask], Awaitable[dict[str, Outcome]]]


class Endpoint(Struct, frozen=True):
    # The host to ask, and those to which it may redirect.
    host: str
    read: Read
    # The links that one call of `read` takes.
    most: int = 1
    redirects_to: frozenset[str] = frozenset()


def adopted(found: Found, link: PostLink) -> Outcome:
    """The found post as the one that was asked for, whatever the answer calls it.

    It fills a post that the library has, and says nothing about when it was saved.
    """
    if not isinstance(found, FoundPost):
        return Reason.UNREADABLE
    record = found.record
    details = record.tweet_details
    meta = details.meta
    if meta.tweet_conversation_id == record.post_id:
        meta = msgspec.structs.replace(meta, tweet_conversation_id=link.post_id)
    return msgspec.structs.replace(
        found,
        record=msgspec.structs.replace(
            record,
            post_id=link.post_id,
            tweet_details=msgspec.structs.replace(details, link=link.link, meta=meta),
            bookmarked_at=UNSET,
        ),
        order_source=OrderSource.IMPORT,
        source=link.network,
        source_id="" if link.network == X else link.source_id,
        is_shown=True,
        is_mark=True,
    )


def gone(post_id: str, reason: Reason, now: int) -> FoundPost:
    """Says that the source does not show a post."""
    return mark(post_id, gone_at=with_offset(now), gone_reason=_WORDS[reason])


_WORDS: Final = {Reason.GONE: "not found", Reason.PROTECTED: "protected"}
