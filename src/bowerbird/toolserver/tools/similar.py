"""The tool that finds posts with a meaning similar to that of one."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from bowerbird.library.access import plans
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.results import BookmarkList
from bowerbird.requests.bookmarks import SimilarQuery
from bowerbird.requests.fields import about
from bowerbird.requests.filters import flags_of
from bowerbird.toolserver.tools.arguments import reading
from bowerbird.toolserver.tools.results import left_out, posts
from bowerbird.toolserver.tools.tool import READS, BoundTool, Tool, ToolCall, ToolResult


class SimilarArguments(SimilarQuery, frozen=True, kw_only=True):
    post_id: Annotated[Annotated[str, Meta(pattern=r"^[0-9]{1,40}$")], about("Id of the post.")]


SIMILAR: Final = Tool(
    name="similar_bookmarks",
    title="Find similar posts",
    description=(
        "Finds the saved posts with the most similar meaning to one, best first, read ones too. "
        "Needs a paid plan."
    ),
    takes=SimilarArguments,
    returns=posts.Page,
    hints=READS,
)
TOOLS: Final = (SIMILAR,)


def bind(bookmarks: Bookmarks) -> list[BoundTool]:
    async def similar_bookmarks(call: ToolCall) -> ToolResult:
        plans.check_similar(call.account)
        values = reading.read(SIMILAR, call, SimilarArguments)
        query = SimilarQuery(
            is_unread_only=values.is_unread_only,
            hide_archived=values.hide_archived,
            limit=values.limit,
        )

        async def read(limit: int | None) -> BookmarkList:
            page = query if limit is None else msgspec.structs.replace(query, limit=limit)
            return await bookmarks.similar(call.account, values.post_id, page)

        async def remark(listed: BookmarkList) -> list[str]:
            flags = left_out.by_default(flags_of(query))
            if not flags or not call.account.archived:
                return []
            if listed.count == listed.limit:
                # More posts would not be shown, so they are not worth a second search.
                return [left_out.uncounted(flags)]
            whole = msgspec.structs.replace(query, limit=1, **dict.fromkeys(flags, False))
            near = await bookmarks.similar(call.account, values.post_id, whole)
            return left_out.included(flags, near.total_count - listed.total_count)

        async def explain(listed: BookmarkList) -> list[str]:
            return await remark(listed) or posts.why_empty(listed, "No post matches.")

        pages = posts.Pages(
            account=call.account,
            zone=await bookmarks.zone(call.account),
            read=read,
            applied={"post_id": values.post_id},
            explain=explain,
            remark=remark,
        )
        return ToolResult(await posts.page(pages, "concise"))

    return [BoundTool(SIMILAR, similar_bookmarks)]
