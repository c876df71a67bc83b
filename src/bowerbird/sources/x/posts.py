"""Maps a saved post of X to the fields of a bookmark, with its place in the list."""

import re
from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from bowerbird.model import instants, languages
from bowerbird.model.arrival import Completeness, OrderSource
from bowerbird.model.posts.bookmarks import ImportRecord, Metrics, PostDetails, PostMeta
from bowerbird.sources.found import MAX_AHEAD_US, FoundPost, LeftOut, Reason
from bowerbird.sources.parsing.json_values import at
from bowerbird.sources.x.content import Content, Unwrapped, id_of, read_content, unwrap
from bowerbird.sources.x.values import (
    Object,
    date_of_post,
    first_text,
    mapping,
    post_id,
    present,
    sequence,
    short_text,
    web_address,
    whole_number,
)

_MAX_EDITS: Final = 20
_MAX_REASON_CHARACTERS: Final = 200
_UNAVAILABLE: Final = frozenset({"TweetTombstone", "TweetUnavailable"})
_SELF_THREAD: Final = "SelfThread"
_STATUS: Final = re.compile(r"/status/([1-9][0-9]{0,18})(?=[/?#]|$)")


class Saved(NamedTuple):
    """A post with everything that X says about it, except its place in the list."""

    content: Content
    details: PostDetails
    completeness: Completeness
    # The id of the repost under which the post was saved, or "".
    via_repost: str = ""
    # The ids of all versions of an edited post.
    versions: tuple[str, ...] = ()


def read_post(result: object, listed_id: str = "", display_type: str = "") -> Saved | LeftOut:
    """Reads the value of `tweet_results.result`. `listed_id` is the id that the list gives."""
    outer = unwrap(result)
    number = id_of(outer.tweet) or listed_id
    is_unavailable = short_text(outer.tweet.get("__typename")) in _UNAVAILABLE
    if is_unavailable or not _has_content(outer.tweet):
        return _missing(result, number, is_unavailable=is_unavailable)
    if not number:
        return LeftOut(reason=Reason.INVALID, sentence="The post has no id.")
    inner = _reposted(outer.tweet)
    if inner is not None:
        return _saved(inner, id_of(inner.tweet), "", via_repost=number)
    return _saved(outer, number, display_type)


def _has_content(tweet: Object) -> bool:
    return any(isinstance(tweet.get(part), dict) for part in ("legacy", "note_tweet"))


def _missing(result: object, number: str, *, is_unavailable: bool) -> LeftOut:
    name = f"Post {number}" if number else "A post"
    reason = unavailable_reason(result).rstrip(".")
    problem = ""
    if result is not None and not isinstance(result, dict):
        problem = f"{name} is not an object."
    elif result and not reason and not is_unavailable:
        problem = f"{name} has an unknown form."
    if problem:
        return LeftOut(reason=Reason.INVALID, sentence=problem, post_id=number)
    sentence = f"{name} is not available on X: {reason}." if reason else f"{name} has no content."
    return LeftOut(
        reason=Reason.UNAVAILABLE,
        sentence=sentence,
        post_id=number,
        source_reason=reason,
        is_empty=not result,
    )


def unavailable_reason(result: object) -> str:
    tombstone = at(result, "tombstone", "text")
    reason = first_text((at(result, "reason"), at(tombstone, "text"), tombstone))
    return reason[:_MAX_REASON_CHARACTERS]


def _reposted(tweet: Object) -> Unwrapped | None:
    """The post that this one reposts. The repost itself has only the beginning of its text."""
    wrapped = at(tweet, "legacy", "retweeted_status_result") or tweet.get("retweeted_status_result")
    inner = unwrap(at(wrapped, "result"))
    return inner if id_of(inner.tweet) and _has_content(inner.tweet) else None


def _saved(unwrapped: Unwrapped, number: str, display_type: str, via_repost: str = "") -> Saved:
    tweet = unwrapped.tweet
    quoted = _quoted(tweet)
    read = read_content(unwrapped, number, hides_quote=quoted is not None)
    meta = _meta(tweet, read, display_type)
    is_repost = "retweeted_status_result" in mapping(tweet.get("legacy"))
    saved = saved_post(read, quoted, meta, via_repost, is_cut=is_repost and not via_repost)
    return saved._replace(versions=_versions(tweet))


def saved_post(
    read: Content, quoted: Object | None, meta: PostMeta, via_repost: str, *, is_cut: bool = False
) -> Saved:
    """`is_cut`: the text is the beginning of a longer one, for another reason than it shows."""
    article = read.article or mapping(at(quoted, "article")) or None
    is_cut = is_cut or read.is_cut or bool(article and article["is_preview"])
    completeness = Completeness.PREVIEW if is_cut else Completeness.FULL
    return Saved(
        content=read,
        details=PostDetails(
            text=read.text,
            link=read.link,
            posted_at=read.posted_at,
            attachments=read.attachments,
            article=article,
            quoted_tweet=quoted,
            meta=meta,
        ),
        completeness=completeness if read.has_text else Completeness.STUB,
        via_repost=via_repost,
    )


def _meta(tweet: Object, read: Content, display_type: str) -> PostMeta:
    legacy = mapping(tweet.get("legacy"))
    reply_to_user = post_id(legacy.get("in_reply_to_user_id_str"))
    conversation = post_id(legacy.get("conversation_id_str")) or read.post_id
    is_self_reply = bool(reply_to_user) and reply_to_user == read.author.id
    is_thread = bool(legacy.get("self_thread") or tweet.get("self_thread"))
    return PostMeta(
        tweet_reply_to_tweet_id=post_id(legacy.get("in_reply_to_status_id_str")) or None,
        tweet_reply_to_user_id=reply_to_user or None,
        tweet_conversation_id=conversation,
        tweet_is_thread=is_self_reply or is_thread or display_type == _SELF_THREAD,
        is_sub_tweet_of_thread=is_self_reply and conversation != read.post_id,
        non_real_time_engagement_metrics=metrics_of(legacy),
        language=languages.stated(legacy.get("lang")),
    )


def metrics_of(
    counts: Object, reposts: str = "retweet_count", likes: str = "favorite_count"
) -> Metrics:
    def count(name: str) -> int:
        return whole_number(counts.get(name)) or 0

    return Metrics(
        quote_count=count("quote_count"),
        reply_count=count("reply_count"),
        retweet_count=count("retweet_count") or count(reposts),
        bookmark_count=count("bookmark_count"),
        favorite_count=count(likes),
    )


def _versions(tweet: Object) -> tuple[str, ...]:
    control = mapping(tweet.get("edit_control"))
    listed = control.get("edit_tweet_ids") or at(control, "edit_control_initial", "edit_tweet_ids")
    ids = tuple(filter(None, map(post_id, sequence(listed)[:_MAX_EDITS])))
    return ids if len(ids) > 1 else ()


def _quoted(tweet: Object) -> Object | None:
    """The quoted post. A quote inside of it is not followed."""
    legacy = mapping(tweet.get("legacy"))
    permalink = web_address(at(legacy, "quoted_status_permalink", "expanded"))
    wrapped = tweet.get("quoted_status_result") or legacy.get("quoted_status_result")
    result = at(wrapped, "result")
    inner = unwrap(result)
    number = id_of(inner.tweet) or post_id(legacy.get("quoted_status_id_str"))
    if not number and (in_link := _STATUS.search(permalink)):
        number = in_link[1]
    if not number:
        return None
    if not _has_content(inner.tweet):
        return {
            **present(post_id=number, link=permalink or f"https://x.com/i/status/{number}"),
            "unavailable": True,
            **present(reason=unavailable_reason(result)),
        }
    return quoted_object(read_content(inner, number, hides_quote=False))


def quoted_object(read: Content) -> Object:
    """The fields of a quoted post in the API."""
    author = read.author
    return {
        "post_id": read.post_id,
        "text": read.text,
        "link": read.link,
        "posted_at": read.posted_at,
        "author_id": author.id,
        "author_username": author.username,
        "author_details": {
            "name": author.name,
            "username": author.username,
            "profile_image": author.profile_image,
        },
        "attachments": read.attachments,
        "article": read.article,
    }


_SAVED_AT_SHIFT: Final = 20
# 2006-03-21, the day of the first post.
_FIRST_POST_US: Final = 1_142_899_200_000_000


class Place(NamedTuple):
    sort_index: int | UnsetType = UNSET
    bookmarked_at: str | UnsetType = UNSET
    source: OrderSource = OrderSource.IMPORT


UNPLACED: Final = Place()


def place_of(saved: Saved, sort_index: int | None, now: int) -> Place:
    """Reads X's index of a bookmark: the milliseconds of its saving, shifted by 20 bits.

    An index that is the id of the post, or that is earlier than the post or in the future, is not
    such a moment. Then only the order of the list counts.
    """
    ids = (saved.content.post_id, saved.via_repost)
    moment = _moment(sort_index, ids, saved.content.posted_at, now)
    if sort_index is None or moment is None:
        return Place(source=OrderSource.FILE_POSITION)
    return Place(sort_index, instants.with_offset(moment), OrderSource.X)


def valid_index(sort_index: int | None, post_id: str, now: int) -> int | None:
    """The index of a post with nothing but its id, if it is a moment of saving."""
    is_valid = _moment(sort_index, (post_id,), date_of_post(post_id), now) is not None
    return sort_index if is_valid else None


def _moment(sort_index: int | None, ids: tuple[str, ...], posted_at: str, now: int) -> int | None:
    if sort_index is None or str(sort_index) in ids:
        return None
    moment = (sort_index >> _SAVED_AT_SHIFT) * 1000
    posted = instants.parse(posted_at) if posted_at else None
    earliest = max(_FIRST_POST_US, _FIRST_POST_US if posted is None else posted)
    return moment if earliest <= moment <= now + MAX_AHEAD_US else None


def found_post(saved: Saved, line: int, place: Place, tags: tuple[str, ...] = ()) -> FoundPost:
    author = saved.content.author
    record = ImportRecord(
        post_id=saved.content.post_id,
        tweet_details=saved.details,
        author_id=author.id,
        author_username=author.username,
        author_details=author.details,
        sort_index=place.sort_index,
        bookmarked_at=place.bookmarked_at,
        tags=list(tags) if tags else UNSET,
    )
    return FoundPost(
        record=record,
        line=line,
        completeness=saved.completeness,
        order_source=place.source,
        source_id=saved.content.post_id,
        via_repost=saved.via_repost,
        versions=saved.versions,
    )
