"""Liked posts, which are not bookmarks: they are imported only on request, and with a label."""

from collections.abc import Iterable, Iterator
from typing import Final

from bowerbird.sources.formats import Choices
from bowerbird.sources.found import Found, FoundPost, LeftOut, Reason

LIKED: Final = "liked"


def only_if_requested(likes: Iterable[Found], choices: Choices) -> Iterator[Found]:
    for found in likes:
        if choices.with_likes or not isinstance(found, FoundPost):
            yield found
        else:
            yield LeftOut(
                line=found.line,
                reason=Reason.NOT_REQUESTED,
                sentence=f"Line {found.line}: A liked post. Likes are imported only on request.",
            )
