"""Merges what a source says about a post with what the library has. The richer value wins.

A value is never replaced by a poorer one: a text by its beginning, an article by its title, a known
author by none, pictures by none. Counts and the author's profile are those captured last.
"""

import re
from enum import Enum, auto
from typing import Any, Final

import msgspec

from bowerbird.model.bookmarks import AuthorDetails, Metrics, Post, PostDetails, PostMeta
from bowerbird.model.derived_fields import known_time
from bowerbird.model.imports import Completeness

_NO_COUNTS: Final = Metrics()
_CUT_MARKS: Final = "….  \n"
# X ends the beginning of a long text with a link to the post, which some readers resolve.
_LINK_TO_REST: Final = re.compile(
    r"…\s?https?://(?:t\.co/[A-Za-z0-9]+|(?:x|twitter)\.com/\w+(?:/web)?/status/[0-9]+)\Z"
)
_MAX_LINK_CHARACTERS: Final = 100


class Sight(Enum):
    """What a source saw of a post, compared with what the library has."""

    LATEST = auto()
    # The library has counts and a profile that were captured later.
    OLDER = auto()
    # A part of the post: a count that is 0 may be missing.
    PART = auto()


def merge(stored: Post, has: int, found: Post, gives: int, sight: Sight = Sight.LATEST) -> Post:
    """`has` and `gives` say how complete the stored and the found post are."""
    is_richer = _is_richer(has, gives, sight)
    is_current = sight is not Sight.OLDER
    return Post(
        post_id=stored.post_id,
        tweet_details=_details(stored, found, has, gives, sight),
        author_id=_either(stored.author_id, found.author_id, takes_found=is_richer),
        author_username=_either(
            stored.author_username,
            found.author_username,
            takes_found=is_current and gives >= has,
        ),
        author_details=_author(
            stored.author_details,
            found.author_details,
            takes_found=is_current and gives > Completeness.STUB,
        ),
        source=found.source or stored.source,
        source_id=found.source_id or stored.source_id,
        gone_at=stored.gone_at,
        gone_reason=stored.gone_reason,
        removed_at=stored.removed_at,
        note=stored.note,
        highlights=stored.highlights,
    )


def _details(stored: Post, found: Post, has: int, gives: int, sight: Sight) -> PostDetails:
    old, new = stored.tweet_details, found.tweet_details
    is_richer = _is_richer(has, gives, sight)
    names_author = bool(found.author_username > stored.author_username == "")
    counts = _counts(old.meta, new.meta, gives, sight)
    return PostDetails(
        text=_text(old.text, new.text, has, gives, sight),
        # The link has the name of the author, which can change.
        link=_either(
            old.link,
            new.link,
            takes_found=names_author or (is_richer and sight is not Sight.OLDER),
        ),
        posted_at=_either(known_time(stored), known_time(found), takes_found=is_richer),
        attachments=_list(old.attachments, new.attachments, takes_found=is_richer),
        article=_article(old.article, new.article, takes_found=is_richer),
        quoted_tweet=_quoted(old.quoted_tweet, new.quoted_tweet, takes_found=is_richer),
        meta=_meta(old.meta, new.meta, stored.post_id, gives, counts, takes_found=is_richer),
    )


def _is_richer(has: int, gives: int, sight: Sight) -> bool:
    """Whether the values of the found post win. Of two complete posts, the later one does."""
    return gives > has or (gives == has == Completeness.FULL and sight is not Sight.OLDER)


def _text(old: str, new: str, has: int, gives: int, sight: Sight) -> str:
    if not old or not new or old == new:
        return old or new
    if gives != has:
        return new if gives > has else old
    if gives == Completeness.FULL and sight is Sight.OLDER:
        return new if _is_beginning(old, new) else old
    if gives == Completeness.FULL:
        return old if _is_beginning(new, old) else new
    # Neither is complete. The longer one wins, whichever comes first.
    return max(old, new, key=lambda text: (len(text), text))


def _is_beginning(short: str, whole: str) -> bool:
    """Whether a text is a cut version of a longer one."""
    beginning = short.rstrip()
    if link := _LINK_TO_REST.search(beginning, max(0, len(beginning) - _MAX_LINK_CHARACTERS)):
        beginning = beginning[: link.start()]
    return len(beginning) < len(whole) and whole.startswith(beginning.rstrip(_CUT_MARKS))


def _either(old: str, new: str, *, takes_found: bool) -> str:
    return (new or old) if takes_found else (old or new)


def _list(old: list[Any], new: list[Any], *, takes_found: bool) -> list[Any]:
    return (new or old) if takes_found else (old or new)


def _article(
    old: dict[str, Any] | None, new: dict[str, Any] | None, *, takes_found: bool
) -> dict[str, Any] | None:
    if not old or not new:
        return old or new
    has_body, gives_body = bool(old.get("plain_text")), bool(new.get("plain_text"))
    if has_body != gives_body:
        return new if gives_body else old
    return new if takes_found else old


def _quoted(
    old: dict[str, Any] | None, new: dict[str, Any] | None, *, takes_found: bool
) -> dict[str, Any] | None:
    if not old or not new or old == new:
        return old or new
    has, gives = _richness(old), _richness(new)
    if has == gives and takes_found:
        return new
    return new if gives > has else old


def _richness(quoted: dict[str, Any]) -> tuple[bool, bool, int, int]:
    article = quoted.get("article")
    body = article.get("plain_text") if isinstance(article, dict) else None
    text = quoted.get("text")
    attachments = quoted.get("attachments")
    return (
        not quoted.get("unavailable"),
        bool(body),
        len(text) if isinstance(text, str) else 0,
        len(attachments) if isinstance(attachments, list) else 0,
    )


def _counts(old: PostMeta, new: PostMeta, gives: int, sight: Sight) -> Metrics:
    before, after = old.non_real_time_engagement_metrics, new.non_real_time_engagement_metrics
    if gives == Completeness.STUB or after == _NO_COUNTS:
        return before
    if sight is Sight.OLDER:
        return after if before == _NO_COUNTS else before
    if sight is Sight.LATEST:
        return after
    names = Metrics.__struct_fields__
    return Metrics(**{name: getattr(after, name) or getattr(before, name) for name in names})


def _meta(
    old: PostMeta, new: PostMeta, post_id: str, gives: int, counts: Metrics, *, takes_found: bool
) -> PostMeta:
    first, second = (new, old) if takes_found else (old, new)
    return PostMeta(
        tweet_reply_to_tweet_id=first.tweet_reply_to_tweet_id or second.tweet_reply_to_tweet_id,
        tweet_reply_to_user_id=first.tweet_reply_to_user_id or second.tweet_reply_to_user_id,
        tweet_conversation_id=_conversation(old, new, post_id, gives, takes_found=takes_found),
        tweet_is_thread=old.tweet_is_thread or new.tweet_is_thread,
        is_sub_tweet_of_thread=old.is_sub_tweet_of_thread or new.is_sub_tweet_of_thread,
        non_real_time_engagement_metrics=counts,
        via_repost_id=first.via_repost_id or second.via_repost_id,
        version_ids=first.version_ids or second.version_ids,
    )


def _conversation(
    old: PostMeta, new: PostMeta, post_id: str, gives: int, *, takes_found: bool
) -> str:
    """A post that nothing is known about starts its own conversation, so another one is better."""
    known = [
        meta.tweet_conversation_id
        for meta in ((new, old) if takes_found else (old, new))
        if meta.tweet_conversation_id not in ("", post_id)
    ]
    if known:
        return known[0]
    # A link says nothing about the conversation; its value is a guess.
    guess = "" if gives == Completeness.STUB else new.tweet_conversation_id
    return old.tweet_conversation_id or guess


def _author(old: AuthorDetails, new: AuthorDetails, *, takes_found: bool) -> AuthorDetails:
    return AuthorDetails(
        name=_either(old.name, new.name, takes_found=takes_found),
        username=_either(old.username, new.username, takes_found=takes_found),
        profile_image=_either(old.profile_image, new.profile_image, takes_found=takes_found),
    )


def as_thread(post: Post) -> Post:
    """The post, marked as the beginning of a thread."""
    details = post.tweet_details
    meta = msgspec.structs.replace(details.meta, tweet_is_thread=True)
    return msgspec.structs.replace(post, tweet_details=msgspec.structs.replace(details, meta=meta))
