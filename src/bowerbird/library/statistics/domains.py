"""The sites that stored posts link to."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from bowerbird.model import json_depth

_URL: Final = re.compile(r"\bhttps?://([^\s/?#<>\"']{4,300})", re.IGNORECASE)
_HOST: Final = re.compile(r"(?=.{4,253}\Z)[^\W_]([\w-]*[^\W_])?(\.[^\W_]([\w-]*[^\W_])?)+")
# It hides where a link leads.
_SHORTENED: Final = "t.co"


class _Attachment(Struct, frozen=True):
    type: Any = None
    url: Any = None


class _Details(Struct, frozen=True):
    text: str = ""
    attachments: list[_Attachment] = []


class _Linking(Struct, frozen=True):
    tweet_details: _Details = _Details()


_decode: Final = msgspec.json.Decoder(_Linking).decode


def counted(renderings: Iterable[bytes], counts: dict[str, int]) -> None:
    """Adds the posts that link to each site."""
    for rendering in renderings:
        for domain in _domains(rendering):
            counts[domain] = counts.get(domain, 0) + 1


def most_linked(counts: dict[str, int], limit: int) -> Sequence[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def _domains(rendering: bytes) -> set[str]:
    try:
        details = _decode(json_depth.cut(rendering + b"}")).tweet_details
    except msgspec.MsgspecError:
        return set()
    hosts = [found[1] for found in _URL.finditer(details.text)]
    hosts += [_host(each.url) for each in details.attachments if each.type == "link"]
    return {domain for host in hosts if (domain := _domain(host))}


def _host(url: object) -> str:
    try:
        return (urlsplit(url).hostname or "") if isinstance(url, str) else ""
    except ValueError:
        return ""


def _domain(host: str) -> str:
    """A site's name without its port, its user and `www.`; '' if it is none."""
    name = host.rpartition("@")[2].partition(":")[0].strip(".,;!)(").lower()
    name = name.removeprefix("www.")
    return name if _HOST.fullmatch(name) and name != _SHORTENED else ""
