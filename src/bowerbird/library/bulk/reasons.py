"""Why posts match the words of a change, and which match only by names, titles or alt texts."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.library.bookmarks.searching import text_matching
from bowerbird.library.bookmarks.searching.highlighting import fields_of
from bowerbird.model import json_depth
from bowerbird.model.words import Term, WordQuery
from bowerbird.search.queries.highlights import Highlighter

_OWN: Final = ("article.", "note", "highlights.", "quoted_tweet.text", "quoted_tweet.article.")
_MARK: Final = re.compile("</?mark>")
_ELSEWHERE: Final = (
    ("attachments.alt_text", "in the description of an image: "),
    ("attachments.domain", "by the site that it links to: "),
    ("attachments.", "in the title of a link: "),
    ("note", "in your note: "),
    ("highlights.", "in your highlight: "),
)
_BY_NAME: Final = "by name of the author"
_AUTHOR: Final = ("author_username", "author_details.name")


class _Labelled(Struct):
    post_id: str
    tags: list[str] | None = None


_labelled: Final = msgspec.json.Decoder(_Labelled).decode
_raws: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


def whys(bookmarks: Sequence[bytes], query: WordQuery | None) -> list[str | None]:
    """Per bookmark the words around the hit, or the name that matches; None without words."""
    if query is None or not query.wanted_terms:
        return [None] * len(bookmarks)
    highlighter = Highlighter(query, len(bookmarks))
    return [_why(one, highlighter) for one in bookmarks]


def _why(bookmark: bytes, highlighter: Highlighter) -> str | None:
    found = highlighter.highlight(fields_of(bookmark))
    if found is None:
        return None
    if found.field.endswith(_AUTHOR):
        return _BY_NAME
    snippet = unescape(_MARK.sub("", found.html))
    place = found.field.removeprefix("quoted_tweet.")
    return next((said for name, said in _ELSEWHERE if place.startswith(name)), "") + snippet


def in_texts(body: bytes, query: WordQuery) -> set[str]:
    """The posts, among these bookmarks, that match by their texts or the names of their labels."""
    words = [_quick(part) for part in query.parts]
    quick = None if None in words else [one for one in words if one is not None]
    found = set()
    for raw in _raws(b"[%b]" % body):
        bookmark = bytes(raw)
        post = _labelled(json_depth.cut(bookmark))
        fields = [one for one in fields_of(bookmark) if _is_own(one[0])]
        if _matches(fields, post.tags or (), query, quick):
            found.add(post.post_id)
    return found


def _is_own(name: str) -> bool:
    return name == "text" or name.startswith(_OWN)


def _quick(part: object) -> re.Pattern[str] | None:
    """Finds a plain word without reading a text as the index does; None for anything else."""
    if not isinstance(part, Term) or part.is_excluded or len(part.tokens) != 1:
        return None
    word = part.tokens[0]
    return (
        re.compile(rf"(?<!\S){word}(?![^\s.,;:!?])") if word.isascii() and word.isalpha() else None
    )


def _matches(
    fields: Sequence[tuple[str, str]],
    labels: Sequence[str],
    query: WordQuery,
    quick: Sequence[re.Pattern[str]] | None,
) -> bool:
    if quick is not None:
        text = "\n".join(text for _, text in fields).lower()
        if all(one.search(text) for one in quick):
            return True
    # The database has checked the conditions.
    return text_matching.matches(
        text_matching.indexed(fields, labels), query.parts, lambda one: not one.is_excluded
    )
