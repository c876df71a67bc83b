"""Turns the HTML of a post into plain text."""

import re
from typing import Final

from bowerbird.sources.parsing.html_tokens import Tag, tokens

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
