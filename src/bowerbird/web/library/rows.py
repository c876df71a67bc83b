"""Draws the posts of a list. A post that has not changed since it was drawn is not drawn again."""

import secrets
from collections.abc import Sequence
from datetime import date
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec
from markupsafe import Markup
from msgspec import Struct

from bowerbird.lru import LruCache
from bowerbird.model import json_depth
from bowerbird.web.library.post_parts import PostParts, bookmarks_in, urls_of
from bowerbird.web.visits.formats import DateWords
from bowerbird.web.visits.pages import VisitPages

# About 5 kB each.
_KEPT: Final = 1_000
# Between two rows, and in place of the value of their buttons. Nobody can write it into a post.
_SEAM, _VALUE = secrets.token_hex(16), secrets.token_hex(16)
_split: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Look(Struct, frozen=True):
    """What decides how a post is drawn, besides the post itself."""

    account_id: int
    time_zone: str
    words: DateWords
    today: date
    by_author: str
    # A hash of the colours of labels.
    colours: int
    star: str
    date_field: str
    is_compact: bool
    is_searched: bool
    is_both: bool


class Listed(NamedTuple):
    """A post of a list, as it is stored."""

    raw: bytes
    hash: bytes
    # Of the images that it shows, if the list has images.
    urls: tuple[str, ...]


class Row(NamedTuple):
    post_id: str
    # What happened and when, such as ("saved", "today"), if the list is in the order of dates.
    group: tuple[str, str] | None
    markup: str


class Rows:
    def __init__(self, pages: VisitPages) -> None:
        self._pages = pages
        self._kept = LruCache(_KEPT)
        self._urls = LruCache(_KEPT)

    def listed(self, body: bytes, *, has_images: bool) -> list[Listed]:
        raws = [bytes(raw) for raw in _split(json_depth.cut(b"[%b]" % body))]
        hashes = [blake2b(raw, digest_size=16).digest() for raw in raws]
        if not has_images:
            return [Listed(raw, known, ()) for raw, known in zip(raws, hashes, strict=True)]
        urls = {known: self._urls.get(known) for known in hashes}
        new = [raw for raw, known in zip(raws, hashes, strict=True) if urls[known] is None]
        for raw, bookmark in zip(new, bookmarks_in(b",".join(new)), strict=True):
            known = blake2b(raw, digest_size=16).digest()
            urls[known] = tuple(urls_of([bookmark]))
            self._urls.put(known, urls[known])
        return [Listed(raw, known, urls[known]) for raw, known in zip(raws, hashes, strict=True)]

    def groups(
        self, look: Look, parts: PostParts, posts: Sequence[Listed]
    ) -> tuple[list[tuple[str, Markup]], int]:
        """The posts by date, if the list is in the order of dates, and their number."""
        rows = self._drawn(look, parts, posts)
        following = [*(row.post_id for row in rows[1:]), ""][: len(rows)]
        groups: list[tuple[str, set[str], list[str]]] = []
        for row, next_id in zip(rows, following, strict=True):
            verb, when = row.group or ("", "")
            if not groups or groups[-1][0] != when:
                groups.append((when, set(), []))
            groups[-1][1].add(verb)
            value = f"{row.post_id} {next_id}" if next_id else row.post_id
            groups[-1][2].append(row.markup.replace(_VALUE, value))
        names = [name for name, _, _ in groups]
        if len(set(names)) < len(names) or not all(names):
            groups = [("", set(), [markup for _, _, each in groups for markup in each])]
        return [
            (_heading(name, verbs), Markup("".join(each)))  # noqa: S704 - of our templates
            for name, verbs, each in groups
        ], len(rows)

    def _drawn(self, look: Look, parts: PostParts, posts: Sequence[Listed]) -> list[Row]:
        known = {} if parts.images is None else parts.images
        images = [tuple(map(known.get, post.urls)) for post in posts]
        keys = [(look, post.hash, shown) for post, shown in zip(posts, images, strict=True)]
        rows: list[Row | None] = [self._kept.get(key) for key in keys]
        missing = [place for place, row in enumerate(rows) if row is None]
        drawn = self._draw(look, parts, [posts[place].raw for place in missing]) if missing else []
        for place, row in zip(missing, drawn, strict=True):
            rows[place] = row
            self._kept.put(keys[place], row)
        return [row for row in rows if row is not None]

    def _draw(self, look: Look, parts: PostParts, raws: Sequence[bytes]) -> list[Row]:
        show = parts.in_line if look.is_compact else parts.in_list
        posts = [
            show(each, look.date_field, is_searched=look.is_searched)
            for each in bookmarks_in(b",".join(raws))
        ]
        html = self._pages.part(
            "library_rows.html",
            posts=posts,
            is_compact=look.is_compact,
            is_both=look.is_both,
            star=look.star,
            time_lang=look.words.attributes,
            seam=_SEAM,
            place=_VALUE,
        )
        return [
            Row(post["id"], post["group"], markup)
            for post, markup in zip(posts, html.split(_SEAM), strict=False)
        ]


def _heading(when: str, verbs: set[str]) -> str:
    """Such as "Saved today", or "Saved or imported today"."""
    return f"{' or '.join(sorted(verbs, reverse=True)).capitalize()} {when}" if when else ""
