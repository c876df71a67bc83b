"""Every operation of /v1 as the OpenAPI document tells it, in the order people read it."""

from typing import Final

from msgspec import Struct

from bowerbird.errors import Code
from bowerbird.library.bookmarks.parameters import FILTER_PARAMETERS, LIST_PARAMETERS
from bowerbird.rest.digests import ONE_PARAMETERS as DIGEST_PARAMETERS
from bowerbird.rest.digests import PARAMETERS as DIGESTS_PARAMETERS
from bowerbird.rest.exports import FORMATS, LINK_PARAMETERS
from bowerbird.rest.similar import PARAMETERS as SIMILAR_PARAMETERS
from bowerbird.rest.views import PARAMETERS as VIEW_PARAMETERS

LIST_PLAN: Final = (
    Code.SUBSCRIPTION_REQUIRED,
    Code.FILTER_NOT_ALLOWED,
    Code.PAGINATION_NOT_ALLOWED,
    Code.VECTOR_SEARCH_NOT_ALLOWED,
)
_PAID: Final = (Code.SUBSCRIPTION_REQUIRED,)
_MISSING: Final = (Code.NOT_FOUND, Code.SUBSCRIPTION_REQUIRED)


class Operation(Struct, frozen=True, kw_only=True):
    method: str
    path: str
    name: str
    summary: str
    # Name of the schema of the answer's data.
    data: str
    is_many: bool = False
    meta: str = ""
    query: tuple[str, ...] = ()
    # Name of the schema of the body; none for operations that read no body.
    body: str = ""
    statuses: tuple[int, ...] = (200,)
    # Headers that the answer carries beside those of every answer, and whether always.
    headers: dict[str, bool] = {}
    # Whether a client that has the present answer is told so by 304.
    is_tagged: bool = True
    # Whether it is asked without a key, and answers with a file.
    is_file: bool = False
    refusals: tuple[Code, ...] = ()
    is_sandbox: bool = False

    @property
    def tag(self) -> str:
        return self.path.split("/")[2]

    @property
    def is_keyed(self) -> bool:
        return self.method in ("POST", "PUT", "PATCH") and not self.is_sandbox


OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/v1/account",
        name="getAccount",
        summary="Plan, limits, calls, counts and the state of the vector store. Not charged.",
        data="AccountResponse",
    ),
    Operation(
        method="GET",
        path="/v1/bookmarks",
        name="listBookmarks",
        summary="The account's bookmarks, page by page.",
        data="Bookmark",
        is_many=True,
        meta="ListMeta",
        query=LIST_PARAMETERS,
        refusals=LIST_PLAN,
    ),
    Operation(
        method="GET",
        path="/v1/bookmarks/count",
        name="countBookmarks",
        summary="How many bookmarks match. Without parameters it only tries the key.",
        data="BookmarkCounts",
        query=FILTER_PARAMETERS,
        refusals=tuple(code for code in LIST_PLAN if code is not Code.PAGINATION_NOT_ALLOWED),
    ),
    Operation(
        method="POST",
        path="/v1/bookmarks/update",
        name="updateBookmarks",
        summary="Mark many bookmarks read or archived, or not.",
        data="BookmarkState",
        is_many=True,
        meta="ChangeMeta",
        body="StateRequest",
        refusals=_MISSING,
    ),
    Operation(
        method="GET",
        path="/v1/bookmarks/{post_id}",
        name="getBookmark",
        summary="One bookmark.",
        data="Bookmark",
        refusals=_MISSING,
    ),
    Operation(
        method="GET",
        path="/v1/bookmarks/{post_id}/similar",
        name="listSimilarBookmarks",
        summary="The bookmarks nearest to one by meaning.",
        data="Bookmark",
        is_many=True,
        meta="ListMeta",
        query=SIMILAR_PARAMETERS,
        refusals=(*_MISSING, Code.VECTOR_SEARCH_NOT_ALLOWED),
    ),
    Operation(
        method="PATCH",
        path="/v1/bookmarks/{post_id}",
        name="updateBookmark",
        summary="Mark one bookmark read or archived, or not.",
        data="Bookmark",
        body="FlagsRequest",
        refusals=_MISSING,
    ),
    Operation(
        method="DELETE",
        path="/v1/bookmarks/{post_id}",
        name="deleteBookmark",
        summary="Move a bookmark to the trash, from where it can be restored for 30 days.",
        data="Deleted",
        refusals=_MISSING,
    ),
    Operation(
        method="POST",
        path="/v1/bookmarks/{post_id}/restore",
        name="restoreBookmark",
        summary="Bring a deleted bookmark back as it was.",
        data="Bookmark",
        refusals=_MISSING,
    ),
    Operation(
        method="GET",
        path="/v1/labels",
        name="listLabels",
        summary="The account's labels by name.",
        data="LabelResponse",
        is_many=True,
        refusals=_PAID,
    ),
    Operation(
        method="POST",
        path="/v1/labels/add",
        name="addLabel",
        summary="Add a label to posts; it is made if it is new.",
        data="Tagged",
        is_many=True,
        meta="ChangeMeta",
        body="LabelRequest",
        refusals=_MISSING,
    ),
    Operation(
        method="POST",
        path="/v1/labels/remove",
        name="removeLabel",
        summary="Remove a label from posts.",
        data="Tagged",
        is_many=True,
        meta="ChangeMeta",
        body="LabelRequest",
        refusals=_MISSING,
    ),
    Operation(
        method="POST",
        path="/v1/labels/batch",
        name="batchLabels",
        summary="Up to 50 additions and removals, each reported by itself; 207 when any failed.",
        data="BatchResult",
        meta="MessageMeta",
        body="BatchRequest",
        statuses=(200, 207),
        refusals=_PAID,
    ),
    Operation(
        method="PATCH",
        path="/v1/labels/{label_id}",
        name="updateLabel",
        summary="Rename a label, or change what is noted of it.",
        data="LabelResponse",
        body="LabelChange",
        refusals=_MISSING,
    ),
    Operation(
        method="DELETE",
        path="/v1/labels/{label_id}",
        name="deleteLabel",
        summary="Take a label off every post and away.",
        data="LabelResponse",
        refusals=_MISSING,
    ),
    Operation(
        method="POST",
        path="/v1/labels/{label_id}/merge",
        name="mergeLabel",
        summary="Give the posts of a label another one, and remove the first.",
        data="LabelResponse",
        body="MergeRequest",
        refusals=_MISSING,
    ),
    Operation(
        method="GET",
        path="/v1/views",
        name="listViews",
        summary="The account's Smart Views.",
        data="ViewResponse",
        is_many=True,
        refusals=_PAID,
    ),
    Operation(
        method="POST",
        path="/v1/views",
        name="createView",
        summary="Keep a query as a Smart View.",
        data="ViewResponse",
        body="NewView",
        statuses=(201,),
        refusals=_PAID,
    ),
    Operation(
        method="GET",
        path="/v1/views/{slug}",
        name="getView",
        summary="One Smart View.",
        data="ViewResponse",
        refusals=_MISSING,
    ),
    Operation(
        method="PATCH",
        path="/v1/views/{slug}",
        name="updateView",
        summary="Change a Smart View; its slug stays.",
        data="ViewResponse",
        body="ViewChange",
        refusals=_MISSING,
    ),
    Operation(
        method="DELETE",
        path="/v1/views/{slug}",
        name="deleteView",
        summary="Remove a Smart View; its bookmarks stay.",
        data="ViewResponse",
        refusals=_MISSING,
    ),
    Operation(
        method="GET",
        path="/v1/views/{slug}/bookmarks",
        name="listViewBookmarks",
        summary="The bookmarks of a Smart View, page by page.",
        data="Bookmark",
        is_many=True,
        meta="ListMeta",
        query=VIEW_PARAMETERS,
        refusals=(*LIST_PLAN, Code.NOT_FOUND),
    ),
    Operation(
        method="GET",
        path="/v1/digests",
        name="listDigests",
        summary="The account's digests, the latest first.",
        data="DigestSummary",
        is_many=True,
        meta="DigestListMeta",
        query=DIGESTS_PARAMETERS,
        refusals=_PAID,
    ),
    Operation(
        method="GET",
        path="/v1/digests/preferences",
        name="getDigestPreferences",
        summary="How often digests are made, in which time zone and at what hour, and if mailed.",
        data="PreferencesResponse",
        refusals=_PAID,
    ),
    Operation(
        method="PATCH",
        path="/v1/digests/preferences",
        name="updateDigestPreferences",
        summary="Change how digests are made; fields that are left out stay.",
        data="PreferencesResponse",
        body="PreferencesRequest",
        refusals=_PAID,
    ),
    Operation(
        method="GET",
        path="/v1/digests/{digest_id}",
        name="getDigest",
        summary="One digest, with its Markdown and HTML.",
        data="DigestResponse",
        query=DIGEST_PARAMETERS,
        refusals=_MISSING,
    ),
    *(
        Operation(
            method="POST",
            path=f"/v1/exports/{format}",
            name=f"createExport{format.capitalize()}",
            summary=f"Begin an export as {format.upper()}; poll_url tells how it stands.",
            data="ExportJob",
            body="ExportRequest",
            statuses=(202,),
            headers={"Location": True, "Retry-After": True},
            refusals=(
                Code.SUBSCRIPTION_REQUIRED,
                Code.FILTER_NOT_ALLOWED,
                Code.VECTOR_SEARCH_NOT_ALLOWED,
                Code.NOT_FOUND,
            ),
        )
        for format in FORMATS
    ),
    Operation(
        method="GET",
        path="/v1/exports/{job_id}",
        name="getExport",
        summary="How an export stands; completed, it has a link to its file.",
        data="ExportJob",
        headers={"Retry-After": False},
        is_tagged=False,
        refusals=_MISSING,
    ),
    Operation(
        method="GET",
        path="/v1/exports/{job_id}/file",
        name="downloadExport",
        summary="The file of an export, by the link of its job; needs no key.",
        data="",
        query=LINK_PARAMETERS,
        statuses=(200, 206),
        headers={"Content-Disposition": True, "Accept-Ranges": True, "Content-Length": True},
        is_file=True,
        refusals=(Code.LINK_EXPIRED, Code.NOT_FOUND, Code.RANGE_NOT_SATISFIABLE),
    ),
)

TAGS: Final[dict[str, str]] = {
    "account": "What an account may know of itself.",
    "bookmarks": "The posts an account has saved.",
    "labels": "Names that an account gives to its posts.",
    "views": "Queries that an account keeps under a name.",
    "digests": "What was saved in a day or a week, and what waits to be read.",
    "exports": "An account's posts as a file to take along.",
    "sandbox": "The same on a library of fixtures: no key, and nothing is kept.",
}

PATH_PARAMETERS: Final[dict[str, str]] = {
    "post_id": "The saved post's identifier.",
    "label_id": "The label's id.",
    "slug": "The view's slug.",
    "digest_id": "The digest's id, such as weekly-2026-07-13, or latest.",
    "job_id": "The export's id.",
}
