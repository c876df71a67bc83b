"""Reads the fields of a query, such as author:ada, and explains those that it does not know."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from bowerbird.model import instants, languages, media
from bowerbird.model.labels import name_key
from bowerbird.model.networks import NETWORKS, called
from bowerbird.model.words import NOTE, Condition, Field, order_key

STATES: Final = ("read", "unread", "archived")
_HAS: Final = (*media.BITS, NOTE)
_MOST_SHOWN: Final = 40
_PERIOD: Final = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?", re.ASCII)
_FOREIGN: Final = re.compile(r"((?ai:[a-z_]+)):(?=[^\s/:])")
# Fields of other search engines, and what to use instead.
INSTEAD: Final[Mapping[str, str]] = {
    **dict.fromkeys(("from", "by", "user", "username"), "author:"),
    **dict.fromkeys(("tag", "tags", "labels", "folder"), "label:"),
    **dict.fromkeys(("since", "from_date", "newer", "newer_than"), "after:"),
    **dict.fromkeys(("until", "till", "to_date", "older", "older_than"), "before:"),
    **dict.fromkeys(("type", "media", "filter", "media_type"), "has:"),
    "state": "is:",
    "language": "lang:",
    "network": "site:",
    **dict.fromkeys(("url", "domain", "title", "intitle", "text", "to", "in"), ""),
}
_OPERATORS: Final[Mapping[str, str]] = {"NOT": "-word", "|": "OR", "||": "OR", "&&": "a space"}
_HELP: Final[Mapping[Field, str]] = {
    Field.AUTHOR: "a handle or a name, such as author:ada",
    Field.LABEL: 'a name, such as label:birds or label:"to read"',
    Field.LANGUAGE: "a code such as en or de",
    Field.HAS: f"one of {', '.join(_HAS)}",
    Field.IS: f"one of {', '.join(STATES)}",
    Field.SITE: f"one of {', '.join(NETWORKS)}",
    Field.BEFORE: "a date such as 2026-01-31, 2026-01 or -7d",
    Field.AFTER: "a date such as 2026-01-31, 2026-01 or -7d",
}


def condition(field: Field, text: str, now: int | None) -> Condition | None:
    """None if the value is invalid. Without `now`, a relative date has no instant."""
    text = " ".join(text.split())
    if field in (Field.BEFORE, Field.AFTER):
        return _date(field, text, now)
    value = _READERS[field](text)
    return Condition(field, value) if value else None


def is_relative(text: str) -> bool:
    return instants.resolved(text, 0) is not None


def about_value(field: Field, text: str) -> str:
    """What is wrong with the value of a field."""
    if not text.strip():
        return f"{field}: needs {_HELP[field]}, without a space after the colon."
    return f"{field}: needs {_HELP[field]}; {_shown(text)} counts as words."


def about_word(word: str) -> str | None:
    """What to use instead, if the word is an operator or a field of another search engine."""
    if word in _OPERATORS:
        return f"{word} is not an operator of this search; use {_OPERATORS[word]}."
    if word[-1:] == ":" and word[:-1].lower() in set(Field):
        return about_value(Field(word[:-1].lower()), "")
    found = _FOREIGN.match(word)
    name = found[1].lower() if found else ""
    if name not in INSTEAD:
        return None
    advice = f"use {INSTEAD[name]}" if INSTEAD[name] else f"fields are {', '.join(Field)}"
    return f"{name}: is not a field of this search, so {_shown(word)} counts as words; {advice}."


def _date(field: Field, text: str, now: int | None) -> Condition | None:
    if is_relative(text):
        moment = None if now is None else instants.resolved(text, now)
        instant = None if moment is None else instants.parse(moment)
        return Condition(field, text.lower(), instant=instant)
    if period := _PERIOD.fullmatch(text):
        year, month, day = period[1], period[2] or "1", period[3] or "1"
        text = f"{year}-{month:>02}-{day:>02}"
    instant = instants.parse(text)
    return None if instant is None else Condition(field, str(instant), instant=instant)


def _media(text: str) -> str | None:
    name = text.lower().rstrip(".")
    for spelling in (name, name.removesuffix("s")):
        if spelling == NOTE:
            return NOTE
        if (bit := media.bit_of(spelling)) is not None:
            return next(kind for kind, own in media.BITS.items() if own == bit)
    return None


def _language(text: str) -> str | None:
    code = languages.code_of(text.rstrip("."))
    return languages.UNDETERMINED if code == languages.UNKNOWN else code


def _state(text: str) -> str | None:
    name = text.lower().rstrip(".")
    return name if name in STATES else None


_READERS: Final[Mapping[Field, Callable[[str], str | None]]] = {
    Field.AUTHOR: order_key,
    Field.LABEL: name_key,
    Field.LANGUAGE: _language,
    Field.HAS: _media,
    Field.IS: _state,
    Field.SITE: called,
}


def _shown(text: str) -> str:
    """Quoted, with the letters of every script, and with escapes instead of hidden characters."""
    return repr(text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…")
