"""The author of a post, in each of the shapes that X has used for users."""

import re
from typing import Final, NamedTuple

from bowerbird.model.bookmarks import AuthorDetails
from bowerbird.sources.x.values import Object, at, first_text, mapping, post_id, web_address

_MAX_WRAPPERS: Final = 4
# The suffix of the version with 48 pixels. The address without it is the original.
_SMALL_IMAGE: Final = re.compile(r"_normal(?=\.[A-Za-z]{2,5}$|$)")
_USERNAME: Final = re.compile(r"[A-Za-z0-9_]{1,50}")


class Author(NamedTuple):
    id: str = ""
    username: str = ""
    name: str = ""
    profile_image: str = ""

    @property
    def details(self) -> AuthorDetails:
        return AuthorDetails(
            name=self.name, username=self.username, profile_image=self.profile_image
        )

    def link(self, post_id: str) -> str:
        name = self.username if _USERNAME.fullmatch(self.username) else "i"
        return f"https://x.com/{name}/status/{post_id}"


def of_post(tweet: Object) -> Author:
    user = _user(mapping(tweet.get("core")))
    legacy = mapping(user.get("legacy"))
    # Since June 2025 these fields are in `core` and `avatar`; before, they were in `legacy`.
    core = mapping(user.get("core"))
    image = web_address(at(user, "avatar", "image_url"))
    return Author(
        id=post_id(user.get("rest_id")) or post_id(at(tweet, "legacy", "user_id_str")),
        username=first_text((core.get("screen_name"), legacy.get("screen_name"))),
        name=first_text((core.get("name"), legacy.get("name"))),
        profile_image=original_image(image or web_address(legacy.get("profile_image_url_https"))),
    )


def original_image(address: str) -> str:
    return _SMALL_IMAGE.sub("", address)


def _user(core: Object) -> Object:
    """The user below `user_results.result`, which X sometimes wraps twice."""
    user = mapping(core.get("user_results") or core.get("user_result"))
    for _ in range(_MAX_WRAPPERS):
        if not isinstance(user.get("result"), dict):
            break
        user = user["result"]
    return user
