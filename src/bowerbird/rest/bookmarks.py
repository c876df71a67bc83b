"""/v1/bookmarks: the list, the count, one bookmark, its state and its end."""

from collections.abc import Collection

import msgspec

from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.flags import Flags
from bowerbird.library.bookmarks.parameters import FILTER_PARAMETERS, LIST_PARAMETERS
from bowerbird.library.bookmarks.trash import Trash
from bowerbird.storage.database import Transaction
from bowerbird.wire import envelope, query_strings
from bowerbird.wire.answer_cache import AnswerCache, RequestTarget
from bowerbird.wire.idempotency import IdempotentWrites, done, done_with
from bowerbird.wire.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call


def endpoints(bookmarks: Bookmarks, answers: AnswerCache) -> list[ApiRoute]:
    async def list_bookmarks(call: Call) -> Reply:
        async def build() -> bytes:
            given = await _given(call, LIST_PARAMETERS, bookmarks)
            return envelope.page(await bookmarks.list(call.account, given))

        return await answers.answer(call.account, await _asked(call, bookmarks), build)

    async def count_bookmarks(call: Call) -> Reply:
        async def build() -> bytes:
            given = await _given(call, FILTER_PARAMETERS, bookmarks)
            return envelope.success(await bookmarks.count(call.account, given))

        return await answers.answer(call.account, await _asked(call, bookmarks), build)

    async def get_bookmark(call: Call) -> Reply:
        async def build() -> bytes:
            return envelope.success_of_one(
                await bookmarks.get(call.account, call.path_params["post_id"])
            )

        return await answers.answer(call.account, call.asked, build)

    return [
        ApiRoute("GET", "/v1/bookmarks", list_bookmarks),
        # The plain call is how a client tries its key; that is not charged.
        ApiRoute("GET", "/v1/bookmarks/count", count_bookmarks, counts=bool),
        ApiRoute("GET", "/v1/bookmarks/{post_id}", get_bookmark),
    ]


def write_endpoints(marking: Flags, trash: Trash, writes: IdempotentWrites) -> list[ApiRoute]:
    async def update_bookmarks(transaction: Transaction, call: Call) -> Reply:
        marked = await marking.update(transaction, call.account, call.json)
        posts = "bookmark" if marked.affected == 1 else "bookmarks"
        meta = {
            "message": f"Changed {marked.affected} {posts}.",
            "affected": marked.affected,
            "not_found": marked.not_found,
        }
        return done(marked.posts, meta)

    async def update_bookmark(transaction: Transaction, call: Call) -> Reply:
        post_id = call.path_params["post_id"]
        return done_with(await marking.update_one(transaction, call.account, post_id, call.json))

    async def delete_bookmark(transaction: Transaction, call: Call) -> Reply:
        return done(await trash.delete(transaction, call.account, call.path_params["post_id"]))

    async def restore_bookmark(transaction: Transaction, call: Call) -> Reply:
        post_id = call.path_params["post_id"]
        return done_with(await trash.restore(transaction, call.account, post_id))

    return [
        ApiRoute("POST", "/v1/bookmarks/update", writes.handler(update_bookmarks)),
        ApiRoute("PATCH", "/v1/bookmarks/{post_id}", writes.handler(update_bookmark)),
        ApiRoute("DELETE", "/v1/bookmarks/{post_id}", writes.handler(delete_bookmark)),
        ApiRoute("POST", "/v1/bookmarks/{post_id}/restore", writes.handler(restore_bookmark)),
    ]


async def _given(call: Call, known: Collection[str], bookmarks: Bookmarks) -> dict[str, str]:
    # The plan speaks before the parameters' shape: who cannot filter need not mend a filter.
    await bookmarks.check(
        call.account, query_strings.names(call.asked.query_string).intersection(known)
    )
    return query_strings.given(call.asked.query_string, known)


async def _asked(call: Call, bookmarks: Bookmarks) -> RequestTarget:
    """An answer by meaning also depends on vectors, which come without a new version."""
    query_string = call.asked.query_string
    # A name may be written with %; all others are told apart without reading them.
    if b"%" not in query_string and plans.MEANING.encode() not in query_string:
        return call.asked
    if plans.MEANING not in query_strings.names(query_string):
        return call.asked
    return msgspec.structs.replace(call.asked, vectors=await bookmarks.vectors(call.account))
