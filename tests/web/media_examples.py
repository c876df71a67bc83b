"""Example values of pages that show kept images."""

from typing import Any, Final

from bowerbird.model.media import KeptImage, KnownImage, image_urls
from bowerbird.web import templating
from bowerbird.web.library.post_parts import PostParts
from bowerbird.web.library.texts import LinkedTexts
from bowerbird.web.visits.formats import Dates, Times
from tests.web import library_examples
from tests.web.library_posts import POSTS

Values = dict[str, Any]

# A picture that every server has.
_SRC: Final = templating.paths()["plate.svg"]
IMAGES: Final[Values] = {
    "can_keep": True,
    "is_keeping": True,
    "is_clearing": False,
    "is_full": False,
    "kept": 1_204,
    "waiting": 1_700,
    "total": 3_000,
    "size": "310.0 MB",
    "quota": "1.0 GB",
    "left_out": [(90, "on sites from which this server downloads nothing"), (6, "gone")],
}


def _shown(post: Values) -> Values:
    held = (post, post["quote"] or {}, {"pictures": (post["article"] or {}).get("picture")})
    for pictures in filter(None, (each.get("pictures") for each in held)):
        for picture in pictures["shown"]:
            picture["src"] = _SRC
    return post


def _parts() -> PostParts:
    parts = PostParts(
        LinkedTexts(""), Dates(Times("Europe/Berlin"), 1_787_918_400_000_000), "", "author", {}
    )
    urls = [url for post in POSTS for url in image_urls(post["tweet_details"])]
    kept = KnownImage("kept", "", KeptImage("id", "image/png", 9, 560, 640))
    # The last one is gone.
    parts.images = dict.fromkeys(urls[:-1], kept) | {urls[-1]: KnownImage("left_out", "gone", None)}
    return parts


def _list() -> Values:
    _, values = library_examples.EXAMPLES["library"]
    parts = _parts()
    listed = [_shown(parts.in_list(post, "bookmarked_at")) for post in POSTS]
    return values | {"groups": [("Today", listed)], "shows_images": True}


def _post(number: int) -> Values:
    _, values = library_examples.EXAMPLES["post-pictures"]
    post = _shown(_parts().on_page(POSTS[number]))
    return values | {"post": post, "strand": [post], "title": "Post", "shows_images": True}


EXAMPLES: Final[dict[str, tuple[str, Values]]] = {
    "library-images": ("library.html", _list()),
    "post-images": ("post.html", _post(0)),
    "post-cover": ("post.html", _post(5)),
}
