"""The tools that read, create, change and delete Smart Views."""

from functools import partial
from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from bowerbird import errors
from bowerbird.assembly import Services
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import BookmarkList
from bowerbird.library.views.counts import CountState
from bowerbird.library.views.views import ChangedView, ViewResponse, Views
from bowerbird.model.accounts import Account
from bowerbird.model.labels import View
from bowerbird.requests import limits
from bowerbird.requests.bookmarks import Cursor, Limit
from bowerbird.requests.fields import about
from bowerbird.requests.views import (
    NewBucket,
    NewSort,
    NewView,
    NewViewQuery,
    ViewBookmarksQuery,
    ViewChange,
)
from bowerbird.search.queries.spelling import nearest
from bowerbird.toolserver.tools import binding, vocabulary
from bowerbird.toolserver.tools.bulk import Undoable, undoable
from bowerbird.toolserver.tools.results import guidance, posts, response_size
from bowerbird.toolserver.tools.results.posts import Page, ResponseFormat
from bowerbird.toolserver.tools.tool import (
    DESTROYS,
    READS,
    WRITES,
    BoundTool,
    Json,
    NoArguments,
    Tool,
)

Slug = Annotated[str, Meta(max_length=100, description="Slug of the view, from list_views.")]


class ViewBookmarksArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    slug: Slug
    bucket: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        about("Slug of a triage bucket of the view; only its posts are returned."),
    ] = None
    limit: Limit = None
    cursor: Cursor = None
    response_format: ResponseFormat = None


_INCLUDES: Final = "If the base_query of the view has hide_archived false, it includes"
_NO_POSTS: Final = "No post matches the view now. update_view changes its filters."
BaseQuery = Annotated[
    NewViewQuery | None,
    about("Which posts it shows: read ones too, archived ones only if hide_archived is false."),
]
DefaultSort = Annotated[
    str | NewSort | None,
    about(
        "",
        argument={
            "type": "string",
            "description": "Order of its posts: posted_at, author, favorite_count or the like.",
        },
    ),
]
Buckets = Annotated[
    Annotated[list[NewBucket], Meta(max_length=limits.BUCKETS_MAX)] | None,
    about("Parts of the view, each with a query that narrows it."),
]


class CreateViewArguments(NewView, frozen=True, kw_only=True):
    base_query: BaseQuery = None
    default_sort: DefaultSort = None
    triage_buckets: Buckets = None
    idempotency_key: binding.IdempotencyKey = None


class UpdateViewArguments(ViewChange, frozen=True, kw_only=True):
    # Repeating the call changes nothing, so a retry needs no key. Pins and places are for people.
    UNLISTED: ClassVar = ("idempotency_key", "is_pinned", "position")

    slug: Slug
    base_query: BaseQuery | UnsetType = UNSET
    default_sort: DefaultSort | UnsetType = UNSET
    triage_buckets: Buckets | UnsetType = UNSET
    idempotency_key: binding.IdempotencyKey = None


class DeleteViewArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    slug: Slug


class SmartView(Undoable, kw_only=True, omit_defaults=True):
    slug: str
    name: str
    description: str
    base_query: Json
    triage_buckets: list[Json]
    position: int
    is_pinned: bool
    count: int
    count_state: CountState
    truncated: bool = False
    advice: str = ""


class ViewList(Struct, kw_only=True, omit_defaults=True):
    views: Annotated[list[Json], Meta(extra={"items": SmartView})]
    total_count: int
    truncated: bool
    advice: str = ""


LIST: Final = Tool(
    name="list_views",
    title="List Smart Views",
    description=(
        "Lists the user's Smart Views, which are saved queries, with their numbers of posts. Some "
        "counts may be pending; a later call has more of them."
    ),
    returns=ViewList,
    hints=READS,
)
BOOKMARKS: Final = Tool(
    name="get_view_bookmarks",
    title="List the posts of a Smart View",
    description=(
        "Lists the saved posts of a Smart View, page by page, or of one of its triage buckets. "
        "list_views returns the slugs."
    ),
    takes=ViewBookmarksArguments,
    returns=Page,
    hints=READS,
)
CREATE: Final = Tool(
    name="create_view",
    title="Create a Smart View",
    description=(
        "Creates a Smart View, which saves filters for later use. The slug is derived from the "
        "name."
    ),
    takes=CreateViewArguments,
    returns=SmartView,
    hints=WRITES,
)
UPDATE: Final = Tool(
    name="update_view",
    title="Change a Smart View",
    description=(
        "Changes a Smart View. Each field that is sent replaces the old value completely. The slug "
        "never changes."
    ),
    takes=UpdateViewArguments,
    returns=SmartView,
    hints=DESTROYS,
)
DELETE: Final = Tool(
    name="delete_view",
    title="Delete a Smart View",
    description=(
        "Deletes a Smart View and returns it. Its posts stay in the library. undo_change "
        "restores it for 30 days."
    ),
    takes=DeleteViewArguments,
    returns=SmartView,
    hints=DESTROYS,
)


def bind(services: Services) -> list[BoundTool]:
    views, gate = services.views, plans.check_writes

    async def list_views(account: Account, _: NoArguments) -> ViewList:
        responses = await views.responses(account, await views.all(account))
        return _listed(msgspec.to_builtins([_content(view) for view in responses]))

    made = (
        (CREATE, views.create, views.prepare_create, lambda sent: (sent,)),
        (UPDATE, views.update, views.prepare_update, lambda sent: (sent.slug, sent)),
        (DELETE, views.delete, views.prepare_delete, lambda sent: (sent.slug,)),
    )
    return [
        binding.reads(LIST, list_views),
        binding.reads(BOOKMARKS, partial(_bookmarks, views, services.bookmarks)),
        *(
            binding.writes(
                *(services, tool, change),
                gate=gate,
                prepare=prepare,
                given=given,
                shown=_changed,
            )
            for tool, change, prepare, given in made
        ),
    ]


async def _bookmarks(
    views: Views, bookmarks: Bookmarks, account: Account, values: ViewBookmarksArguments
) -> Page:
    view = await _found(views, account, values.slug)
    query = ViewBookmarksQuery(values.limit, values.cursor, values.bucket)

    applied: Json = {
        "view": view.slug,
        "base_query": vocabulary.in_published_words(view.base_query),
    }
    if values.bucket:
        applied["bucket"] = values.bucket

    async def remark(listed: BookmarkList) -> list[str]:
        shown = listed.total_count
        return await _left_out(views, bookmarks, account, view, bucket=values.bucket, shown=shown)

    async def explain(listed: BookmarkList) -> list[str]:
        said = [*([listed.hint] if listed.hint else []), *await remark(listed)]
        return said or posts.why_empty(listed, _NO_POSTS)

    return await posts.page(
        *(bookmarks, account, query, lambda asked: views.bookmarks(account, view, asked)),
        applied=applied,
        explain=explain,
        remark=remark,
        response_format=values.response_format,
    )


async def _found(views: Views, account: Account, slug: str) -> View:
    """The view, or a refusal that names the nearest slug."""
    try:
        return await views.find(account, slug)
    except Refusal as refused:
        meant = nearest(slug, [view.slug for view in await views.all(account)])
        if refused.code is not Code.NOT_FOUND or meant is None:
            raise
        hint = f"{refused.sentence} Did you mean {errors.shown(meant)}?"
        raise Refusal(Code.NOT_FOUND, hint) from None


async def _left_out(
    views: Views,
    bookmarks: Bookmarks,
    account: Account,
    view: View,
    *,
    bucket: str | None,
    shown: int,
) -> list[str]:
    """The archived posts that the view does not show, unless its query says so itself."""
    flags = guidance.by_default(views.flags(view, bucket))
    if not flags or not account.archived:
        return []
    filter = await views.filter(account, view.slug, bucket)
    number = await guidance.of_filter(bookmarks, account, filter, flags, shown)
    return guidance.said(flags, number, _INCLUDES)


def _content(view: ViewResponse) -> SmartView:
    fields: Json = msgspec.to_builtins(view)
    buckets = [
        {**bucket, "query": vocabulary.in_published_words(bucket.get("query") or {})}
        for bucket in fields["triage_buckets"]
    ]
    base_query = vocabulary.in_published_words(fields["base_query"])
    shown = {name: fields[name] for name in SmartView.__struct_fields__ if name in fields}
    whole = {**shown, "base_query": base_query, "triage_buckets": buckets}
    short = response_size.shrink(whole, response_size.RECORDS_BYTES)
    if short is not whole:
        short = {**short, "truncated": True, "advice": response_size.TRUNCATED}
    return msgspec.convert(short, SmartView)


def _changed(made: ChangedView) -> SmartView:
    view, row = made
    return undoable(_content(view), row)


def _listed(views: list[Json]) -> ViewList:
    fitted = response_size.fit(views, response_size.RECORDS_BYTES)
    is_cut = not fitted.is_complete or any(v.get("truncated") for v in fitted.records)
    advice = ""
    if not views:
        advice = "There is no Smart View yet. create_view creates one."
    elif not fitted.is_all:
        advice = (
            f"Only the first {len(fitted.records)} of {len(views)} views fit. The others can still "
            "be read by their slugs."
        )
    elif is_cut:
        advice = response_size.TRUNCATED
    elif any(CountState(view["count_state"]).is_pending for view in views):
        advice = "Some counts are not exact yet. Call list_views again in a few seconds."
    return ViewList(views=fitted.records, total_count=len(views), truncated=is_cut, advice=advice)
