"""Requests that mark passages of a post."""

from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from bowerbird.model.highlights import Comment, Field, Offset
from bowerbird.requests import limits
from bowerbird.requests.fields import InvalidField, about

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
