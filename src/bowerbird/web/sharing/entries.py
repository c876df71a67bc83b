"""The posts of a share, as its page and its feeds show them.

They lead nowhere into the library of the account, and have only what its owner chose to show.
"""

import re
from typing import Any, Final

from markupsafe import escape

from bowerbird.library.bookmarks.list_request import BookmarkList
from bowerbird.library.media.kept import KeptImages
from bowerbird.library.sharing.shared_lists import Opened
from bowerbird.library.sharing.shares import PATH
from bowerbird.model import instants
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
