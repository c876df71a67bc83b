"""What a reader finds in a file or page: posts, and what it leaves out and why."""

from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct

from bowerbird.model.bookmarks import ImportRecord, PostDetails
from bowerbird.model.imports import Completeness, Incoming, OrderSource

# Ids of posts that are not from X start here, above every id that X can give.
FIRST_FOREIGN_ID: Final = 10**19


class FoundPost(Struct, frozen=True, kw_only=True):
    record: ImportRecord
    # Line or number of the record in its file, counted from 1.
    line: int
    completeness: Completeness = Completeness.FULL
    order_source: OrderSource = OrderSource.IMPORT
    # The network: "x", "mastodon", "bluesky" or "reddit"; and the id or address of the post there.
    source: str = "x"
    source_id: str = ""
    # The id of the repost under which the post was saved, or "". The post has its own id.
    via_repost: str = ""
    # The ids of all versions of an edited post, or none.
    versions: tuple[str, ...] = ()
    # What the owner wrote about the post, in the file. Not part of the post itself.
    note: str = ""
    # A list of saved posts has it, so it is saved at its source when it was captured.
    is_saved: bool = False
    # From an answer of the source itself, which shows only posts that are available.
    is_shown: bool = False
    # Says something about a post that the library has, and never adds one.
    is_mark: bool = False
    # Labels to add to those that the post has, whatever the record says about labels.
    added_labels: tuple[str, ...] = ()
    # The beginnings of labels in the file that are too long; the record has shortened ones.
    shortened_labels: tuple[str, ...] = ()
    # When the source gave the record, in microseconds; None if nothing says so.
    captured_at: int | None = None
    # For a record in the format of the API, which sets the labels, flags and place that it has.
    own: Incoming | None = None
    # The record is from a file in the format of the API, which has whole posts: a missing field is
    # empty. Otherwise the library keeps what the record does not have.
    is_whole: bool = False

    @property
    def replaces_stored(self) -> bool:
        """Whether the content of a stored post does not matter. A record without content fills."""
        return self.own is not None and self.is_whole and self.completeness is Completeness.FULL


def mark(post_id: str, captured_at: int | None = None, **said: Any) -> FoundPost:
    """What a source says about a post without its content, such as `gone_at`."""
    record = ImportRecord(post_id=post_id, tweet_details=PostDetails(), **said)
    return FoundPost(
        record=record,
        line=0,
        completeness=Completeness.STUB,
        captured_at=captured_at,
        is_mark=True,
    )


class Reason(StrEnum):
    """Why a record is left out. Reports count records by reason."""

    # A link to something that is not a post.
    NOT_A_POST = "not_a_post"
    # Deleted, protected or withheld; only its id is known.
    UNAVAILABLE = "unavailable"
    ADVERTISEMENT = "advertisement"
    # A post in a copy of a program's data that the person looked at and did not save.
    NOT_SAVED = "not_saved"
    # The file has it, but it is only imported on request: liked posts, for example.
    NOT_REQUESTED = "not_requested"
    INVALID = "invalid"


class LeftOut(Struct, frozen=True, kw_only=True):
    # 0 while its place in the list is not known.
    line: int = 0
    reason: Reason
    # A sentence that names the record and the problem.
    sentence: str
    # The address on the web that is not a post, or "".
    link: str = ""
    post_id: str = ""
    sort_index: int | None = None
    # Why the post is unavailable, in the words of the source, or "".
    source_reason: str = ""
    # X gives neither content nor a reason. A changed answer can look like this too.
    is_empty: bool = False

    def at(self, line: int, sort_index: int | None = None) -> "LeftOut":
        return msgspec.structs.replace(self, line=line, sort_index=sort_index, is_empty=False)


class Notice(Struct, frozen=True, kw_only=True):
    """Something about the file that its owner should know. No record is lost by it."""

    line: int
    sentence: str


Found = FoundPost | LeftOut | Notice
