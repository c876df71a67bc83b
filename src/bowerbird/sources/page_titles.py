"""Reads the title of a post's page, as browsers and bookmark programs save it."""

import re
from typing import Final

from bowerbird.sources.post_links import BLUESKY, MASTODON, PostLink, X

# Sites put the number of unread notifications first.
_UNREAD: Final = re.compile(r"\([0-9]{1,4}\+?\) ")
_HANDLE: Final = r" \(@[\w.@-]{1,300}\)"
# The author, and the text after its first quotation mark.
_QUOTING: Final = {
    X: re.compile(r'(?P<name>.{1,100}?) on (?:X|Twitter): ["“](?P<rest>.*)', re.DOTALL),
    MASTODON: re.compile(r'(?P<name>.{1,100}?): ["“](?P<rest>.*)', re.DOTALL),
    BLUESKY: re.compile(rf'(?P<name>.{{1,100}}?)(?:{_HANDLE})?: ["“](?P<rest>.*)', re.DOTALL),
}
# The last quotation mark, and the name of the site. X and some programs cut long texts.
_END: Final = re.compile(r'(?P<cut>…(?:\s*https?://t\.co/\w+)?)?["”](?: [/—-] [^"”]{1,60})?\Z')
_END_CHARACTERS: Final = 200
_WITH_HANDLE: Final = re.compile(rf"(?P<name>.{{1,100}}?){_HANDLE}(?: (?:[/—-]|on) .{{1,60}})?")
_ONLY_X: Final = re.compile(r"(?:.{1,100} / )?(?:X|Twitter)")
_ON_X: Final = re.compile(r"(?P<name>.{1,100}) on (?:X|Twitter)")
_WORD: Final = re.compile(r"[^\W_]+")


def text_and_name(title: str, address: str, link: PostLink) -> tuple[str, str]:
    """The text of the post and the author's name, each "" if the title does not have it.

    A title of no known form may be in the words of its owner, and is the text until a source has
    a better one.
    """
    title = title.strip()
    if title == address.strip() or title.lower().removeprefix("@") == link.author_username.lower():
        return "", ""
    page = _UNREAD.sub("", title, count=1) if _UNREAD.match(title) else title
    quoting = _QUOTING.get(link.network)
    if quoting and (quoted := quoting.fullmatch(page)):
        return _complete(quoted["rest"]), quoted["name"]
    if quoting and (named := _WITH_HANDLE.fullmatch(page)):
        return "", named["name"]
    if link.network == X and (_ONLY_X.fullmatch(page) or _names_author(page, link)):
        return "", ""
    return title, ""


def _names_author(page: str, link: PostLink) -> bool:
    """Whether it is "Ada L. on X" for a post of @ada. "My notes on X" is in words of the owner."""
    named = _ON_X.fullmatch(page)
    words = _WORD.findall(named["name"].lower()) if named else []
    handle = link.author_username.lower()
    return bool(handle) and (handle in words or "".join(words) == handle.replace("_", ""))


def _complete(rest: str) -> str:
    """The text before the last quotation mark, "" if its end is missing."""
    end = _END.search(rest, max(0, len(rest) - _END_CHARACTERS))
    return "" if end is None or end["cut"] else rest[: end.start()]
