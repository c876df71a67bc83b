"""/v1/account and /v1/digests: plan, limits and counts of the account, and its digests."""

from typing import Final

import msgspec

from bowerbird.library.accounts.account_state import AccountResponse
from bowerbird.library.digests.digests import PreferencesResponse
from bowerbird.library.digests.responses import DigestResponse, DigestSummary
from bowerbird.model.digests import Preferences
from bowerbird.requests.exports import DigestQuery, DigestsQuery, PreferencesRequest
from bowerbird.rest.serving import Rest, paged
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import One
from bowerbird.wire.responses.envelope import DigestListMeta
from bowerbird.wire.responses.replies import Reply, State, state_of
from bowerbird.wire.routes import ApiRoute, Call, Operation

GET: Final = Operation(
    route="GET /v1/account",
    name="getAccount",
    summary="Get plan, limits, calls, counts and the state of the vector store. Free of charge.",
    data=AccountResponse,
    # Looking at the number of calls left does not use one.
    counts=lambda _: False,
)


LIST_DIGESTS: Final = Operation(
    route="GET /v1/digests",
    name="listDigests",
    summary="List the account's digests, latest first.",
    data=DigestSummary,
    is_many=True,
    meta=DigestListMeta,
    query=DigestsQuery,
)
PREFERENCES: Final = Operation(
    route="GET /v1/digests/preferences",
    name="getDigestPreferences",
    summary="Get how often digests are created, time zone, hour, and whether they are emailed.",
    data=PreferencesResponse,
    is_conditional=True,
)
UPDATE_PREFERENCES: Final = Operation(
    route="PATCH /v1/digests/preferences",
    name="updateDigestPreferences",
    summary="Change the digest preferences that are sent.",
    data=PreferencesResponse,
    body=PreferencesRequest,
    is_conditional=True,
)
GET_DIGEST: Final = Operation(
    route="GET /v1/digests/{digest_id}",
    name="getDigest",
    summary="Get one digest, with its Markdown and HTML.",
    data=DigestResponse,
    query=DigestQuery,
)


def routes(rest: Rest) -> list[ApiRoute]:
    services, answers = rest.services, rest.answers
    digests = services.digests

    async def get_preferences(call: Call) -> Reply:
        async def build() -> One:
            stored = await digests.stored(call.account)
            return One(envelope.success(digests.shown(stored)), _state(stored))

        # The time of the next digest changes without a new version of the library.
        target = msgspec.structs.replace(call.target, minute=digests.minute())
        return await answers.answer_one(call.account, target, build)

    async def current(transaction: Transaction, call: Call) -> State:
        return _state(await digests.stored(call.account, transaction))

    return [
        rest.read(GET, services.state.to_response, is_live=True),
        rest.read(
            LIST_DIGESTS,
            digests.list,
            data=lambda page: page.digests,
            meta=paged(DigestListMeta, lambda page: page.digests),
        ),
        PREFERENCES.served_by(get_preferences),
        rest.write(UPDATE_PREFERENCES, digests.update_preferences, current=current),
        rest.read(
            GET_DIGEST,
            lambda account, digest_id, query: digests.get(account, digest_id, query.format),
        ),
    ]


def _state(stored: Preferences) -> State:
    """Without the time of the next digest."""
    return state_of(msgspec.structs.replace(stored, since=0), stored.updated_at)
