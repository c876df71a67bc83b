"""Results as a model sees them: clean texts, names that can be sent back, and only web links."""

import re
from typing import Any, Final

from bowerbird.toolserver.tools.results.quoted_text import shown_name, shown_text

_LINK: Final = re.compile(r"(https?://[^\s<>\"\\/?#]+)([^\s<>\"\\]*)", re.IGNORECASE)
_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LINK_WORDS: Final = frozenset(
    {"url", "uri", "link", "href", "src", "image", "thumbnail", "avatar", "poster"}
)
_LINK_ENDINGS: Final = ("url", "uri", "href", "src")
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


def shown(value: Any, name: str = "") -> Any:
    """A result with all its texts as they are shown. `name` is the field that has the value."""
    if isinstance(value, str):
        if name in _LABELS:
            return shown_name(value)
        return shown_link(value) or "" if _is_link(name) else shown_text(value)
    if isinstance(value, list):
        return [shown(item, name) for item in value if not _is_unsafe(name, item)]
    if isinstance(value, dict):
        return {
            shown_text(inner): shown(one, inner)
            for inner, one in value.items()
            if not _is_unsafe(inner, one)
        }
    return value


def shown_link(link: str) -> str | None:
    """The link if a person can open it: no `javascript:`, and no hidden characters."""
    found = _LINK.fullmatch(link)
    if found is None or shown_text(link) != link:
        return None
    return f"{found[1]}{found[2].translate(_BRACKETS)}"


def _is_unsafe(name: str, value: Any) -> bool:
    """Whether a value is a link that must not be shown, whatever its field is called."""
    if not isinstance(value, str) or not value or name in _PROSE or name in _LABELS:
        return False
    if _is_link(name):
        return shown_link(value) is None
    return bool(_UNSAFE.match(_IGNORED_IN_LINKS.sub("", value)))


def _is_link(name: str) -> bool:
    words = {part.lower().removesuffix("s") for part in _PARTS.findall(name)}
    return bool(words & _LINK_WORDS) or name.lower().removesuffix("s").endswith(_LINK_ENDINGS)
