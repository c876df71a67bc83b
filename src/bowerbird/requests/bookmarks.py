"""Requests that list, count and mark bookmarks, passages in them, and duplicates."""

from typing import Annotated, Any, ClassVar, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from bowerbird.model.bulk import FLAG_ACTIONS
from bowerbird.model.posts import filters
from bowerbird.model.posts.bookmarks import Note
from bowerbird.model.posts.highlights import Comment, Field, Offset
from bowerbird.requests import limits
from bowerbird.requests.bulk import (
    EITHER,
    BulkRequest,
    DeletedFrom,
    DeletedTo,
    DryRun,
    ExpectedCount,
    Filter,
    change_of,
    check_selecting,
)
from bowerbird.requests.fields import Gate, InvalidField, PageLimit, PostId, PostIds, about, unique
from bowerbird.requests.filter_values import read_flag
from bowerbird.requests.filters import Flag, FlagFilters, ImportedQuery, gates_in_words

Limit = Annotated[
    PageLimit | None,
    about(
        f"Page size. More than {limits.PAGE_MAX} is clamped to {limits.PAGE_MAX}; meta.limit "
        "has the size that was used.",
        50,
        argument={"description": "Page size.", "maximum": limits.PAGE_MAX},
    ),
]
Cursor = Annotated[
    str | None,
    about(
        "next_cursor of the previous page, unchanged, with the same query.",
        # Any other example would be refused: a cursor belongs to one account and query.
        "",
        gate=Gate.PAGING,
        argument={
            "maxLength": limits.CURSOR_MAX,
            "description": "next_cursor of the page before.",
        },
    ),
]
SORT_FIELDS: Final = [*filters.SORT_FIELDS, filters.RELEVANCE]
_DIRECTIONS: Final = (
    "Dates and counts descend, text ascends. created_at is when the post was saved. relevance "
    "needs a search."
)
SortBy = Annotated[
    str | None,
    about(
        f"Default: sort_index, or relevance when searching by meaning. {_DIRECTIONS}",
        "posted_at",
        parameter={"enum": SORT_FIELDS},
        # Each tool has its own default.
        argument={
            "type": "string",
            "description": "created_at (saved), posted_at, title, author, favorite_count, ….",
        },
    ),
]
SortOrder = Annotated[
    str | None, about("Overrides the direction.", "asc", parameter={"enum": ["asc", "desc"]})
]


class CountQuery(ImportedQuery, frozen=True, kw_only=True):
    """GET /bookmarks/count."""


class ListQuery(ImportedQuery, frozen=True, kw_only=True):
    """GET /bookmarks."""

    limit: Limit = None
    cursor: Cursor = None
    sort_by: SortBy = None
    sort_order: SortOrder = None
    sort_cursor: Annotated[
        str | None,
        about(
            "Continue after this value of the sort field, such as 2026-07-01T08:00:00+00:00. "
            "Empty is a value of a text, and means the first page otherwise. Keep limit the same, "
            "so that no post with an equal value is left out, and stop when next_cursor is null: "
            "the value of the last post may return the last page again. cursor is safer: it also "
            "works when more than limit posts have the value.",
            "",
            gate=Gate.PAGING,
        ),
    ] = None
    highlight: Annotated[
        Flag,
        about(
            "With q: adds to each bookmark where its words occur, as highlight.",
            example=True,
            parameter={"type": "boolean", "default": False},
        ),
    ] = None
    fields: Annotated[
        str | None,
        about(
            "Only these fields of each bookmark, separated by commas; those of an object with a "
            "dot. All others are left out, also those that the schema requires.",
            "post_id,updated_at,tweet_details.text",
        ),
    ] = None


class EventsQuery(Struct, frozen=True, kw_only=True):
    """GET /changes."""

    limit: Limit = None
    cursor: Annotated[
        str | None,
        about(
            "next_cursor of the previous page, unchanged, or now to start with what happens next. "
            "Without it, every post of the library is listed first, as post.listed. A cursor is "
            f"valid for {limits.EVENT_DAYS} days.",
            "now",
            gate=Gate.PAGING,
            argument={"maxLength": limits.CURSOR_MAX},
        ),
    ] = None
    ids_only: Annotated[
        Flag,
        about(
            "Leaves the bookmarks out of the events.",
            example=True,
            parameter={"type": "boolean", "default": False},
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.ids_only is not None:
            msgspec.structs.force_setattr(self, "ids_only", read_flag("ids_only", self.ids_only))


class SimilarQuery(FlagFilters, frozen=True, kw_only=True):
    """GET /bookmarks/{post_id}/similar. Read bookmarks are included by default."""

    DEFAULTS: ClassVar[dict[str, bool]] = {"is_unread_only": False, "hide_archived": True}

    limit: Limit = None


class FlagsRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The flags that are sent change."""

    is_read: Annotated[bool | None, about("true marks the post read, false unread.")] = None
    is_archived: Annotated[bool | None, about("true archives the post, false brings it back.")] = (
        None
    )

    def __post_init__(self) -> None:
        if self.is_read is None and self.is_archived is None:
            raise InvalidField("is_read", "is required, unless is_archived is sent")


class PageQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A page of a list that every plan may read to its end."""

    limit: Limit = None
    cursor: Annotated[
        str | None,
        about(
            "next_cursor of the previous page, unchanged.",
            "",
            argument={
                "maxLength": limits.CURSOR_MAX,
                "description": "next_cursor of the page before.",
            },
        ),
    ] = None


class ChangesQuery(PageQuery, frozen=True):
    """GET /bookmarks/changes."""


class TrashQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """GET /bookmarks/trash."""

    q: Annotated[
        str | None,
        about(
            "Words, as in a list. Of the fields, author: and label: can be used.",
            "bower",
            gates_in=gates_in_words,
            argument={"description": "Words; of the fields only author: and label:."},
        ),
    ] = None
    author: Annotated[
        str | None,
        about(
            "Handle or exact name; several handles with commas.",
            "ada",
            gate=Gate.FILTERING,
            argument={"description": "Handles, with commas."},
        ),
    ] = None
    label: Annotated[
        str | None,
        about(
            "Label that the post had; several with commas.",
            "Birds",
            gate=Gate.FILTERING,
            argument={"type": "string", "description": "Labels that it had, with commas."},
        ),
    ] = None
    deleted_from: DeletedFrom = None
    deleted_to: DeletedTo = None
    limit: Limit = None
    cursor: Cursor = None

    @property
    def tag(self) -> None:
        return None


class UpdateRequest(FlagsRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """PATCH /bookmarks/{post_id}: the flags and the note that are sent change."""

    SCHEMA: ClassVar[dict[str, Any]] = {"minProperties": 1}

    note: Annotated[
        Note | UnsetType | None,
        about(
            "Your note about the post, as Markdown. null or an empty text removes it.",
            nullable=True,
            argument={
                "type": "string",
                "maxLength": limits.NOTE_MAX,
                "description": "Markdown note for a single post. Empty removes it.",
            },
        ),
    ] = UNSET

    def __post_init__(self) -> None:
        if self.note is not UNSET:
            msgspec.structs.force_setattr(self, "note", (self.note or "").strip())
        elif self.is_read is None and self.is_archived is None:
            raise InvalidField("is_read", "is required, unless is_archived or note is sent")


class StateRequest(FlagsRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """POST /bookmarks/update: the same change for many bookmarks."""

    SCHEMA: ClassVar[dict[str, Any]] = {"minProperties": 2, "oneOf": EITHER}

    post_ids: PostIds | None = field(name="tweet_ids", default=None)
    filter: Filter = None
    dry_run: DryRun = False
    expected_count: ExpectedCount = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_selecting(self)
        if self.post_ids is not None:
            unique(self, "post_ids")

    @property
    def change(self) -> BulkRequest | None:
        """The change of all bookmarks that match; None if they are named."""
        if self.filter is None:
            return None
        return change_of(self, FLAG_ACTIONS[self.is_read, self.is_archived])


By = Literal["author", "label", "month", "domain", "media", "language", "network"]
KINDS: Final[tuple[By, ...]] = get_args(By)
FacetBy = Annotated[
    By,
    about(
        "What to count by. month: when the post was bookmarked, in the account's time zone. "
        "domain: the sites that posts link to. network: where posts were published.",
        "author",
        parameter={"enum": list(KINDS)},
        argument={
            "enum": list(KINDS),
            "description": "month: when saved. domain: sites that posts link to.",
        },
    ),
]


class FacetsQuery(ImportedQuery, frozen=True, kw_only=True):
    """GET /bookmarks/facets."""

    by: FacetBy
    limit: Limit = None


_COMMENT = "Your comment on the passage."


class NewHighlight(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """POST /bookmarks/{post_id}/highlights: the passage, or where it is."""

    SCHEMA: ClassVar[dict[str, Any]] = {
        "anyOf": [{"required": ["quote"]}, {"required": ["start", "end"]}]
    }

    field: Annotated[
        Field, about("text: the text of the post. article: the text of its article.", "text")
    ] = "text"
    quote: Annotated[
        Annotated[str, Meta(max_length=limits.HIGHLIGHT_QUOTE_MAX)] | None,
        about(
            "The passage, as it is in the text; white space may differ. Of several occurrences, "
            "the one nearest to start is marked.",
            "Bottle caps in front",
        ),
    ] = None
    start: Annotated[
        Offset | None,
        about("Where the passage starts, in Unicode code points. Required without quote.", 27),
    ] = None
    end: Annotated[
        Offset | None,
        about("The offset after its last code point. Required without quote.", 47),
    ] = None
    comment: Annotated[Comment | None, about(_COMMENT, "Like a shop window")] = None

    def __post_init__(self) -> None:
        if self.quote is not None:
            if not self.quote.strip():
                raise InvalidField("quote", "must have a visible character")
            return
        if self.start is None or self.end is None:
            raise InvalidField("quote", "is required, unless start and end are sent")
        if not 0 < self.end - self.start <= limits.HIGHLIGHT_QUOTE_MAX:
            raise InvalidField(
                "end", f"must be 1 to {limits.HIGHLIGHT_QUOTE_MAX:,} code points after start"
            )


class HighlightChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """PATCH /bookmarks/{post_id}/highlights/{highlight_id}."""

    comment: Annotated[
        Comment | None, about(f"{_COMMENT} null or an empty text removes it.", nullable=True)
    ]


Groups = Literal["link", "text", "picture"]


class DuplicatesQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """GET /bookmarks/duplicates."""

    same: Annotated[
        Groups | None,
        about(
            "Only groups of posts with the same link (all links), text or picture (all pictures).",
            "link",
            parameter={"enum": ["link", "text", "picture"]},
            argument=None,
        ),
    ] = None
    limit: Limit = None
    cursor: Cursor = None


class Resolution(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A group of duplicates: the post that stays, and those that go to the trash."""

    keep: Annotated[PostId, about("The post that stays, and gets the labels of the others.")]
    remove: Annotated[
        Annotated[list[PostId], Meta(min_length=1, max_length=limits.RESOLVED_MAX)],
        about("Its duplicates, which go to the trash."),
    ]


_RESOLVED_EXAMPLE: Final = [{"keep": "1908771653022654191", "remove": ["1908772659655622110"]}]


class ResolveRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """POST /bookmarks/duplicates/resolve."""

    groups: Annotated[
        Annotated[list[Resolution], Meta(min_length=1, max_length=limits.RESOLVED_MAX)],
        about(f"Up to {limits.RESOLVED_MAX} posts to remove in all.", _RESOLVED_EXAMPLE),
    ]

    def __post_init__(self) -> None:
        named = [one for group in self.groups for one in (group.keep, *group.remove)]
        if len(set(named)) < len(named):
            raise InvalidField("groups", "name a post twice")
        removed = len(named) - len(self.groups)
        if removed > limits.RESOLVED_MAX:
            raise InvalidField(
                "groups", f"remove {removed} posts; at most {limits.RESOLVED_MAX} per request"
            )
