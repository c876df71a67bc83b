"""The long-form article of a post. Lists have its title and beginning, its own page has all."""

from bowerbird.sources.x import dates
from bowerbird.sources.x.values import (
    MAX_ARTICLE_CHARACTERS,
    Object,
    article_text,
    at,
    mapping,
    objects,
    post_id,
    present,
    short_text,
    web_address,
)


def of_post(tweet: Object) -> Object | None:
    result = mapping(at(tweet, "article", "article_results", "result"))
    number = post_id(result.get("rest_id"))
    title = short_text(result.get("title"))
    body = _body(result)
    preview = article_text(result.get("preview_text"))
    if not (title or body or preview):
        return None
    article = present(
        id=number,
        title=title,
        plain_text=body,
        preview_text=preview,
        cover_image=web_address(at(result, "cover_media", "media_info", "original_img_url")),
        url=f"https://x.com/i/article/{number}" if number else "",
        published_at=dates.of_seconds(at(result, "metadata", "first_published_at_secs")),
        modified_at=dates.of_seconds(at(result, "lifecycle_state", "modified_at_secs")),
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
