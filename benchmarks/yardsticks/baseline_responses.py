"""The response models of the baseline, with the same fields as the responses of the service."""

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel

from benchmarks.yardsticks.baseline_tables import Bookmark


class Metrics(BaseModel):
    quote_count: int
    reply_count: int
    retweet_count: int
    bookmark_count: int
    favorite_count: int


class PostMeta(BaseModel):
    tweet_reply_to_tweet_id: str | None
    tweet_reply_to_user_id: str | None
    tweet_conversation_id: str
    tweet_is_thread: bool
    is_sub_tweet_of_thread: bool
    non_real_time_engagement_metrics: Metrics


class PostDetails(BaseModel):
    text: str
    link: str
    posted_at: datetime
    attachments: list[dict[str, Any]]
    article: dict[str, Any] | None
    quoted_tweet: dict[str, Any] | None
    meta: PostMeta


class AuthorDetails(BaseModel):
    name: str
    username: str
    profile_image: str


class BookmarkResponse(BaseModel):
    post_id: str
    tweet_details: PostDetails
    author_id: str
    author_username: str
    author_details: AuthorDetails
    imported_at: datetime
    sort_index: int
    bookmarked_at: datetime
    tags: list[str] | None
    is_read: bool
    is_archived: bool

    @classmethod
    def of(cls, row: Bookmark) -> Self:
        return cls(
            post_id=row.post_id,
            tweet_details=_details(row),
            author_id=row.author_id,
            author_username=row.author.username,
            author_details=AuthorDetails(
                name=row.author.name,
                username=row.author.username,
                profile_image=row.author.profile_image,
            ),
            imported_at=row.imported_at,
            sort_index=row.sort_index,
            bookmarked_at=row.bookmarked_at,
            tags=[tag.name for tag in row.tags] or None,
            is_read=row.is_read,
            is_archived=row.is_archived,
        )


class ListMeta(BaseModel):
    next_cursor: str | None
    limit: int
    total_count: int
    count: int


class ListResponse(BaseModel):
    status: bool = True
    data: list[BookmarkResponse]
    meta: ListMeta


def _details(row: Bookmark) -> PostDetails:
    return PostDetails(
        text=row.text,
        link=row.link,
        posted_at=row.posted_at,
        attachments=row.attachments,
        article=row.article,
        quoted_tweet=row.quoted_tweet,
        meta=PostMeta(
            tweet_reply_to_tweet_id=row.reply_to_tweet_id,
            tweet_reply_to_user_id=row.reply_to_user_id,
            tweet_conversation_id=row.conversation_id,
            tweet_is_thread=row.is_thread,
            is_sub_tweet_of_thread=row.is_sub_tweet_of_thread,
            non_real_time_engagement_metrics=Metrics(
                quote_count=row.quote_count,
                reply_count=row.reply_count,
                retweet_count=row.retweet_count,
                bookmark_count=row.bookmark_count,
                favorite_count=row.favorite_count,
            ),
        ),
    )
