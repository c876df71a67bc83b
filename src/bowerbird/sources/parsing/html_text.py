"""Splits HTML into tags and texts, in linear time even if it is broken on purpose.

Python's html.parser takes quadratic time for unclosed tags and comments, and keeps them in memory.
The HTML of posts and bookmark files is simple, so a pattern that never looks behind the next "<"
is enough.
"""

import html
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

# The last alternative is a whole text, with every "<" in it that begins no tag: a token for each
# would take longer than a file of links.
_TOKEN: Final = re.compile(
    r"<(/?)([A-Za-z][A-Za-z0-9]*+)([^<>]*+)>|(<[!?][^<>]*+>)"
    r"|(?:[^<]++|<(?!/?[A-Za-z][^<>]*+>|[!?][^<>]*+>))++"
)
# More than any title or note. References such as "&#" alone take a second per 10 MB.
_MAX_TEXT_CHARACTERS: Final = 100_000
_ATTRIBUTE: Final = re.compile(
    r"""(?<![A-Za-z0-9_:-])([A-Za-z][A-Za-z0-9_:-]*+)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))"""
)
# A tag with the icon of a page in it can be long.
_MAX_TAG_CHARACTERS: Final = 1 << 20


class Tag(NamedTuple):
    name: str
    is_end: bool
    attributes: str
    line: int

    def attribute(self, name: str) -> str:
        for match in _ATTRIBUTE.finditer(self.attributes):
            if match[1].lower() == name:
                return unescape(match[2] or match[3] or match[4] or "")
        return ""


def unescape(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:
        # A character reference with thousands of digits.
        return text


def tokens(pieces: Iterable[str]) -> Iterator[Tag | str]:
    """Tags, and texts as they stand between them. A text may come in several parts."""
    rest, line = "", 1
    for piece in pieces:
        data = rest + piece
        end = data.rfind("<")
        # A tag may continue in the next piece.
        is_open = end >= 0 and ">" not in data[end:] and len(data) - end <= _MAX_TAG_CHARACTERS
        data, rest = (data[:end], data[end:]) if is_open else (data, "")
        yield from _split(data, line)
        line += data.count("\n")
    yield from _split(rest, line)


def _split(data: str, line: int) -> Iterator[Tag | str]:
    for match in _TOKEN.finditer(data):
        if match[2]:
            yield Tag(match[2].lower(), bool(match[1]), match[3], line)
        elif not match[4]:
            yield unescape(match[0][:_MAX_TEXT_CHARACTERS])
        line += match[0].count("\n")


MAX_HTML_CHARACTERS: Final = 500_000
_PARAGRAPHS: Final = frozenset({"p", "div", "blockquote", "ul", "ol", "pre", "h1", "h2", "h3"})
_NOT_SHOWN: Final = frozenset({"script", "style", "template", "head", "title"})
_BLANK: Final = re.compile(r"[ \t\r\f\v]*\n[ \t\r\n\f\v]*\n")


def plain_text(html: str) -> str:
    """The text that a browser shows, with the full address of every link."""
    text = _Text()
    for token in tokens([html[:MAX_HTML_CHARACTERS]]):
        if isinstance(token, Tag):
            text.tag(token)
        else:
            text.data(token)
    text.end_link()
    lines = (" ".join(line.split()) for line in "".join(text.parts).split("\n"))
    return _BLANK.sub("\n\n", "\n".join(lines)).strip()


class _Text:
    def __init__(self) -> None:
        self.parts: list[str] = []
        # The tag whose content is not shown, or "".
        self._hidden_by = ""
        self._link: Tag | None = None
        self._link_parts: list[str] = []

    def data(self, data: str) -> None:
        if not self._hidden_by:
            parts = self.parts if self._link is None else self._link_parts
            parts.append(data.replace("\n", " "))

    def tag(self, tag: Tag) -> None:
        if self._hidden_by:
            if tag.is_end and tag.name == self._hidden_by:
                self._hidden_by = ""
        elif tag.name in _NOT_SHOWN and not tag.is_end:
            self._hidden_by = tag.name
        elif tag.name == "a":
            self.end_link()
            self._link = None if tag.is_end else tag
        elif tag.name in _PARAGRAPHS or tag.name in ("br", "li"):
            self._break(tag)

    def _break(self, tag: Tag) -> None:
        self.end_link()
        self.parts.append("\n\n" if tag.name in _PARAGRAPHS else "\n")
        if tag.name == "li" and not tag.is_end:
            self.parts.append("- ")

    def end_link(self) -> None:
        if self._link is not None:
            self.parts.append(_link_text(self._link, "".join(self._link_parts)))
            self._link, self._link_parts = None, []


def _link_text(link: Tag, text: str) -> str:
    """The text of a link; its address if the text is the address, perhaps a shortened one."""
    href = link.attribute("href")
    classes = link.attribute("class").split()
    if not href.startswith(("https://", "http://")) or {"mention", "hashtag"} & set(classes):
        return text
    address = href.partition("://")[2].removeprefix("www.")
    shown = text.strip()
    beginning = (shown.partition("://")[2] or shown).rstrip("…").removesuffix("...")
    return href if address.startswith(beginning.removeprefix("www.")) else text
