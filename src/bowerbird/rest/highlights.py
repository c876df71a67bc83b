"""/v1/bookmarks/{post_id}/highlights: passages that the owner marks."""

from typing import Final

from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.bookmarks.highlights import Highlights
from bowerbird.model.posts.highlights import HighlightedPassage
from bowerbird.requests.bookmarks import HighlightChange, NewHighlight
from bowerbird.rest.bookmarks import current_post
from bowerbird.rest.bulk import changed
from bowerbird.wire.responses.envelope import UndoMeta
from bowerbird.wire.routes import ApiRoute, Operation
from bowerbird.wire.writes import Writes

_PATH: Final = "/v1/bookmarks/{post_id}/highlights"
ADD: Final = Operation(
    route=f"POST {_PATH}",
    name="addHighlight",
    summary="Mark a passage of a post or its article.",
    data=HighlightedPassage,
    meta=UndoMeta,
    body=NewHighlight,
)
UPDATE: Final = Operation(
    route=f"PATCH {_PATH}/{{highlight_id}}",
    name="updateHighlight",
    summary="Change the comment of a highlight.",
    data=HighlightedPassage,
    meta=UndoMeta,
    body=HighlightChange,
    # It is a part of its bookmark, whose ETag and updated_at these are.
    is_conditional=True,
)
DELETE: Final = Operation(
    route=f"DELETE {_PATH}/{{highlight_id}}",
    name="deleteHighlight",
    summary="Remove a highlight. The post stays as it is.",
    data=HighlightedPassage,
    meta=UndoMeta,
    is_conditional=True,
)
OPERATIONS: Final = (ADD, UPDATE, DELETE)


def write_routes(highlights: Highlights, flags: Flags, writes: Writes) -> list[ApiRoute]:
    current = current_post(flags)
    return [
        ADD.served_by(writes.of(highlights.add, NewHighlight, reply=changed)),
        UPDATE.served_by(
            writes.of(highlights.update, HighlightChange, reply=changed, current=current)
        ),
        DELETE.served_by(writes.of(highlights.remove, reply=changed, current=current)),
    ]
