"""Turns the text of others into safe markup: escaped first, then links and highlights."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

from markupsafe import Markup, escape
from msgspec import Struct

from bowerbird.model.posts.networks import MASTODON, NETWORKS, ContentState, PostContent, X
from bowerbird.web.library.addresses import everything
from bowerbird.web.visits.formats import Dates

# A name starts where no word, URL or address is being written: not in a@b.example or /#part.
_LINKED: Final = re.compile(
    r"(?P<url>\bhttps?://[^\s<>\"'`\u0000-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069]{1,2000})"
    r"|(?<![\w@/.#&-])(?P<mention>@[A-Za-z0-9_]{1,30}(?:@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,9})?)"
    r"|(?<![\w@/.#&-])(?P<hashtag>#(?=\w*[^\W\d_])\w{1,100})",
    re.IGNORECASE,
)
# The names and URLs of a text that become links; what follows stays text.
LINKS_MAX: Final = 300
_BLANK_LINES: Final = re.compile(r"\n\s*\n+")
_TRAILING: Final = ".,;:!?…*_~'\"»\u201d\u2019"
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_SHOWN_URL: Final = 48
# Most URLs have only characters that need no encoding.
_PLAIN_URL: Final = re.compile(r"https?://[\w.:-]+(?:/[\w.~/%+=&?,;:@!-]*)?", re.ASCII)
_METRICS: Final = (
    ("favorite_count", "like", "likes"),
    ("retweet_count", "repost", "reposts"),
    ("reply_count", "reply", "replies"),
    ("quote_count", "quote", "quotes"),
    ("bookmark_count", "bookmark", "bookmarks"),
)
_LINK_SIGNS: Final = {
    ContentState.FETCHING: "being fetched",
    ContentState.LINK: "not fetched",
    ContentState.GONE: "gone",
    ContentState.WHOLE: "fetched",
}
_HIT: Final = re.compile(r"(?:[^<>]|</?mark>)*")
_SCRIPTS: Final = (
    ("ja", re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d]")),
    ("ko", re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")),
    # Characters that are written otherwise in China and Japan.
    ("zh-Hant", re.compile("[這們來說國對會沒發學點當麼嗎讓從實體灣臺變與關經樂裡妳喔]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ur", re.compile("[\u0679\u0688\u0691\u06ba\u06d2]")),
    ("fa", re.compile("[\u067e\u0686\u0698\u06af\u06cc]")),
    ("ar", re.compile("[\u0620-\u064a]")),
)


class Mark(NamedTuple):
    """A marked passage of a text."""

    start: int
    end: int
    id: str


class LinkedTexts:
    """Markup of texts. `base_path` is the path under which a proxy serves the site."""

    def __init__(self, base_path: str) -> None:
        self._base_path = base_path

    def linked(self, text: str) -> Markup:
        if "@" not in text and "#" not in text and "://" not in text:
            return escape(text)
        return Markup("".join(_pieces(text, self._link)))  # noqa: S704 - every piece is escaped

    def with_marks(self, text: str, marks: Sequence[Mark]) -> Markup:
        """Linked text with marked passages. A link that is marked in part is marked as a whole."""
        if not marks:
            return self.linked(text)
        cuts = sorted({cut for mark in marks for cut in (mark.start, mark.end)})
        pieces: list[str] = []
        seen: set[str] = set()
        for start, end, link in _segments(text, self._link, cuts):
            shown = link or str(escape(text[start:end]))
            mark = next((one for one in marks if one.start < end and one.end > start), None)
            if mark is None or not shown:
                pieces.append(shown)
                continue
            place = "" if mark.id in seen else f' id="h-{escape(mark.id)}"'
            seen.add(mark.id)
            pieces.append(
                f'<mark class="hl" data-highlight="{escape(mark.id)}"{place}>{shown}</mark>'
            )
        return Markup("".join(pieces))  # noqa: S704 - every piece is escaped

    def preview(self, text: str) -> Markup:
        """Linked text for a list, without blank lines."""
        return self.linked(_BLANK_LINES.sub("\n", text))

    def _link(self, found: re.Match[str]) -> tuple[str, str]:
        """The link, and what follows it."""
        name = found[0]
        if found["url"]:
            url, rest = _without_trailing(name)
            shown = url.partition("://")[2]
            if len(shown) > _SHOWN_URL:
                shown = f"{shown[:_SHOWN_URL]}…"
            return (
                f'<a href="{escape(url)}" rel="noreferrer" dir="ltr">{escape(shown)}</a>',
                rest,
            )
        address = escape(self._base_path + everything(q=name))
        # In text from right to left, the sign would move to the other end of a name.
        direction = ""
        if not found.string.isascii():
            direction = ' dir="ltr"' if found["mention"] else ' dir="auto"'
        return f'<a href="{address}"{direction}>{escape(name)}</a>', ""


def web_url(value: object) -> str:
    """A URL that may be linked: http or https, with a host; otherwise ''."""
    if isinstance(value, str) and _PLAIN_URL.fullmatch(value):
        return value
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        return ""
    scheme, separator, rest = value.partition("://")
    is_web = scheme.lower() in ("http", "https") and bool(separator) and rest[:1] not in ("", "/")
    return quote(value, safe="%/:=&?~#+!$,;'@()*[]") if is_web else ""


def host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def site_name(network: str, host: str) -> str:
    """Shown when the author is unknown: the network, or the server if a network has many."""
    known = NETWORKS.get(network)
    return host if known is None or network in (X, MASTODON) else known.name


def marked(html: object) -> Markup | None:
    """A snippet of a search: escaped text whose only markup is `<mark>`."""
    if not isinstance(html, str) or not _HIT.fullmatch(html):
        return None
    return Markup(html)  # noqa: S704 - it was checked


def language_of(text: str) -> str | None:
    """The language that a script belongs to, so that browsers choose the right letters."""
    if text.isascii():
        return None
    return next((language for language, script in _SCRIPTS if script.search(text)), None)


def _links(text: str) -> Iterator[re.Match[str]]:
    return islice(_LINKED.finditer(text), LINKS_MAX)


def _pieces(text: str, link: Callable[[re.Match[str]], tuple[str, str]]) -> list[str]:
    pieces: list[str] = []
    end = 0
    for found in _links(text):
        markup, rest = link(found)
        pieces += (str(escape(text[end : found.start()])), markup, str(escape(rest)))
        end = found.end()
    pieces.append(str(escape(text[end:])))
    return pieces


def _segments(
    text: str, link: Callable[[re.Match[str]], tuple[str, str]], cuts: Sequence[int]
) -> Iterator[tuple[int, int, str]]:
    """Start, end and markup of each link, and of the text between links, divided at the cuts."""
    end = 0
    for found in _links(text):
        markup, rest = link(found)
        yield from _divided(end, found.start(), cuts)
        end = found.end() - len(rest)
        yield found.start(), end, markup
    yield from _divided(end, len(text), cuts)


def _divided(start: int, end: int, cuts: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    for cut in cuts:
        if start < cut < end:
            yield start, cut, ""
            start = cut
    yield start, end, ""


def _without_trailing(url: str) -> tuple[str, str]:
    """Punctuation at the end belongs to the sentence, and so does a bracket without its pair."""
    # How many more brackets are closed than opened. Not counted again for each character.
    unpaired = {last: url.count(last) - url.count(first) for last, first in _PAIRS.items()}
    end = len(url)
    while end:
        last = url[end - 1]
        if unpaired.get(last, 0) > 0:
            unpaired[last] -= 1
        elif last not in _TRAILING:
            break
        end -= 1
    return url[:end], url[end:]


Values = dict[str, Any]
_FIELDS: Final = ("text", "article")


class Paragraph(Struct, frozen=True):
    """A part of a text, and the offset at which it starts."""

    start: int
    text: Markup


class Passages:
    def __init__(self, bookmark: Values) -> None:
        stored = bookmark.get("highlights")
        self._stored = [
            one for one in (stored if isinstance(stored, list) else ()) if _is_passage(one)
        ]

    def marked(self, texts: LinkedTexts, text: str) -> Markup:
        return texts.with_marks(text, self._marks("text"))

    def paragraphs(self, texts: LinkedTexts, body: str) -> Sequence[Paragraph]:
        waiting = sorted(self._marks("article"), key=lambda one: one.start, reverse=True)
        open_marks: list[Mark] = []
        found, start = [], 0
        for line in body.split("\n"):
            end = start + len(line)
            # Few marks are looked at for each line, however many lines and marks there are.
            while waiting and waiting[-1].start < end:
                open_marks.append(waiting.pop())
            open_marks = [one for one in open_marks if one.end > start] if open_marks else []
            if line.strip():
                inside = [
                    Mark(max(one.start - start, 0), min(one.end, end) - start, one.id)
                    for one in open_marks
                ]
                found.append(Paragraph(start, texts.with_marks(line, inside)))
            start = end + 1
        return found

    def listed(self, dates: Dates) -> list[Values]:
        """The highlights in the order of the text; those that are lost come last."""
        ordered = sorted(
            self._stored,
            key=lambda one: (
                _is_lost(one),
                _FIELDS.index(one["field"]),
                0 if _is_lost(one) else one["start"],
            ),
        )
        return [
            {
                "id": one["id"],
                "quote": one["quote"],
                "language": language_of(one["quote"]),
                "comment": one.get("comment") or "",
                "is_lost": _is_lost(one),
                "date": dates.of(one.get("created_at") or ""),
            }
            for one in ordered
        ]

    def _marks(self, field: str) -> list[Mark]:
        return [
            Mark(one["start"], one["end"], one["id"])
            for one in self._stored
            if one["field"] == field and not _is_lost(one)
        ]


def _is_passage(one: object) -> bool:
    if not isinstance(one, dict) or one.get("field") not in _FIELDS:
        return False
    texts = (one.get("id"), one.get("quote"), one.get("comment") or "", one.get("created_at") or "")
    return all(isinstance(text, str) for text in texts)


def _is_lost(one: Values) -> bool:
    return not isinstance(one.get("start"), int) or not isinstance(one.get("end"), int)


def link_sign(content: PostContent | None) -> str:
    """What follows the address of a post that is only a link."""
    return f" ({_LINK_SIGNS[content.state]})" if content else ""


def link_words(content: PostContent | None) -> str:
    """What follows the sentence that a post has no text yet."""
    if content is None:
        return ""
    is_asked = content.state is ContentState.FETCHING
    said = ["Its network is being asked for it." if is_asked else "", content.problem]
    return "".join(f" {sentence}" for sentence in said if sentence)


def metrics(counts: dict[str, Any]) -> list[str]:
    found = ((counts.get(name), one, many) for name, one, many in _METRICS)
    numbers = ((n, one, many) for n, one, many in found if type(n) is int and n > 0)
    return [f"{n:,} {one if n == 1 else many}" for n, one, many in numbers]


def text_of(values: Mapping[str, Any], name: str) -> str:
    """A field of a stored post that should be a text, or ""."""
    value = values.get(name)
    return value if isinstance(value, str) else ""
