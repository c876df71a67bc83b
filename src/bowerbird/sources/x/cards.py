"""The card below a post: a poll, or the preview of a link."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from bowerbird.sources.x import dates
from bowerbird.sources.x.values import (
    InvalidDocument,
    Object,
    at,
    decode,
    first_text,
    mapping,
    objects,
    present,
    short_text,
    web_address,
    whole_number,
)

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


def attachment(card: object, targets: Mapping[str, str]) -> Object | None:
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
        domain=first_text((_string(values, "vanity_url"), _string(values, "domain"), host(url))),
        preview_image=_image(values),
    )


def host(url: str) -> str:
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
    ends_at = dates.iso(_string(values, "end_datetime_utc"))
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
        domain=first_text((target.get("vanity"), host(url))),
        preview_image=first_text(web_address(at(image, "media_url_https")) for image in images),
    )


def _first_data(parts: Any, field: str) -> Object:
    for part in mapping(parts).values():
        data = mapping(at(part, "data"))
        if field in data:
            return data
    return {}
