"""Reads pages of saved posts from version 2 of X's API, in both of its spellings.

It says "tweet" in older and "post" in newer versions: `note_tweet` is `note_post`, and so on. A
page has authors, media, polls and other posts once, however many of its posts refer to them.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from bowerbird.model import languages
from bowerbird.model.arrival import OrderSource
from bowerbird.model.labels import clean_name
from bowerbird.model.posts.bookmarks import PostMeta
from bowerbird.sources.found import Found, LeftOut, Reason
from bowerbird.sources.parsing.json_values import at
from bowerbird.sources.x.content import (
    MAX_ATTACHMENTS,
    TYPES,
    Author,
    Content,
    article_object,
    best_variant,
    host_of,
    may_be_cut,
    original_image,
    readable,
)
from bowerbird.sources.x.pages import (
    MAX_ENTRIES,
    NO_FOLDERS,
    NO_LIST,
    TOO_MANY,
    Folder,
    Page,
    failed,
    without_list,
)
from bowerbird.sources.x.posts import (
    UNPLACED,
    Place,
    Saved,
    found_post,
    metrics_of,
    quoted_object,
    saved_post,
)
from bowerbird.sources.x.values import (
    MAX_POST_CHARACTERS,
    InvalidDocument,
    Object,
    article_text,
    date_of_post,
    decode,
    first_text,
    iso_date,
    mapping,
    objects,
    post_id,
    post_text,
    present,
    sequence,
    short_text,
    web_address,
    whole_number,
)

_MAX_REFERENCES: Final = 10
_MAX_CHOICES: Final = 10
_STATUS: Final = re.compile(r"/status/([1-9][0-9]{0,18})(/(?:photo|video)/[0-9]+)?$")


class _Included(NamedTuple):
    posts: dict[str, Object]
    users: dict[str, Object]
    media: dict[str, Object]
    polls: dict[str, Object]

    @classmethod
    def of(cls, includes: object) -> "_Included":
        listed = objects(at(includes, "tweets")) + objects(at(includes, "posts"))
        return cls(
            posts={post_id(each.get("id")): each for each in listed if post_id(each.get("id"))},
            users={post_id(each.get("id")): each for each in objects(at(includes, "users"))},
            media={
                short_text(each.get("media_key")): each for each in objects(at(includes, "media"))
            },
            polls={short_text(each.get("id")): each for each in objects(at(includes, "polls"))},
        )


def _reference(post: Object, *kinds: str) -> str:
    """The id of the post that this one replies to, quotes or reposts, or ""."""
    listed = objects(post.get("referenced_tweets")) + objects(post.get("referenced_posts"))
    for each in listed[:_MAX_REFERENCES]:
        if each.get("type") in kinds and (number := post_id(each.get("id"))):
            return number
    return ""


def _content(post: Object, number: str, included: _Included, quoted_id: str) -> Content:
    note = mapping(post.get("note_tweet") or post.get("note_post"))
    note_text = post_text(note.get("text"))
    text = note_text or post_text(post.get("text"))
    links = objects(at(note, "entities", "urls")) + objects(at(post, "entities", "urls"))
    targets = {short_text(link.get("url")): _target(link) for link in links}
    own = {short_text(link.get("url")) for link in links if _is_own(link, number, quoted_id)}
    foreign = [link for link in links if short_text(link.get("url")) not in own]
    return Content(
        post_id=number,
        author=_author(post, included),
        text=readable(text, targets, own - {""}),
        posted_at=iso_date(post.get("created_at")) or date_of_post(number),
        attachments=_attachments(post, included, foreign),
        article=_article(post, included),
        has_text=bool(text) or isinstance(post.get("text"), str),
        # Without the field of the note, X sends only the beginning of a long text.
        is_cut=len(text) == MAX_POST_CHARACTERS or (not note_text and may_be_cut(text)),
    )


def _target(link: Object) -> str:
    return web_address(link.get("expanded_url")) or web_address(link.get("unwound_url"))


def _is_own(link: Object, number: str, quoted_id: str) -> bool:
    """Whether a link leads to the media of the post, or to the quoted post."""
    if isinstance(link.get("media_key"), str):
        return True
    status = _STATUS.search(short_text(link.get("expanded_url")))
    if status is None:
        return False
    return status[1] == quoted_id or (status[1] == number and bool(status[2]))


def _author(post: Object, included: _Included) -> Author:
    number = post_id(post.get("author_id"))
    user = included.users.get(number, {}) if number else {}
    return Author(
        id=number,
        username=short_text(user.get("username")),
        name=short_text(user.get("name")),
        profile_image=original_image(web_address(user.get("profile_image_url"))),
    )


def _attachments(post: Object, included: _Included, links: list[Object]) -> list[Object]:
    attached = mapping(post.get("attachments"))
    keys = dict.fromkeys(short_text(key) for key in sequence(attached.get("media_keys")))
    known = [included.media[key] for key in list(keys)[:MAX_ATTACHMENTS] if key in included.media]
    polls = [
        included.polls[number]
        for number in map(short_text, sequence(attached.get("poll_ids"))[:1])
        if number in included.polls
    ]
    found = [*map(_medium, known), *map(_poll, polls), _link(links)]
    return [attachment for attachment in found if attachment]


def _medium(medium: Object) -> Object | None:
    kind = TYPES.get(short_text(medium.get("type")), "")
    preview = web_address(medium.get("preview_image_url"))
    url = web_address(medium.get("url"))
    if kind != "image":
        url = best_variant(medium.get("variants"), "bit_rate") or url or preview
    if not kind or not url:
        return None
    return present(
        type=kind,
        url=url,
        preview_image=preview,
        width=whole_number(medium.get("width")),
        height=whole_number(medium.get("height")),
        duration_ms=whole_number(medium.get("duration_ms")) or None,
        alt_text=short_text(medium.get("alt_text")),
        media_key=short_text(medium.get("media_key")),
    )


def _poll(poll: Object) -> Object | None:
    options = objects(poll.get("options"))[:_MAX_CHOICES]
    choices = [
        present(label=short_text(each.get("label")), count=whole_number(each.get("votes")))
        for each in options
    ]
    ends_at = iso_date(poll.get("end_datetime"))
    return present(type="poll", choices=choices, ends_at=ends_at) if choices else None


def _link(links: list[Object]) -> Object | None:
    """The first link that X shows with a title, as the web client shows a card."""
    for link in links:
        url = _target(link)
        if url and (title := short_text(link.get("title"))):
            images = (at(image, "url") for image in sequence(link.get("images")))
            return present(
                type="link",
                url=url,
                title=title,
                description=short_text(link.get("description")),
                domain=host_of(url),
                preview_image=first_text(map(web_address, images)),
            )
    return None


def _article(post: Object, included: _Included) -> Object | None:
    article = mapping(post.get("article"))
    body = article_text(article.get("plain_text")) or article_text(article.get("text"))
    title = short_text(article.get("title"))
    preview = article_text(article.get("preview_text"))
    cover = included.media.get(short_text(article.get("cover_media")), {})
    return article_object(
        post_id(article.get("id")), title, body, preview, web_address(cover.get("url"))
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
    included = _Included.of(mapping(document).get("includes"))
    return Page(
        posts=tuple(_posts(sequence(listed), included, folder)),
        cursor_out=token,
        proves_end=is_whole and "next_token" not in document["meta"],
        folder_id=folder.id if folder else "",
    )


def read_folders(payload: bytes) -> Page:
    try:
        document = decode(payload)
    except InvalidDocument as error:
        return failed(str(error))
    listed = at(document, "data")
    is_empty = listed is None and isinstance(at(document, "meta"), dict)
    if not isinstance(listed, list) and not is_empty:
        return without_list(document, NO_FOLDERS)
    named = (
        (post_id(one.get("id")), clean_name(short_text(one.get("name")))) for one in objects(listed)
    )
    return Page(
        folders=tuple(Folder(number, name) for number, name in named if number and name),
        cursor_out=short_text(at(document, "meta", "next_token")),
    )


def _posts(listed: Iterable[object], included: _Included, folder: Folder | None) -> Iterable[Found]:
    seen: set[str] = set()
    place = _BY_POSITION if folder is None else UNPLACED
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
            yield found_post(saved, line, place, tags)


def _saved(post: Object, number: str, included: _Included) -> Saved:
    original = included.posts.get(_reference(post, "retweeted", "reposted"))
    if original is not None:
        inner = post_id(original.get("id"))
        return _own(original, inner, included, via_repost=number)
    return _own(post, number, included)


def _own(post: Object, number: str, included: _Included, via_repost: str = "") -> Saved:
    quoted = _quoted(post, included)
    read = _content(post, number, included, str(at(quoted, "post_id") or ""))
    return saved_post(read, quoted, _meta(post, read), via_repost)


def _quoted(post: Object, included: _Included) -> Object | None:
    number = _reference(post, "quoted")
    if not number:
        return None
    quoted = included.posts.get(number)
    if quoted is None:
        link = f"https://x.com/i/status/{number}"
        return {"post_id": number, "link": link, "unavailable": True}
    return quoted_object(_content(quoted, number, included, ""))


def _meta(post: Object, read: Content) -> PostMeta:
    reply_to_user = post_id(post.get("in_reply_to_user_id"))
    conversation = post_id(post.get("conversation_id")) or read.post_id
    is_self_reply = bool(reply_to_user) and reply_to_user == read.author.id
    counts = mapping(post.get("public_metrics"))
    return PostMeta(
        tweet_reply_to_tweet_id=_reference(post, "replied_to") or None,
        tweet_reply_to_user_id=reply_to_user or None,
        tweet_conversation_id=conversation,
        tweet_is_thread=is_self_reply,
        is_sub_tweet_of_thread=is_self_reply and conversation != read.post_id,
        non_real_time_engagement_metrics=metrics_of(counts, "repost_count", "like_count"),
        language=languages.stated(post.get("lang")),
    )
