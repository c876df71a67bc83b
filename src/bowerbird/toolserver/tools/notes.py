"""The tools that change what the user wrote about a post: its note, and marked passages."""

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct

from bowerbird.assembly import Services
from bowerbird.library.bookmarks.annotations import Marked
from bowerbird.model.accounts import Account
from bowerbird.model.posts.bookmarks import Note
from bowerbird.model.posts.highlights import Comment, Field
from bowerbird.requests import limits
from bowerbird.requests.bookmarks import HighlightChange, NewHighlight, UpdateRequest
from bowerbird.requests.fields import about
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools import binding
from bowerbird.toolserver.tools.bulk import Undoable, undoable
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS
from bowerbird.toolserver.tools.tool import DESTROYS, WRITES_IDEMPOTENTLY, BoundTool, Tool

_HIGHLIGHT_ID_MAX: Final = 40
_PostId = Annotated[Annotated[str, Meta(pattern=r"^[0-9]{1,40}$")], about("Id of the post.")]
_HighlightId = Annotated[
    Annotated[str, Meta(max_length=_HIGHLIGHT_ID_MAX)],
    about("id of a highlight in get_bookmarks."),
]
_Comment = Annotated[
    Comment | None,
    about(
        "The user's comment on it. Empty removes it.",
        argument={"type": "string", "maxLength": limits.HIGHLIGHT_COMMENT_MAX},
    ),
]


class NoteArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    post_id: _PostId
    note: Annotated[
        Note,
        about(
            "The note as Markdown, which replaces the one before. Empty removes it.",
            argument={"type": "string", "maxLength": limits.NOTE_MAX},
        ),
    ]


class AddArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    post_id: _PostId
    quote: Annotated[
        Annotated[str, Meta(min_length=1, max_length=limits.HIGHLIGHT_QUOTE_MAX)],
        about("The passage, as it is in the text."),
    ]
    comment: _Comment = None
    is_in_article: Annotated[bool, about("Whether it is in the article of the post.")] = False

    def __post_init__(self) -> None:
        _ = self.request

    @property
    def request(self) -> NewHighlight:
        field: Field = "article" if self.is_in_article else "text"
        return NewHighlight(field=field, quote=self.quote, comment=self.comment)


class ChangeArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    post_id: _PostId
    highlight_id: _HighlightId
    comment: _Comment


class RemoveArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    post_id: _PostId
    highlight_id: _HighlightId


class Affected(Undoable, kw_only=True, omit_defaults=True):
    affected: int


class Passage(Undoable, kw_only=True, omit_defaults=True):
    content_is: str
    id: str
    quote: str
    comment: str = ""


UPDATE_NOTE: Final = Tool(
    name="update_note",
    title="Write a note on a post",
    description="Replaces the user's note on a saved post. get_bookmarks shows the present one.",
    takes=NoteArguments,
    returns=Affected,
    hints=DESTROYS,
)
ADD: Final = Tool(
    name="add_highlight",
    title="Mark a passage of a post",
    description="Marks a passage of a saved post or its article, with a comment if you want.",
    takes=AddArguments,
    returns=Passage,
    hints=WRITES_IDEMPOTENTLY,
)
UPDATE: Final = Tool(
    name="update_highlight",
    title="Change a comment on a passage",
    description="Replaces the comment on a marked passage. get_bookmarks shows the present one.",
    takes=ChangeArguments,
    returns=Passage,
    hints=DESTROYS,
)
REMOVE: Final = Tool(
    name="delete_highlight",
    title="Unmark a passage",
    description="Removes the mark and the comment of a passage. The text of the post stays.",
    takes=RemoveArguments,
    returns=Passage,
    hints=DESTROYS,
)


def bind(services: Services) -> list[BoundTool]:
    flags, highlights = services.flags, services.highlights

    async def note(transaction: Transaction, account: Account, values: NoteArguments) -> Affected:
        request = UpdateRequest(note=values.note)
        changed = await flags.update(transaction, account, [values.post_id], request, request.note)
        return undoable(Affected(affected=changed.affected), changed.change)

    def changed(sent: ChangeArguments) -> tuple[str, str, HighlightChange]:
        return sent.post_id, sent.highlight_id, HighlightChange(comment=sent.comment)

    return [
        binding.writes(services, UPDATE_NOTE, note),
        *(
            binding.writes(services, tool, change, given=given, shown=_shown)
            for tool, change, given in (
                (ADD, highlights.add, lambda sent: (sent.post_id, sent.request)),
                (UPDATE, highlights.update, changed),
                (REMOVE, highlights.remove, lambda sent: (sent.post_id, sent.highlight_id)),
            )
        ),
    ]


def _shown(marked: Marked) -> Passage:
    passage, row = marked
    comment = "" if passage.comment is UNSET else passage.comment
    shown = Passage(content_is=QUOTED_POSTS, id=passage.id, quote=passage.quote, comment=comment)
    return undoable(shown, row)
