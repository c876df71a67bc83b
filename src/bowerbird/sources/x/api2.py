"""Reads pages of saved posts from version 2 of X's API, in both of its spellings.

It says "tweet" in older and "post" in newer versions: `note_tweet` is `note_post`, and so on.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from bowerbird.model.bookmarks import Metrics, PostDetails, PostMeta
from bowerbird.model.labels import clean_name
from bowerbird.sources.found import Completeness, Found, LeftOut, OrderSource, Reason
from bowerbird.sources.x import api2_content, placing
from bowerbird.sources.x.api2_content import Included, reference
from bowerbird.sources.x.content import Content
from bowerbird.sources.x.folders import Folder, Folders, without_folders
from bowerbird.sources.x.pages import (
    MAX_ENTRIES,
    NO_LIST,
    TOO_MANY,
    Page,
    failed,
    without_list,
)
from bowerbird.sources.x.placing import Place
from bowerbird.sources.x.posts import Saved, quoted_object
from bowerbird.sources.x.values import (
    InvalidDocument,
    Object,
    at,
    decode,
    mapping,
    objects,
    post_id,
    sequence,
    short_text,
    whole_number,
)

# With larger pages X ends some lists too early, without a token for the next page.
MAX_RESULTS_WITH_END: Final = 90
_BY_POSITION: Final = Place(source=OrderSource.FILE_POSITION)


def read_page(
    payload: bytes, max_results: int = MAX_RESULTS_WITH_END, *, folder: Folder | None = None
) -> Page:
    """Reads a page. Its order is that of saving, the latest first; the API gives no dates of it.

    `max_results` is the size of the page that was asked for. The page of a folder has only the ids
    of its posts, which say nothing about when they were saved.
    """
    try:
        document = decode(payload)
    except InvalidDocument as error:
        return failed(str(error))
    listed = at(document, "data")
    is_empty = listed is None and isinstance(at(document, "meta", "result_count"), int)
    if not isinstance(listed, list) and not is_empty:
        return without_list(document, NO_LIST)
    if len(sequence(listed)) > MAX_ENTRIES:
        return failed(TOO_MANY)
    token = short_text(at(document, "meta", "next_token"))
    is_whole = isinstance(at(document, "meta"), dict) and max_results <= MAX_RESULTS_WITH_END
    included = Included.of(mapping(document).get("includes"))
    return Page(
        posts=tuple(_posts(sequence(listed), included, folder)),
        cursor_out=token,
        proves_end=is_whole and "next_token" not in document["meta"],
        folder_id=folder.id if folder else "",
    )


def read_folders(payload: bytes) -> Folders:
    try:
        document = decode(payload)
    except InvalidDocument as error:
        return Folders(errors=(str(error),))
    listed = at(document, "data")
    is_empty = listed is None and isinstance(at(document, "meta"), dict)
    if not isinstance(listed, list) and not is_empty:
        return without_folders(document)
    named = (
        (post_id(one.get("id")), clean_name(short_text(one.get("name")))) for one in objects(listed)
    )
    return Folders(
        folders=tuple(Folder(number, name) for number, name in named if number and name),
        cursor_out=short_text(at(document, "meta", "next_token")),
    )


def _posts(listed: Iterable[object], included: Included, folder: Folder | None) -> Iterable[Found]:
    seen: set[str] = set()
    place = _BY_POSITION if folder is None else placing.UNPLACED
    tags = (folder.name,) if folder and folder.name else ()
    for line, post in enumerate(listed, 1):
        number = post_id(at(post, "id"))
        if not isinstance(post, dict) or not number:
            sentence = f"Record {line} is not a post with an id."
            yield LeftOut(line=line, reason=Reason.INVALID, sentence=sentence)
            continue
        saved = _saved(post, number, included)
        if saved.content.post_id not in seen:
            seen.add(saved.content.post_id)
            yield placing.found(saved, line, place, tags)


def _saved(post: Object, number: str, included: Included) -> Saved:
    original = included.posts.get(reference(post, "retweeted", "reposted"))
    if original is not None:
        inner = post_id(original.get("id"))
        return _own(original, inner, included, via_repost=number)
    return _own(post, number, included)


def _own(post: Object, number: str, included: Included, via_repost: str = "") -> Saved:
    quoted = _quoted(post, included)
    read = api2_content.read(post, number, included, str(at(quoted, "post_id") or ""))
    article = read.article or mapping(at(quoted, "article")) or None
    is_cut = read.is_cut or bool(article and article["is_preview"])
    return Saved(
        content=read,
        details=PostDetails(
            text=read.text,
            link=read.link,
            posted_at=read.posted_at,
            attachments=read.attachments,
            article=article,
            quoted_tweet=quoted,
            meta=_meta(post, read),
        ),
        completeness=_completeness(read, is_cut=is_cut),
        via_repost=via_repost,
    )


def _completeness(read: Content, *, is_cut: bool) -> Completeness:
    if not read.has_text:
        return Completeness.STUB
    return Completeness.PREVIEW if is_cut else Completeness.FULL


def _quoted(post: Object, included: Included) -> Object | None:
    number = reference(post, "quoted")
    if not number:
        return None
    quoted = included.posts.get(number)
    if quoted is None:
        link = f"https://x.com/i/status/{number}"
        return {"post_id": number, "link": link, "unavailable": True}
    return quoted_object(api2_content.read(quoted, number, included, ""))


class _Counts(NamedTuple):
    values: Object

    def __call__(self, *names: str) -> int:
        return next((n for name in names if (n := whole_number(self.values.get(name)))), 0)


def _meta(post: Object, read: Content) -> PostMeta:
    reply_to_user = post_id(post.get("in_reply_to_user_id"))
    conversation = post_id(post.get("conversation_id")) or read.post_id
    is_self_reply = bool(reply_to_user) and reply_to_user == read.author.id
    count = _Counts(mapping(post.get("public_metrics")))
    return PostMeta(
        tweet_reply_to_tweet_id=reference(post, "replied_to") or None,
        tweet_reply_to_user_id=reply_to_user or None,
        tweet_conversation_id=conversation,
        tweet_is_thread=is_self_reply,
        is_sub_tweet_of_thread=is_self_reply and conversation != read.post_id,
        non_real_time_engagement_metrics=Metrics(
            quote_count=count("quote_count"),
            reply_count=count("reply_count"),
            retweet_count=count("retweet_count", "repost_count"),
            bookmark_count=count("bookmark_count"),
            favorite_count=count("like_count"),
        ),
    )
