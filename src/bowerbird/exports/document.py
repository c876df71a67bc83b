"""A volume as the template takes it: everything decided, every text cleaned, nothing but data."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from bowerbird.exports import dates
from bowerbird.exports.tasks import About
from bowerbird.exports.texts import Data, address, cleaned, paragraphs, title
from bowerbird.model.bookmarks import Bookmark

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


def document(threads: list[Thread], about: About, volume: int, volumes: int) -> Data:
    posts = [post for thread in threads for post in thread]
    months = [
        {"year": year, "name": name, "threads": [[_post(post) for post in one] for one in of_month]}
        for (year, name), of_month in groupby(threads, _month)
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


def _month(thread: Thread) -> tuple[str, str]:
    return dates.month(max((found for post in thread if (found := dates.moment(post.bookmarked_at))), default=None))


def _span(threads: list[Thread]) -> str:
    moments = [
        found for thread in threads for post in thread if (found := dates.moment(post.bookmarked_at))
    ]
    if not moments:
        return ""
    first, last = dates.day(min(moments)), dates.day(max(moments))
    return first if first == last else f"{first} – {last}"


def _counts(posts: Sequence[Bookmark]) -> list[list[str]]:
    authors = {post.author_id or post.author_username.lower() for post in posts} - {""}
    labels = {tag for post in posts for tag in post.tags or ()}
    unread = sum(not post.is_read for post in posts)
    return [
        [f"{len(posts):,}", "post" if len(posts) == 1 else "posts"],
        [f"{len(authors):,}", "author" if len(authors) == 1 else "authors"],
        [f"{unread:,}", "unread"],
        [f"{len(labels):,}", "label" if len(labels) == 1 else "labels"],
    ]


def _post(post: Bookmark) -> Data:
    details = post.tweet_details
    return _filled(
        author=title(post.author_details.name),
        handle=title(_handle(post.author_username)),
        date=_date(details.posted_at),
        link=address(details.link),
        labels=[name for tag in post.tags or () if (name := title(tag))],
        text=paragraphs(details.text),
        article=_article(details.article),
        quoted=_quoted(details.quoted_tweet),
        attached=_attached(details.attachments),
    )


def _filled(**fields: Any) -> Data:
    """Only what is there: a template asks for a field by its name."""
    return {name: value for name, value in fields.items() if value}


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
        link=address(_text(article, "url")),
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
        link=address(_text(quoted, "link")),
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
        link=address(_text(attachment, "url")),
        title=title(_text(attachment, "title") or _text(attachment, "domain")),
        text=paragraphs(_text(attachment, "description") or _text(attachment, "alt_text")),
        choices=[found for choice in attachment.get("choices") or () if (found := _choice(choice))],
    )


def _choice(choice: Any) -> Data | None:
    """What a poll offered. Sources write a text, or an object with a label and its votes."""
    if isinstance(choice, str):
        return title(choice)
    if not isinstance(choice, dict):
        return None
    label = next((choice[name] for name in ("label", "text", "title", "name") if choice.get(name)), "")
    votes = next((choice[name] for name in ("votes", "count") if isinstance(choice.get(name), int)), None)
    return title(f"{label}" if votes is None else f"{label} ({votes:,})")
