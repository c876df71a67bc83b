"""The parameters of a list: its filter, its sort order, and where the page starts."""

from collections.abc import Sequence
from enum import StrEnum
from operator import attrgetter
from typing import Final, Literal

from msgspec import Struct, structs

from bowerbird.model.posts import media
from bowerbird.model.words import Part, WordQuery


class Names(Struct, frozen=True):
    """Several folded names. `whole` is the text they were in, which may be one name with commas."""

    parts: tuple[str, ...]
    whole: str | None = None

    @property
    def either(self) -> tuple[str, ...]:
        """Every name that one of them may be."""
        return self.parts if self.whole is None else (*self.parts, self.whole)


class BookmarkFilter(Struct, frozen=True, kw_only=True):
    """Selects bookmarks. Dates are exclusive bounds; names are folded."""

    unread_only: bool = True
    hide_archived: bool = True
    archived_only: bool = False
    media_bit: int | None = None
    author: str | Names | None = None
    tag: str | None = None
    labels: Names | None = None
    # Whether a post needs all of them, and not only one.
    all_labels: bool | None = None
    # Codes; UNKNOWN is one of them.
    languages: tuple[str, ...] | None = None
    # As model/posts/networks.py has them.
    network_bits: int | None = None
    # Whether posts must have no label, or must have one.
    unlabelled: bool | None = None
    # Whether posts must have a note, or must have none.
    has_note: bool | None = None
    # What a post must have, as `has:` in a query names it: all of these.
    has: tuple[str, ...] | None = None
    is_gone: bool | None = None
    is_reply: bool | None = None
    is_thread: bool | None = None
    # Whether another post has the same text, links or pictures.
    is_duplicate: bool | None = None
    min_words: int | None = None
    max_words: int | None = None
    min_likes: int | None = None
    # The words of an address that a post must link to.
    linked: WordQuery | None = None
    # Only posts with a note, with highlights, or with either.
    annotated: Literal["notes", "highlights", "both"] | None = None
    posted_from: int | None = None
    posted_to: int | None = None
    bookmarked_from: int | None = None
    bookmarked_to: int | None = None
    # Unlike the others, the instant itself is included.
    updated_since: int | None = None
    # The id of a run: only what it added or changed, as long as that is recorded.
    import_run: str | None = None
    words: WordQuery | None = None
    # Only these posts.
    post_ids: tuple[str, ...] | None = None
    # A text to rank by meaning. It does not exclude any bookmark.
    meaning: str | None = None

    def narrowed(self, parts: Sequence[Part]) -> "BookmarkFilter":
        """The filter with further conditions. A query that matches nothing goes on to."""
        words = self.words or WordQuery(())
        if not parts or (self.words is not None and words.is_empty):
            return self
        return structs.replace(self, words=structs.replace(words, parts=(*words.parts, *parts)))

    @property
    def is_flags_only(self) -> bool:
        """Whether the list is filtered only by the read and archive flags."""
        return self.is_flags_and_words_only and self.words is None

    @property
    def needs_traits(self) -> bool:
        """Whether it asks for what posts of an earlier release do not have at once."""
        asked = (self.is_gone, self.is_reply, self.is_duplicate, self.min_words, self.max_words)
        conditions = self.words.conditions if self.words else ()
        is_known = all(one is None for one in asked) and "link" not in (self.has or ())
        return not is_known or any(c.is_trait for c in conditions)

    @property
    def has_rare_media(self) -> bool:
        """Whether the list has only posts with a media type of few posts."""
        return self.media_bit is not None and self.media_bit & media.RARE != 0

    @property
    def is_flags_and_words_only(self) -> bool:
        return _narrowing(self) == _NOTHING


class TrashFilter(Struct, frozen=True, kw_only=True):
    """Selects deleted bookmarks. Dates are exclusive bounds; names are folded."""

    author: str | Names | None = None
    labels: Names | None = None
    words: WordQuery | None = None
    deleted_from: int | None = None
    deleted_to: int | None = None


# Every field but the flags and the words, so that a new filter cannot be forgotten here.
_NARROWING: Final = tuple(
    name
    for name in BookmarkFilter.__struct_fields__
    if name not in ("unread_only", "hide_archived", "archived_only", "words")
)
_narrowing: Final = attrgetter(*_NARROWING)
_NOTHING: Final = (None,) * len(_NARROWING)


class SortKind(StrEnum):
    """The type of the values of a sort field."""

    NUMBER = "number"
    INSTANT = "instant"
    TEXT = "text"


class SortField(Struct, frozen=True):
    kind: SortKind
    # Whether the database has an index in this order.
    is_indexed: bool = False

    @property
    def descends(self) -> bool:
        """The default order: dates and counts from the highest, text from A to Z."""
        return self.kind is not SortKind.TEXT


RELEVANCE: Final = "relevance"
SORT_FIELDS: Final[dict[str, SortField]] = {
    "sort_index": SortField(SortKind.NUMBER, is_indexed=True),
    "created_at": SortField(SortKind.INSTANT, is_indexed=True),
    "posted_at": SortField(SortKind.INSTANT, is_indexed=True),
    "imported_at": SortField(SortKind.INSTANT),
    "title": SortField(SortKind.TEXT),
    "author": SortField(SortKind.TEXT),
    "favorite_count": SortField(SortKind.NUMBER),
    "retweet_count": SortField(SortKind.NUMBER),
    "reply_count": SortField(SortKind.NUMBER),
    "quote_count": SortField(SortKind.NUMBER),
    "bookmark_count": SortField(SortKind.NUMBER),
}


class Sort(Struct, frozen=True):
    field: str = "sort_index"
    descending: bool = True


class After(Struct, frozen=True):
    """Where the previous page ended: the sort value and the number of its last bookmark.

    Without a number, the page starts after all bookmarks with that value.
    """

    value: int | str
    number: int | None = None
