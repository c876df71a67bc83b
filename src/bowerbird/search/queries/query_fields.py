"""The fields of a query, such as author:ada: their names, their values, and sentences about others.

Every name and value that people know from other searches is in the tables here.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from bowerbird.model import instants, languages
from bowerbird.model.labels import name_key
from bowerbird.model.posts import media
from bowerbird.model.posts.networks import NETWORKS, called
from bowerbird.model.words import (
    ALL,
    DUPLICATE,
    GONE,
    HIGHLIGHT,
    MEDIA,
    NOTE,
    REPLY,
    STARRED,
    TRASH,
    Condition,
    Field,
    order_key,
)

STATES: Final = ("read", "unread", "archived", ALL, REPLY, GONE, STARRED, DUPLICATE, TRASH)
HAS: Final = (*media.BITS, MEDIA, NOTE, HIGHLIGHT)
_MOST_SHOWN: Final = 40
_MOST_DIGITS: Final = 9
_PERIOD: Final = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?", re.ASCII)
_INNER_STAR: Final = re.compile(r"\w\*+\w|^\*+\w.*[^*]$")
_FOREIGN: Final = re.compile(r"((?ai:[a-z_]+)):(?=[^\s/:])")
_OTHER_NAMES: Final[Mapping[str, Field]] = {
    **dict.fromkeys(("from", "by", "user", "username"), Field.AUTHOR),
    **dict.fromkeys(("tag", "tags", "labels", "folder"), Field.LABEL),
    **dict.fromkeys(("since", "from_date", "newer", "newer_than"), Field.AFTER),
    **dict.fromkeys(("until", "till", "to_date", "older", "older_than"), Field.BEFORE),
    **dict.fromkeys(("type", "media", "filter", "media_type"), Field.HAS),
    **dict.fromkeys(("state", "in"), Field.IS),
    "language": Field.LANGUAGE,
    **dict.fromkeys(("network", "domain"), Field.SITE),
    **dict.fromkeys(("link", "inurl"), Field.URL),
    "min_faves": Field.LIKES,
    "length": Field.WORDS,
    "intitle": Field.TITLE,
}
NAMES: Final[Mapping[str, Field]] = {**{field.value: field for field in Field}, **_OTHER_NAMES}
"""The field of each name that a query may write before a colon."""

EXAMPLES: Final = (
    ("blue pen", "both words, anywhere"),
    ('"bottle caps"', "one after the other"),
    ("-nest", "not this word"),
    ("bow*", "words that start like this"),
    ("caps OR lids", "one of them"),
    ("(caps OR lids) -red", "parentheses group"),
    ("@tomasz_k", "by or about them"),
    ("from:tomasz_k", "only by them"),
    ('label:"to read"', "with this label"),
    ("lang:german", "in this language; also lang:de"),
    ("has:video", "also image, link, note, highlight"),
    ("is:read", "also unread, archived, reply, gone, starred"),
    ("site:youtube", "posts of this network"),
    ("url:example.com/nests", "with a link to it; or paste the address"),
    ("title:nests", "in the title of an article or a link"),
    ("words:>500", "longer than that"),
    ("since:2026-01-31", "posted then or later"),
    ("until:30d", "posted over 30 days ago"),
)
"""What can be typed, and what it finds: the search tips of the website, also in docs/api.md."""

# Fields of other searches that have no counterpart here.
_UNKNOWN: Final = frozenset({"text", "to", "list", "near"})
_STATE_NAMES: Final[Mapping[str, str]] = {
    "archive": "archived",
    "inbox": "unread",
    **dict.fromkeys(("anywhere", "any", "everything"), ALL),
    "replies": REPLY,
    **dict.fromkeys(("deleted", "unavailable"), GONE),
    "bin": TRASH,
    **dict.fromkeys(("star", "stars", "favourite", "favorite", "favourites"), STARRED),
    **dict.fromkeys(("duplicates", "duplicated"), DUPLICATE),
}
# As words. They are operators in other places.
_NO_OPERATORS: Final[Mapping[str, str]] = {
    "NOT": "NOT is a word here; use -word to exclude a word.",
    **dict.fromkeys(("|", "||"), "| counts only in a short search; use OR."),
}
_HELP: Final[Mapping[Field, str]] = {
    Field.AUTHOR: "a handle or a name, such as author:ada",
    Field.LABEL: 'a name, such as label:birds or label:"to read"',
    Field.LANGUAGE: "a language, such as lang:de or lang:german",
    Field.HAS: f"one of {', '.join(HAS)}",
    Field.IS: f"one of {', '.join(STATES)}",
    Field.SITE: f"a domain such as example.com, or one of {', '.join(NETWORKS)}",
    Field.LIKES: "a number, such as min_likes:100",
    Field.WORDS: "a number, such as words:>500, words:<50 or words:50..500",
    Field.URL: "an address, such as url:example.com/nests",
    Field.TITLE: 'a word or a phrase, such as title:nests or title:"bower birds"',
    Field.BEFORE: "a date such as 2026-01-31, 2026-01, 7d or yesterday",
    Field.AFTER: "a date such as 2026-01-31, 2026-01, 7d or yesterday",
}
_HASHTAG: Final = re.compile(r"(?ai:tag):(#\w+)")
_LENGTH: Final = re.compile(r"([<>]=?|=)?(\d{1,9})(\.\.(\d{1,9})?)?", re.ASCII)
_SCHEME: Final = re.compile(r"(?:https?://)?(?:www\.)?", re.IGNORECASE)
_DOMAIN: Final = re.compile(r"[\w-]+(?:\.[\w-]+)+")
# 7d, 7 days, 7 days ago.
_SPAN: Final = re.compile(
    r"(\d{1,4}) ?(?:([hdwmy])|(hour|day|week|month|year)s?(?: ago)?)", re.ASCII
)


def condition(field: Field, text: str, now: int | None) -> Condition | None:
    """None if the value is invalid. Without `now`, a relative date has no instant."""
    text = " ".join(text.split())
    if field in (Field.BEFORE, Field.AFTER):
        return _date(field, text, now)
    # People write is:thread and type:unread too.
    others = [each for each in _KINDS if field in _KINDS and each is not field]
    for each in (field, *others):
        if each in _READERS and (value := _READERS[each](text)):
            return Condition(each, value)
    return None


def hashtag(written: str) -> str | None:
    """The hashtag of a field that was written as tag:#birds. Others name a label alone."""
    found = _HASHTAG.fullmatch(written.rstrip(",;"))
    return found[1] if found else None


def address(field: Field, text: str) -> str | None:
    """The address that a field looks for; None if it is none. A network has no address."""
    bare = _SCHEME.sub("", text.strip(), count=1)
    is_address = field is Field.URL or (field is Field.SITE and _DOMAIN.match(bare))
    return bare.rstrip("/") if is_address and any(map(str.isalnum, bare)) else None


TRASH_ELSEWHERE: Final = (
    "The trash is a list of its own: /trash, GET /v1/bookmarks/trash and the tool list_trash "
    "search it."
)


def is_relative(text: str) -> bool:
    return _instant(_written(text), 0) is not None


def about_value(name: str, field: Field, text: str) -> str:
    """What is wrong with the value of a field that was written with some name."""
    if not text.strip():
        return f"{name}: needs {_HELP[field]}, without a space after the colon."
    return f"{name}: needs {_HELP[field]}; {_shown(text)} counts as words."


def about_word(word: str) -> str | None:
    """What to use instead, if the word looks like a field or an operator but is none."""
    if word[-1:] == ":" and word[:-1].lower() in set(Field):
        return about_value(word[:-1].lower(), Field(word[:-1].lower()), "")
    if _INNER_STAR.search(word):
        return f"A * counts only at the end of a word, as in py*, so not in {_shown(word)}."
    if word in _NO_OPERATORS:
        return _NO_OPERATORS[word]
    found = _FOREIGN.match(word)
    name = found[1].lower() if found else ""
    if name not in _UNKNOWN:
        return None
    fields = f"fields are {', '.join(Field)}"
    return f"{name}: is not a field of this search, so {_shown(word)} counts as words; {fields}."


def _date(field: Field, text: str, now: int | None) -> Condition | None:
    written = _written(text)
    if _instant(written, 0) is not None:
        return Condition(field, written, instant=None if now is None else _instant(written, now))
    if period := _PERIOD.fullmatch(text):
        year, month, day = period[1], period[2] or "1", period[3] or "1"
        text = f"{year}-{month:>02}-{day:>02}"
    instant = instants.parse(text)
    return None if instant is None else Condition(field, str(instant), instant=instant)


def _written(text: str) -> str:
    """A relative date as the filters of a list write it, if they can."""
    text = " ".join(text.lower().split())
    if text == "yesterday":
        return "today-1d"
    span = _SPAN.fullmatch(text)
    # A year is four digits alone.
    return f"-{span[1]}{span[2] or span[3][0]}" if span else text


def _instant(written: str, now: int) -> int | None:
    """The instant of a relative date; None if the text is none."""
    moment = instants.resolved(written, now)
    return instants.start_of_named(written, now) if moment is None else instants.parse(moment)


def kind_of(text: str) -> str | None:
    name = text.lower().rstrip(".")
    for spelling in (name, name.removesuffix("s")):
        if spelling in (NOTE, HIGHLIGHT, MEDIA):
            return spelling
        if (bit := media.bit_of(spelling)) is not None:
            return next(kind for kind, own in media.BITS.items() if own == bit)
    return None


def _language(text: str) -> str | None:
    code = languages.code_called(text.rstrip("."))
    return languages.UNDETERMINED if code == languages.UNKNOWN else code


def _number(text: str) -> str | None:
    # A column has room for nine digits in both databases.
    is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return text if is_number else None


def _length(text: str) -> str | None:
    """Both bounds included, such as 501.. or ..49; one number alone is the lower bound."""
    found = _LENGTH.fullmatch(text.replace(" ", ""))
    if found is None:
        return None
    sign, first, until, last = found.groups()
    if until:
        return f"{first}..{last or ''}" if not sign else None
    number = int(first)
    if sign and sign.startswith("<"):
        return f"..{max(number - (sign == '<'), 0)}" if number or sign == "<=" else None
    if sign == "=":
        return f"{number}..{number}"
    return f"{number + (sign == '>')}.."


def _state(text: str) -> str | None:
    name = text.lower().rstrip(".")
    name = _STATE_NAMES.get(name, name)
    return name if name in STATES else None


_READERS: Final[Mapping[Field, Callable[[str], str | None]]] = {
    Field.AUTHOR: order_key,
    Field.LABEL: name_key,
    Field.LANGUAGE: _language,
    Field.HAS: kind_of,
    Field.IS: _state,
    Field.SITE: called,
    Field.LIKES: _number,
    Field.WORDS: _length,
}
_KINDS: Final = (Field.HAS, Field.IS)


def _shown(text: str) -> str:
    """Quoted, with the letters of every script, and with escapes instead of hidden characters."""
    return repr(text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…")
