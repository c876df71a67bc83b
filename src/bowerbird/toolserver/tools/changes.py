"""The tools that list changes of posts, the trash and duplicates, and undo changes."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from bowerbird.assembly import Services
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.duplicates import DuplicateGroup, DuplicatePost
from bowerbird.library.bookmarks.duplicates import Resolved as Resolution
from bowerbird.library.bookmarks.trash import TrashPage
from bowerbird.library.bulk.summaries import RecentChange
from bowerbird.model.accounts import Account
from bowerbird.model.instants import with_offset
from bowerbird.requests.bookmarks import ChangesQuery, DuplicatesQuery, ResolveRequest, TrashQuery
from bowerbird.requests.fields import about
from bowerbird.toolserver.tools import binding
from bowerbird.toolserver.tools.bulk import Change, Undoable, shown, undoable
from bowerbird.toolserver.tools.results import posts, quoted_text, response_size
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS
from bowerbird.toolserver.tools.tool import DESTROYS, READS, BoundTool, Json, Tool

_CHANGE_ID_MAX: Final = 64


class ChangeArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    change_id: Annotated[
        Annotated[str, Meta(max_length=_CHANGE_ID_MAX)], about("change_id of an earlier result.")
    ]


class TrashPosts(Struct, kw_only=True, omit_defaults=True):
    bookmarks: list[Json]
    total_count: int
    next_cursor: str | None
    content_is: str = ""


class ChangeList(Struct, kw_only=True, omit_defaults=True):
    changes: list[Json]
    total_count: int
    next_cursor: str | None


UNDO: Final = Tool(
    name="undo_change",
    title="Undo a change",
    description=(
        "Undoes a change by its change_id. Posts that were changed again since "
        "stay as they are; affected counts those that got their state back."
    ),
    takes=ChangeArguments,
    returns=Change,
    # Undoing the restoration of posts deletes them again, and nothing undoes an undoing.
    hints=DESTROYS,
)
GET: Final = Tool(
    name="get_change",
    title="Show the progress of a change",
    description="Shows how far a change is whose state is working or undoing, by its change_id.",
    takes=ChangeArguments,
    returns=Change,
    hints=READS,
)
LIST: Final = Tool(
    name="list_changes",
    title="List recent changes",
    description=(
        "Lists the latest changes in words, latest first: who made each, how many posts "
        "it changed, and until when undo_change can undo it."
    ),
    takes=ChangesQuery,
    returns=ChangeList,
    hints=READS,
)
TRASH: Final = Tool(
    name="list_trash",
    title="List or search the trash",
    description=(
        "Lists the deleted posts that restore_bookmarks can restore, the latest first: all, or by "
        "words, author, label and when they were deleted."
    ),
    takes=TrashQuery,
    returns=TrashPosts,
    hints=READS,
)


def bind(services: Services) -> list[BoundTool]:
    bulk = services.bulk

    async def get_change(account: Account, values: ChangeArguments) -> Change:
        return shown(await bulk.get(account, values.change_id))

    async def list_changes(account: Account, asked: ChangesQuery) -> ChangeList:
        page, listed = await response_size.fitting_page(
            lambda values: bulk.recent.list(account, values),
            asked,
            lambda page: [_listed(one) for one in page.changes],
        )
        return ChangeList(
            changes=listed, total_count=page.total_count, next_cursor=page.next_cursor
        )

    async def list_trash(account: Account, asked: TrashQuery) -> TrashPosts:
        zone = await services.bookmarks.zone(account)

        def found_in(page: TrashPage) -> list[Json]:
            body = b",".join(one.bookmark for one in page.posts)
            return [
                {**post, "deleted_at": response_size.second(with_offset(one.trashed_at))}
                for post, one in zip(posts.concise(b"[%b]" % body, zone), page.posts, strict=True)
            ]

        page, found = await response_size.fitting_page(
            lambda values: services.trash_list.page(account, values), asked, found_in
        )
        return TrashPosts(
            bookmarks=found,
            total_count=page.total_count,
            next_cursor=page.next_cursor,
            content_is=QUOTED_POSTS if found else "",
        )

    return [
        binding.writes(
            *(services, UNDO, bulk.undo),
            given=lambda sent: (sent.change_id,),
            shown=shown,
            wakes=True,
        ),
        binding.reads(GET, get_change, counts=lambda _: False),
        binding.reads(LIST, list_changes, counts=lambda _: False),
        binding.reads(TRASH, list_trash),
        *_bind_duplicates(services),
    ]


def _listed(change: RecentChange) -> Json:
    """A change of the list, without what its summary says."""
    found: Json = {
        "change_id": change.change_id,
        "summary": quoted_text.shown_text(change.summary),
        "made_by": change.made_by,
        "at": response_size.second(change.created_at),
    }
    if change.key_name is not None:
        found["key"] = quoted_text.shown_text(change.key_name)
    if change.rule_name is not None:
        found["rule"] = quoted_text.shown_text(change.rule_name)
    if change.undo_until is not None:
        found["undo_until"] = response_size.second(change.undo_until)
    else:
        found["state"] = change.state
    return found


# Enough to recognise a post.
_EXCERPT: Final = 80


class Groups(Struct, kw_only=True, omit_defaults=True):
    groups: list[Json]
    next_cursor: str | None
    hint: str = ""
    content_is: str = ""


class Resolved(Undoable, kw_only=True, omit_defaults=True):
    affected: int
    not_found: list[str]
    not_removed: list[str]
    advice: str = ""


LIST_DUPLICATES: Final = Tool(
    name="list_duplicates",
    title="List duplicates",
    description=(
        "Lists groups of saved posts with the same links, text or pictures; keep is the best "
        "to keep."
    ),
    takes=DuplicatesQuery,
    returns=Groups,
    hints=READS,
)
RESOLVE: Final = Tool(
    name="resolve_duplicates",
    title="Remove duplicates",
    description=(
        "Keeps one post per group, with all labels; the others go to the trash unless they have "
        "a note or highlights. undo_change undoes it."
    ),
    takes=ResolveRequest,
    returns=Resolved,
    hints=DESTROYS,
)


def _bind_duplicates(services: Services) -> list[BoundTool]:
    duplicates = services.duplicates

    async def list_duplicates(account: Account, asked: DuplicatesQuery) -> Groups:
        page, shown = await response_size.fitting_page(
            lambda values: duplicates.page(account, values),
            asked,
            lambda page: [_group(one) for one in page.groups],
        )
        return Groups(
            groups=shown,
            next_cursor=page.next_cursor,
            hint=page.hint,
            content_is=QUOTED_POSTS if shown else "",
        )

    def resolved(found: Resolution) -> Resolved:
        result = Resolved(
            affected=found.removed, not_found=found.not_found, not_removed=found.not_removed
        )
        if found.not_removed:
            result.advice = "Posts in not_removed have a note or highlights of the user."
        return undoable(result, found.change)

    return [
        binding.reads(LIST_DUPLICATES, list_duplicates),
        binding.writes(
            *(services, RESOLVE, duplicates.resolve),
            gate=plans.check_writes,
            shown=resolved,
            wakes=True,
        ),
    ]


def _group(group: DuplicateGroup) -> Json:
    found: Json = {
        "same": group.same,
        "keep": group.keep,
        "posts": [_duplicate(post) for post in group.posts],
    }
    if group.count > len(group.posts):
        found["count"] = group.count
    return found


def _duplicate(post: DuplicatePost) -> Json:
    """A post without what is as usual."""
    found: Json = {
        "id": post.post_id,
        "author": quoted_text.shown_text(post.author_username),
        "text": quoted_text.shown_text(post.text[:_EXCERPT]),
        "saved": post.bookmarked_at[:10],
    }
    if post.tags:
        found["labels"] = [quoted_text.shown_text(name) for name in post.tags]
    if post.is_annotated:
        found["has_note_or_highlights"] = True
    return found
