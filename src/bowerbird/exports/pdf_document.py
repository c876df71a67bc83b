"""Builds the data that the PDF template prints: every text cleaned, every date in UTC.

Texts are split by direction, and links are found. The result is data, never markup.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, Final

import msgspec

from bowerbird.exports import tasks
from bowerbird.exports.tasks import DocumentInfo, Pictures
from bowerbird.exports.texts import KINDS, choice_text, printable, safe_url, split_links
from bowerbird.model import instants
from bowerbird.model.posts.bookmarks import Bookmark
from bowerbird.model.posts.highlights import HighlightedPassage
from bowerbird.model.posts.media import image_url

Data = dict[str, Any]

MAX_CHARACTERS: Final = 1_000_000
"""A document cuts longer texts. JSON and CSV do not."""
_CUT_NOTE: Final = (
    "\n\n[The rest of this text is too long for a PDF; the JSON export has the full text.]"
)
_BREAK_EVERY: Final = 12
_ZERO_WIDTH_SPACE: Final = "\u200b"

# Only scripts that separate words by spaces: typst breaks their lines only there, and a line has
# room for about 85 letters.
_MIN_LONG_WORD: Final = 60
_LONG_WORD: Final = re.compile(f"[!-~\xa1-\u02ff\u0370-\u0482\u048a-\u08ff]{{{_MIN_LONG_WORD},}}")
_PARAGRAPH_END: Final = re.compile(r"\n[ ]*\n\s*")

_BEYOND_LATIN: Final = re.compile("[\u0590-\U0003ffff]")
_LANGUAGES: Final = {
    "ja": re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d]"),
    "ko": re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"),
    "zh": re.compile("[\u2e80-\u2fdf\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "ar": re.compile("[\u0600-\u06ff\u0750-\u077f]"),
}
_RIGHT_TO_LEFT: Final = {"R", "AL"}
_DIRECTED: Final = {"L", *_RIGHT_TO_LEFT}


def clean(text: str) -> str:
    if text.isascii() and text.isprintable() and len(text) <= MAX_CHARACTERS:
        # Most names and many texts: one line of printable characters.
        return text.strip(" ")
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS] + _CUT_NOTE
    return printable(text).strip("\n ")


def single_line(text: str) -> Data | None:
    """A heading or a name as one line; None if cleaning leaves nothing."""
    line = " ".join(clean(text).split())
    return (
        _paragraph([line], is_rtl=is_right_to_left(line), language=_language(line))
        if line
        else None
    )


def paragraphs(text: str) -> list[Data]:
    """Splits a text at blank lines and where the direction changes; keeps other line breaks."""
    text = clean(text)
    language = _language(text)
    return [
        _paragraph(list(lines), is_rtl=is_rtl, language=language)
        for block in _PARAGRAPH_END.split(text)
        for is_rtl, lines in groupby(block.split("\n"), is_right_to_left)
        if text
    ]


def with_line_breaks(text: str) -> str:
    """Adds zero-width spaces to very long words, so that typst can break the line there."""
    return text if len(text) < _MIN_LONG_WORD else _LONG_WORD.sub(_break_word, text)


def is_right_to_left(line: str) -> bool:
    """Decides by the first letter that has a direction, as the Unicode algorithm does."""
    if line.isascii() or not _BEYOND_LATIN.search(line):
        return False
    kinds = map(unicodedata.bidirectional, line)
    return next((kind for kind in kinds if kind in _DIRECTED), "L") in _RIGHT_TO_LEFT


def _language(text: str) -> str:
    """Guesses the language from the script, for the choice of glyphs and for screen readers."""
    if text.isascii() or not _BEYOND_LATIN.search(text):
        return ""
    return next((name for name, letters in _LANGUAGES.items() if letters.search(text)), "")


def _paragraph(lines: list[str], *, is_rtl: bool, language: str) -> Data:
    paragraph: Data = {"t": [piece for piece in _pieces("\n".join(lines)) if piece]}
    if is_rtl:
        paragraph["r"] = True
    if language:
        paragraph["g"] = language
    return paragraph


def _pieces(text: str) -> Iterator[str | list[str]]:
    """Yields text as strings, and each link as a list with its address."""
    for before, link in split_links(text):
        yield with_line_breaks(before)
        if link:
            yield [link]


def _break_word(word: re.Match[str]) -> str:
    starts = range(0, len(word[0]), _BREAK_EVERY)
    return _ZERO_WIDTH_SPACE.join(word[0][start : start + _BREAK_EVERY] for start in starts)


UNDATED: Final = "Undated"
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def parse(text: str) -> datetime | None:
    instant = instants.parse(text)
    return None if instant is None else of_instant(instant)


def of_instant(instant: int) -> datetime:
    return datetime.fromisoformat(instants.with_offset(instant)).astimezone(UTC)


def month(at: datetime | None) -> tuple[str, str]:
    """The year and the name of the month, for example "2026" and "November"."""
    return ("", UNDATED) if at is None else (f"{at.year}", _MONTHS[at.month - 1])


def day(at: datetime) -> str:
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def minute(at: datetime) -> str:
    return f"{day(at)}, {at:%H:%M}"


def period(newest: int, oldest: int) -> str:
    """The range of months in a volume, for its file name."""
    first, last = _year_and_month(newest), _year_and_month(oldest)
    return first if first == last else f"{first}-to-{last}"


def _year_and_month(instant: int) -> str:
    return "undated" if instant < instants.FIRST else f"{of_instant(instant):%Y-%m}"


_SHORT_BYTES: Final = 2_000
_LINE_BYTES: Final = 80

Thread = Sequence[Bookmark]


def template_data(
    threads: Sequence[Thread],
    document: DocumentInfo,
    volume: int,
    volumes: int,
    pictures: Pictures | None = None,
) -> Data:
    posts = [post for thread in threads for post in thread]
    months = [
        _month(year, name, list(of_month), pictures or {})
        for (year, name), of_month in groupby(threads, _month_of_bookmarking)
    ]
    return {
        "title": single_line(document.title) or single_line("Bookmarks"),
        "name": clean(document.title) or "Bookmarks",
        "summary": clean(document.description),
        "description": paragraphs(document.description),
        "volume": f"Volume {volume} of {volumes}" if volumes > 1 else "",
        "created": minute(of_instant(document.created_at)) + " UTC",
        "span": _span(threads),
        "counts": _counts(posts),
        "months": months,
    }


def _month_of_bookmarking(thread: Thread) -> tuple[str, str]:
    moments = [moment for post in thread if (moment := parse(post.bookmarked_at))]
    return month(max(moments, default=None))


def _month(year: str, name: str, threads: Sequence[Thread], pictures: Pictures) -> Data:
    count = sum(map(len, threads))
    return {
        "year": year,
        "name": name,
        "count": _counted(count, "post"),
        "threads": [[_post(post, pictures) for post in thread] for thread in threads],
    }


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{_plural(number)}"


def _plural(number: int) -> str:
    return "" if number == 1 else "s"


def _span(threads: Sequence[Thread]) -> str:
    moments = [
        moment for thread in threads for post in thread if (moment := parse(post.bookmarked_at))
    ]
    if not moments:
        return ""
    first, last = day(min(moments)), day(max(moments))
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


def _post(post: Bookmark, pictures: Pictures) -> Data:
    details = post.tweet_details
    fields = _without_empty(
        author=single_line(post.author_details.name),
        handle=single_line(_handle(post.author_username)),
        date=_date(details.posted_at),
        link=_link(details.link),
        labels=[name for tag in post.tags or () if (name := single_line(tag))],
        text=paragraphs(details.text),
        article=_article(details.article),
        quoted=_quoted(details.quoted_tweet, pictures),
        attached=_attachments(details.attachments),
        note=paragraphs(post.note or ""),
        highlights=[_highlight(one) for one in post.highlights or ()],
        pictures=_pictures(details.attachments, details.article, pictures),
    )
    return fields | _without_empty(long=_is_long(fields))


def _highlight(passage: HighlightedPassage) -> Data:
    return _without_empty(
        quote=paragraphs(passage.quote), comment=paragraphs(passage.comment or "")
    )


def _is_long(fields: Data) -> bool:
    """Whether a post may be too long to keep on one page."""
    if "pictures" in fields or "pictures" in fields.get("quoted", {}):
        return True
    encoded = msgspec.json.encode(fields)
    return len(encoded) + _LINE_BYTES * encoded.count(b"\\n") > _SHORT_BYTES


def _without_empty(**fields: Any) -> Data:
    """Leaves out empty fields, so that the template only tests whether a field is present."""
    return {name: value for name, value in fields.items() if value}


def _link(url: str) -> Data | None:
    """A link and its printed text, which leaves out `https://`."""
    return {"url": url, "text": with_line_breaks(url.split("://", 1)[1])} if safe_url(url) else None


def _handle(username: str) -> str:
    return f"@{username}" if username else ""


def _date(text: str) -> str:
    moment = parse(text)
    return minute(moment) if moment else ""


def _text(fields: Data, name: str) -> str:
    """A text field of an object with open fields, where it may be null or missing."""
    return fields.get(name) or ""


def _article(article: Data | None) -> Data | None:
    if article is None:
        return None
    return _without_empty(
        title=single_line(_text(article, "title")),
        text=paragraphs(_text(article, "plain_text") or _text(article, "preview_text")),
        link=_link(_text(article, "url")),
    )


def _quoted(quoted: Data | None, pictures: Pictures) -> Data | None:
    if quoted is None:
        return None
    author = quoted.get("author_details") or {}
    username = _text(quoted, "author_username") or _text(author, "username")
    return _without_empty(
        author=single_line(_text(author, "name")),
        handle=single_line(_handle(username)),
        date=_date(_text(quoted, "posted_at")),
        link=_link(_text(quoted, "link")),
        text=paragraphs(_text(quoted, "text")),
        article=_article(quoted.get("article")),
        attached=_attachments(quoted.get("attachments") or ()),
        pictures=_pictures(quoted.get("attachments"), quoted.get("article"), pictures),
        unavailable=bool(quoted.get("unavailable")),
    )


def _pictures(
    attachments: list[Data] | None, article: Data | None, pictures: Pictures
) -> list[Data]:
    """The kept images of a post, or of the post that it quotes."""
    details = {"attachments": attachments, "article": article}
    alts = {image_url(each): _text(each, "alt_text") for each in attachments or ()}
    return [
        {
            "file": pictures[url].file,
            "ratio": pictures[url].height / pictures[url].width,
            "alt": clean(alts.get(url, "")) or "Image",
        }
        for url in tasks.pictures_of(details, pictures)
    ]


def _attachments(attachments: Iterable[Data]) -> list[Data]:
    return [_attachment(attachment) for attachment in attachments]


def _attachment(attachment: Data) -> Data:
    kind = _text(attachment, "type").lower()
    return _without_empty(
        kind=KINDS.get(kind, "Attachment"),
        link=_link(_text(attachment, "url")),
        title=single_line(_text(attachment, "title") or _text(attachment, "domain")),
        text=single_line(_text(attachment, "description") or _text(attachment, "alt_text")),
        choices=[
            line
            for choice in attachment.get("choices") or ()
            if (line := single_line(choice_text(choice)))
        ],
    )
