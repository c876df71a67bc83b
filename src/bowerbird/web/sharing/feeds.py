"""Atom (RFC 4287) and JSON Feed 1.1 of a shared list or of a private one."""

import uuid
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
from markupsafe import escape
from msgspec import Struct

from bowerbird import __version__
from bowerbird.model.instants import with_offset
from bowerbird.model.labels import Share
from bowerbird.web.library.post_parts import Values
from bowerbird.web.sharing.entries import legal

ATOM: Final = "application/atom+xml"
JSON_FEED: Final = "application/feed+json"
_NAMES: Final = uuid.UUID("7f3f1f5e-6f0b-4f55-9d5c-0f6b8f1d2a60")


class Feed(Struct, frozen=True):
    """A page of a feed. Addresses are complete; an empty one is left out."""

    share: Share
    title: str
    # Of this page, of the page for people, and of the following page.
    address: str
    page: str
    next: str
    entries: Sequence[Values]
    # Renders what readers show of a post.
    content: Callable[[Values], str]

    @property
    def updated(self) -> int:
        return max(
            [_updated(self.share, entry) for entry in self.entries], default=_start(self.share)
        )


def atom(feed: Feed) -> bytes:
    share, choices = feed.share, feed.share.choices
    links = [("self", ATOM, feed.address), ("alternate", "text/html", feed.page)]
    links.append(("next", ATOM, feed.next))
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">',
        _element("id", _name(share, "")),
        _element("title", feed.title),
        _element("subtitle", choices.description) if choices.description else "",
        *(_link(*link) for link in links if link[2]),
        _element("updated", with_offset(feed.updated)),
        f'<generator version="{__version__}">Bowerbird</generator>',
        _author(choices.curator or feed.title),
        *(_entry(feed, entry) for entry in feed.entries),
        "</feed>\n",
    ]
    return legal("\n".join(part for part in parts if part)).encode("utf-8", "replace")


def json_feed(feed: Feed) -> bytes:
    choices = feed.share.choices
    found: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "home_page_url": feed.page,
        "feed_url": feed.address,
        "description": choices.description,
        "next_url": feed.next,
        "authors": [{"name": choices.curator}] if choices.curator else [],
        "items": [_item(feed, entry) for entry in feed.entries],
    }
    return msgspec.json.encode(
        {name: value for name, value in found.items() if value or name == "items"}
    )


def _entry(feed: Feed, entry: Values) -> str:
    posted = entry["posted_at"]
    return "\n".join(
        part
        for part in (
            "<entry>",
            _element("id", _name(feed.share, entry["id"])),
            _element("title", entry["line"]),
            _link("alternate", "text/html", entry["original"]) if entry["original"] else "",
            "" if posted is None else _element("published", with_offset(posted)),
            _element("updated", with_offset(_updated(feed.share, entry))),
            _author(entry["name"]),
            f'<content type="html">{escape(str(feed.content(entry)))}</content>',
            "</entry>",
        )
        if part
    )


def _item(feed: Feed, entry: Values) -> dict[str, Any]:
    posted = entry["posted_at"]
    found = {
        "id": _name(feed.share, entry["id"]),
        "url": entry["original"],
        "title": entry["title"],
        "content_html": legal(feed.content(entry)) or escape(entry["line"]),
        "date_published": "" if posted is None else with_offset(posted),
        "date_modified": with_offset(_updated(feed.share, entry)),
        "authors": [{"name": entry["name"]}],
        "language": entry["language"],
    }
    return {name: value for name, value in found.items() if value}


def _updated(share: Share, entry: Values) -> int:
    """The day of saving if it is shown, or else that of the post."""
    found = entry["saved_at"] if entry["saved_at"] is not None else entry["posted_at"]
    return _start(share) if found is None else int(found)


def _start(share: Share) -> int:
    return share.created_at


def _name(share: Share, post_id: str) -> str:
    """Stays equal for each reading, also after the address has changed."""
    return f"urn:uuid:{uuid.uuid5(_NAMES, f'{share.share_id} {post_id}')}"


def _author(name: str) -> str:
    return f"<author>{_element('name', name)}</author>"


def _link(rel: str, type: str, address: str) -> str:
    return f'<link rel="{rel}" type="{type}" href="{escape(address)}"/>'


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>"
