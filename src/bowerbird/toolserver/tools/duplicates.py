"""The tools that list posts which are saved several times, and keep one of each."""

from typing import Final

from msgspec import Struct

from bowerbird.assembly import Services
from bowerbird.library.access import plans
from bowerbird.library.bookmarks.duplicates import DuplicateGroup, DuplicatePost
from bowerbird.model.accounts import Account
from bowerbird.requests.duplicates import DuplicatesQuery, ResolveRequest
from bowerbird.storage.database import Transaction
from bowerbird.toolserver.tools.arguments import reading, writes
from bowerbird.toolserver.tools.bulk import Undoable, undoable
from bowerbird.toolserver.tools.results import quoted_text, response_size
from bowerbird.toolserver.tools.results.quoted_text import QUOTED_POSTS
from bowerbird.toolserver.tools.tool import DESTROYS, READS, BoundTool, Json, Tool

# Enough to recognise a post.
_EXCERPT: Final = 80


class ListArguments(DuplicatesQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class ResolveArguments(ResolveRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


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


LIST: Final = Tool(
    name="list_duplicates",
    title="List duplicates",
    description=(
        "Lists groups of saved posts with the same links, text or pictures; keep is the best "
        "to keep."
    ),
    takes=ListArguments,
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
    takes=ResolveArguments,
    returns=Resolved,
    hints=DESTROYS,
)
TOOLS: Final = (LIST, RESOLVE)


def bind(services: Services) -> list[BoundTool]:
    duplicates = services.duplicates

    async def list_duplicates(account: Account, asked: ListArguments) -> Groups:
        page, shown = await response_size.fitting_page(
            lambda values: duplicates.page(account, values),
            asked,
            lambda page: [_shown(one) for one in page.groups],
        )
        return Groups(
            groups=shown,
            next_cursor=page.next_cursor,
            hint=page.hint,
            content_is=QUOTED_POSTS if shown else "",
        )

    async def resolve(
        transaction: Transaction, account: Account, values: ResolveArguments, _: None
    ) -> Resolved:
        found = await duplicates.resolve(transaction, account, values)
        result = Resolved(
            affected=found.removed, not_found=found.not_found, not_removed=found.not_removed
        )
        if found.not_removed:
            result.advice = "Posts in not_removed have a note or highlights of the user."
        return undoable(result, found.change)

    return [
        reading.bound(LIST, list_duplicates),
        writes.bound(
            services,
            RESOLVE,
            resolve,
            gate=plans.check_writes,
            prepare=duplicates.prepare,
            wakes=True,
        ),
    ]


def _shown(group: DuplicateGroup) -> Json:
    found: Json = {
        "same": group.same,
        "keep": group.keep,
        "posts": [_post(post) for post in group.posts],
    }
    if group.count > len(group.posts):
        found["count"] = group.count
    return found


def _post(post: DuplicatePost) -> Json:
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
