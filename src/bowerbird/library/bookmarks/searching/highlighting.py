"""Adds to each bookmark of a page where the searched words occur."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.model import json_depth
from bowerbird.model.posts import traits
from bowerbird.model.posts.media import attached_texts
from bowerbird.model.words import WordQuery
from bowerbird.search.queries.highlights import Highlighter


class _Author(Struct):
    name: str = ""


class _Passage(Struct):
    comment: str = ""


class _ImageText(Struct):
    text: str = ""


class _Details(Struct):
    text: str
    article: dict[str, Any] | None = None
    quoted_tweet: dict[str, Any] | None = None
    attachments: list[Any] = []


class _Post(Struct):
    """The searchable fields of a bookmark."""

    author_username: str
    author_details: _Author
    tweet_details: _Details
    note: str | None = None
    highlights: list[_Passage] = []
    image_texts: list[_ImageText] = []


_posts: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_post: Final = msgspec.json.Decoder(_Post).decode


def fields_of(bookmark: bytes) -> Sequence[tuple[str, str]]:
    """The searchable texts of a bookmark with the names of their fields."""
    return _fields(_post(json_depth.cut(bookmark)))


def addresses_of(bookmark: bytes) -> list[str]:
    return traits.linked_addresses(_post(json_depth.cut(bookmark)).tweet_details)


def with_highlights(body: bytes, query: WordQuery) -> bytes:
    """The bookmarks, still separated by commas. Those without a match are unchanged."""
    bookmarks = [bytes(raw) for raw in _posts(b"[%b]" % body)]
    highlighter = Highlighter(query, len(bookmarks))
    for place in sorted(range(len(bookmarks)), key=lambda place: len(bookmarks[place])):
        bookmarks[place] = _highlighted(bookmarks[place], highlighter)
    return b",".join(bookmarks)


def _highlighted(bookmark: bytes, highlighter: Highlighter) -> bytes:
    found = highlighter.highlight(_fields(_post(json_depth.cut(bookmark))))
    if found is None:
        return bookmark
    return b'%b,"highlight":%b}' % (bookmark[:-1], msgspec.json.encode(found))


def _fields(post: _Post) -> Sequence[tuple[str, str]]:
    details = post.tweet_details
    article = details.article or {}
    quoted = details.quoted_tweet or {}
    quoted_article = quoted.get("article") or {}
    fields = [
        ("text", details.text),
        ("article.title", article.get("title")),
        _body("article", article),
        ("note", post.note),
        *(("highlights.comment", one.comment) for one in post.highlights),
        ("quoted_tweet.text", quoted.get("text")),
        ("quoted_tweet.article.title", quoted_article.get("title")),
        _body("quoted_tweet.article", quoted_article),
        *attached_texts(details.attachments),
        *(
            (f"quoted_tweet.{name}", text)
            for name, text in attached_texts(quoted.get("attachments"))
        ),
        *(("image_texts.text", one.text) for one in post.image_texts),
        ("author_username", f"@{post.author_username}"),
        ("author_details.name", post.author_details.name),
        ("quoted_tweet.author_username", quoted.get("author_username")),
        ("quoted_tweet.author_details.name", (quoted.get("author_details") or {}).get("name")),
    ]
    return [(name, text) for name, text in fields if text]


def _body(name: str, article: dict[str, Any]) -> tuple[str, str | None]:
    text = article.get("plain_text")
    return (
        (f"{name}.plain_text", text)
        if text
        else (f"{name}.preview_text", article.get("preview_text"))
    )
