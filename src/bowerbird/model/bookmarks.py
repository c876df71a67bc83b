"""A bookmark with the fields of the API."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from bowerbird.model import highlights
from bowerbird.model.highlights import Field, HighlightedPassage, Passages

Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""The integers that both databases can store: signed, 64 bits."""

NOTE_MAX: Final = 20_000
Note = Annotated[str, Meta(max_length=NOTE_MAX)]
# "$" alone would allow a line break after it.
PostId = Annotated[str, Meta(pattern=r"^[0-9]{1,40}$(?!\n)")]


class Metrics(Struct, frozen=True, kw_only=True):
    quote_count: Integer = 0
    reply_count: Integer = 0
    retweet_count: Integer = 0
    bookmark_count: Integer = 0
    favorite_count: Integer = 0


class PostMeta(Struct, frozen=True, kw_only=True):
    tweet_reply_to_tweet_id: str | None = None
    tweet_reply_to_user_id: str | None = None
    tweet_conversation_id: str = ""
    tweet_is_thread: bool = False
    is_sub_tweet_of_thread: bool = False
    non_real_time_engagement_metrics: Metrics = Metrics()
    # Only if they are known: the repost under which the post was saved, and the ids of all
    # versions of an edited post.
    via_repost_id: str | UnsetType = UNSET
    version_ids: list[str] | UnsetType = UNSET


class Attachment(Struct, frozen=True, kw_only=True):
    """The known fields of an attachment. Other fields are stored unchanged."""

    type: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    preview_image: str | UnsetType | None = UNSET
    width: Integer | UnsetType | None = UNSET
    height: Integer | UnsetType | None = UNSET
    duration_ms: Integer | UnsetType | None = UNSET
    alt_text: str | UnsetType | None = UNSET
    title: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    domain: str | UnsetType | None = UNSET
    choices: list[Any] | UnsetType | None = UNSET
    ends_at: str | UnsetType | None = UNSET


class Article(Struct, frozen=True, kw_only=True):
    """The known fields of a long-form article. Other fields are stored unchanged."""

    id: str | UnsetType | None = UNSET
    title: str | UnsetType | None = UNSET
    plain_text: str | UnsetType | None = UNSET
    preview_text: str | UnsetType | None = UNSET
    cover_image: str | UnsetType | None = UNSET
    url: str | UnsetType | None = UNSET
    published_at: str | UnsetType | None = UNSET
    is_preview: bool | UnsetType | None = UNSET


class AuthorDetails(Struct, frozen=True, kw_only=True):
    name: str = ""
    username: str = ""
    profile_image: str = ""


class QuotedAuthor(Struct, frozen=True, kw_only=True):
    name: str | UnsetType | None = UNSET
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


class PostDetails(Struct, frozen=True, kw_only=True):
    text: str = ""
    link: str = ""
    posted_at: str = ""
    # The API allows unknown fields in these objects, so they stay dictionaries and keep them all.
    attachments: list[dict[str, Any]] = []
    article: dict[str, Any] | None = None
    quoted_tweet: dict[str, Any] | None = None
    meta: PostMeta = PostMeta()


class Post(Struct, frozen=True, kw_only=True):
    """The part of a bookmark that is stored as one document, without flags, labels and place.

    It is what the author wrote, what became of the post at its source, and the owner's note and
    highlights.
    """

    post_id: PostId
    # Required: importing a record without it would erase the text of an existing post.
    tweet_details: PostDetails
    author_id: str = ""
    author_username: str = ""
    author_details: AuthorDetails = AuthorDetails()
    # Only for posts that are not from X: the network, and the id or address of the post there.
    source: str | UnsetType = UNSET
    source_id: str | UnsetType = UNSET
    # Absent in most posts, so that these do not change when a field is added. Null means absent.
    gone_at: str | UnsetType | None = UNSET
    gone_reason: str | UnsetType | None = UNSET
    removed_at: str | UnsetType | None = UNSET
    note: Note | UnsetType | None = UNSET
    highlights: Passages | UnsetType | None = UNSET


P = TypeVar("P", bound=Post)


class Bookmark(Post, frozen=True, kw_only=True):
    """A post with its position and state in the library of an account."""

    imported_at: str
    sort_index: Integer
    bookmarked_at: str
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
