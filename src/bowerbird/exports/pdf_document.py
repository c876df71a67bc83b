"""A volume as the template takes it: everything decided, every text cleaned, nothing but data."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec

from bowerbird.exports import dates
from bowerbird.exports.tasks import About
from bowerbird.exports.texts import Data, address, breakable, cleaned, paragraphs, title
from bowerbird.model.bookmarks import Bookmark

_SHORT_BYTES: Final = 2_000
_LINE_BYTES: Final = 80

Thread = Sequence[Bookmark]

_KINDS: Final = {
    "image": "Image",
    "photo": "Image",
    "video": "Video",
    "gif": "GIF",
    "animated_gif": "GIF",
    "link": "Link",
    "poll": "Poll",
}


def document(threads: Sequence[Thread], about: About, volume: int, volumes: int) -> Data:
    posts = [post for thread in threads for post in thread]
    months = [
        _month(year, name, list(of_month)) for (year, name), of_month in groupby(threads, _saved_in)
    ]
    return {
        "title": title(about.title) or title("Bookmarks"),
        "name": cleaned(about.title) or "Bookmarks",
        "summary": cleaned(about.description),
        "description": paragraphs(about.description),
        "volume": f"Volume {volume} of {volumes}" if volumes > 1 else "",
        "made": dates.minute(dates.of_instant(about.made_at)) + " UTC",
        "span": _span(threads),
        "counts": _counts(posts),
        "months": months,
    }


def _saved_in(thread: Thread) -> tuple[str, str]:
    moments = [found for post in thread if (found := dates.moment(post.bookmarked_at))]
    return dates.month(max(moments, default=None))


def _month(year: str, name: str, threads: Sequence[Thread]) -> Data:
    count = sum(map(len, threads))
    return {
        "year": year,
        "name": name,
        "count": _counted(count, "post"),
        "threads": [[_post(post) for post in thread] for thread in threads],
    }


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{_plural(number)}"


def _plural(number: int) -> str:
    return "" if number == 1 else "s"


def _span(threads: Sequence[Thread]) -> str:
    moments = [
        found
        for thread in threads
        for post in thread
        if (found := dates.moment(post.bookmarked_at))
    ]
    if not moments:
        return ""
    first, last = dates.day(min(moments)), dates.day(max(moments))
    return first if first == last else f"{first} – {last}"  # noqa: RUF001 - a span of days


def _counts(posts: Sequence[Bookmark]) -> list[list[str]]:
    authors = {post.author_id or post.author_username.lower() for post in posts} - {""}
    labels = {tag for post in posts for tag in post.tags or ()}
    unread = sum(not post.is_read for post in posts)
    return [
        [f"{len(posts):,}", f"post{_plural(len(posts))}"],
        [f"{len(authors):,}", f"author{_plural(len(authors))}"],
        [f"{unread:,}", "unread"],
        [f"{len(labels):,}", f"label{_plural(len(labels))}"],
    ]


def _post(post: Bookmark) -> Data:
    details = post.tweet_details
    shown = _filled(
        author=title(post.author_details.name),
        handle=title(_handle(post.author_username)),
        date=_date(details.posted_at),
        link=_link(details.link),
        labels=[name for tag in post.tags or () if (name := title(tag))],
        text=paragraphs(details.text),
        article=_article(details.article),
        quoted=_quoted(details.quoted_tweet),
        attached=_attached(details.attachments),
    )
    return shown | _filled(long=_is_long(shown))


def _is_long(shown: Data) -> bool:
    """Whether a post may need more than a good part of a page."""
    size = msgspec.json.encode(shown)
    return len(size) + _LINE_BYTES * size.count(b"\\n") > _SHORT_BYTES


def _filled(**fields: Any) -> Data:
    """Only what is there: a template asks for a field by its name."""
    return {name: value for name, value in fields.items() if value}


def _link(url: str) -> Data | None:
    """A link and how it is printed: without what every address begins with."""
    return {"url": url, "shown": breakable(url.split("://", 1)[1])} if address(url) else None


def _handle(username: str) -> str:
    return f"@{username}" if username else ""


def _date(text: str) -> str:
    found = dates.moment(text)
    return dates.minute(found) if found else ""


def _text(found: Data, name: str) -> str:
    """Fields of open objects have their known type, are null, or are not there."""
    return found.get(name) or ""


def _article(article: Data | None) -> Data | None:
    if article is None:
        return None
    return _filled(
        title=title(_text(article, "title")),
        text=paragraphs(_text(article, "plain_text") or _text(article, "preview_text")),
        link=_link(_text(article, "url")),
    )


def _quoted(quoted: Data | None) -> Data | None:
    if quoted is None:
        return None
    author = quoted.get("author_details") or {}
    username = _text(quoted, "author_username") or _text(author, "username")
    return _filled(
        author=title(_text(author, "name")),
        handle=title(_handle(username)),
        date=_date(_text(quoted, "posted_at")),
        link=_link(_text(quoted, "link")),
        text=paragraphs(_text(quoted, "text")),
        article=_article(quoted.get("article")),
        attached=_attached(quoted.get("attachments") or ()),
        gone=bool(quoted.get("unavailable")),
    )


def _attached(attachments: Iterable[Data]) -> list[Data]:
    return [_attachment(attachment) for attachment in attachments]


def _attachment(attachment: Data) -> Data:
    kind = _text(attachment, "type").lower()
    return _filled(
        kind=_KINDS.get(kind, "Attachment"),
        link=_link(_text(attachment, "url")),
        title=title(_text(attachment, "title") or _text(attachment, "domain")),
        text=title(_text(attachment, "description") or _text(attachment, "alt_text")),
        choices=[found for choice in attachment.get("choices") or () if (found := _choice(choice))],
    )


def _choice(choice: Any) -> Data | None:
    """What a poll offered. Sources write a text, or an object with a label and its votes."""
    if isinstance(choice, str):
        return title(choice)
    if not isinstance(choice, dict):
        return None
    label = next(
        (choice[name] for name in ("label", "text", "title", "name") if choice.get(name)), ""
    )
    votes = next(
        (choice[name] for name in ("votes", "count") if isinstance(choice.get(name), int)), None
    )
    return title(f"{label}" if votes is None else f"{label} ({votes:,})")
