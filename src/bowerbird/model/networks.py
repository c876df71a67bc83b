"""The networks whose posts a library can have, in one table."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

X: Final = "x"
MASTODON: Final = "mastodon"
BLUESKY: Final = "bluesky"
REDDIT: Final = "reddit"
YOUTUBE: Final = "youtube"
TIKTOK: Final = "tiktok"
TUMBLR: Final = "tumblr"
LINKEDIN: Final = "linkedin"
INSTAGRAM: Final = "instagram"
THREADS: Final = "threads"
FACEBOOK: Final = "facebook"

_MILLISECOND: Final = 1_000
_SECOND: Final = 1_000_000
_MASTODON: Final = re.compile(r"[^/]+/([0-9]{15,20})", re.ASCII)
_BLUESKY: Final = re.compile(r"at://[^/]+/app\.bsky\.feed\.post/([2-7a-j][2-7a-z]{12})")
_SORTABLE: Final = "234567abcdefghijklmnopqrstuvwxyz"
_BASE_32: Final = str.maketrans(_SORTABLE, "0123456789abcdefghijklmnopqrstuv")
_TIKTOK: Final = re.compile(r"[0-9]{15,20}", re.ASCII)
_LINKEDIN: Final = re.compile(r"[A-Za-z]+:([0-9]{15,20})", re.ASCII)
# Posts of private accounts have longer codes; those of 2010 are short and have no time.
_SHORT_CODE: Final = re.compile(r"[A-Za-z0-9_-]{10,11}")
_BASE_64: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_INSTAGRAM_EPOCH_MS: Final = 1_314_220_021_721


def _in_mastodon_id(source_id: str) -> int | None:
    match = _MASTODON.fullmatch(source_id)
    return (int(match[1]) >> 16) * _MILLISECOND if match else None


def _in_bluesky_id(source_id: str) -> int | None:
    match = _BLUESKY.fullmatch(source_id)
    return int(match[1].translate(_BASE_32), 32) >> 10 if match else None


def _in_tiktok_id(source_id: str) -> int | None:
    return (int(source_id) >> 32) * _SECOND if _TIKTOK.fullmatch(source_id) else None


def _in_linkedin_id(source_id: str) -> int | None:
    match = _LINKEDIN.fullmatch(source_id)
    return (int(match[1]) >> 22) * _MILLISECOND if match else None


def _in_short_code(code: str) -> int | None:
    """When the upload of a post of Instagram or Threads began."""
    if not _SHORT_CODE.fullmatch(code):
        return None
    number = 0
    for character in code:
        number = number << 6 | _BASE_64.index(character)
    return ((number >> 23) + _INSTAGRAM_EPOCH_MS) * _MILLISECOND


class SocialNetwork(Struct, frozen=True):
    name: str
    # The instant in the id that a post has there. None if its ids contain no time.
    time_in_id: Callable[[str], int | None] | None = None


NETWORKS: Final[Mapping[str, SocialNetwork]] = {
    # The id of a post of X is its id here: model/derived_fields.py reads its time.
    X: SocialNetwork("X"),
    MASTODON: SocialNetwork("Mastodon", _in_mastodon_id),
    BLUESKY: SocialNetwork("Bluesky", _in_bluesky_id),
    REDDIT: SocialNetwork("Reddit"),
    YOUTUBE: SocialNetwork("YouTube"),
    TIKTOK: SocialNetwork("TikTok", _in_tiktok_id),
    TUMBLR: SocialNetwork("Tumblr"),
    LINKEDIN: SocialNetwork("LinkedIn", _in_linkedin_id),
    INSTAGRAM: SocialNetwork("Instagram", _in_short_code),
    THREADS: SocialNetwork("Threads", _in_short_code),
    FACEBOOK: SocialNetwork("Facebook"),
}


def name_of(network: str) -> str:
    """The name for people. A post from a file may have a network that is not in the table."""
    known = NETWORKS.get(network or X)
    return known.name if known else network


def named(conjunction: str) -> str:
    """The names of all networks as part of a sentence."""
    *names, last = (known.name for known in NETWORKS.values())
    return f"{', '.join(names)} {conjunction} {last}"
