"""Which known name an unknown one was probably meant to be, never one with the opposite meaning."""

import difflib
import re
from collections.abc import Collection, Sequence
from typing import Final

from bowerbird.requests import bounds

# The words on one side mean the opposite of those on the other.
_OPPOSITES: Final = (
    (
        "from after since start begin min minimum least newer newest",
        "to into before until till end max maximum most older oldest",
    ),
    (
        "include including show with has add create",
        "exclude excluding hide hidden without no not remove delete skip",
    ),
    ("read", "unread"),
    ("archive archived", "unarchive unarchived"),
    ("labelled tagged", "unlabelled untagged"),
    ("pin pinned", "unpin unpinned"),
    ("restore", "trash"),
    ("asc ascending", "desc descending"),
    ("enable enabled on", "disable disabled off"),
)
_SIDES: Final = {
    word: (group, side)
    for group, sides in enumerate(_OPPOSITES)
    for side, words in enumerate(sides)
    for word in words.split()
}
_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NAME_MAX: Final = 64
_NEAR_MAX: Final = 8
_SIMILAR: Final = 0.75


def meant(name: str, accepted: Sequence[str]) -> str | None:
    """A name with the same meaning, also another name of a bound: before excludes a day."""
    name = name[:_NAME_MAX]
    near = difflib.get_close_matches(name, bounds.with_other_names(accepted), n=_NEAR_MAX)
    return next((one for one in near if _may_mean(name, one)), None)


def _may_mean(name: str, accepted: str) -> bool:
    """Whether every word that has an opposite is on the same side in both names."""
    if _letters(name) == _letters(accepted):
        return True
    known = _words(accepted)
    sides = sorted(_SIDES[word] for word in known if word in _SIDES)
    # Twice is not the same as once: without_hidden.
    return sorted(side for word in _words(name) if (side := _side(word, known))) == sides


def _side(word: str, known: Collection[str]) -> tuple[int, int] | None:
    """Also of a misspelt word, unless it is one of the other words of the known name."""
    if word in _SIDES:
        return _SIDES[word]
    if difflib.get_close_matches(word, [one for one in known if one not in _SIDES], 1, _SIMILAR):
        return None
    near = difflib.get_close_matches(word, _SIDES, 1, _SIMILAR)
    return _SIDES[near[0]] if near else None


def _words(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PARTS.findall(name))


def _letters(name: str) -> str:
    return name.replace("_", "").lower()
