"""The text of a post that its meaning is taken from, and how a change of it is known."""

import hashlib
from typing import Any

import msgspec

from bowerbird.model.bookmarks import Post


def meaning_text(post: Post) -> str:
    """What the author wrote and quoted, then who wrote it; long articles last.

    Flags, labels and counts are no part of it: they change often, and mean nothing.
    """
    details = post.tweet_details
    article, quoted = details.article or {}, details.quoted_tweet or {}
    fields = [article.get("title"), details.text, quoted.get("text"), _title_within(quoted)]
    fields += [_author(post), article.get("plain_text") or article.get("preview_text")]
    return "\n".join(field for field in fields if field)


def text_hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def text_of_rendering(rendering: bytes) -> str:
    """Of a post as it is stored; of one that cannot be read, nothing."""
    try:
        return meaning_text(msgspec.json.decode(rendering + b"}", type=Post))
    except msgspec.MsgspecError:
        return ""


def _author(post: Post) -> str:
    # Alone it would be the meaning of a post that has no text at all.
    return post.author_details.name or post.author_username


def _title_within(quoted: dict[str, Any]) -> str | None:
    return (quoted.get("article") or {}).get("title")
