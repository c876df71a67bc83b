"""/v1/bookmarks/duplicates: posts that are there several times, and keeping one of each."""

from collections.abc import Awaitable
from typing import Final

from msgspec import UNSET

from bowerbird.errors import Code
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.duplicates import DuplicateGroup, Duplicates, KeptPost
from bowerbird.requests.duplicates import DuplicatesQuery, ResolveRequest
from bowerbird.rest.bulk import kept
from bowerbird.storage.database import Transaction
from bowerbird.wire import query_strings
from bowerbird.wire.responses import envelope
from bowerbird.wire.responses.answer_cache import AnswerCache
from bowerbird.wire.responses.envelope import ChangeMeta, DuplicatesMeta
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import Writes, done

_PATH: Final = "/v1/bookmarks/duplicates"
LIST: Final = Operation(
    route=f"GET {_PATH}",
    name="listDuplicates",
    summary="List groups of bookmarks that have the same links, text or pictures.",
    data=DuplicateGroup,
    is_many=True,
    meta=DuplicatesMeta,
    query=DuplicatesQuery,
    refusals=(Code.FILTER_NOT_ALLOWED,),
)
RESOLVE: Final = Operation(
    route=f"POST {_PATH}/resolve",
    name="resolveDuplicates",
    summary="Keep one bookmark of each group: it gets the labels of the others, which go to the "
    "trash.",
    data=KeptPost,
    is_many=True,
    meta=ChangeMeta,
    body=ResolveRequest,
    refusals=(Code.NOT_FOUND, Code.SUBSCRIPTION_REQUIRED),
)
OPERATIONS: Final = (LIST, RESOLVE)


def routes(duplicates: Duplicates, answers: AnswerCache) -> list[ApiRoute]:
    async def list_duplicates(call: Call) -> Reply:
        async def build() -> bytes:
            query = query_strings.read(call.target.query_string, DuplicatesQuery)
            page = await duplicates.page(call.account, query)
            meta = DuplicatesMeta(
                next_cursor=page.next_cursor,
                limit=page.limit,
                count=len(page.groups),
                hint=page.hint or UNSET,
            )
            return envelope.success(page.groups, meta)

        return await answers.answer(call.account, call.target, build)

    return [LIST.served_by(list_duplicates)]


def write_routes(duplicates: Duplicates, writes: Writes) -> list[ApiRoute]:
    async def resolve(
        transaction: Transaction, call: Call, request: ResolveRequest, _: None
    ) -> Reply:
        found = await duplicates.resolve(transaction, call.account, request)
        moved = f"Moved {found.removed} {'post' if found.removed == 1 else 'posts'} to the trash."
        meta = ChangeMeta(
            moved,
            found.removed,
            found.not_found,
            not_changed=found.not_removed or UNSET,
            change=kept(found.change),
        )
        return done(found.kept, meta)

    def prepare(call: Call, request: ResolveRequest) -> Awaitable[None]:
        return duplicates.prepare(call.account, request)

    gate = plans.check_writes
    return [RESOLVE.served_by(writes.handler(resolve, ResolveRequest, gate, prepare=prepare))]
