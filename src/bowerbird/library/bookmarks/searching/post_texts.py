"""The texts of a stored post: whether they match a query, and where the searched words occur.

Reads the texts instead of an index.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.library.bookmarks.searching.label_words import hashtag_of
from bowerbird.model import json_depth
from bowerbird.model.posts import traits
from bowerbird.model.posts.media import DOMAIN, attached_texts
from bowerbird.model.words import Condition, Either, Part, Term, WordQuery
from bowerbird.search.queries.highlights import Highlighter
from bowerbird.search.words import tokens


class _Author(Struct, frozen=True):
    name: str = ""


class _Passage(Struct):
    quote: str = ""
    comment: str = ""


class _ImageText(Struct):
    text: str = ""


class _Details(Struct):
    text: str
    article: dict[str, Any] | None = None
    quoted_tweet: dict[str, Any] | None = None
    attachments: list[Any] = []


class PostTexts(Struct):
    """The searchable fields of a bookmark, its labels and flags."""

    tweet_details: _Details
    post_id: str = ""
    author_username: str = ""
    author_details: _Author = _Author()
    tags: list[str] | None = None
    is_read: bool = False
    is_archived: bool = False
    note: str | None = None
    highlights: list[_Passage] = []
    image_texts: list[_ImageText] = []


_posts: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode: Final = msgspec.json.Decoder(PostTexts).decode


def texts_of(bookmark: bytes) -> PostTexts:
    return _decode(json_depth.cut(bookmark))


def addresses_of(post: PostTexts) -> list[str]:
    return traits.linked_addresses(post.tweet_details)


def with_highlights(body: bytes, query: WordQuery) -> bytes:
    """The bookmarks, still separated by commas. Those without a match are unchanged."""
    bookmarks = [bytes(raw) for raw in _posts(b"[%b]" % body)]
    highlighter = Highlighter(query, len(bookmarks))
    for place in sorted(range(len(bookmarks)), key=lambda place: len(bookmarks[place])):
        bookmarks[place] = _highlighted(bookmarks[place], highlighter)
    return b",".join(bookmarks)


def _highlighted(bookmark: bytes, highlighter: Highlighter) -> bytes:
    found = highlighter.highlight(fields_of(texts_of(bookmark)))
    if found is None:
        return bookmark
    return b'%b,"highlight":%b}' % (bookmark[:-1], msgspec.json.encode(found))


def fields_of(post: PostTexts) -> Sequence[tuple[str, str]]:
    """The searchable texts with the names of their fields; none in a field of a wrong type."""
    details = post.tweet_details
    article = details.article or {}
    quoted = details.quoted_tweet or {}
    quoted_article = _dictionary(quoted, "article")
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
        ("quoted_tweet.author_details.name", _dictionary(quoted, "author_details").get("name")),
    ]
    return [(name, text) for name, text in fields if text and isinstance(text, str)]


def _dictionary(of: dict[str, Any], name: str) -> dict[str, Any]:
    found = of.get(name)
    return found if isinstance(found, dict) else {}


def _body(name: str, article: dict[str, Any]) -> tuple[str, str | None]:
    text = article.get("plain_text")
    return (
        (f"{name}.plain_text", text)
        if text
        else (f"{name}.preview_text", article.get("preview_text"))
    )


_NAMES: Final = (DOMAIN, "author_username", "author_details.name")
_TITLE: Final = ".title"
# The beginning of a long text says what it is about.
_COMPARED_CHARACTERS: Final = 2_000


def compared_words(bookmark: bytes) -> list[str]:
    """The words by which a bookmark is compared with others: not the names of authors.

    A bookmark that cannot be read has no words, so that the list shows the others.
    """
    try:
        fields = fields_of(texts_of(bookmark))
    except msgspec.MsgspecError:
        return []
    texts = [text for name, text in fields if not name.endswith(_NAMES)]
    return tokens.words("\n".join(texts)[:_COMPARED_CHARACTERS])


def indexed(
    fields: Sequence[tuple[str, str]], labels: Sequence[str] = (), addresses: Sequence[str] = ()
) -> str:
    """The tokens of a post as the index has them, between spaces."""
    names = [text for name, text in fields if name.endswith(_NAMES)]
    texts = [text for name, text in fields if not name.endswith(_NAMES)]
    titles = [text for name, text in fields if name.endswith(_TITLE)]
    texts = [*labels, *map(hashtag_of, labels), *texts]
    return f" {tokens.index_text(texts, names, addresses, titles)} "


def matches(text: str, parts: Iterable[Part], meets: Callable[[Condition], bool]) -> bool:
    """`meets` says whether the post meets a condition, as if it excluded nothing."""
    return all(_has(text, part, meets) is not part.is_excluded for part in parts)


def _has(text: str, part: Part, meets: Callable[[Condition], bool]) -> bool:
    if isinstance(part, Condition):
        return meets(part)
    if isinstance(part, Either):
        return any(matches(text, branch, meets) for branch in part.branches)
    return _has_term(text, part)


def _has_term(text: str, term: Term) -> bool:
    if _contains(text, term.tokens, is_prefix=term.is_prefix):
        return True
    return any(
        _contains(text, form.tokens, is_prefix=form.is_prefix)
        if form.is_phrase
        else all(_contains(text, (one,)) for one in form.tokens)
        for form in term.forms
    )


def _contains(text: str, words: Sequence[str], *, is_prefix: bool = False) -> bool:
    return f" {' '.join(words)}{'' if is_prefix else ' '}" in text
