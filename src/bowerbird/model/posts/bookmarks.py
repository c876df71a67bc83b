"""A bookmark with the fields of the API. Its JSON is rendered once, when it is stored.

The time of an undated post is the one in its id, and without one the time at which it was saved. A
post that quotes an article has the article too. What a source says later replaces both.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from bowerbird.model import instants
from bowerbird.model.posts import highlights
from bowerbird.model.posts.highlights import Field, HighlightedPassage, Passages
from bowerbird.model.posts.networks import NETWORKS, X

Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""The integers that both databases can store: signed, 64 bits."""

NOTE_MAX: Final = 20_000
Note = Annotated[str, Meta(max_length=NOTE_MAX)]
IMAGE_TEXT_MAX: Final = 4_000
IMAGE_TEXTS_MAX: Final = 40
# "$" alone would allow a line break after it.
PostId = Annotated[str, Meta(pattern=r"^[0-9]{1,40}$(?!\n)")]


class Metrics(Struct, frozen=True, kw_only=True):
    quote_count: Integer = 0
    """Posts that quote this one."""
    reply_count: Integer = 0
    """Replies."""
    retweet_count: Integer = 0
    """Reposts."""
    bookmark_count: Integer = 0
    """Times anyone bookmarked the post."""
    favorite_count: Integer = 0
    """Likes."""


class PostMeta(Struct, frozen=True, kw_only=True):
    tweet_reply_to_tweet_id: str | None = None
    """The post that this one replies to, or null."""
    tweet_reply_to_user_id: str | None = None
    """The author of the post that this one replies to, or null."""
    tweet_conversation_id: str = ""
    """The first post of the conversation."""
    tweet_is_thread: bool = False
    """Whether the author continues in further posts."""
    is_sub_tweet_of_thread: bool = False
    """Whether the post continues a thread."""
    non_real_time_engagement_metrics: Metrics = Metrics()
    """Counts at the time the post was saved."""
    via_repost_id: str | UnsetType = UNSET
    """The repost under which the post was saved; absent otherwise."""
    version_ids: list[str] | UnsetType = UNSET
    """Ids of all versions of an edited post; absent otherwise."""
    language: str | UnsetType = UNSET
    """The language that the source gives the post, such as en or pt-BR; absent if it gives none."""


class Attachment(Struct, frozen=True, kw_only=True):
    """The known fields of an attachment. Other fields are stored unchanged."""

    type: str | UnsetType = UNSET
    """image, video, gif, link or poll."""
    url: str | UnsetType = UNSET
    """URL of the attachment."""
    preview_image: str | UnsetType | None = UNSET
    """URL of a still image of it."""
    width: Integer | UnsetType | None = UNSET
    """In pixels."""
    height: Integer | UnsetType | None = UNSET
    """In pixels."""
    duration_ms: Integer | UnsetType | None = UNSET
    """Length in milliseconds."""
    alt_text: str | UnsetType | None = UNSET
    """The author's description for people who cannot see it."""
    title: str | UnsetType | None = UNSET
    """Title of a linked page."""
    description: str | UnsetType | None = UNSET
    """Description of a linked page."""
    domain: str | UnsetType | None = UNSET
    """Domain of a linked page."""
    choices: list[Any] | UnsetType | None = UNSET
    """The choices of a poll."""
    ends_at: str | UnsetType | None = UNSET
    """When a poll closes."""


class Article(Struct, frozen=True, kw_only=True):
    """The known fields of a long-form article. Other fields are stored unchanged."""

    id: str | UnsetType | None = UNSET
    """Identifier of the article."""
    title: str | UnsetType | None = UNSET
    """Its title."""
    plain_text: str | UnsetType | None = UNSET
    """Its full text without markup."""
    preview_text: str | UnsetType | None = UNSET
    """Its beginning."""
    cover_image: str | UnsetType | None = UNSET
    """URL of its image."""
    url: str | UnsetType | None = UNSET
    """Its URL."""
    published_at: str | UnsetType | None = UNSET
    """When it was published."""
    is_preview: bool | UnsetType | None = UNSET
    """Whether only its beginning is available."""


class AuthorDetails(Struct, frozen=True, kw_only=True):
    name: str = ""
    """Display name."""
    username: str = ""
    profile_image: str = ""


class QuotedAuthor(Struct, frozen=True, kw_only=True):
    name: str | UnsetType | None = UNSET
    """Display name."""
    username: str | UnsetType | None = UNSET
    profile_image: str | UnsetType | None = UNSET


class QuotedPost(Struct, frozen=True, kw_only=True):
    """The known fields of a quoted post. Other fields are stored unchanged."""

    post_id: str | UnsetType | None = UNSET
    text: str | UnsetType | None = UNSET
    link: str | UnsetType | None = UNSET
    posted_at: str | UnsetType | None = UNSET
    author_id: str | UnsetType | None = UNSET
    author_username: str | UnsetType | None = UNSET
    author_details: QuotedAuthor | UnsetType | None = UNSET
    attachments: list[Attachment] | UnsetType | None = UNSET
    article: Article | UnsetType | None = UNSET
    unavailable: bool | UnsetType | None = UNSET
    """true if the quoted post no longer exists."""


class PostDetails(Struct, frozen=True, kw_only=True):
    text: str = ""
    link: str = ""
    posted_at: str = ""
    # The API allows unknown fields in these objects, so they stay dictionaries and keep them all.
    attachments: list[dict[str, Any]] = []
    article: dict[str, Any] | None = None
    quoted_tweet: dict[str, Any] | None = None
    """The post that this one quotes, or null."""
    meta: PostMeta = PostMeta()
    """The post's place in its conversation, and its counts."""


class ImageText(Struct, frozen=True):
    """What a program has read in an image of the post. It may be wrong."""

    url: Annotated[str, Meta(max_length=2_048)]
    """URL of the image, as in the attachment."""
    text: Annotated[str, Meta(max_length=IMAGE_TEXT_MAX)]
    """The text, line by line."""


class Post(Struct, frozen=True, kw_only=True):
    """The part of a bookmark that is stored as one document, without flags, labels and place.

    It is what the author wrote, what became of the post at its source, and the owner's note and
    highlights.
    """

    post_id: PostId
    # Required: importing a record without it would erase the text of an existing post.
    tweet_details: PostDetails
    """The post itself."""
    author_id: str = ""
    author_username: str = ""
    author_details: AuthorDetails = AuthorDetails()
    source: str | UnsetType = UNSET
    """The network of a post that is not from X, such as mastodon; absent for X."""
    source_id: str | UnsetType = UNSET
    """The id or address of such a post there."""
    # Absent in most posts, so that these do not change when a field is added. Null means absent.
    gone_at: str | UnsetType | None = UNSET
    """When the source first did not show the post any more; absent if it does."""
    gone_reason: str | UnsetType | None = UNSET
    """Why not, in the words of the source. Absent if it gives no reason."""
    removed_at: str | UnsetType | None = UNSET
    """When the owner removed the bookmark at the source; absent otherwise."""
    note: Note | UnsetType | None = UNSET
    """The owner's note about the post, as Markdown; absent if there is none."""
    highlights: Passages | UnsetType | None = UNSET
    """Passages that the owner marked; absent if there are none."""
    image_texts: Annotated[list[ImageText], Meta(max_length=IMAGE_TEXTS_MAX)] | UnsetType | None = (
        UNSET
    )
    """The text in images, if the server reads it; absent if there is none."""


P = TypeVar("P", bound=Post)


class Bookmark(Post, frozen=True, kw_only=True):
    """A post with its position and state in the library of an account."""

    imported_at: str
    """When the post was imported: UTC without an offset."""
    sort_index: Integer
    """Position in the default order, higher is newer; a signed 64-bit integer."""
    bookmarked_at: str
    """When the post was bookmarked, if known: ISO 8601 with an offset."""
    updated_at: str
    """When anything of the bookmark last changed, as /v1/changes reports it."""
    tags: list[str] | None
    is_read: bool
    is_archived: bool


class ImportRecord(Post, frozen=True, kw_only=True):
    """A post to import. An unset field keeps the stored value, or gets the default."""

    imported_at: str | UnsetType = UNSET
    sort_index: Integer | UnsetType = UNSET
    bookmarked_at: str | UnsetType = UNSET
    tags: list[str] | UnsetType | None = UNSET
    is_read: bool | UnsetType = UNSET
    is_archived: bool | UnsetType = UNSET


class _OpenFields(Struct, frozen=True, kw_only=True):
    attachments: list[Attachment]
    article: Article | None
    quoted_tweet: QuotedPost | None


def check_open_fields(details: PostDetails) -> None:
    """Raises msgspec.ValidationError if a known field of a dictionary has the wrong type."""
    if details.attachments or details.article is not None or details.quoted_tweet is not None:
        msgspec.convert(details, _OpenFields, from_attributes=True)


def markable_texts(post: Post) -> dict[Field, str]:
    """The texts in which passages can be marked."""
    article = post.tweet_details.article or {}
    body = article.get("plain_text") or article.get("preview_text") or ""
    return {"text": post.tweet_details.text, "article": body}


def with_highlights(post: P, passages: Sequence[HighlightedPassage]) -> P:
    """The post with these passages, each at its place in the present texts."""
    found = highlights.placed(passages, markable_texts(post)) if passages else UNSET
    return msgspec.structs.replace(post, highlights=found)


def own_words(post: Post) -> list[str]:
    """What the owner wrote about the post: the note, and the comments of highlights."""
    comments = [one.comment for one in post.highlights or () if one.comment]
    return [*([post.note] if post.note else ()), *comments]


RENDER_VERSION: Final = 1
"""Increase it when the format below changes; `bowerbird check` then finds and fixes older rows."""

_encode: Final = msgspec.json.Encoder().encode
_decode_post: Final = msgspec.json.Decoder(Post).decode
# The end of the JSON by state: 1 if read, plus 2 if archived. SQL appends the same texts.
FLAGS: Final = (
    b',"is_read":false,"is_archived":false}',
    b',"is_read":true,"is_archived":false}',
    b',"is_read":false,"is_archived":true}',
    b',"is_read":true,"is_archived":true}',
)
TAGS: Final = b',"tags":'
# SQL puts the column `updated_at` between them, after the rendering.
UPDATED: Final = (b',"updated_at":"', b'+00:00"')
# Inside of a text, quotation marks are escaped.
_TIME: Final = b'"posted_at":'
_NO_TIME: Final = b'"posted_at":""'
UNTAGGED: Final = tuple(TAGS + b"null" + flags for flags in FLAGS)


def post_json(post: Post) -> bytes:
    return _encode(post)


def content_hash(post_json: bytes) -> bytes:
    return hashlib.blake2b(post_json, digest_size=16).digest()


def rendered_post(rendering: bytes) -> Post | None:
    """The post of a stored JSON, which is an object without its end; None if it is unreadable."""
    try:
        return _decode_post(rendering + b"}")
    except (msgspec.MsgspecError, RecursionError):
        return None


def rendering(post_json: bytes, imported_at: int, sort_index: int, bookmarked_at: int) -> bytes:
    """The value of the column `content.rendering`: a JSON object without its end.

    A post without a time has the one at which it was saved (`model/posts/bookmarks.py`).
    """
    saved_at = instants.with_offset(bookmarked_at).encode()
    if is_undated(post_json):
        post_json = post_json.replace(_NO_TIME, b'"posted_at":"%b"' % saved_at, 1)
    return b'%b,"imported_at":"%b","sort_index":%d,"bookmarked_at":"%b"' % (
        post_json[:-1],
        instants.without_offset(imported_at).encode(),
        sort_index,
        saved_at,
    )


def is_undated(post_json: bytes) -> bool:
    """Whether a post has no time. That of a quoted post comes after its own."""
    place = post_json.find(_TIME)
    return place >= 0 and post_json.startswith(_NO_TIME, place)


def tags_json(names: list[str]) -> bytes | None:
    return _encode(names) if names else None


def bookmark_json(rendering: bytes, tags: bytes | None, state: int) -> bytes:
    """The complete JSON of a Bookmark. The rendering has been read with updated_at."""
    if tags is None:
        return rendering + UNTAGGED[state]
    return b"%b%b%b%b" % (rendering, TAGS, tags, FLAGS[state])


def updated_at(bookmark: bytes) -> int:
    """When a bookmark of the library last changed, from its JSON."""
    # The last one: other objects may have the name too.
    _, _, after = bookmark.rpartition(UPDATED[0])
    return instants.parse(after.partition(b'"')[0].decode()) or 0


def join_bookmarks(rows: Iterable[Sequence[Any]]) -> bytes:
    """The JSON of Bookmarks, joined by commas. A row begins with rendering, tags and state."""
    return b",".join([bookmark_json(row[0], row[1], row[2]) for row in rows])


def scored_json(row: Sequence[Any], score: float, copies: int = 1) -> bytes:
    """The JSON of a Bookmark with its score in a ranked list, and how many posts it stands for."""
    end = b',"copies":%d' % copies if copies > 1 else b""
    return b'%b,"score":%b%b}' % (bookmark_json(row[0], row[1], row[2])[:-1], _encode(score), end)


_MILLISECOND: Final = 1_000
# Ids of X have their time since November 2010. Older ids are smaller numbers, in sequence.
_FIRST_TIMED_ID: Final = 29_700_859_247
_LAST_X_ID: Final = 2**63 - 1
_X_EPOCH_MS: Final = 1_288_834_974_657
# Servers of other programs number their posts differently. Years outside of these show it.
_FIRST_YEAR: Final = 1_136_073_600_000_000
_LAST_YEAR: Final = 4_102_444_800_000_000


def completed(post: P) -> P:
    """The post with the time in its id and the article that it quotes, if it has none itself."""
    details = post.tweet_details
    missing: dict[str, Any] = {}
    if not details.posted_at and (time := time_in_id(post)):
        missing["posted_at"] = time
    if details.article is None and details.quoted_tweet:
        missing["article"] = details.quoted_tweet.get("article") or None
    if not missing:
        return post
    details = msgspec.structs.replace(details, **missing)
    return msgspec.structs.replace(post, tweet_details=details)


def takes_article(post: Post) -> bool:
    """Whether `completed` has given the post the article of the post that it quotes."""
    article, quoted = post.tweet_details.article, post.tweet_details.quoted_tweet
    # Identity, because one that was stored with the post is only equal.
    return article is not None and quoted is not None and article is quoted.get("article")


def known_time(post: Post) -> str:
    """The time that a source gave; "" if it is only known from the id."""
    posted_at = post.tweet_details.posted_at
    return "" if posted_at == time_in_id(post) else posted_at


def with_known_time(post: P, before: Post) -> P:
    """The post with the time that a source gave before, if its own is only known from its id."""
    if known_time(post) or not (posted_at := known_time(before)):
        return post
    details = msgspec.structs.replace(post.tweet_details, posted_at=posted_at)
    return msgspec.structs.replace(post, tweet_details=details)


def without_saving_time(post: P, bookmarked_at: int) -> P:
    """The post without a time if that is only the time at which it was saved."""
    details = post.tweet_details
    # Few posts have a time with microseconds, and writing one takes longer than this look.
    if details.posted_at[19:20] != "." or details.posted_at != instants.with_offset(bookmarked_at):
        return post
    if time_in_id(post):
        return post
    details = msgspec.structs.replace(details, posted_at="")
    return msgspec.structs.replace(post, tweet_details=details)


def time_in_id(post: Post) -> str:
    """When a post was written, according to its id. "" if the id does not contain a time."""
    if not post.source or post.source == X:
        return time_in_x_id(post.post_id)
    known = NETWORKS.get(post.source)
    read = known.time_in_id if known else None
    instant = read(post.source_id or "") if read else None
    if instant is None or not _FIRST_YEAR <= instant < _LAST_YEAR:
        return ""
    return instants.with_offset(instant)


def time_in_x_id(post_id: str) -> str:
    number = int(post_id)
    if not _FIRST_TIMED_ID <= number <= _LAST_X_ID:
        return ""
    return instants.with_offset(((number >> 22) + _X_EPOCH_MS) * _MILLISECOND)
