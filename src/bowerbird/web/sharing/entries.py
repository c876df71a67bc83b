"""The posts of a share, as its page and its feeds show them: Atom (RFC 4287), JSON Feed 1.1.

They lead nowhere into the library of the account, and have only what its owner chose to show.
"""

import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
from markupsafe import escape
from msgspec import Struct

from bowerbird import __version__
from bowerbird.library.bookmarks.list_request import BookmarkList
from bowerbird.library.media.kept import KeptImages
from bowerbird.library.sharing.shared_lists import Opened
from bowerbird.library.sharing.shares import PATH
from bowerbird.model import instants
from bowerbird.model.instants import with_offset
from bowerbird.model.labels import Audience, Share
from bowerbird.web.library.post_parts import PostParts, Values, bookmarks_in, note_markup, urls_of
from bowerbird.web.library.texts import (
    LinkedTexts,
    Passages,
    host_of,
    language_of,
    text_of,
    web_url,
)
from bowerbird.web.visits.formats import Dates, Times

# Of the text of a post, and of an article.
_CHARACTERS: Final = 10_000
_TITLE: Final = 80
# Neither XML nor HTML has these, escaped or not.
_ILLEGAL: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]"
)


def legal(text: str) -> str:
    """The text without the characters that no document may have."""
    return _ILLEGAL.sub("", text)


class SharedTexts(LinkedTexts):
    """Links addresses only: names and hashtags would lead into the library."""

    def _link(self, found: re.Match[str]) -> tuple[str, str]:
        return super()._link(found) if found["url"] else (str(escape(found[0])), "")


class SharedParts(PostParts):
    """The values that the templates of a share take."""

    def __init__(self, dates: Dates, site: str, share: Share) -> None:
        """`site` is the path or the origin under which pictures are."""
        super().__init__(SharedTexts(""), dates, "", "", {})
        self._media_path = f"{site}{PATH}{share.address}/media/"
        self._choices = share.choices
        self._has_saved = share.choices.saved_dates or share.audience is Audience.FEED

    def entry(self, bookmark: Values) -> Values:
        details = _dict(bookmark, "tweet_details")
        article, text = _dict(details, "article"), text_of(details, "text")
        body = text_of(article, "plain_text") or text_of(article, "preview_text")
        if article and text == web_url(text):
            text = ""
        is_cut = max(len(text), len(body)) > _CHARACTERS
        text, body, choices = text[:_CHARACTERS], body[:_CHARACTERS], self._choices
        passages = Passages(bookmark if choices.highlights else {})
        note = text_of(bookmark, "note") if choices.notes else ""
        saved_at = text_of(bookmark, "bookmarked_at") if self._has_saved else ""
        post, original = self._post(bookmark, details), web_url(details.get("link"))
        title, name = text_of(article, "title"), legal(post["name"]).strip() or "Unknown"
        return {
            **post,
            "name": name,
            "title": title,
            "line": _line(title or text or body) or f"Post of {name}",
            "text": passages.marked(self._texts, text),
            "plain": text or body,
            "article": self._article(article, None) if article else None,
            "paragraphs": passages.paragraphs(self._texts, body),
            "highlights": passages.listed(self._dates),
            "quote": self._shown_quote(details),
            "posted": self._dates.of(text_of(details, "posted_at")),
            "posted_at": instants.parse(text_of(details, "posted_at")),
            "saved": self._dates.of(saved_at),
            "saved_at": instants.parse(saved_at) if saved_at else None,
            "original": original,
            "note": note_markup(note) if note else "",
            "is_cut": is_cut,
            "language": language_of(title or text),
        }

    def _shown_quote(self, details: Values) -> Values | None:
        quote = self._quote(details, None, _CHARACTERS)
        if quote and self._choices.hides_gone:
            is_gone = _dict(details, "quoted_tweet").get("unavailable") is True
            return {**quote, "is_gone": quote["is_gone"] or is_gone}
        return quote

    def _bare_card(self, bookmark: Values, url: str) -> Values:  # noqa: ARG002 - as in a list
        """A post of which only the link is known."""
        title = url.partition("://")[2]
        return {
            "url": url,
            "domain": host_of(url),
            "title": title,
            "description": "",
            "picture": None,
        }


class Entries:
    """`site` is the origin of the website, and `base_path` its path."""

    def __init__(self, kept: KeptImages, base_path: str, site: str) -> None:
        self._kept = kept
        self._base_path = base_path
        self._site = site

    async def of(self, opened: Opened, listed: BookmarkList, *, is_feed: bool) -> list[Values]:
        share = opened.share
        choices = share.choices
        # No day is near, so that each has its year: a page may be kept for long.
        dates = Dates(Times("UTC"), 0)
        site = self._site if is_feed else self._base_path
        parts = SharedParts(dates, site, share)
        bookmarks = bookmarks_in(listed.body)
        if choices.hides_gone and share.audience is not Audience.FEED:
            # Until a job has looked at the posts of an earlier release, the list has them.
            bookmarks = [each for each in bookmarks if not each.get("gone_at")]
        if choices.pictures:
            parts.images = await self._kept.known(opened.account, urls_of(bookmarks))
        return [parts.entry(each) for each in bookmarks]


def _line(text: str) -> str:
    return " ".join(legal(text[:_CHARACTERS]).split())[:_TITLE]


def _dict(values: Values, name: str) -> dict[str, Any]:
    value = values.get(name)
    return value if isinstance(value, dict) else {}


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
        *(_link_element(*link) for link in links if link[2]),
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
            _link_element("alternate", "text/html", entry["original"]) if entry["original"] else "",
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


def _link_element(rel: str, type: str, address: str) -> str:
    return f'<link rel="{rel}" type="{type}" href="{escape(address)}"/>'


def _element(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>"
