"""The networks whose posts a library can have, in one table.

Also posts that are only links, and why their text is not known.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct, UnsetType

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
    # Stored with every post.
    number: int
    name: str
    # The instant in the id that a post has there. None if its ids contain no time.
    time_in_id: Callable[[str], int | None] | None = None


NETWORKS: Final[Mapping[str, SocialNetwork]] = {
    # The id of a post of X is its id here: model/posts/bookmarks.py reads its time.
    X: SocialNetwork(0, "X"),
    MASTODON: SocialNetwork(1, "Mastodon", _in_mastodon_id),
    BLUESKY: SocialNetwork(2, "Bluesky", _in_bluesky_id),
    REDDIT: SocialNetwork(3, "Reddit"),
    YOUTUBE: SocialNetwork(4, "YouTube"),
    TIKTOK: SocialNetwork(5, "TikTok", _in_tiktok_id),
    TUMBLR: SocialNetwork(6, "Tumblr"),
    LINKEDIN: SocialNetwork(7, "LinkedIn", _in_linkedin_id),
    INSTAGRAM: SocialNetwork(8, "Instagram", _in_short_code),
    THREADS: SocialNetwork(9, "Threads", _in_short_code),
    FACEBOOK: SocialNetwork(10, "Facebook"),
}


# The number of a network is in these bits of the number that has the media types of a post.
BITS: Final = 0xFF00
_SHIFT: Final = 8
_BY_BITS: Final = {known.number << _SHIFT: name for name, known in NETWORKS.items()}
# In speech, and in addresses.
_OTHER_NAMES: Final = {"twitter": X, "bsky": BLUESKY, "youtu": YOUTUBE, "redd": REDDIT}


def bits_of(network: str | UnsetType | None) -> int:
    """All bits for a network that is not in the table."""
    known = NETWORKS.get(network or X)
    return known.number << _SHIFT if known else BITS


def of_bits(bits: int) -> str:
    """The network; "" if it is not in the table."""
    return _BY_BITS.get(bits & BITS, "")


def called(text: str) -> str | None:
    """The network that somebody names: YouTube, youtube.com, twitter."""
    name, _, domain = text.strip().lower().removeprefix("www.").partition(".")
    name = _OTHER_NAMES.get(name, name)
    # mastodon.social is one server of many.
    return name if name in NETWORKS and not (domain and name == MASTODON) else None


def name_of(network: str) -> str:
    """The name for people. A post from a file may have a network that is not in the table."""
    known = NETWORKS.get(network or X)
    return known.name if known else network


def named(conjunction: str) -> str:
    """The names of all networks as part of a sentence."""
    *names, last = (known.name for known in NETWORKS.values())
    return f"{', '.join(names)} {conjunction} {last}"


KIND: Final = "links"
WAITING: Final = "waiting"
LEFT: Final = "left"


class Reason(StrEnum):
    """Why a post is still a link. The database has these texts."""

    NONE = ""
    # Its network shows single posts only to people or apps that are signed in.
    NO_SOURCE = "no_source"
    # The server of the post does.
    SIGN_IN = "sign_in"
    GONE = "gone"
    PROTECTED = "protected"
    # The name of the server leads to a private address.
    ADDRESS = "address"
    UNREADABLE = "unreadable"
    # Those below may pass. They are final after a week.
    BUSY = "busy"
    UNREACHABLE = "unreachable"


class LinkJob(Struct, frozen=True):
    """The parameters of a job."""

    # Ask again for the posts after this one, and read none; 0 to read what is due.
    after: int = 0


class DueLink(Struct, frozen=True, array_like=True):
    post_id: str
    tries: int
    since: int


class FailedLink(Struct, frozen=True):
    post_id: str
    state: str
    reason: Reason
    tries: int
    due_at: int


class LinkState(Struct, frozen=True):
    """What is known of a post that is only a link."""

    is_waiting: bool
    reason: Reason


class ContentState(StrEnum):
    """How much of a post the library has."""

    # Its text is known; of a long post perhaps only the beginning.
    WHOLE = "whole"
    FETCHING = "fetching"
    LINK = "link"
    GONE = "gone"


SENTENCES: Final = {
    Reason.NONE: "Its text has not been asked for.",
    Reason.NO_SOURCE: "Its network shows single posts only to people who are signed in.",
    Reason.SIGN_IN: "Its server shows it only to people who are signed in.",
    Reason.GONE: "Its network says that there is no such post: it was deleted, or is not public.",
    Reason.PROTECTED: "It is protected: only people whom its author admits can see it.",
    Reason.ADDRESS: "The name of its server does not lead to a public address.",
    Reason.UNREADABLE: "Its network gave no answer that Bowerbird can read.",
    Reason.BUSY: "Its network does not answer at the moment.",
    Reason.UNREACHABLE: "Its server cannot be reached.",
}


class PostContent(Struct, frozen=True):
    state: ContentState
    # Why the text is not there, or "".
    problem: str = ""
    # False while a job may change it, which does not change the version of the library.
    is_settled: bool = True


def content_of(link: LinkState | None, *, is_fetched: bool) -> PostContent:
    """Of a post that is only a link. `is_fetched`: whether the service asks for texts."""
    if link is None or (link.is_waiting and not is_fetched):
        return PostContent(ContentState.LINK, SENTENCES[Reason.NONE], is_settled=link is None)
    if link.is_waiting:
        problem = SENTENCES[link.reason] if link.reason else ""
        return PostContent(ContentState.FETCHING, problem, is_settled=False)
    is_gone = link.reason in (Reason.GONE, Reason.PROTECTED)
    state = ContentState.GONE if is_gone else ContentState.LINK
    return PostContent(state, SENTENCES[link.reason])


class LinkCounts(Struct, frozen=True):
    waiting: int = 0
    # Why the others stay links, the most frequent reason first.
    reasons: dict[Reason, int] = {}

    @property
    def left(self) -> int:
        return sum(self.reasons.values())
