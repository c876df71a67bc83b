"""What the tools that list posts share: the form of the answer, order, page and advice."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, Protocol

import msgspec

from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.bookmarks.list_request import BookmarkList, VectorState
from bowerbird.model.accounts import Account
from bowerbird.model.words import Either, WordQuery
from bowerbird.requests.bookmarks import ListQuery
from bowerbird.requests.fields import about
from bowerbird.toolserver.tools.results import left_out, posts
from bowerbird.toolserver.tools.results.left_out import EmptyLists
from bowerbird.toolserver.tools.results.posts import Page, Pages
from bowerbird.toolserver.tools.tool import Json

_NEAR_ONLY: Final = (
    "No post has any of these words; these are only near in meaning, and may have nothing to do "
    "with them."
)
# In the JSON of a post that has a searched word.
_HIGHLIGHT: Final = b',"highlight":{'

ResponseFormat = Annotated[
    Literal["concise", "detailed", "ids"] | None,
    about(
        "detailed: all fields, much longer. ids: post_ids only.",
        parameter={"default": "concise"},
    ),
]


class Paged(Protocol):
    """The arguments of a tool that returns a page."""

    @property
    def limit(self) -> int | None: ...
    @property
    def cursor(self) -> str | None: ...
    @property
    def sort_by(self) -> str | None: ...
    @property
    def sort_order(self) -> str | None: ...


async def page(
    bookmarks: Bookmarks,
    account: Account,
    query: ListQuery,
    applied: Json,
    response_format: str | None,
    *,
    vectors: VectorState | None = None,
    mode: str | None = None,
    remarks: Sequence[str] = (),
) -> Page:
    """`mode` is that of a search, and `remarks` are about the search itself."""

    async def read(limit: int | None) -> BookmarkList:
        asked = query if limit is None else msgspec.structs.replace(query, limit=limit)
        return await bookmarks.list(account, asked, vectors)

    async def explain(listed: BookmarkList) -> list[str]:
        said = await empty.advice(account, query, listed, mode=mode)
        return [*dict.fromkeys([*remarks, *said])]

    async def remark(listed: BookmarkList) -> list[str]:
        said = [*dict.fromkeys([*remarks, *await empty.by_meaning(account, listed, mode)])]
        if mode == "hybrid" and not await _has_words(bookmarks, account, query, listed):
            said.append(_NEAR_ONLY)
        return said + await left_out.of_list(bookmarks, account, query, listed)

    empty = EmptyLists(bookmarks)

    pages = Pages(
        account=account,
        zone=await bookmarks.zone(account),
        read=read,
        applied=applied,
        explain=explain,
        remark=remark,
    )
    return await posts.page(pages, response_format or "concise")


async def _has_words(
    bookmarks: Bookmarks, account: Account, query: ListQuery, listed: BookmarkList
) -> bool:
    """Whether a post of a search by words and meaning has one of the words."""
    if _HIGHLIGHT in listed.body:
        return True
    filter = await bookmarks.filter(account, query)
    words = filter.words
    if words is None or not words.wanted_terms:
        return True
    # Another page may have a post with one of them.
    limits = words.limits.parts if words.limits else ()
    any_word = WordQuery((Either(tuple((term,) for term in words.wanted_terms)), *limits))
    by_words = msgspec.structs.replace(filter, meaning=None, words=any_word)
    return bool(await bookmarks.total(account, by_words))


def paging(values: Paged) -> dict[str, Any]:
    return {"limit": values.limit, "cursor": values.cursor, **sorting(values)}


def sorting(values: Paged) -> dict[str, Any]:
    order = {"sort_by": values.sort_by, "sort_order": values.sort_order}
    return {name: value for name, value in order.items() if value}
