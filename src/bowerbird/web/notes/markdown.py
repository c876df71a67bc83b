"""Renders the Markdown of notes as safe markup.

Every character of a note is escaped; markup is only added around it. There is no raw HTML and no
image, and a link leads to http or https only. Each pattern ends at the next delimiter, so the time
grows with the length of the note and not faster.
"""

import re
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup, escape

from bowerbird.web.library.texts import web_url

_MAX_DEPTH: Final = 4
_INLINE: Final = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|`(?P<code>[^`\n]{1,1000})`"
    r"|!?\[(?P<text>[^\[\]\n]{0,1000})\]\((?P<target><?[^\s()<>]{1,2000}>?)\)"
    r"|<(?P<bracketed>https?://[^\s<>]{1,2000})>"
    r"|(?P<url>\bhttps?://[^\s<>\"'`*]{1,2000}[^\s<>\"'`*.,;:!?)\]])"
    r"|\*\*(?P<strong>(?=\S)[^*\n]{1,1000}(?<=\S))\*\*"
    r"|\*(?P<emphasis>(?=\S)[^*\n]{1,1000}(?<=\S))\*"
    r"|(?<!\w)__(?P<strong2>(?=\S)[^_\n]{1,1000}(?<=\S))__(?!\w)"
    r"|(?<!\w)_(?P<emphasis2>(?=\S)[^_\n]{1,1000}(?<=\S))_(?!\w)"
    r"|~~(?P<struck>(?=\S)[^~\n]{1,1000}(?<=\S))~~",
    re.IGNORECASE,
)
_TAGS: Final = {
    "strong": "strong",
    "strong2": "strong",
    "emphasis": "em",
    "emphasis2": "em",
    "struck": "s",
}
_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)\Z")
_RULE: Final = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})\Z")
_FENCE: Final = re.compile(r" {0,3}(```|~~~)")
_QUOTE: Final = re.compile(r" {0,3}> ?")
_ITEM: Final = re.compile(r"( {0,3})(?:([-*+])|(\d{1,9})[.)])[ \t]+")


def rendered(text: str) -> Markup:
    return Markup(_blocks(text.expandtabs(4).split("\n"), 0))  # noqa: S704 - every piece is escaped


def _blocks(lines: Sequence[str], depth: int) -> str:
    """Headings start below those of the page."""
    found: list[str] = []
    paragraph: list[str] = []

    def end_paragraph() -> None:
        if paragraph:
            found.append(f'<p dir="auto">{_lines(paragraph)}</p>')
            paragraph.clear()

    place = 0
    while place < len(lines):
        line = lines[place]
        block = _block(lines, place, depth)
        if block is None:
            place += 1
            if line.strip():
                paragraph.append(line.strip())
            else:
                end_paragraph()
            continue
        end_paragraph()
        markup, place = block
        found.append(markup)
    end_paragraph()
    return "".join(found)


def _block(lines: Sequence[str], place: int, depth: int) -> tuple[str, int] | None:
    """The block that starts at a line, and the line after it; None for a line of a paragraph."""
    line = lines[place]
    if fence := _FENCE.match(line):
        return _code(lines, place, fence[1])
    if heading := _HEADING.match(line):
        level = min(len(heading[1]) + 2, 6)
        text = heading[2].rstrip("#").rstrip(" \t")
        return f'<h{level} dir="auto">{_inline(text)}</h{level}>', place + 1
    if _RULE.match(line):
        return "<hr>", place + 1
    if depth >= _MAX_DEPTH:
        return None
    if _QUOTE.match(line):
        end = place
        while end < len(lines) and _QUOTE.match(lines[end]):
            end += 1
        inner = [_QUOTE.sub("", each, count=1) for each in lines[place:end]]
        return f"<blockquote>{_blocks(inner, depth + 1)}</blockquote>", end
    return _list(lines, place, depth) if _ITEM.match(line) else None


def _code(lines: Sequence[str], place: int, fence: str) -> tuple[str, int]:
    end = place + 1
    while end < len(lines) and not lines[end].strip().startswith(fence):
        end += 1
    text = escape("\n".join(lines[place + 1 : end]))
    return f'<pre tabindex="0"><code dir="auto">{text}</code></pre>', end + 1


def _list(lines: Sequence[str], place: int, depth: int) -> tuple[str, int]:
    first = _ITEM.match(lines[place])
    assert first is not None
    is_ordered = first[3] is not None
    items: list[list[str]] = []
    indent = 0
    while place < len(lines):
        line = lines[place]
        item = _ITEM.match(line)
        if item and (item[3] is not None) == is_ordered and len(item[1]) <= len(first[1]) + 1:
            items.append([line[item.end() :]])
            indent = len(item[1]) + 2
        elif line.strip() and line.startswith(" " * indent):
            items[-1].append(line[indent:])
        else:
            break
        place += 1
    inner = "".join(f'<li dir="auto">{_item(each, depth)}</li>' for each in items)
    start = f' start="{int(first[3])}"' if is_ordered and int(first[3]) != 1 else ""
    return (f"<ol{start}>{inner}</ol>" if is_ordered else f"<ul>{inner}</ul>"), place


def _item(lines: Sequence[str], depth: int) -> str:
    """Its text, and the blocks below it. A single paragraph needs no element."""
    end = 1
    while end < len(lines) and _block(lines, end, _MAX_DEPTH) is None and not _starts(lines[end]):
        end += 1
    return _lines([each.strip() for each in lines[:end]]) + _blocks(lines[end:], depth + 1)


def _starts(line: str) -> bool:
    return bool(_ITEM.match(line) or _QUOTE.match(line))


def _lines(lines: Sequence[str]) -> str:
    return "<br>".join(map(_inline, lines))


def _inline(text: str, depth: int = 0) -> str:
    pieces: list[str] = []
    end = 0
    for found in _INLINE.finditer(text):
        pieces += (str(escape(text[end : found.start()])), _span(found, depth))
        end = found.end()
    pieces.append(str(escape(text[end:])))
    return "".join(pieces)


def _span(found: re.Match[str], depth: int) -> str:
    kind = found.lastgroup or ""
    if kind == "escaped":
        return str(escape(found[kind]))
    if kind == "code":
        return f"<code>{escape(found[kind])}</code>"
    if kind in _TAGS:
        inner = found[kind]
        shown = _inline(inner, depth + 1) if depth < _MAX_DEPTH else str(escape(inner))
        return f"<{_TAGS[kind]}>{shown}</{_TAGS[kind]}>"
    if kind == "target":
        target = found[kind].strip("<>")
        return _link(target, found["text"]) or str(escape(found[0]))
    return _link(found[kind], found[kind].partition("://")[2]) or str(escape(found[0]))


def _link(target: str, shown: str) -> str:
    """'' if the target is not a web address."""
    url = web_url(target)
    if not url:
        return ""
    return f'<a href="{escape(url)}" rel="noreferrer">{escape(shown or target)}</a>'
