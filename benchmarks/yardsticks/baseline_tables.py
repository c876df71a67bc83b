"""The tables of the baseline, normalised as usual for an ORM."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Index, Table, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Account(Base):
    __tablename__ = "account"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(unique=True)


class ApiKey(Base):
    __tablename__ = "api_key"

    key_hash: Mapped[str] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"))
    account: Mapped[Account] = relationship(lazy="joined", innerjoin=True)


class Author(Base):
    __tablename__ = "author"

    id: Mapped[str] = mapped_column(primary_key=True)
    username: Mapped[str] = mapped_column(index=True)
    name: Mapped[str]
    profile_image: Mapped[str]


bookmark_tag = Table(
    "bookmark_tag",
    Base.metadata,
    Column("bookmark_id", ForeignKey("bookmark.id"), primary_key=True),
    Column("tag_id", ForeignKey("tag.id"), primary_key=True, index=True),
)


class Tag(Base):
    __tablename__ = "tag"
    __table_args__ = (UniqueConstraint("account_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"))
    name: Mapped[str]


class Bookmark(Base):
    __tablename__ = "bookmark"
    __table_args__ = (
        UniqueConstraint("account_id", "post_id"),
        Index("bookmark_list", "account_id", "is_read", "is_archived", "sort_index", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"))
    post_id: Mapped[str]
    author_id: Mapped[str] = mapped_column(ForeignKey("author.id"))
    text: Mapped[str]
    link: Mapped[str]
    posted_at: Mapped[datetime]
    attachments: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    article: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    quoted_tweet: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    reply_to_tweet_id: Mapped[str | None]
    reply_to_user_id: Mapped[str | None]
    conversation_id: Mapped[str]
    is_thread: Mapped[bool]
    is_sub_tweet_of_thread: Mapped[bool]
    quote_count: Mapped[int]
    reply_count: Mapped[int]
    retweet_count: Mapped[int]
    bookmark_count: Mapped[int]
    favorite_count: Mapped[int]
    is_read: Mapped[bool]
    is_archived: Mapped[bool]
    imported_at: Mapped[datetime]
    bookmarked_at: Mapped[datetime]
    sort_index: Mapped[int] = mapped_column(BigInteger)

    author: Mapped[Author] = relationship()
    tags: Mapped[list[Tag]] = relationship(secondary=bookmark_tag, order_by=Tag.name)
