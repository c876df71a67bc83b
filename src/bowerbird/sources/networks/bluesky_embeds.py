"""What a Bluesky post shows below its text: images, a video, a page, a quoted post."""

from typing import Any, Final

from bowerbird.sources.file_posts import web_address
from bowerbird.sources.networks.bluesky_text import full_text
from bowerbird.sources.parsing import dates
from bowerbird.sources.parsing.json_values import at, count_at, list_at, text_at
from bowerbird.sources.post_links import bluesky_post

_MAX_IMAGES: Final = 50
_GIF_HOSTS: Final = ("https://media.tenor.com/", "https://static.klipy.com/")


def attachments(embed: Any) -> list[dict[str, Any]]:
    """The attachments of a post. With a quoted post, they are one level deeper."""
    media = at(embed, "media")
    embed = media if isinstance(media, dict) else embed
    found = [item for image in list_at(embed, "images")[:_MAX_IMAGES] if (item := _image(image))]
    video = web_address(at(embed, "playlist"))
    if video:
        found.append(
            {
                "type": "video",
                "url": video,
                "preview_image": web_address(at(embed, "thumbnail")) or None,
                "alt_text": text_at(embed, "alt") or None,
                **_size(embed),
            }
        )
    page = at(embed, "external")
    if url := web_address(at(page, "uri")):
        found.append(
            {
                "type": "gif" if url.startswith(_GIF_HOSTS) else "link",
                "url": url,
                "title": text_at(page, "title"),
                "description": text_at(page, "description"),
                "preview_image": web_address(at(page, "thumb")) or None,
            }
        )
    return found


def quoted_post(embed: Any) -> dict[str, Any] | None:
    """The quoted post. Lists, feeds and starter packs can be quoted as well, and are not posts."""
    record = at(embed, "record")
    # With media next to it, the quoted post is one level deeper.
    if isinstance(at(record, "record"), dict) and not isinstance(at(record, "uri"), str):
        record = at(record, "record")
    link = bluesky_post(text_at(record, "uri"), text_at(record, "author", "handle"))
    if link is None:
        return None
    known = {"post_id": link.post_id, "link": link.link}
    if not isinstance(at(record, "value"), dict):
        return {**known, "unavailable": True}
    embeds = list_at(record, "embeds")
    return {
        **known,
        "text": full_text(at(record, "value")),
        "posted_at": dates.read(at(record, "value", "createdAt")),
        "author_id": text_at(record, "author", "did"),
        "author_username": link.author_username,
        "author_details": {
            "name": text_at(record, "author", "displayName"),
            "username": link.author_username,
            "profile_image": web_address(at(record, "author", "avatar")),
        },
        "attachments": [item for embed in embeds[:_MAX_IMAGES] for item in attachments(embed)],
    }


def _image(image: Any) -> dict[str, Any] | None:
    url = web_address(at(image, "fullsize"))
    if not url:
        return None
    return {
        "type": "image",
        "url": url,
        "preview_image": web_address(at(image, "thumb")) or None,
        "alt_text": text_at(image, "alt") or None,
        **_size(image),
    }


def _size(item: Any) -> dict[str, Any]:
    return {
        "width": count_at(item, "aspectRatio", "width") or None,
        "height": count_at(item, "aspectRatio", "height") or None,
    }
