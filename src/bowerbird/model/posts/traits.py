"""What is stored of a post besides its media: whether it is a reply or gone, how long it is.

These are in the higher bits of the number that has the media types of a post, which an index in the
order of lists has too. Three prints show whether another post has the same text, links or pictures.
"""

import hashlib
import re
from typing import Any, Final, Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit

from bowerbird.model.posts import media
from bowerbird.model.posts.bookmarks import Post, markable_texts
from bowerbird.model.words import fold

# Above the bits of the network (model/posts/networks.py).
REPLY: Final = 1 << 16
GONE: Final = 1 << 17
# An earlier release did not look for any of these.
KNOWN: Final = 1 << 18
# Nor for pictures. An index of the databases names this number.
_PICTURED: Final = 1 << 19
LOOKED_AT: Final = KNOWN | _PICTURED
WORDS_SHIFT: Final = 20
WORDS_MAX: Final = (1 << 24) - 1
# Scripts without spaces, in which two characters count as a word.
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
_FIRST_UNSPACED: Final = "\u0e00"
_URL: Final = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
# A shorter text, such as "So true!", says nothing about two posts.
_SHORTEST_PRINTED: Final = 20
# The beginning of a long text is enough.
_LONGEST_PRINTED: Final = 4_000
_LINKS_PRINTED: Final = 20
# Addresses of X that are different in each post.
_SHORTENED: Final = "t.co"
_SHORTENED_URL: Final = "//t.co/"
# Longer articles have more addresses than the index keeps.
_LONGEST_SEARCHED: Final = 100_000
_TRACKING: Final = re.compile(r"utm_\w+|fbclid|gclid|mc_[ce]id|igshid|ref_src|ref_url|si")


def bits_of(post: Post) -> int:
    bits = LOOKED_AT | (min(_words(post), WORDS_MAX) << WORDS_SHIFT)
    meta = post.tweet_details.meta
    if meta.tweet_reply_to_tweet_id or meta.tweet_reply_to_user_id:
        bits |= REPLY
    return bits | GONE if post.gone_at else bits


def _words(post: Post) -> int:
    """How many words the text and the article of a post have."""
    article = post.tweet_details.article
    words = word_count(post.tweet_details.text)
    return words + word_count(markable_texts(post)["article"]) if article else words


def word_count(text: str) -> int:
    if text.isascii() or max(text) < _FIRST_UNSPACED:
        return len(text.split())
    spaced, characters = _UNSPACED.subn(" ", text)
    return len(spaced.split()) + (characters + 1) // 2


def text_print(post: Post) -> int | None:
    """A hash of the text without links and white space; None if it is short."""
    texts = markable_texts(post)
    text = texts["text"][:_LONGEST_PRINTED]
    if "://" in text:
        text = _URL.sub("", text)
    if article := texts["article"]:
        text = f"{text} {article[:_LONGEST_PRINTED]}"
    folded = fold(text)
    return _print(folded) if len(folded) >= _SHORTEST_PRINTED else None


def link_print(post: Post) -> int | None:
    """A hash of the links; None if a post has none."""
    details = post.tweet_details
    found = [url for one in details.attachments if (url := _link(one))]
    if not found and "://" in details.text:
        found = _URL.findall(details.text)
    addresses = {address for url in found[:_LINKS_PRINTED] if (address := plain_address(url))}
    return _print("\n".join(sorted(addresses))) if addresses else None


def picture_print(post: Post) -> int | None:
    """A hash of the pictures and stills of videos; None if a post has none."""
    found = [media.image_url(one) for one in post.tweet_details.attachments if _is_shown(one)]
    addresses = {media.picture_address(url) for url in found if url}
    return _print("\n".join(sorted(addresses))) if addresses else None


def _is_shown(attachment: object) -> bool:
    """Whether it is a picture or a video. That of a linked page is the same for its links."""
    return isinstance(attachment, dict) and attachment.get("type") != "link"


def _link(attachment: object) -> str:
    if not isinstance(attachment, dict) or attachment.get("type") != "link":
        return ""
    url = attachment.get("url")
    return url if isinstance(url, str) else ""


class Linking(Protocol):
    """What linked addresses are read from."""

    @property
    def text(self) -> str: ...
    @property
    def attachments(self) -> list[Any]: ...
    @property
    def article(self) -> dict[str, Any] | None: ...
    @property
    def quoted_tweet(self) -> dict[str, Any] | None: ...


def linked_addresses(details: Linking) -> list[str]:
    """The addresses in a post, in its article and in the post that it quotes, and that post's."""
    found = [url for one in details.attachments if (url := _link(one))]
    if "://" in details.text:
        found += _in_text(details.text)
    if details.article is not None:
        found += _in_article(details.article)
    if details.quoted_tweet is not None:
        quoted = details.quoted_tweet
        if isinstance(link := quoted.get("link"), str) and link:
            found.append(link)
        attachments = quoted.get("attachments")
        if isinstance(attachments, list):
            found += [url for one in attachments if (url := _link(one))]
        if isinstance(text := quoted.get("text"), str) and "://" in text:
            found += _in_text(text)
        if isinstance(article := quoted.get("article"), dict):
            found += _in_article(article)
    return found


def _in_article(article: dict[str, Any]) -> list[str]:
    texts = (article.get("url"), article.get("plain_text") or article.get("preview_text"))
    return [
        url for text in texts if isinstance(text, str) and "://" in text for url in _in_text(text)
    ]


def _in_text(text: str) -> list[str]:
    return [one for one in _URL.findall(text, 0, _LONGEST_SEARCHED) if _SHORTENED_URL not in one]


def plain_address(url: str) -> str:
    """An address without scheme, www., fragment and what only tracks; "" if it is none."""
    try:
        parts = urlsplit(url.strip().rstrip(".,;:!?)»”'"))
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return ""
    if not host or host == _SHORTENED:
        return ""
    query = parts.query
    if query:
        kept = parse_qsl(query, keep_blank_values=True)
        query = urlencode([pair for pair in kept if not _TRACKING.fullmatch(pair[0])])
    path = parts.path.rstrip("/")
    return f"{host}{path}?{query}" if query else f"{host}{path}"


def _print(text: str) -> int:
    """A number that both databases can store."""
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
