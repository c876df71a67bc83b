"""Texts for a file: without what no program shows, and the links in them."""

import re
from collections.abc import Iterator
from typing import Any, Final

KINDS: Final = {
    "image": "Image",
    "photo": "Image",
    "video": "Video",
    "gif": "GIF",
    "animated_gif": "GIF",
    "link": "Link",
    "poll": "Poll",
}
"""What people call an attachment of each type."""
_MAX_URL_CHARACTERS: Final = 2_000
_LINE_ENDS: Final = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters and noncharacters have no glyph. Bidirectional embeddings and overrides
# could reverse the text that follows them.
_UNPRINTABLE: Final = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufff9-\uffff]"
)
_MARK: Final = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_STACKED_MARKS: Final = re.compile(f"({_MARK}{{4}}){_MARK}+")
_URL: Final = re.compile(r"https?://[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
_URL_TRAILING_PUNCTUATION: Final = ".,:;!?'*)]"


def printable(text: str) -> str:
    """The text with line breaks of one kind, without tabs and characters that nothing shows."""
    if text.isascii() and text.isprintable():
        # Most names and many texts: one line.
        return text
    text = _UNPRINTABLE.sub("", _LINE_ENDS.sub("\n", text)).replace("\t", "    ")
    return _STACKED_MARKS.sub(r"\1", text)


def safe_url(text: str) -> str:
    """The text if it is a web address that a document may link to, else ''."""
    return text if len(text) <= _MAX_URL_CHARACTERS and _URL.fullmatch(text) else ""


def split_links(text: str) -> Iterator[tuple[str, str]]:
    """Each link after the text before it; at the end, what follows the last one and ''."""
    end = 0
    for match in _URL.finditer(text):
        link = match[0].rstrip(_URL_TRAILING_PUNCTUATION)
        if safe_url(link):
            yield text[end : match.start()], link
            end = match.start() + len(link)
    yield text[end:], ""


def choice_text(choice: Any) -> str:
    """A choice of a poll: sources write a string, or an object with a label and its votes."""
    if isinstance(choice, str):
        return choice
    if not isinstance(choice, dict):
        return ""
    label = next(
        (choice[name] for name in ("label", "text", "title", "name") if choice.get(name)), ""
    )
    votes = next(
        (choice[name] for name in ("votes", "count") if isinstance(choice.get(name), int)), None
    )
    return f"{label}" if votes is None else f"{label} ({votes:,})"
