"""POST /v1/bookmarks: saves posts and links, or shows the posts of links without saving them."""

from typing import Final

from bowerbird.errors import Refusal
from bowerbird.library.imports.saving import SaveResult, Saving
from bowerbird.library.links import LinkReading
from bowerbird.requests import limits
from bowerbird.requests.saving import SaveQuery, SaveRequest
from bowerbird.wire import query_strings
from bowerbird.wire.responses.envelope import BatchMeta
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import Writes, admitted, done, save_handler

SAVE: Final = Operation(
    route="POST /v1/bookmarks",
    name="saveBookmarks",
    summary=(
        f"Save up to {limits.SAVED_MAX} posts or links, each with its own result; 207 if any "
        "failed. Does not count as a call."
    ),
    data=SaveResult,
    meta=BatchMeta,
    query=SaveQuery,
    body=SaveRequest,
    statuses=(200, 207),
    counts=lambda _: False,
)
OPERATIONS: Final = (SAVE,)


def routes(saving: Saving, links: LinkReading, writes: Writes) -> list[ApiRoute]:
    save = save_handler(saving, writes)

    async def save_or_preview(call: Call) -> Reply:
        query_string = call.target.query_string
        if not query_string or not query_strings.read(query_string, SaveQuery).is_preview:
            return await save(call)
        request = admitted(call.account, call.body, SaveRequest, lambda _: None)
        if isinstance(request, Refusal):
            raise request
        result = await links.previews(call.account, request.items)
        return done(result, BatchMeta("Nothing was saved."), 207 if result.failed else 200)

    return [SAVE.served_by(save_or_preview)]
