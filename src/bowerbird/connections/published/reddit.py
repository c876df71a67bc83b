"""Reads posts and comments of Reddit, many at once."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from bowerbird.connections.published.records import (
    FORBIDDEN,
    OK,
    Ask,
    Busy,
    Endpoint,
    Outcome,
    adopted,
)
from bowerbird.connections.records import Answer
from bowerbird.model.bookmarks import Metrics, PostMeta
from bowerbird.model.imports import Completeness
from bowerbird.model.links import Reason
from bowerbird.sources.file_posts import FilePost, found_post, media_attachments, web_address
from bowerbird.sources.parsing.json_values import at, count_at, list_at, text_at
from bowerbird.sources.post_links import PostLink

_HOST: Final = "www.reddit.com"
_PER_REQUEST: Final = 50
_REMOVED: Final = frozenset({"[deleted]", "[removed]"})


async def _read(links: Sequence[PostLink], ask: Ask) -> dict[str, Outcome]:
    query = urlencode({"id": ",".join(link.source_id for link in links), "raw_json": "1"})
    answer = await ask(f"https://{_HOST}/api/info.json?{query}")
    if answer.status in FORBIDDEN:
        # Reddit refuses some addresses for a while.
        raise Busy
    # It may be a megabyte of posts.
    return await asyncio.to_thread(_outcomes, answer, links)


def _outcomes(answer: Answer, links: Sequence[PostLink]) -> dict[str, Outcome]:
    children = at(answer.value(), "data", "children") if answer.status == OK else None
    if not isinstance(children, list):
        return {link.post_id: Reason.UNREADABLE for link in links}
    found = {text_at(one, "data", "name"): at(one, "data") for one in children}
    return {
        link.post_id: _post(found[link.source_id], link) if link.source_id in found else Reason.GONE
        for link in links
    }


def _post(thing: Any, link: PostLink) -> Outcome:
    text = text_at(thing, "body") or text_at(thing, "selftext")
    title, author = text_at(thing, "title"), text_at(thing, "author")
    if text in _REMOVED:
        return Reason.GONE
    created = at(thing, "created_utc")
    post = FilePost(
        link=link,
        line=0,
        completeness=Completeness.FULL,
        text="\n\n".join(filter(None, (title, text))),
        author_username="" if author in _REMOVED else author,
        posted_at=int(created) if isinstance(created, int | float) else None,
        attachments=_attachments(thing),
        meta=PostMeta(
            tweet_conversation_id=link.post_id,
            non_real_time_engagement_metrics=Metrics(
                reply_count=count_at(thing, "num_comments"),
                favorite_count=count_at(thing, "score"),
            ),
        ),
    )
    return adopted(found_post(post), link)


def _attachments(thing: Any) -> list[dict[str, Any]]:
    """The pictures of a gallery, the picture or page that a post links to."""
    url = web_address(text_at(thing, "url"))
    if at(thing, "is_self") is not False or not url:
        return []
    if text_at(thing, "post_hint") == "image":
        return media_attachments([url])
    items = list_at(thing, "gallery_data", "items")[:50]
    ids = [text_at(item, "media_id") for item in items]
    if ids:
        metadata = at(thing, "media_metadata")
        return media_attachments(text_at(at(metadata, one), "s", "u") for one in ids)
    return [{"type": "link", "url": url, "title": text_at(thing, "title")}]


ENDPOINT: Final = Endpoint(_HOST, _read, most=_PER_REQUEST)
