"""Posts that are only links, and why their text is not known."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

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
