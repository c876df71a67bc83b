"""Addresses as tokens: one for the host, and one for each part between slashes and other signs.

An address is a phrase of them, and so is a part of it. Tracking parameters, the scheme and www. are
left out, and addresses that lead to the same page have the same tokens.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import unquote

from bowerbird.model.posts.traits import plain_address
from bowerbird.model.words import ADDRESS, GAP, Form
from bowerbird.search.words.token_folding import MAX_TOKEN_CHARACTERS, fold

# Of all addresses of a post, with the gaps between them. Positions in a tsvector are limited.
MAX_ADDRESS_TOKENS: Final = 160
_MOST_PARTS: Final = 12
_MOST_CHARACTERS: Final = 1_000
_SIGNS: Final = re.compile(r"[^a-z0-9/?&=;]+")
_BETWEEN: Final = re.compile("[/?&=;]+")
# For phones: m.example.com, en.m.wikipedia.org.
_OTHER_HOST: Final = re.compile(r"(?:^|(?<=\.))(?:m|mobile|amp)\.(?=[^./]+\.)")
_HOSTS: Final = dict.fromkeys(("twitter.com", "fxtwitter.com", "vxtwitter.com"), "x.com")
# Only their pages are the same. The index has these sites on their own, too.
_SITES: Final = {
    **dict.fromkeys(("old.reddit.com", "new.reddit.com", "np.reddit.com"), "reddit.com"),
    "export.arxiv.org": "arxiv.org",
    "music.youtube.com": "youtube.com",
}
_SITE: Final = re.compile(f"://({'|'.join(map(re.escape, _SITES))})/", re.IGNORECASE)
# By host: the paths of pages that have several addresses, and one address for all of them.
_FLAGS: Final = re.ASCII | re.IGNORECASE
_VIDEO, _POST, _PAPER = "youtube.com/watch?v=", "x.com/status/", "arxiv.org/abs/"
_PAGES: Final = {
    "youtu.be": (re.compile(r"([\w-]+)", _FLAGS), _VIDEO),
    "youtube.com": (
        re.compile(r"(?:watch\?(?:\S*&)?v=|shorts/|live/|embed/)([\w-]+)", _FLAGS),
        _VIDEO,
    ),
    "x.com": (re.compile(r"(?:i/web|\w+)/status(?:es)?/(\d+)", _FLAGS), _POST),
    "github.com": (
        re.compile(r"([\w.-]+/[\w.-]+?)(?:\.git)?(?:\?.*)?$", _FLAGS),
        "github.com/",
    ),
    "arxiv.org": (re.compile(r"(?:abs|pdf|html)/(\d{4}\.\d{4,5})", _FLAGS), _PAPER),
}
_BRANCH: Final = re.compile(r"(github\.com/[\w.-]+/[\w.-]+)/tree/[\w.-]+/?(?=[?#]|$)", _FLAGS)
# Nearly every post of X has its own address. Told apart first, it takes a tenth of the time.
_OWN_ADDRESS: Final = re.compile(r"https://x\.com/\w{1,40}/status/(\d{1,40})", re.ASCII)
_OWN_PARTS: Final = [f"{ADDRESS}xcom", f"{ADDRESS}status"]
_TYPED: Final = re.compile(
    r"(?:https?://\S+\.\S+|(?:[\w-]+\.)+[^\W\d_]{2,}(?::\d+)?[/?]\S+)", re.IGNORECASE
)
# A name with an owner, the number of a paper, or the id of a video.
_PART: Final = re.compile(r"(?=\S*[/\d])[\w.~-]+(?:/[\w.~-]+)*/?")
_LEAST_PART: Final = 6
_EDGES: Final = "<>()[]\"'"


def tokens_of(addresses: Sequence[str]) -> list[str]:
    """The tokens of all addresses of a post."""
    found: list[str] = []
    sites = [f"https://{site}" for site in _SITE.findall("\n".join(addresses))]
    for address in dict.fromkeys([*addresses, *sites]):
        if parts := _parts(address):
            found += [GAP, *parts] if found else parts
        if len(found) >= MAX_ADDRESS_TOKENS:
            break
    return found[:MAX_ADDRESS_TOKENS]


def typed(text: str) -> str:
    """An address that somebody types or pastes, without signs around it; "" if it is none."""
    text = text.strip(_EDGES)
    is_address = len(text) <= _MOST_CHARACTERS and _TYPED.fullmatch(text) and plain(text)
    return text if is_address else ""


def plain(text: str) -> str:
    return plain_address(text if "://" in text else f"https://{text}").rstrip("*")


def forms_of_address(text: str, *, is_pasted: bool) -> tuple[Form, ...]:
    """How the index has an address, or its beginning before a star.

    The page of a branch is pasted for its repository.
    """
    if is_pasted:
        text = _BRANCH.sub(r"\1", text)
    parts = _parts(text if "://" in text else f"https://{text}")
    return (Form(tuple(parts), is_prefix=text.endswith("*")),) if parts else ()


def forms_of_part(text: str) -> tuple[Form, ...]:
    """How the index has a part of an address, such as owner/name or the id of a video."""
    if not _LEAST_PART <= len(text) <= MAX_TOKEN_CHARACTERS or not _PART.fullmatch(text):
        return ()
    parts = _folded(text)
    return (Form(tuple(parts)),) if parts else ()


def _parts(url: str) -> list[str]:
    if own := _OWN_ADDRESS.fullmatch(url):
        return [*_OWN_PARTS, ADDRESS + own[1]]
    if len(url) > _MOST_CHARACTERS:
        return []
    address = plain_address(url)
    return _folded(_same_page(address)) if address else []


def _same_page(address: str) -> str:
    """One address for all that lead to the same page of well-known sites."""
    host, slash, path = address.partition("/")
    host = _OTHER_HOST.sub("", host, count=1)
    host = _HOSTS.get(host, host)
    if path:
        host = _SITES.get(host, host)
    if host not in _PAGES:
        return f"{host}{slash}{path}"
    pattern, same = _PAGES[host]
    found = pattern.match(path)
    return f"{same}{found[1]}" if found else f"{host}{slash}{path}"


def _folded(address: str) -> list[str]:
    if "%" in address:
        address = unquote(address)
    if address.isascii():
        parts: Iterable[str] = _BETWEEN.split(_SIGNS.sub("", address.lower()))
    else:
        parts = _of_other_scripts(address)
    kept = [part for part in parts if part][:_MOST_PARTS]
    return [ADDRESS + part[: MAX_TOKEN_CHARACTERS - 1] for part in kept]


def _of_other_scripts(address: str) -> Iterator[str]:
    for part in _BETWEEN.split(address):
        yield "".join(fold(part).replace("#", "").replace("@", "").replace("_", "").split())
