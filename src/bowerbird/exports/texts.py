"""Texts for a file: without what no program shows, with their links, and as Markdown and YAML.

In Markdown, texts of others are shown as they are, and never markup or code. The files are read by
programs that add to Markdown: Obsidian has tags, comments and formulas, Logseq macros, properties
and references, and Hugo shortcodes that run before anything else.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
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


# In brackets: signs that mean something between words only, or when they are doubled.
_SIGNS: Final = re.compile(
    r"[\\`*\[\]<#$~|{^]|(?<![^\W_])_|_(?![^\W_])|={2,}|%{2,}|:{2,}|\({2,}|&(?=#?\w)"
)
# What begins a list, a quotation, a heading by underlining, a definition, or a table's second line.
_LINE_START: Final = re.compile(r"[-+](?=[ :-]|\Z)|[>=]|:(?=[ -])|(?<=\d)[.)](?= |\Z)")
_NUMBER: Final = re.compile(r"\d{0,9}")
_HARD_SPACE: Final = "\xa0"
_BREAK: Final = "  \n"


def one_line(text: str) -> str:
    return _escaped(" ".join(printable(text).split()))


def label(text: str) -> str:
    """The text of a link or picture, in which there are no other links."""
    return _SIGNS.sub(_with_backslashes, " ".join(printable(text).split()))


def lines(text: str) -> str:
    """The text with its line breaks and its indentation, which would otherwise begin code."""
    shown = [*map(_line, printable(text).strip("\n ").split("\n")), ""]
    # Two spaces at the end of a line break it; at the end of a paragraph they mean nothing.
    return "".join(
        line + (_BREAK if line and after else "\n") for line, after in pairwise(shown)
    ).rstrip("\n ")


def quotation(text: str) -> str:
    """Markdown as a quotation."""
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def _line(text: str) -> str:
    text = text.rstrip(" ")
    bare = text.lstrip(" ")
    return _HARD_SPACE * (len(text) - len(bare)) + _escaped(bare)


def _escaped(text: str) -> str:
    escaped = "".join(
        _SIGNS.sub(_with_backslashes, before) + (f"<{_address(link)}>" if link else "")
        for before, link in split_links(text)
    )
    number = _NUMBER.match(escaped)
    start = _LINE_START.match(escaped, number.end() if number else 0)
    return escaped if start is None else f"{escaped[: start.start()]}\\{escaped[start.start() :]}"


def _with_backslashes(signs: re.Match[str]) -> str:
    return "".join(f"\\{sign}" for sign in signs[0])


def _address(link: str) -> str:
    """Between two doubled percent signs, Obsidian shows nothing."""
    return link.replace("%%", "%25%25")


def linked(text: str, url: str) -> str:
    """A link to an address that `plain_text.safe_url` has checked."""
    return f"[{label(text)}](<{_address(url)}>)"


# All that a reader of YAML refuses, takes for a line break or does not show.
_UNQUOTED: Final = re.compile(
    r'["\\\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]'
)


def yaml_string(text: str) -> str:
    """A text on one line, between double quotes."""
    return f'"{_UNQUOTED.sub(_yaml_escape, " ".join(printable(text).split()))}"'


def _yaml_escape(character: re.Match[str]) -> str:
    sign = character[0]
    return f"\\{sign}" if sign in '"\\' else f"\\u{ord(sign):04x}"


_TAG_SIGNS: Final = "_-/"
_TAG_MAX: Final = 100


def tag(label: str) -> str:
    """The label as a tag of Obsidian, which has no spaces and is no number; '' if nothing is left.

    "Machine learning" is `Machine-learning`, and "2026" is `_2026`.
    """
    name = words(label[:_TAG_MAX], _TAG_SIGNS).strip("-/")
    return f"_{name}" if name and not any(map(str.isalpha, name)) else name


def words(text: str, kept: str = "") -> str:
    """The letters, their marks, the digits and the kept signs; a hyphen between the words."""
    normal = unicodedata.normalize("NFC", text)
    parts = "".join(
        sign if sign in kept or unicodedata.category(sign)[0] in "LMN" else " " for sign in normal
    )
    return "-".join(parts.split())


_NAME_BYTES: Final = 60
_READ_CHARACTERS: Final = 300


def file_name(post_id: str, text: str, author: str) -> str:
    """`words-of-the-text-ID.md`: the same as long as the text is, and unique by its id.

    At most 104 bytes of letters, digits and hyphens. Not from the title, which an article may get
    later.
    """
    spoken = "".join(before for before, _ in split_links(text[:_READ_CHARACTERS]))
    name = _shortened(spoken) or _shortened(author)
    return f"{name or 'post'}-{post_id}.md"


def _shortened(text: str) -> str:
    # Once more, because lower-case letters may be composed differently.
    name = unicodedata.normalize("NFC", words(text).lower())
    encoded = name.encode()
    if len(encoded) > _NAME_BYTES:
        cut = encoded[:_NAME_BYTES].decode(errors="ignore")
        # At the end of a word, unless the only one is too long or there are no spaces.
        name = cut.rpartition("-")[0] or cut
    while name and unicodedata.category(name[0])[0] == "M":
        name = name[1:]
    return name.strip("-")
