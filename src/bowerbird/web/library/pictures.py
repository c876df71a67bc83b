"""Pictures of posts: how they are described and arranged."""

from collections.abc import Sequence
from typing import Any, Final

from bowerbird.web.library.texts import text_of, web_url

Values = dict[str, Any]

MOVING: Final = {"video": "Video", "gif": "Animation", "animated_gif": "Animation"}
_LISTED_PICTURES: Final = 4
_LONGEST_MS: Final = 1_000_000_000


def picture(attachment: Values) -> Values:
    """An image, video or animation, as it is described and linked."""
    kind = MOVING.get(text_of(attachment, "type"), "Image")
    return {
        "kind": kind,
        "icon": "image" if kind == "Image" else "play",
        "alt": text_of(attachment, "alt_text"),
        "url": web_url(attachment.get("url")),
        "length": _length(attachment.get("duration_ms")),
        # Whether `url` is the file of a video that is kept here.
        "is_kept": False,
        "src": "",
        "words": "",
        "is_waiting": False,
        # A page asks by it whether the image has arrived.
        "key": "",
    }


def arranged(pictures: Sequence[Values]) -> Values:
    """What pictures.html takes. `more`: how many a list does not show."""
    shown = [each for each in pictures if each["src"]]
    is_tall = len(shown) == 1 and shown[0]["height"] > shown[0]["width"]
    return {
        "shown": shown,
        "look": f"m{min(len(shown), _LISTED_PICTURES)}{' tall' if is_tall else ''}",
        "listed": _LISTED_PICTURES,
        "more": max(len(shown) - _LISTED_PICTURES, 0),
        "absent": [each for each in pictures if not each["src"]],
    }


def badge(kind: tuple[str, str] | None, pictures: Sequence[Values], cards: Sequence[Values]) -> str:
    """What a picture of the grid does not show: length, number, or where it leads."""
    if pictures and pictures[0]["icon"] == "play":
        return "GIF" if pictures[0]["kind"] == "Animation" else str(pictures[0]["length"])
    if kind and kind[0] in ("article", "thread"):
        return kind[1]
    if len(pictures) > 1:
        return f"{len(pictures)} images"
    return "" if pictures or not cards else str(cards[0]["domain"])


def _length(milliseconds: object) -> str:
    if not isinstance(milliseconds, int | float) or not 0 < milliseconds < _LONGEST_MS:
        return ""
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes}:{seconds:02}"


def is_picture(attachment: Values) -> bool:
    return attachment.get("type") in ("image", "photo", *MOVING)
