"""/v1/bookmarks/{post_id}/highlights: passages that the owner marks."""

from typing import Final

from bowerbird.errors import Code
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.bookmarks.highlights import Highlights
from bowerbird.model.highlights import HighlightedPassage
from bowerbird.requests.bookmarks import HighlightChange, NewHighlight
from bowerbird.rest.bookmarks import current_post
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import Writes, done

_PATH: Final = "/v1/bookmarks/{post_id}/highlights"
ADD: Final = Operation(
    method="POST",
    path=_PATH,
    name="addHighlight",
    summary="Mark a passage of a post or its article.",
    data=HighlightedPassage,
    body=NewHighlight,
    refusals=(Code.NOT_FOUND,),
)
UPDATE: Final = Operation(
    method="PATCH",
    path=_PATH + "/{highlight_id}",
    name="updateHighlight",
    summary="Change the comment of a highlight.",
    data=HighlightedPassage,
    body=HighlightChange,
    # It is a part of its bookmark, whose ETag and updated_at these are.
    is_conditional=True,
    refusals=(Code.NOT_FOUND,),
)
DELETE: Final = Operation(
    method="DELETE",
    path=_PATH + "/{highlight_id}",
    name="deleteHighlight",
    summary="Remove a highlight. The post stays as it is.",
    data=HighlightedPassage,
    is_conditional=True,
    refusals=(Code.NOT_FOUND,),
)
OPERATIONS: Final = (ADD, UPDATE, DELETE)


def write_routes(highlights: Highlights, flags: Flags, writes: Writes) -> list[ApiRoute]:
    current = current_post(flags)

    async def add(transaction: Transaction, call: Call, request: NewHighlight) -> Reply:
        post_id = call.path_params["post_id"]
        return done(await highlights.add(transaction, call.account, post_id, request))

    async def update(transaction: Transaction, call: Call, request: HighlightChange) -> Reply:
        return done(
            await highlights.update(
                transaction,
                call.account,
                call.path_params["post_id"],
                call.path_params["highlight_id"],
                request,
            )
        )

    async def delete(transaction: Transaction, call: Call) -> Reply:
        post_id, highlight_id = call.path_params["post_id"], call.path_params["highlight_id"]
        return done(await highlights.remove(transaction, call.account, post_id, highlight_id))

    return [
        ADD.served_by(writes.handler_of(NewHighlight, add)),
        UPDATE.served_by(writes.handler_of(HighlightChange, update, current=current)),
        DELETE.served_by(writes.handler(delete, current=current)),
    ]
