"""POST /v1/bookmarks: saves posts and links."""

from typing import Final

from bowerbird.library.imports.saving import SaveResult, Saving
from bowerbird.requests import limits
from bowerbird.requests.saving import SaveRequest
from bowerbird.wire import saving as saves
from bowerbird.wire.responses.metas import MessageMeta
from bowerbird.wire.routes import ApiRoute, Operation
from bowerbird.wire.writes import Writes

SAVE: Final = Operation(
    method="POST",
    path="/v1/bookmarks",
    name="saveBookmarks",
    summary=(
        f"Save up to {limits.SAVED_MAX} posts or links, each with its own result; 207 if any "
        "failed. Does not count as a call."
    ),
    data=SaveResult,
    meta=MessageMeta,
    body=SaveRequest,
    statuses=(200, 207),
    counts=lambda _: False,
)
OPERATIONS: Final = (SAVE,)


def routes(saving: Saving, writes: Writes) -> list[ApiRoute]:
    return [SAVE.served_by(saves.handler(saving, writes))]
