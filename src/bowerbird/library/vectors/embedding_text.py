"""The text of a post that is embedded, and a hash that detects changes of it."""

import hashlib
from typing import Any

import msgspec

from bowerbird.model import json_depth
from bowerbird.model.bookmarks import Post, own_words
from bowerbird.model.media import DOMAIN, attached_texts


def embedding_text(post: Post) -> str:
    """The author's own and quoted text, name and note, attachments; the text of an article last.

    Flags, labels and counts are left out: they change often and carry no meaning.
    """
    return _joined(post, has_names=True)


def _joined(post: Post, *, has_names: bool) -> str:
    details = post.tweet_details
    article, quoted = details.article or {}, details.quoted_tweet or {}
    fields = [article.get("title"), details.text, quoted.get("text"), _article_title(quoted)]
    fields += [_author(post) if has_names else None, *own_words(post)]
    attached = [*attached_texts(details.attachments), *attached_texts(quoted.get("attachments"))]
    fields += [text for field, text in attached if has_names or field != DOMAIN]
    fields += [article.get("plain_text") or article.get("preview_text")]
    return "\n".join(field for field in fields if field)


def text_hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def text_of_rendering(rendering: bytes, *, has_names: bool = True) -> str:
    """The text of a stored post; empty if the post cannot be decoded.

    Without the names of authors and domains, it shows the language of the post.
    """
    try:
        post = msgspec.json.decode(json_depth.cut(rendering + b"}"), type=Post)
    except msgspec.MsgspecError:
        return ""
    return _joined(post, has_names=has_names)


def _author(post: Post) -> str:
    # A post without any text is embedded by its author alone.
    return post.author_details.name or post.author_username


def _article_title(quoted: dict[str, Any]) -> str | None:
    return (quoted.get("article") or {}).get("title")
