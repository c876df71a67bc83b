"""/v1/labels: reading, adding, removing, batches, and the labels themselves."""

from bowerbird.library.labels.labels import Labelled, Labels
from bowerbird.storage.database import Transaction
from bowerbird.wire import envelope
from bowerbird.wire.answer_cache import AnswerCache
from bowerbird.wire.idempotency import IdempotentWrites, done
from bowerbird.wire.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call

_MULTI_STATUS = 207


def endpoints(labels: Labels, answers: AnswerCache) -> list[ApiRoute]:
    async def list_labels(call: Call) -> Reply:
        async def build() -> bytes:
            return envelope.success(await labels.all(call.account))

        return await answers.answer(call.account, call.asked, build)

    return [ApiRoute("GET", "/v1/labels", list_labels)]


def write_endpoints(labels: Labels, writes: IdempotentWrites) -> list[ApiRoute]:
    async def add(transaction: Transaction, call: Call) -> Reply:
        changed = await labels.change(transaction, call.account, call.json, "add")
        return done(changed.posts, _meta("Labelled", changed))

    async def remove(transaction: Transaction, call: Call) -> Reply:
        changed = await labels.change(transaction, call.account, call.json, "remove")
        return done(changed.posts, _meta("Unlabelled", changed))

    async def batch(transaction: Transaction, call: Call) -> Reply:
        result = await labels.batch(transaction, call.account, call.json)
        total = len(result.results)
        if not result.failed:
            return done(result, {"message": f"All {total} operations succeeded."})
        message = f"{result.failed} of {total} operations failed."
        return done(result, {"message": message}, _MULTI_STATUS)

    async def update(transaction: Transaction, call: Call) -> Reply:
        label_id = call.path_params["label_id"]
        return done(await labels.update(transaction, call.account, label_id, call.json))

    async def delete(transaction: Transaction, call: Call) -> Reply:
        return done(await labels.delete(transaction, call.account, call.path_params["label_id"]))

    async def merge(transaction: Transaction, call: Call) -> Reply:
        label_id = call.path_params["label_id"]
        return done(await labels.merge(transaction, call.account, label_id, call.json))

    return [
        ApiRoute("POST", "/v1/labels/add", writes.handler(add)),
        ApiRoute("POST", "/v1/labels/remove", writes.handler(remove)),
        ApiRoute("POST", "/v1/labels/batch", writes.handler(batch)),
        ApiRoute("PATCH", "/v1/labels/{label_id}", writes.handler(update)),
        ApiRoute("DELETE", "/v1/labels/{label_id}", writes.handler(delete)),
        ApiRoute("POST", "/v1/labels/{label_id}/merge", writes.handler(merge)),
    ]


def _meta(verb: str, changed: Labelled) -> dict[str, object]:
    posts = "post" if changed.affected == 1 else "posts"
    return {
        "message": f"{verb} {changed.affected} {posts}.",
        "affected": changed.affected,
        "not_found": changed.not_found,
    }
