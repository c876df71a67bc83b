"""Results as a model sees them: clean texts, names that can be sent back, and only web links."""

import re
from enum import Enum, auto
from functools import lru_cache
from typing import Any, Final

from bowerbird.toolserver.tools.results.quoted_text import shown_name, shown_text

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
