"""POST /v1/bookmarks, which saves posts, and /v1/imports, which undoes imports."""

from collections.abc import Awaitable
from typing import Final

from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bulk.changes import NewChange
from bowerbird.library.bulk.requests import BulkChange
from bowerbird.library.bulk.requests import shown as change_shown
from bowerbird.library.imports.runs import Run
from bowerbird.library.imports.saving import SaveResult
from bowerbird.library.imports.undoing import UndoOutcome
from bowerbird.library.labels.import_labels import LabelsOfImport
from bowerbird.model.accounts import Account
from bowerbird.requests import decoding, limits
from bowerbird.requests.labels import ImportLabelling
from bowerbird.requests.limits import PAGE_DEFAULT
from bowerbird.requests.saving import ImportsQuery, SaveQuery, SaveRequest
from bowerbird.rest import bulk
from bowerbird.rest.serving import Rest, paged
from bowerbird.storage.database import Transaction
from bowerbird.wire.responses.envelope import BatchMeta, ImportListMeta
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import admitted, done, result_of, save_handler

LIST: Final = Operation(
    route="GET /v1/imports",
    name="listImports",
    summary="List the account's imports, latest first.",
    data=Run,
    is_many=True,
    meta=ImportListMeta,
    query=ImportsQuery,
    # A running import changes its counts without a new version of the library.
    is_tagged=False,
)
GET: Final = Operation(
    route="GET /v1/imports/{run_id}",
    name="getImport",
    summary="Get one import: its state and how many posts it changed.",
    data=Run,
    is_tagged=False,
)
UNDO: Final = Operation(
    route="POST /v1/imports/{run_id}/undo",
    name="undoImport",
    summary="Undo an import within 30 days. What you changed since stays.",
    data=UndoOutcome,
)
LABELS: Final = Operation(
    route="GET /v1/imports/{run_id}/suggested_labels",
    name="listImportLabels",
    summary="Find the best label for each post of an import that has none: how many posts each "
    "label clearly fits.",
    data=LabelsOfImport,
    is_tagged=False,
    refusals=(Code.SUBSCRIPTION_REQUIRED,),
)
APPLY: Final = Operation(
    route="POST /v1/imports/{run_id}/suggested_labels/apply",
    name="applyImportLabels",
    summary="Give the posts of an import the labels that clearly fit, as one change with undo.",
    data=BulkChange,
    body=ImportLabelling,
    may_continue=True,
    refusals=(Code.COUNT_MISMATCH, Code.SUBSCRIPTION_REQUIRED),
)


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


def routes(rest: Rest) -> list[ApiRoute]:
    services = rest.services
    imports, labels = services.imports, services.import_labels
    save = save_handler(services.saving, rest.writes)

    async def save_or_preview(call: Call) -> Reply:
        query_string = call.target.query_string
        if not query_string or not decoding.from_query(query_string, SaveQuery).is_preview:
            return await save(call)
        request = admitted(call.account, call.body, SaveRequest, lambda _: None)
        if isinstance(request, Refusal):
            raise request
        result = await services.links.previews(call.account, request.items)
        return done(result, BatchMeta("Nothing was saved."), 207 if result.failed else 200)

    def prepare(
        account: Account, run_id: str, request: ImportLabelling
    ) -> Awaitable[NewChange | Refusal]:
        return result_of(labels.change(account, run_id, request))

    async def apply(
        transaction: Transaction, account: Account, _: str, __: ImportLabelling, change: NewChange
    ) -> Reply:
        row = await services.bulk.changes.start(transaction, account, change)
        started = change_shown(row)
        return bulk.located(started, done(started))

    return [
        SAVE.served_by(save_or_preview),
        rest.read(
            LIST,
            lambda account, query: imports.list(account, query.limit or PAGE_DEFAULT, query.cursor),
            data=lambda page: page.runs,
            meta=paged(ImportListMeta, lambda page: page.runs),
        ),
        rest.read(GET, imports.get),
        rest.write(UNDO, imports.undo_within),
        rest.read(LABELS, labels.of_run),
        rest.write(APPLY, apply, plans.check_writes, prepare=prepare, after=rest.wake),
    ]
