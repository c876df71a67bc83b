"""Whether this browser shows images, and the kept images of the posts on a page."""

from collections.abc import Iterable
from typing import Any, Final

from bowerbird.library.media.kept import KeptImages
from bowerbird.model.accounts import Account
from bowerbird.model.kept_images import image_urls
from bowerbird.web.library.post_parts import PostParts
from bowerbird.web.visits.visit import Visit

# The name of the cookie. Without it, pages load no image.
COOKIE: Final = "images"
ON: Final = "on"


def shows_images(visit: Visit) -> bool:
    return visit.jar.read(visit.request.headers.get(b"cookie"), COOKIE) == ON


class ShownImages:
    """`is_offered`: whether the operator lets accounts keep images."""

    def __init__(self, kept: KeptImages, *, is_offered: bool) -> None:
        self._kept = kept
        self.is_offered = is_offered

    def values(self, visit: Visit) -> dict[str, Any]:
        """What the templates need for the switch."""
        return {"can_show_images": self.is_offered, "shows_images": shows_images(visit)}

    async def add(
        self, account: Account, parts: PostParts, bookmarks: Iterable[dict[str, Any]]
    ) -> None:
        """Lets the parts show the kept images of these posts: one read, if the switch is on."""
        if parts.kept is None:
            return
        details = (bookmark.get("tweet_details") for bookmark in bookmarks)
        urls = [url for each in details if isinstance(each, dict) for url in image_urls(each)]
        parts.kept |= await self._kept.among(account, urls)
