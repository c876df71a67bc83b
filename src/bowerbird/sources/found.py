"""What a reader of files declares about itself, and what it finds and leaves out."""

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from bowerbird.model.arrival import Completeness, Incoming, OrderSource
from bowerbird.model.posts.bookmarks import ImportRecord, PostDetails
from bowerbird.sources.parsing.json_values import Outline, outline
from bowerbird.sources.parsing.text_lines import SeekableFile, decode, sniff_delimiter, split_line

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


BEGINNING_BYTES: Final = 256 << 10
_END_OF_TIME: Final = 2**63 - 1
# Clocks differ. A moment further ahead than this is no moment of saving.
MAX_AHEAD_US: Final = 5 * 60 * 1_000_000
# A list of links in Markdown begins like one in JSON.
_MARKDOWN: Final = re.compile(r"\s*\[[^\[\]\"\n]{0,500}\]\(")
_NEW_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Choices(NamedTuple):
    """What the owner of a file asks for."""

    # Liked posts are not bookmarks, so they are imported only on request.
    with_likes: bool = False
    # The time of reading, in microseconds: a date of saving after it is not one. Readers have no
    # clock of their own.
    now: int = _END_OF_TIME
    # What the owner calls the file. It counts only if files of one shape differ by their names.
    name: str = ""


class Beginning(NamedTuple):
    """The first bytes of a file, read in the ways that recognition needs."""

    data: bytes
    text: str
    # The keys of the values at its beginning. Empty if the file is not JSON.
    json: Outline
    # The names in the first row, in lower case with spaces between words. Empty for JSON and HTML.
    columns: tuple[str, ...]
    delimiter: str
    # There may be more, so that the last line may not be complete.
    is_cut: bool

    def has_columns(self, *names: str) -> bool:
        return all(name in self.columns for name in names)


class Format(NamedTuple):
    # As people call it: "Dewey CSV".
    name: str
    fits: Callable[[Beginning], bool]
    read: Callable[[SeekableFile, Choices], Iterator[Found]]
    # Files of an archive that have the same shape, but not the same meaning.
    other_files: frozenset[str] = frozenset()
    # The only files of an archive that have this meaning, if many have the same shape; and those
    # of them that have liked posts, also if they come alone.
    only_files: frozenset[str] = frozenset()
    liked_files: frozenset[str] = frozenset()
    # Fits files of no program in particular. In an archive, the files of a program come first.
    is_general: bool = False
    # What the program calls the columns or fields by which its files are recognised.
    signature: frozenset[str] = frozenset()


def beginning_of(file: SeekableFile, size: int = BEGINNING_BYTES) -> Beginning:
    file.seek(0)
    data = b""
    # A file may give less than it was asked for.
    while len(data) < size and (more := file.read(size - len(data))):
        data += more
    text = decode(data)
    start = "" if _MARKDOWN.match(text) else text.lstrip()[:1]
    delimiter = sniff_delimiter(text)
    is_table = bool(text.strip()) and start not in ("{", "[", "<")
    return Beginning(
        data,
        text,
        outline(text) if start in ("{", "[") else Outline(),
        tuple(map(column_name, split_line(text, delimiter))) if is_table else (),
        delimiter,
        is_cut=len(data) == size,
    )


def column_name(text: str) -> str:
    """The name of a column or field without the differences between programs.

    "Tweet_URL" and "tweetUrl" are "tweet url".
    """
    words = _NEW_WORD.sub(" ", text[:200]).replace("_", " ").replace("-", " ")
    return " ".join(words.lower().split())[:100]
