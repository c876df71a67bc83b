"""Draws the posts of a list. A post that has not changed since it was drawn is not drawn again."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import date
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec
from markupsafe import Markup
from msgspec import Struct

from bowerbird.library.bookmarks.list_request import Thread
from bowerbird.lru import LruCache
from bowerbird.model import json_depth
from bowerbird.web.library.addresses import COMPACT, GRID
from bowerbird.web.library.post_parts import PostParts, bookmarks_in, urls_of
from bowerbird.web.visits.formats import DateWords
from bowerbird.web.visits.pages import VisitPages

# About 5 kB each.
_KEPT: Final = 1_000
# Between two rows, and in place of the value of their buttons. Nobody can write it into a post.
_SEAM, _VALUE = secrets.token_hex(16), secrets.token_hex(16)
_split: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode


class _Id(Struct):
    post_id: str


_id: Final = msgspec.json.Decoder(_Id).decode


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
    density: str
    is_searched: bool
    is_both: bool


class Listed(NamedTuple):
    """A post of a list, as it is stored."""

    raw: bytes
    hash: bytes
    # Of the images that it shows, if the list has images.
    urls: tuple[str, ...] = ()
    # What it begins, and the post whose place it has.
    thread: Thread | None = None
    lead: bytes = b""


class Row(NamedTuple):
    post_id: str
    # What happened and when, such as ("saved", "today"), if the list is in the order of dates.
    group: tuple[str, str] | None
    markup: str
    posts: int


class Rows:
    def __init__(self, pages: VisitPages) -> None:
        self._pages = pages
        self._kept = LruCache(_KEPT)

    def listed(
        self, body: bytes, threads: Mapping[str, Thread], *, has_images: bool
    ) -> list[Listed]:
        """The rows of a page: a thread is one row, at the place of its first post in the list."""
        raws = [bytes(raw) for raw in _split(json_depth.cut(b"[%b]" % body))]
        found = [row for raw in raws if (row := _row(raw, threads)) is not None]
        if not has_images:
            return found
        bookmarks = bookmarks_in(b",".join([post.raw for post in found]))
        return [
            post._replace(urls=tuple(urls_of([bookmark])))
            for post, bookmark in zip(found, bookmarks, strict=True)
        ]

    def groups(
        self, look: Look, parts: PostParts, posts: Sequence[Listed]
    ) -> tuple[list[tuple[str, Markup]], int]:
        """The rows by date, if the list is in the order of dates, and the number of their posts."""
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
        # A grid has no headings within it.
        if look.density == GRID or len(set(names)) < len(names) or not all(names):
            groups = [("", set(), [markup for _, _, each in groups for markup in each])]
        return [
            (_heading(name, verbs), Markup("".join(each)))  # noqa: S704 - of our templates
            for name, verbs, each in groups
        ], sum(row.posts for row in rows)

    def _drawn(self, look: Look, parts: PostParts, posts: Sequence[Listed]) -> list[Row]:
        known = {} if parts.images is None else parts.images
        images = [tuple(map(known.get, post.urls)) for post in posts]
        keys = [(look, post.hash, shown) for post, shown in zip(posts, images, strict=True)]
        rows: list[Row | None] = [self._kept.get(key) for key in keys]
        missing = [place for place, row in enumerate(rows) if row is None]
        drawn = self._draw(look, parts, [posts[place] for place in missing]) if missing else []
        for place, row in zip(missing, drawn, strict=True):
            rows[place] = row
            self._kept.put(keys[place], row)
        return [row for row in rows if row is not None]

    def _draw(self, look: Look, parts: PostParts, listed: Sequence[Listed]) -> list[Row]:
        show = {COMPACT: parts.in_line, GRID: parts.in_cell}.get(look.density, parts.in_list)
        bookmarks = bookmarks_in(b",".join([one.raw for one in listed]))
        posts = [show(each, look.date_field, is_searched=look.is_searched) for each in bookmarks]
        for post, one in zip(posts, listed, strict=True):
            if one.thread is not None:
                lead, *others = bookmarks_in(b",".join([one.lead, *one.thread.beginning[1:]]))
                has_headings = not look.density
                post |= parts.of_thread(  # noqa: PLW2901 - changed in place
                    one.thread, lead, others, look.date_field, has_headings=has_headings
                )
        html = self._pages.part(
            "library_cells.html" if look.density == GRID else "library_rows.html",
            posts=posts,
            is_compact=look.density == COMPACT,
            is_both=look.is_both,
            star=look.star,
            time_lang=look.words.attributes,
            seam=_SEAM,
            place=_VALUE,
        )
        return [
            Row(post["id"], post["group"], markup, post["thread"]["size"] if post["thread"] else 1)
            for post, markup in zip(posts, html.split(_SEAM), strict=False)
        ]


def _row(raw: bytes, threads: Mapping[str, Thread]) -> Listed | None:
    """None for a post that belongs to the row of another one."""
    post_id = _id(raw).post_id if threads else ""
    thread = threads.get(post_id)
    if thread is None:
        return Listed(raw, _hash(raw))
    if thread.lead != post_id:
        return None
    ids = " ".join(thread.post_ids).encode()
    flags = b"%d%d" % (thread.is_read, thread.is_archived)
    known = _hash(b"\0".join([raw, ids, flags, *thread.beginning]))
    # A nested document of any depth is cut, as in the page.
    return Listed(json_depth.cut(thread.beginning[0]), known, (), thread, raw)


def _hash(raw: bytes) -> bytes:
    return blake2b(raw, digest_size=16).digest()


def _heading(when: str, verbs: set[str]) -> str:
    """Such as "Saved today", or "Saved or imported today"."""
    return f"{' or '.join(sorted(verbs, reverse=True)).capitalize()} {when}" if when else ""
