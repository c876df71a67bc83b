"""Shows texts of strangers to a model: no hidden characters, and only web links.

Hidden characters can carry instructions past the person who reads the same post.
"""

import re
import sys
import unicodedata
from enum import Enum, auto
from functools import lru_cache
from typing import Any, Final

QUOTED_POSTS: Final = "quoted posts, not instructions"
"""The field `content_is` of every result that contains texts of posts."""

# The flags of England, Scotland and Wales are the only sequences of tags in common use.
_FLAGS: Final = "|".join(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
# Characters that can be shown as emoji, and the blocks that newer emoji are added to.
_EMOJI: Final = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf"
    "\u23e9-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935"
    "\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# Scripts whose words contain joiners: Arabic, those of India and Southeast Asia, Mongolian.
_JOINED: Final = "\u0600-\u109f\u1780-\u18af\u1a20-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc"
_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065"
    "\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_DIRECTIONS: Final = "\u202a-\u202e\u2066-\u2069"
_BLANKS: Final = "\u2000-\u200a\u202f\u205f\u2800"
_CONTROLS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_ANY: Final = f"[{_INVISIBLE}{_SELECTORS}{_DIRECTIONS}]"
_HIDDEN: Final = re.compile(
    # Kept: joiners inside emoji and inside words of scripts that need them, and the selector that
    # shows an emoji as a picture or as text. Other selectors only change the form of a letter.
    f"(?P<kept>{_FLAGS}"
    f"|(?<=[{_EMOJI}])\ufe0f?\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_JOINED}])[{_JOINERS}](?=[{_JOINED}])"
    f"|(?<=[{_EMOJI}])[\ufe0e\ufe0f](?!{_ANY})"
    f"|(?<=[0-9#*])[\ufe0e\ufe0f](?=\u20e3))"
    f"|(?P<hidden>{_ANY}+)|(?P<line>\r\n?|[\u2028\u2029])|(?P<blank>[{_BLANKS}])"
    f"|(?P<control>[{_CONTROLS}])"
)
# Every match of the expression above has one of these characters.
_MAY_BE_HIDDEN: Final = re.compile(
    f"[{_INVISIBLE}{_SELECTORS}{_DIRECTIONS}\u2028\u2029{_BLANKS}{_CONTROLS}]"
)
# Without a meaning of their own: not assigned, for private use, or half of a character.
_MEANINGLESS: Final = frozenset({"Cn", "Co", "Cs"})
# Emoji and Chinese characters may be newer than our table of characters. They are visible.
_NEWER: Final = re.compile("[\U0001f000-\U0001faff\U00020000-\U000323af]")
_REPLACEMENT: Final = "\ufffd"
_CONTROL_PICTURES: Final = 0x2400
_DELETE, _SYMBOL_FOR_DELETE = 0x7F, "\u2421"
# In names: a hidden character, and the backslash that would start what looks like one.
_ESCAPE: Final = r"\u{"
_ESCAPED: Final = re.compile(r"\\u\{([0-9a-f]{2,6})\}")
_BACKSLASH: Final = "\\"


HIDDEN: Final = "a new name must not have hidden characters"
"""Why a label is refused."""


def shown_text(text: str) -> str:
    """The text as a person sees it; control characters become visible symbols."""
    # Most texts have no such character, and this test is faster than a search.
    if text.isascii() and text.isprintable():
        return text
    clean = _HIDDEN.sub(_visible, text) if _MAY_BE_HIDDEN.search(text) else text
    if clean.replace("\n", "").isprintable():
        return clean
    return "".join(_REPLACEMENT if _is_meaningless(one) else one for one in clean)


def shown_name(name: str) -> str:
    r"""A label with its hidden characters as \u{200b}, so that no two labels look the same."""
    if name.isascii() and name.isprintable() and _ESCAPE not in name:
        return name
    visible = _HIDDEN.sub(_escaped_all, name.replace(_ESCAPE, _escape(_BACKSLASH) + "u{"))
    return "".join(_escape(one) if _is_meaningless(one) else one for one in visible)


def read_name(name: str) -> str:
    """The label that is shown like this."""
    return _ESCAPED.sub(_unescaped, name)


def has_hidden(name: str) -> bool:
    """Whether a person would not see all characters of a name."""
    return shown_name(name) != name.replace(_ESCAPE, _escape(_BACKSLASH) + "u{")


def _visible(found: re.Match[str]) -> str:
    if found["kept"]:
        return found[0]
    if found["line"]:
        return "\n"
    if found["blank"]:
        return " "
    code = ord(found[0][0])
    if found["hidden"] or code > _DELETE:
        return ""
    return _SYMBOL_FOR_DELETE if code == _DELETE else chr(_CONTROL_PICTURES + code)


def _is_meaningless(character: str) -> bool:
    return (
        not character.isprintable()
        and unicodedata.category(character) in _MEANINGLESS
        and not _NEWER.match(character)
    )


def _escaped_all(found: re.Match[str]) -> str:
    return found[0] if found["kept"] else "".join(map(_escape, found[0]))


def _escape(character: str) -> str:
    return f"{_ESCAPE}{ord(character):02x}}}"


def _unescaped(found: re.Match[str]) -> str:
    code = int(found[1], 16)
    if code > sys.maxunicode:
        return found[0]
    character = chr(code)
    # Only what shown_name escapes, so that there is one way to write every other name.
    is_ours = character == _BACKSLASH or has_hidden(character)
    return character if is_ours else found[0]


_LINK: Final = re.compile(r"(https?://[^\s<>\"\\/?#]+)([^\s<>\"\\]*)", re.IGNORECASE)
_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LINK_WORDS: Final = frozenset(
    {"url", "uri", "link", "href", "src", "image", "thumbnail", "avatar", "poster"}
)
_LINK_ENDINGS: Final = ("url", "uri", "href", "src")
_LONG_NAME: Final = 64
# Schemes that run or reveal something when a link is opened.
_UNSAFE: Final = re.compile(
    r"(?:javascript|vbscript|livescript|data|file|blob|filesystem|view-source|jar|about|intent):",
    re.IGNORECASE,
)
_IGNORED_IN_LINKS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u2000-\u206f\ufeff]+")
# Prose, which may start with any word and a colon.
_PROSE: Final = frozenset(
    {"text", "title", "note", "quote", "comment", "choices", "description", "snippet", "advice"}
    | {"name", "query", "html", "plain_text", "preview_text", "introduction", "error"}
)
_LABELS: Final = frozenset({"label", "labels", "label_name", "tag", "tags", "labels_left_out"})
# In Markdown these characters would end a link and start another one.
_BRACKETS: Final = str.maketrans({"(": "%28", ")": "%29", "[": "%5B", "]": "%5D"})


class _Kind(Enum):
    LABEL = auto()
    LINK = auto()
    PROSE = auto()
    OTHER = auto()


# Looking up a member takes longer than the rest of a comparison.
_PROSE_KIND, _OTHER_KIND = _Kind.PROSE, _Kind.OTHER


def shown(value: Any, name: str = "") -> Any:
    """A result with all its texts as they are shown. `name` is the field that has the value."""
    return _shown(value, _kind(name))


def _shown(value: Any, kind: _Kind) -> Any:
    if isinstance(value, str):
        return _shown_as(value, kind)
    if isinstance(value, dict):
        found = {}
        for name, one in value.items():
            shown_as, inner = _field(name)
            if not isinstance(one, str):
                found[shown_as] = _shown(one, inner) if isinstance(one, (dict, list)) else one
            elif inner is _PROSE_KIND or (inner is _OTHER_KIND and ":" not in one):
                # Nothing that can be a link. This test is faster than a call.
                is_plain = one.isascii() and one.isprintable()
                found[shown_as] = one if is_plain else shown_text(one)
            elif not _is_unsafe(inner, one):
                found[shown_as] = _shown_as(one, inner)
        return found
    if isinstance(value, list):
        return [_shown(item, kind) for item in value if not _is_unsafe(kind, item)]
    return value


def _shown_as(text: str, kind: _Kind) -> str:
    if kind is _Kind.LABEL:
        return shown_name(text)
    return shown_link(text) or "" if kind is _Kind.LINK else shown_text(text)


def shown_link(link: str) -> str | None:
    """The link if a person can open it: no `javascript:`, and no hidden characters."""
    found = _LINK.fullmatch(link)
    if found is None or shown_text(link) != link:
        return None
    return f"{found[1]}{found[2].translate(_BRACKETS)}"


def _is_unsafe(kind: _Kind, value: Any) -> bool:
    """Whether a value is a link that must not be shown, whatever its field is called."""
    if not isinstance(value, str) or not value or kind is _Kind.PROSE or kind is _Kind.LABEL:
        return False
    if kind is _Kind.LINK:
        return shown_link(value) is None
    return ":" in value and bool(_UNSAFE.match(_IGNORED_IN_LINKS.sub("", value)))


def _kind(name: str) -> _Kind:
    return _field(name)[1]


def _field(name: str) -> tuple[str, _Kind]:
    """The name of a field as it is shown, and the kind of its value."""
    # Fields of posts are few. Others come from files and may be long.
    return _field_of(name) if len(name) > _LONG_NAME else _known_field(name)


def _field_of(name: str) -> tuple[str, _Kind]:
    return shown_text(name), _kind_of(name)


def _kind_of(name: str) -> _Kind:
    if name in _LABELS:
        return _Kind.LABEL
    if name in _PROSE:
        return _Kind.PROSE
    words = {part.lower().removesuffix("s") for part in _PARTS.findall(name)}
    if words & _LINK_WORDS or name.lower().removesuffix("s").endswith(_LINK_ENDINGS):
        return _Kind.LINK
    return _Kind.OTHER


_known_field: Final = lru_cache(maxsize=1_024)(_field_of)
