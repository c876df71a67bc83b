"""/v1/imports: the runs of imports, and undoing one."""

from typing import Final

from bowerbird.errors import Code
from bowerbird.library.imports.runs import ImportRuns, Run
from bowerbird.library.imports.undoing import UndoOutcome
from bowerbird.requests.ingest import ImportsQuery
from bowerbird.requests.limits import PAGE_DEFAULT
from bowerbird.wire import query_strings
from bowerbird.wire.responses.envelope import ImportListMeta, QueryMeta
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.routes import ApiRoute, Call, Operation
from bowerbird.wire.writes import Writes, done

LIST: Final = Operation(
    method="GET",
    path="/v1/imports",
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
    method="GET",
    path="/v1/imports/{run_id}",
    name="getImport",
    summary="Get one import: its state and how many posts it changed.",
    data=Run,
    meta=QueryMeta,
    is_tagged=False,
    refusals=(Code.NOT_FOUND,),
)
UNDO: Final = Operation(
    method="POST",
    path="/v1/imports/{run_id}/undo",
    name="undoImport",
    summary="Undo an import within 30 days. What you changed since stays.",
    data=UndoOutcome,
    refusals=(Code.NOT_FOUND,),
)
OPERATIONS: Final = (LIST, GET, UNDO)


def routes(imports: ImportRuns) -> list[ApiRoute]:
    async def list_imports(call: Call) -> Reply:
        query = query_strings.read(call.target.query_string, ImportsQuery)
        page = await imports.list(call.account, query.limit or PAGE_DEFAULT, query.cursor)
        meta = ImportListMeta(
            next_cursor=page.next_cursor,
            limit=page.limit,
            total_count=page.total_count,
            count=len(page.runs),
        )
        return done(page.runs, meta)

    async def get_import(call: Call) -> Reply:
        return done(await imports.get(call.account, call.path_params["run_id"]))

    return [LIST.served_by(list_imports), GET.served_by(get_import)]


def write_routes(imports: ImportRuns, writes: Writes) -> list[ApiRoute]:
    return [UNDO.served_by(writes.of(imports.undo_within))]
