"""/v1/bookmarks/{post_id}/suggested_labels."""

from typing import Final

import msgspec

from bowerbird.errors import Code
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.labels.new_labels import NewLabel, NewLabels
from bowerbird.library.labels.suggestions import LabelSuggestions, RefusedLabel, SuggestedLabel
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.envelope import QueryMeta
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import Writes, done

SUGGEST: Final = Operation(
    route="GET /v1/bookmarks/{post_id}/suggested_labels",
    name="listSuggestedLabels",
    summary="List up to three of the account's labels that fit a post and that it does not have.",
    data=SuggestedLabel,
    is_many=True,
    refusals=(Code.SUBSCRIPTION_REQUIRED,),
)
NEW: Final = Operation(
    route="POST /v1/bookmarks/{post_id}/new_labels",
    name="proposeNewLabels",
    summary="Ask the language model of the service for up to three labels that you do not have "
    "yet; none if there is no model.",
    data=NewLabel,
    is_many=True,
    refusals=(Code.SUBSCRIPTION_REQUIRED,),
)
REFUSE: Final = Operation(
    route="DELETE /v1/bookmarks/{post_id}/suggested_labels/{label_id}",
    name="refuseSuggestedLabel",
    summary="Do not suggest a label for a post again while the post is in the library. Its labels "
    "stay as they are.",
    data=RefusedLabel,
    refusals=(Code.SUBSCRIPTION_REQUIRED,),
)
OPERATIONS: Final = (SUGGEST, REFUSE, NEW)


def routes(
    suggestions: LabelSuggestions, bookmarks: Bookmarks, answers: AnswerCache
) -> list[ApiRoute]:
    async def suggest_labels(call: Call) -> Reply:
        plans.check_writes(call.account)
        vectors = await bookmarks.vector_state(call.account)

        async def build() -> bytes:
            found = await suggestions.of_post(call.account, call.path_params["post_id"])
            return envelope.success(found, QueryMeta())

        # Vectors change without a new version of the library, so they are part of the ETag.
        target = msgspec.structs.replace(call.target, vectors=vectors.tag)
        return await answers.answer(call.account, target, build)

    return [SUGGEST.served_by(suggest_labels)]


def write_routes(
    suggestions: LabelSuggestions, new_labels: NewLabels, writes: Writes
) -> list[ApiRoute]:
    async def find(call: Call) -> list[NewLabel]:
        names = await new_labels.of_post(call.account, call.path_params["post_id"])
        return list(map(NewLabel, names))

    async def propose(_: Transaction, __: Call, found: list[NewLabel]) -> Reply:
        return done(found)

    return [
        REFUSE.served_by(writes.of(suggestions.refuse)),
        NEW.served_by(writes.handler(propose, prepare=find)),
    ]
