"""Reads saved answers of Bluesky's app.bsky.bookmark.getBookmarks, in both of its shapes."""

from collections.abc import Iterator
from typing import Any, Final

from bowerbird.model.bookmarks import Metrics, PostMeta
from bowerbird.sources.file_posts import FilePost, found_post, invalid, shown
from bowerbird.sources.formats import Beginning, Choices, Format
from bowerbird.sources.found import Completeness, Found, LeftOut, Reason
from bowerbird.sources.networks.bluesky_embeds import attachments, quoted_post
from bowerbird.sources.networks.bluesky_text import full_text
from bowerbird.sources.parsing.json_values import Unreadable, at, count_at, read_records, text_at
from bowerbird.sources.parsing.text_lines import SeekableFile, Utf8File
from bowerbird.sources.post_links import PostLink, bluesky_post

_GONE: Final = {
    "app.bsky.feed.defs#notFoundPost": "it no longer exists",
    "app.bsky.feed.defs#blockedPost": "it is blocked",
}


def read(file: SeekableFile, _choices: Choices) -> Iterator[Found]:
    for line, record in read_records(Utf8File(file)):
        if isinstance(record, Unreadable):
            yield invalid(line, str(record))
        else:
            yield _found(line, record)


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
        return invalid(line, f"{shown(uri)} is not the address of a post.")
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
