"""Converts stored bookmarks to the values that the templates of the library show.

Nothing about a stored post is trusted: a field may be missing or have any type, and every text is
text, never markup.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from markupsafe import Markup

from bowerbird.images import hosts
from bowerbird.library.bookmarks.list_request import Thread
from bowerbird.model import json_depth
from bowerbird.model.labels import name_key
from bowerbird.model.posts import media
from bowerbird.model.posts.bookmarks import Post, PostDetails, time_in_id
from bowerbird.model.posts.media import (
    KnownImage,
    avatar_url,
    image_url,
    kept_video,
    shown_urls,
    url_key,
)
from bowerbird.model.posts.networks import PostContent  # noqa: TC001 - as the other models
from bowerbird.web import templating
from bowerbird.web.library.addresses import colour_of, everything, label, of_post
from bowerbird.web.library.texts import (
    LinkedTexts,
    Passages,
    host_of,
    language_of,
    link_sign,
    link_words,
    marked,
    metrics,
    site_name,
    text_of,
    web_url,
)
from bowerbird.web.visits.formats import Dates

Values = dict[str, Any]

# What the line of a picture that is not shown says, by why the last attempt failed.
_FAILED: Final = {"gone": "gone", "refused": "refused by its site"}
ANIMATED: Final = "image/gif"
_LIST_CHARACTERS: Final = 700
_UNKNOWN: Final = "Unknown"
_SAVED: Final = "saved"
_LISTED_QUOTE: Final = 2_000
# X has longer texts nowhere. The JSON on the page has the rest.
PAGE_CHARACTERS: Final = 100_000
_WORDS_PER_MINUTE: Final = 220


def bookmarks_in(body: bytes) -> list[Values]:
    """The bookmarks of a page, which are JSON separated by commas."""
    found: list[Values] = msgspec.json.decode(json_depth.cut(b"[%b]" % body))
    return found


def urls_of(bookmarks: Iterable[Values]) -> list[str]:
    """The URLs of all images that these posts show."""
    return [url for bookmark in bookmarks for url in shown_urls(bookmark)]


class PostParts:
    """`by_author` is the filter that finds the posts of an author; not every plan has one.

    `colours` has the colours that were chosen, by the name of the label. `star` is the label that
    is shown as a star; "" if none is.
    """

    def __init__(
        self,
        texts: LinkedTexts,
        dates: Dates,
        base_path: str,
        by_author: str,
        colours: Mapping[str, str],
        *,
        star: str = "",
    ) -> None:
        # What is known about images, by URL; None if the page shows no images.
        self.images: dict[str, KnownImage] | None = None
        # Whether images that are not known may arrive.
        self.awaits_images = False
        # What is known of posts that are only links, by their id.
        self.links: Mapping[str, PostContent] = {}
        # Lists load small images.
        self._is_listed = True
        self._texts = texts
        self._dates = dates
        self._base_path = base_path
        self._media_path = f"{base_path}/media/"
        self.by_author = by_author
        self._colours = colours
        self.star = star
        self._star_key = name_key(star)

    @property
    def colours_key(self) -> int:
        """A hash of the colours, part of the key of a rendered list."""
        return hash(frozenset(self._colours.items()))

    def in_list(self, bookmark: Values, date_field: str, *, is_searched: bool = False) -> Values:
        """A post as lists show it. `is_searched`: its `highlight` comes from the search.

        `date_field` is the date that the list is ordered by, or "".
        """
        details = _dict(bookmark, "tweet_details")
        hit = _dict(bookmark, "highlight") if is_searched else {}
        place, snippet = text_of(hit, "field"), marked(hit.get("html"))
        article, text = _dict(details, "article"), text_of(details, "text")
        if article:
            shown_article = self._article(article, snippet if "article." in place else None)
            text = "" if text == web_url(text) else text
        else:
            shown_article = None
        is_long = len(text) > _LIST_CHARACTERS
        return {
            **self._post(bookmark, details),
            "original": web_url(details.get("link")),
            "text": self._listedtext_of(text, snippet if place == "text" else None),
            "words": len(text.split()) if is_long else 0,
            "article": shown_article,
            "quote": self._quote(details, snippet if place == "quoted_tweet.text" else None),
            **self._both_dates(bookmark, details, date_field),
            "is_hit": snippet is not None,
            "in_image": snippet if place == "image_texts.text" else None,
        }

    def in_line(self, bookmark: Values, date_field: str, *, is_searched: bool = False) -> Values:
        """A post as the compact list shows it."""
        details = _dict(bookmark, "tweet_details")
        text = text_of(_dict(details, "article"), "title") or text_of(details, "text")
        hit = _dict(bookmark, "highlight") if is_searched else {}
        is_of_author = text_of(hit, "field").startswith("author")
        snippet = None if is_of_author else marked(hit.get("html"))
        link, content = _bare_link(details), self.links.get(text_of(bookmark, "post_id"))
        return {
            **self._head(bookmark, details),
            "original": web_url(details.get("link")),
            "line": snippet
            or _line(text or text_of(_dict(details, "article"), "preview_text"))
            or _address(link) + link_sign(content),
            **self._both_dates(bookmark, details, date_field, has_headings=False),
            "kind": _kind(details) or (("link", "Link") if link else None),
        }

    def in_cell(self, bookmark: Values, date_field: str, *, is_searched: bool = False) -> Values:
        """A post as the grid shows it: its first picture, or its words in the same frame."""
        details = _dict(bookmark, "tweet_details")
        line = self.in_line(bookmark, date_field, is_searched=is_searched)
        post = self._post(bookmark, details)
        pictures = post["pictures"]["shown"] if post["pictures"] else []
        cards, cover = post["cards"], _dict(details, "article").get("cover_image")
        shown = [*pictures, *(card["picture"] for card in cards if card["picture"])]
        absent = post["pictures"]["absent"] if post["pictures"] else []
        if cover and not shown:
            found = arranged([self._picture({"type": "image", "url": cover})])
            shown, absent = found["shown"], [*absent, *found["absent"]]
        named = [card["title"] or card["domain"] for card in cards]
        return {
            **line,
            "line": line["line"] or "".join(named[:1]),
            "front": shown[0] if shown else None,
            # Its place in the cell is kept.
            "coming": next((each for each in absent if each["key"] and self.awaits_images), None),
            "badge": badge(line["kind"], pictures, cards),
        }

    def on_page(self, bookmark: Values, *, is_part: bool = False) -> Values:
        """A post as its own page shows it. A part of a thread has neither article nor note."""
        self._is_listed = False
        details = _dict(bookmark, "tweet_details")
        article, text = _dict(details, "article"), text_of(details, "text")
        body = text_of(article, "plain_text") or text_of(article, "preview_text")
        if article and text == web_url(text):
            text = ""
        text, body = text[:PAGE_CHARACTERS], "" if is_part else body[:PAGE_CHARACTERS]
        passages, note = Passages(bookmark), "" if is_part else text_of(bookmark, "note")
        return {
            **self._post(bookmark, details),
            "text": passages.marked(self._texts, text),
            "line": _line(text_of(article, "title") or text) or _address(_bare_link(details)),
            "article": self._article(article, None) if article else None,
            "paragraphs": passages.paragraphs(self._texts, body),
            "highlights": passages.listed(self._dates),
            "quote": self._quote(details, None, PAGE_CHARACTERS),
            "posted": self._dates.of(_posted(bookmark, details)),
            "saved": self._dates.of(text_of(bookmark, "bookmarked_at")),
            "saved_verb": _saved_verb(bookmark),
            "original": web_url(details.get("link")),
            "source": text_of(bookmark, "source") or "x",
            "note": note,
            "note_markup": note_markup(note) if note else "",
            "metrics": metrics(_dict(_dict(details, "meta"), "non_real_time_engagement_metrics")),
            "words": len(text.split()) + len(body.split()),
            "gone": self._dates.of(text_of(bookmark, "gone_at")),
            "gone_reason": text_of(bookmark, "gone_reason"),
            "removed": self._dates.of(text_of(bookmark, "removed_at")),
            "is_archived": bookmark.get("is_archived") is True,
        }

    def annotated(self, bookmark: Values) -> Values:
        """A post as the list of notes and highlights shows it."""
        return {
            **self.in_line(bookmark, "bookmarked_at"),
            "posted": self._dates.of(_posted(bookmark, _dict(bookmark, "tweet_details"))),
            "highlights": Passages(bookmark).listed(self._dates),
            "note": text_of(bookmark, "note"),
        }

    def of_thread(
        self,
        thread: Thread,
        lead: Values,
        others: Sequence[Values],
        date_field: str,
        *,
        has_headings: bool,
    ) -> Values:
        """What the row of a thread has instead of that of its first post: the date of its place."""
        details = _dict(lead, "tweet_details")
        dates = self._both_dates(lead, details, date_field, has_headings=has_headings)
        if date_field != "posted_at":
            del dates["posted"], dates["posted_words"]
        texts = [text_of(_dict(each, "tweet_details"), "text") for each in others]
        return {
            **dates,
            "is_read": thread.is_read,
            "is_archived": thread.is_archived,
            "kind": ("thread", f"Thread, {len(thread.post_ids)} posts"),
            "thread": {
                "size": len(thread.post_ids),
                "ids": " ".join(thread.post_ids),
                "others": " ".join(thread.post_ids[1:]),
                "lines": [{"text": _line(t), "language": language_of(t)} for t in texts if t],
            },
        }

    def nearby(self, bookmark: Values) -> Values:
        """A post as one line of another post's page."""
        details = _dict(bookmark, "tweet_details")
        article = _dict(details, "article")
        text = (
            text_of(article, "title") or text_of(details, "text") or _address(_bare_link(details))
        )
        return {
            "url": self._base_path + of_post(text_of(bookmark, "post_id")),
            "text": text[:_LIST_CHARACTERS],
            "language": language_of(text),
            "name": _name(bookmark) or _UNKNOWN,
            "date": self._dates.of(_posted(bookmark, details)),
        }

    def _both_dates(
        self, bookmark: Values, details: Values, date_field: str, *, has_headings: bool = True
    ) -> Values:
        """When it was posted and saved, and the heading that the post belongs to."""
        posted = self._dates.of(_posted(bookmark, details))
        saved, verb = self._dates.of(text_of(bookmark, "bookmarked_at")), _saved_verb(bookmark)
        by_saving = date_field == "bookmarked_at"
        ordered = saved if by_saving else posted if date_field else None
        # The time of an import says nothing about the post.
        has_day = saved is not None and (saved.group == "today" or (by_saving and has_headings))
        is_short = has_day and verb == _SAVED
        return {
            "posted": posted,
            "posted_words": posted
            and (posted.day if by_saving or not date_field else posted.short),
            "saved": saved,
            "saved_verb": verb,
            "saved_words": saved and (saved.short if is_short else saved.near),
            "group": (verb if by_saving else "posted", ordered.group) if ordered else None,
        }

    def _bare_card(self, bookmark: Values, url: str) -> Values:
        """A post of which only the link is known, and whether its text is on its way."""
        saved = self._dates.of(text_of(bookmark, "bookmarked_at"))
        when = f"{_saved_verb(bookmark).capitalize()} {saved.text}" if saved else "Saved"
        content = self.links.get(text_of(bookmark, "post_id"))
        return {
            "url": url,
            "domain": host_of(url),
            "title": _address(url),
            "description": f"{when}, without its text.{link_words(content)}",
            "picture": None,
        }

    def _head(self, bookmark: Values, details: Values) -> Values:
        """The values that every form of a post has."""
        post_id, text = text_of(bookmark, "post_id"), text_of(details, "text")
        handle, name = text_of(bookmark, "author_username"), _name(bookmark)
        site = host_of(web_url(details.get("link")))
        names = [name for name in _list(bookmark, "tags") if isinstance(name, str)]
        star = next((name for name in names if name_key(name) == self._star_key), "")
        return {
            "id": post_id,
            # See of_thread.
            "thread": None,
            "url": self._base_path + of_post(post_id),
            "name": name or site_name(text_of(bookmark, "source"), site) or _UNKNOWN,
            # Not twice.
            "handle": "" if name == f"@{handle}" else handle,
            "author_url": self._author_url(handle),
            "language": language_of(text or text_of(_dict(details, "article"), "title")),
            "is_read": bookmark.get("is_read") is True,
            "is_archived": bookmark.get("is_archived") is True,
            "labels": [
                label(name, self._colours.get(name))
                for name in names
                # A list shows a star instead.
                if not self._is_listed or name != star
            ],
            "star": star,
            "copies": bookmark.get("copies", 0),
        }

    def _post(self, bookmark: Values, details: Values) -> Values:
        """The head of a post and the parts of its body."""
        attached = [each for each in _list(details, "attachments") if isinstance(each, dict)]
        meta, head = _dict(details, "meta"), self._head(bookmark, details)
        bare = _bare_link(details)
        return {
            **head,
            "initials": _initials(head["name"]),
            "face": self._kept_file(avatar_url(bookmark)),
            "colour": colour_of(text_of(bookmark, "author_username")),
            "pictures": self._pictures(attached, details.get("link")),
            "polls": [self._poll(each) for each in attached if each.get("type") == "poll"],
            "cards": [
                card(each) | {"picture": self._kept_file(image_url(each))}
                for each in attached
                if each.get("type") == "link"
            ]
            or ([self._bare_card(bookmark, bare)] if bare else []),
            "is_thread": meta.get("tweet_is_thread") is True
            or meta.get("is_sub_tweet_of_thread") is True,
        }

    def _pictures(self, attached: Sequence[Values], post_url: object) -> Values | None:
        """The pictures of a post: those with an image here, and the lines of the others."""
        opened = [media.watchable(each, post_url) for each in attached if is_picture(each)]
        found = [self._picture(each) for each in opened]
        return arranged(found) if found else None

    def _picture(self, attachment: Values) -> Values:
        """A picture with its kept image, if the page shows images and has it."""
        shown, url = picture(attachment), image_url(attachment)
        if video := kept_video(attachment, self.images or {}):
            shown |= {"url": f"{self._media_path}{video.media_id}", "is_kept": True}
        found = self._kept_file(url)
        if found or self.images is None or not url:
            return shown | (found or {})
        known = self.images.get(url)
        if known is None:
            # No worker has looked at the post yet.
            return shown | {"key": url_key(url)}
        if known.file is None:
            is_waiting = known.state == "waiting"
            words = _FAILED.get(known.reason, "on its way" if is_waiting else "not kept")
            key = url_key(url) if is_waiting else ""
            return shown | {"words": words, "is_waiting": is_waiting, "key": key}
        # Nothing moves by itself, and a still would have to be decoded.
        src = f"{self._media_path}{known.file.media_id}"
        return shown | {"kind": "Animation", "icon": "play", "url": src}

    def _kept_file(self, url: str) -> Values | None:
        """A file of a URL that the page shows: where it is, and its size."""
        if self.images is None or not url:
            return None
        if drawn := hosts.drawings_by_url().get(url):
            src = self._base_path + templating.paths()[drawn.file]
            return {"src": src, "width": drawn.width, "height": drawn.height}
        known = self.images.get(url)
        file = known and ((self._is_listed and known.small) or known.file)
        if not file or file.type == ANIMATED or file.is_video:
            return None
        src = f"{self._media_path}{file.media_id}"
        return {"src": src, "width": file.width, "height": file.height}

    def _author_url(self, handle: str) -> str:
        if not handle:
            return ""
        return self._base_path + everything(**{self.by_author: f"@{handle}"})

    def _listedtext_of(self, text: str, snippet: Markup | None) -> Markup:
        return snippet if snippet is not None else self._texts.preview(text[:_LIST_CHARACTERS])

    def _article(self, article: Values, snippet: Markup | None) -> Values:
        title, body = text_of(article, "title"), text_of(article, "plain_text")
        preview = text_of(article, "preview_text") or body
        words, cover = len(body.split()), article.get("cover_image")
        return {
            "title": title,
            "language": language_of(title or preview),
            "preview": snippet or self._texts.preview(preview[:_LIST_CHARACTERS]),
            "minutes": max(1, round(words / _WORDS_PER_MINUTE)) if words else 0,
            "cover": web_url(cover),
            "picture": arranged([self._picture({"type": "image", "url": cover})]),
        }

    def _quote(
        self, details: Values, snippet: Markup | None, most: int = _LISTED_QUOTE
    ) -> Values | None:
        quoted = _dict(details, "quoted_tweet")
        if not quoted:
            return None
        text, link = text_of(quoted, "text"), web_url(quoted.get("link"))
        article = _dict(quoted, "article")
        handle = text_of(quoted, "author_username")
        attached = [each for each in _list(quoted, "attachments") if isinstance(each, dict)]
        return {
            "is_gone": quoted.get("unavailable") is True and not text,
            "url": link,
            "name": _name(quoted) or _UNKNOWN,
            "handle": handle,
            "author_url": self._author_url(handle),
            "initials": _initials(_name(quoted)),
            "face": self._kept_file(avatar_url(quoted)),
            "colour": colour_of(handle),
            "date": self._dates.of(text_of(quoted, "posted_at")),
            "title": text_of(article, "title"),
            "text": snippet
            or self._texts.preview((text or text_of(article, "preview_text"))[:most]),
            "language": language_of(text),
            "pictures": self._pictures(attached, link),
        }

    def _poll(self, poll: Values) -> Values:
        return {
            "choices": [shown for each in _list(poll, "choices") if (shown := _choice(each))],
            "ends": self._dates.of(text_of(poll, "ends_at")),
        }


def note_markup(note: str) -> Markup:
    from bowerbird.web.library import markdown  # noqa: PLC0415 - takes 40 ms; few posts have a note

    return markdown.rendered(note)


def card(link: Values) -> Values:
    url = web_url(link.get("url"))
    return {
        "url": url,
        "domain": text_of(link, "domain") or host_of(url),
        "title": text_of(link, "title") or url,
        "description": text_of(link, "description")[:_LIST_CHARACTERS],
    }


def _name(post: Values) -> str:
    """The name of the author as far as it is known, or ""."""
    handle = text_of(post, "author_username")
    return text_of(_dict(post, "author_details"), "name") or (handle and f"@{handle}")


def _saved_verb(bookmark: Values) -> str:
    """What happened at `bookmarked_at`, which is the time of the import if no source gave one."""
    imported_at = text_of(bookmark, "imported_at")
    return "imported" if text_of(bookmark, "bookmarked_at") == f"{imported_at}+00:00" else _SAVED


def _bare_link(details: Values) -> str:
    """The link of a post that was saved without anything else, or ""."""
    has_more = any(details.get(name) for name in ("text", "article", "attachments", "quoted_tweet"))
    return "" if has_more else web_url(details.get("link"))


def _address(url: str) -> str:
    return url.partition("://")[2].removeprefix("www.")[:_LIST_CHARACTERS]


def _posted(bookmark: Values, details: Values) -> str:
    """When it was posted; "" if that is only the time at which it was saved."""
    posted_at, post_id = text_of(details, "posted_at"), text_of(bookmark, "post_id")
    if posted_at != text_of(bookmark, "bookmarked_at"):
        return posted_at
    source, source_id = text_of(bookmark, "source"), text_of(bookmark, "source_id")
    post = Post(post_id=post_id, tweet_details=PostDetails(), source=source, source_id=source_id)
    return posted_at if post_id.isdecimal() and time_in_id(post) else ""


def _kind(details: Values) -> tuple[str, str] | None:
    """The icon of a compact line, and its name."""
    meta = _dict(details, "meta")
    if _dict(details, "article"):
        return "article", "Article"
    if meta.get("tweet_is_thread") is True or meta.get("is_sub_tweet_of_thread") is True:
        return "thread", "Thread"
    for each in _list(details, "attachments"):
        kind = text_of(each, "type") if isinstance(each, dict) else ""
        if kind in ("poll", "link"):
            return kind, kind.capitalize()
        if kind in MOVING:
            return "play", MOVING[kind]
        if kind in ("image", "photo"):
            return "image", "Image"
    return None


def _choice(choice: object) -> str:
    """Sources give a choice as a text, or as an object with the text in it."""
    if isinstance(choice, dict):
        choice = next((choice[key] for key in ("label", "text", "title") if key in choice), "")
    return choice if isinstance(choice, str) else ""


def _line(text: str) -> str:
    return " ".join(text[:_LIST_CHARACTERS].split())


def _initials(name: str) -> str:
    words = [word for word in name.removeprefix("@").split() if word[0].isalnum()]
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()


def _dict(values: Values, name: str) -> Values:
    value = values.get(name)
    return value if isinstance(value, dict) else {}


def _list(values: Values, name: str) -> list[Any]:
    value = values.get(name)
    return value if isinstance(value, list) else []


MOVING: Final = {"video": "Video", "gif": "Animation", "animated_gif": "Animation"}
_LISTED_PICTURES: Final = 4
_LONGEST_MS: Final = 1_000_000_000


def picture(attachment: Values) -> Values:
    """An image, video or animation, as it is described and linked."""
    kind = MOVING.get(text_of(attachment, "type"), "Image")
    return {
        "kind": kind,
        "icon": "image" if kind == "Image" else "play",
        "alt": text_of(attachment, "alt_text"),
        "url": web_url(attachment.get("url")),
        "length": _length(attachment.get("duration_ms")),
        # Whether `url` is the file of a video that is kept here.
        "is_kept": False,
        "src": "",
        "words": "",
        "is_waiting": False,
        # A page asks by it whether the image has arrived.
        "key": "",
    }


def arranged(pictures: Sequence[Values]) -> Values:
    """What pictures.html takes. `more`: how many a list does not show."""
    shown = [each for each in pictures if each["src"]]
    is_tall = len(shown) == 1 and shown[0]["height"] > shown[0]["width"]
    return {
        "shown": shown,
        "look": f"m{min(len(shown), _LISTED_PICTURES)}{' tall' if is_tall else ''}",
        "listed": _LISTED_PICTURES,
        "more": max(len(shown) - _LISTED_PICTURES, 0),
        "absent": [each for each in pictures if not each["src"]],
    }


def badge(kind: tuple[str, str] | None, pictures: Sequence[Values], cards: Sequence[Values]) -> str:
    """What a picture of the grid does not show: length, number, or where it leads."""
    if pictures and pictures[0]["icon"] == "play":
        return "GIF" if pictures[0]["kind"] == "Animation" else str(pictures[0]["length"])
    if kind and kind[0] in ("article", "thread"):
        return kind[1]
    if len(pictures) > 1:
        return f"{len(pictures)} images"
    return "" if pictures or not cards else str(cards[0]["domain"])


def _length(milliseconds: object) -> str:
    if not isinstance(milliseconds, int | float) or not 0 < milliseconds < _LONGEST_MS:
        return ""
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes}:{seconds:02}"


def is_picture(attachment: Values) -> bool:
    return attachment.get("type") in ("image", "photo", *MOVING)
