"""The images, videos and animations of a post."""

from typing import Final

from bowerbird.sources.x.values import (
    Object,
    at,
    first_text,
    mapping,
    objects,
    present,
    sequence,
    short_text,
    web_address,
    whole_number,
)

# Four times as many as X has allowed in a post so far.
MAX_ATTACHMENTS: Final = 16
TYPES: Final = {"photo": "image", "video": "video", "animated_gif": "gif"}


def of_post(legacy: Object) -> list[Object]:
    read = (_attachment(medium) for medium in entities(legacy)[:MAX_ATTACHMENTS])
    return [attachment for attachment in read if attachment]


def entities(legacy: Object) -> list[Object]:
    """What X says about the media of a post. Only `extended_entities` has all of them."""
    extended = objects(at(legacy, "extended_entities", "media"))
    return extended or objects(at(legacy, "entities", "media"))


def _attachment(medium: Object) -> Object | None:
    kind = TYPES.get(short_text(medium.get("type")), "")
    image = web_address(medium.get("media_url_https"))
    video = mapping(medium.get("video_info"))
    url = best_variant(video.get("variants"), "bitrate") if kind != "image" else ""
    if not kind or not (url or image):
        return None
    size = mapping(medium.get("original_info"))
    status = at(medium, "ext_media_availability", "status")
    return present(
        type=kind,
        url=url or image,
        preview_image=image if kind != "image" else None,
        width=whole_number(size.get("width")),
        height=whole_number(size.get("height")),
        duration_ms=whole_number(video.get("duration_millis")) or None,
        alt_text=first_text((medium.get("ext_alt_text"), medium.get("alt_text"))),
        media_key=short_text(medium.get("media_key")),
        expanded_url=web_address(medium.get("expanded_url")),
        available=status == "Available" if isinstance(status, str) else None,
    )


def best_variant(variants: object, bit_rate: str) -> str:
    """The address of the best MP4 file. The first variant is often a playlist instead."""
    best, best_rate = "", -1
    playlist = ""
    for variant in sequence(variants):
        address = web_address(at(variant, "url"))
        rate = whole_number(at(variant, bit_rate)) or 0
        if at(variant, "content_type") != "video/mp4":
            playlist = playlist or address
        elif address and rate > best_rate:
            best, best_rate = address, rate
    return best or playlist
