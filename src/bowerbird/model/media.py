"""Encodes the media types of a post as one number, with one bit per type."""

from collections.abc import Mapping
from typing import Any, Final

from bowerbird.model.bookmarks import PostDetails

BITS: Final[Mapping[str, int]] = {
    "image": 1,
    "video": 2,
    "gif": 4,
    "article": 8,
    "link": 16,
    "poll": 32,
    "thread": 64,
    "text": 128,
}
SYNONYMS: Final[Mapping[str, str]] = {"photo": "image", "animated_gif": "gif"}

# The types of few posts, which the databases have an index of. It names this number.
RARE: Final = BITS["gif"] | BITS["article"] | BITS["poll"]
_ATTACHED: Final = BITS["image"] | BITS["video"] | BITS["gif"] | BITS["link"] | BITS["poll"]


def bits_of(details: PostDetails) -> int:
    """The media types of a post. Without attachments and article, its type is text."""
    bits = _attached(details.attachments)
    if details.article is not None:
        bits |= BITS["article"]
    if details.meta.tweet_is_thread or details.meta.is_sub_tweet_of_thread:
        bits |= BITS["thread"]
    if not bits & (_ATTACHED | BITS["article"]):
        bits |= BITS["text"]
    return bits


def bit_of(media_type: str) -> int | None:
    """The bit of a type in a client's spelling, or None for an unknown type."""
    name = media_type.strip().lower()
    return BITS.get(SYNONYMS.get(name, name))


def _attached(attachments: list[dict[str, Any]]) -> int:
    bits = 0
    for attachment in attachments:
        bits |= bit_of(str(attachment.get("type", ""))) or 0
    return bits & _ATTACHED
