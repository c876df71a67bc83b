"""Reads saved answers of Bluesky's app.bsky.bookmark.getBookmarks, in both of its shapes."""

from collections.abc import Iterator
from typing import Any, Final

from bowerbird.model import languages
from bowerbird.model.arrival import Completeness
from bowerbird.model.posts.bookmarks import Metrics, PostMeta
from bowerbird.sources.file_posts import FilePost, found_in, found_post, shown, web_address
from bowerbird.sources.found import Beginning, Choices, Format, Found, LeftOut, Reason
from bowerbird.sources.parsing import dates
from bowerbird.sources.parsing.json_values import (
    Unreadable,
    at,
    count_at,
    list_at,
    read_records,
    text_at,
)
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File, storable
from bowerbird.sources.post_links import PostLink, bluesky_post

_MAX_FACETS: Final = 500
_MAX_LANGUAGES: Final = 10


def full_text(record: Any) -> str:
    """Replaces the shortened addresses in the text. A facet names a link by its UTF-8 bytes."""
    text = storable(text_at(record, "text"))
    data = text.encode()
    parts, done = [], 0
    for start, end, address in sorted(_links(record, len(data))):
        shown = data[start:end].decode("utf-8", "replace")
        if start >= done and _is_shortened(shown, address):
            parts += [data[done:start], address.encode()]
            done = end
    # A facet can begin in the middle of a character.
    return b"".join([*parts, data[done:]]).decode("utf-8", "replace")


def _links(record: Any, length: int) -> list[tuple[int, int, str]]:
    found = []
    for facet in list_at(record, "facets")[:_MAX_FACETS]:
        start, end = at(facet, "index", "byteStart"), at(facet, "index", "byteEnd")
        if not (type(start) is int and type(end) is int and 0 <= start < end <= length):
            continue
        for feature in list_at(facet, "features")[:_MAX_FACETS]:
            if address := web_address(at(feature, "uri")):
                found.append((start, end, address))
                break
    return found


def _is_shortened(shown: str, address: str) -> bool:
    """Whether the text is an address cut short, and not words that somebody linked."""
    beginning = shown.strip().removesuffix("...").rstrip("…")
    beginning = (beginning.partition("://")[2] or beginning).removeprefix("www.")
    return address.partition("://")[2].removeprefix("www.").startswith(beginning)


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


_GONE: Final = {
    "app.bsky.feed.defs#notFoundPost": "it no longer exists",
    "app.bsky.feed.defs#blockedPost": "it is blocked",
}


def read(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    return found_in(read_records(Utf8File(file)), _found)


def _found(line: int, record: Any) -> Found:
    # The older shape is the post itself.
    item = at(record, "item")
    post = item if isinstance(item, dict) else record
    # A saved feed has the post one level deeper.
    inner = at(post, "post")
    post = inner if isinstance(inner, dict) else post
    uri = text_at(record, "subject", "uri") or text_at(post, "uri")
    handle = text_at(post, "author", "handle")
    link = bluesky_post(uri, "" if handle == "handle.invalid" else handle)
    if link is None:
        raise Unreadable(f"{shown(uri)} is not the address of a post.")
    if reason := _why_gone(post):
        return LeftOut(
            line=line,
            reason=Reason.UNAVAILABLE,
            sentence=f"Line {line}: The post {link.link} cannot be read: {reason}.",
            post_id=link.post_id,
        )
    return _post(line, record, post, link)


def _why_gone(post: Any) -> str:
    reason = _GONE.get(text_at(post, "$type"), "")
    if at(post, "notFound") is True:
        return reason or "it no longer exists"
    if at(post, "blocked") is True:
        return reason or "it is blocked"
    return reason


def _post(line: int, record: Any, post: Any, link: PostLink) -> Found:
    has_content = isinstance(at(post, "record"), dict)
    return found_post(
        FilePost(
            link=link,
            line=line,
            completeness=Completeness.FULL if has_content else Completeness.STUB,
            text=full_text(at(post, "record")),
            author_id=text_at(post, "author", "did"),
            author_name=text_at(post, "author", "displayName"),
            author_username=link.author_username,
            profile_image=text_at(post, "author", "avatar"),
            posted_at=at(post, "record", "createdAt") or at(post, "indexedAt"),
            saved_at=at(record, "createdAt"),
            is_in_order=True,
            attachments=attachments(at(post, "embed")),
            quoted_post=quoted_post(at(post, "embed")),
            meta=_meta(post, link),
        )
    )


def _meta(post: Any, link: PostLink) -> PostMeta:
    reply = at(post, "record", "reply")
    parent = bluesky_post(text_at(reply, "parent", "uri"))
    root = bluesky_post(text_at(reply, "root", "uri"))
    own = text_at(post, "author", "did")
    is_own_reply = parent is not None and bool(own) and f"at://{own}/" in parent.source_id
    return PostMeta(
        tweet_reply_to_tweet_id=parent.post_id if parent else None,
        tweet_reply_to_user_id=parent.source_id.split("/")[2] if parent else None,
        tweet_conversation_id=root.post_id if root else link.post_id,
        tweet_is_thread=is_own_reply,
        is_sub_tweet_of_thread=is_own_reply,
        non_real_time_engagement_metrics=Metrics(
            quote_count=count_at(post, "quoteCount"),
            reply_count=count_at(post, "replyCount"),
            retweet_count=count_at(post, "repostCount"),
            bookmark_count=count_at(post, "bookmarkCount"),
            favorite_count=count_at(post, "likeCount"),
        ),
        language=languages.stated(*list_at(post, "record", "langs")[:_MAX_LANGUAGES]),
    )


def _fits(beginning: Beginning) -> bool:
    if "app.bsky." not in beginning.text:
        return False
    return any(
        beginning.json.has(path)
        for start in ("bookmarks[].", "[].", "")
        for path in (f"{start}subject.uri", f"{start}item.uri", f"{start}uri", f"{start}post.uri")
    )


FORMAT = Format("Bluesky JSON", _fits, read)
