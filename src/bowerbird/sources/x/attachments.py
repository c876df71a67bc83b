"""What a post of X shows besides its text: media, a poll or the preview of a link, an article."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from bowerbird.sources.parsing.json_values import at
from bowerbird.sources.x.values import (
    MAX_ARTICLE_CHARACTERS,
    InvalidDocument,
    Object,
    article_text,
    date_of_seconds,
    decode,
    first_text,
    iso_date,
    mapping,
    objects,
    post_id,
    present,
    sequence,
    short_text,
    web_address,
    whole_number,
)

# Four times as many as X has allowed in a post so far.
MAX_ATTACHMENTS: Final = 16
TYPES: Final = {"photo": "image", "video": "video", "animated_gif": "gif"}


def media_of(legacy: Object) -> list[Object]:
    read = (_medium(medium) for medium in media_entities(legacy)[:MAX_ATTACHMENTS])
    return [attachment for attachment in read if attachment]


def media_entities(legacy: Object) -> list[Object]:
    """What X says about the media of a post. Only `extended_entities` has all of them."""
    extended = objects(at(legacy, "extended_entities", "media"))
    return extended or objects(at(legacy, "entities", "media"))


def _medium(medium: Object) -> Object | None:
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


_MAX_CHOICES: Final = 10
# The largest image first. "original" and "x_large" can be missing.
_IMAGES: Final = (
    "thumbnail_image_original",
    "summary_photo_image_original",
    "photo_image_full_size_original",
    "player_image_original",
    "thumbnail_image_large",
    "summary_photo_image_large",
    "photo_image_full_size_large",
    "player_image_large",
    "thumbnail_image",
    "summary_photo_image",
    "player_image",
)


def card_of(card: object, targets: Mapping[str, str]) -> Object | None:
    """The attachment of a card, or None if it has neither choices nor an address."""
    legacy = mapping(at(card, "legacy")) or mapping(card)
    values = _values(legacy.get("binding_values"))
    if short_text(legacy.get("name")).startswith("poll"):
        return _poll(values)
    if "unified_card" in values and (unified := _unified(values["unified_card"])):
        return unified
    # Since August 2026 some cards have no values, only the shortened link as their id.
    short = first_text((_string(values, "card_url"), legacy.get("url"), at(card, "rest_id")))
    url = web_address(targets.get(short, short))
    if not url:
        return None
    return present(
        type="link",
        url=url,
        title=_string(values, "title"),
        description=_string(values, "description"),
        domain=first_text((_string(values, "vanity_url"), _string(values, "domain"), host_of(url))),
        preview_image=_image(values),
    )


def host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _values(bindings: object) -> Object:
    """The values of a card by name. X writes a list of pairs, and wrote an object before."""
    if isinstance(bindings, dict):
        return bindings
    return {short_text(pair.get("key")): pair.get("value") for pair in objects(bindings)}


def _string(values: Object, name: str) -> str:
    return short_text(at(values.get(name), "string_value"))


def _image(values: Object) -> str:
    addresses = (web_address(at(values.get(name), "image_value", "url")) for name in _IMAGES)
    return next(filter(None, addresses), "")


def _poll(values: Object) -> Object | None:
    choices = []
    for number in range(1, _MAX_CHOICES + 1):
        label = _string(values, f"choice{number}_label")
        if label:
            votes = whole_number(at(values.get(f"choice{number}_count"), "string_value"))
            choices.append(present(label=label, count=votes))
    if not choices:
        return None
    ends_at = iso_date(_string(values, "end_datetime_utc"))
    return present(type="poll", choices=choices, ends_at=ends_at)


def _unified(value: object) -> Object | None:
    """The card of an advertiser's post, which is JSON inside a text."""
    try:
        card = decode(str(at(value, "string_value") or "").encode("utf-8", "replace"))
    except InvalidDocument:
        return None
    details = _first_data(at(card, "component_objects"), "title")
    target = mapping(_first_data(at(card, "destination_objects"), "url_data").get("url_data"))
    url = web_address(target.get("url"))
    if not url:
        return None
    images = mapping(at(card, "media_entities")).values()
    return present(
        type="link",
        url=url,
        title=short_text(at(details, "title", "content")),
        domain=first_text((target.get("vanity"), host_of(url))),
        preview_image=first_text(web_address(at(image, "media_url_https")) for image in images),
    )


def _first_data(parts: Any, field: str) -> Object:
    for part in mapping(parts).values():
        data = mapping(at(part, "data"))
        if field in data:
            return data
    return {}


def article_of(tweet: Object) -> Object | None:
    result = mapping(at(tweet, "article", "article_results", "result"))
    number = post_id(result.get("rest_id"))
    title = short_text(result.get("title"))
    body = _body(result)
    preview = article_text(result.get("preview_text"))
    return article_object(
        number,
        title,
        body,
        preview,
        web_address(at(result, "cover_media", "media_info", "original_img_url")),
        published_at=date_of_seconds(at(result, "metadata", "first_published_at_secs")),
        modified_at=date_of_seconds(at(result, "lifecycle_state", "modified_at_secs")),
    )


def article_object(
    number: str, title: str, body: str, preview: str, cover_image: str, **dates: str
) -> Object | None:
    """The fields of an article in the API; None if there is nothing of it."""
    if not (title or body or preview):
        return None
    article = present(
        id=number,
        title=title,
        plain_text=body,
        preview_text=preview,
        cover_image=cover_image,
        url=f"https://x.com/i/article/{number}" if number else "",
        **dates,
    )
    article["is_preview"] = not 0 < len(body) < MAX_ARTICLE_CHARACTERS
    return article


def _body(result: Object) -> str:
    body = article_text(result.get("plain_text"))
    return body if body.strip() else article_text(_joined(at(result, "content_state", "blocks")))


def _joined(blocks: object) -> str:
    """The text of the blocks: paragraphs with a blank line between them, items of a list without.

    Blocks without words are images and spaces.
    """
    parts: list[str] = []
    was_item = False
    for block in objects(blocks):
        text = article_text(block.get("text")).strip()
        if not text:
            continue
        is_item = short_text(block.get("type")).endswith("list-item")
        if parts:
            parts.append("\n" if is_item and was_item else "\n\n")
        parts.append(text)
        was_item = is_item
    return "".join(parts)
