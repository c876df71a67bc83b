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
