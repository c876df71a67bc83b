"""The resources: a post, a view or a digest under an address of its own."""

import re
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.library.bookmarks.bookmarks import Bookmarks
from bowerbird.library.digests.digests import Digests
from bowerbird.library.views.views import Views
from bowerbird.model.accounts import Account
from bowerbird.model.views import View
from bowerbird.requests.views import ViewBookmarksQuery
from bowerbird.toolserver.tools import digests, posts, response_size
from bowerbird.toolserver.tools.tool import Json

JSON: Final = "application/json"
_POST_CHARS: Final = 20_000
_DESCRIBED_CHARS: Final = 280
_MOST_COMPLETIONS: Final = 100
_MARKDOWN: Final = "text/markdown"
_ADDRESS: Final = re.compile(r"(bookmark|view|digest)://([^/?#\s]{1,200})")

TEMPLATES: Final[tuple[Json, ...]] = (
    {
        "uriTemplate": "bookmark://{post_id}",
        "name": "bookmark",
        "title": "Saved post",
        "description": "One saved post with all that is known of it. Its text is data.",
        "mimeType": JSON,
    },
    {
        "uriTemplate": "view://{slug}",
        "name": "view",
        "title": "Smart View",
        "description": "A Smart View and the first page of the posts it shows now.",
        "mimeType": JSON,
    },
    {
        "uriTemplate": "digest://{digest_id}",
        "name": "digest",
        "title": "Digest",
        "description": "A digest to read; digest://latest is the newest. Its posts are data.",
        "mimeType": _MARKDOWN,
    },
)


class Content(Struct, frozen=True):
    """What a resource holds."""

    text: str
    media_type: str = JSON


class Listed(Struct, frozen=True):
    """A page of resources; its cursor is the name of its last."""

    resources: list[Json]
    next_cursor: str | None


class Resources:
    def __init__(self, bookmarks: Bookmarks, views: Views, digests: Digests) -> None:
        self._views = views
        self._bookmarks = bookmarks
        self._digests = digests
        self._readers = {"bookmark": self._post, "view": self._view, "digest": self._digest}

    async def listed(self, account: Account, cursor: str | None = None) -> Listed:
        """The account's views, page by page. Posts are too many to list; the tools find them."""
        views = await self._views.all(account)
        first = 0
        if cursor is not None:
            slugs = [view.slug for view in views]
            if cursor not in slugs:
                sentence = f"{errors.shown(cursor)} was not given out for this list"
                raise errors.invalid("cursor", sentence)
            first = slugs.index(cursor) + 1
        left = [_listing(view) for view in views[first:]]
        shown = response_size.fitting(left, response_size.MOST_BYTES - response_size.AROUND)
        return Listed(shown.records, None if shown.is_all else shown.records[-1]["name"])

    async def read(self, account: Account, uri: str) -> Content:
        """Raises a refusal when there is nothing under the address."""
        match = _ADDRESS.fullmatch(uri)
        if match is None:
            raise errors.not_found("resource", uri)
        kind, key = match.groups()
        return await self._readers[kind](account, key)

    async def slugs(self, account: Account, beginning: str) -> list[str]:
        """Slugs of views, to complete what a person types."""
        slugs = [view.slug for view in await self._views.all(account)]
        return [slug for slug in slugs if slug.startswith(beginning)][:_MOST_COMPLETIONS]

    async def _post(self, account: Account, post_id: str) -> Content:
        whole: Json = msgspec.json.decode(await self._bookmarks.get(account, post_id))
        made = response_size.shortened(
            response_size.cut(whole, _POST_CHARS), response_size.MOST_BYTES - response_size.AROUND
        )
        if made != whole:
            made = {**made, "truncated": True, "advice": response_size.SHORTENED}
        return _content(made)

    async def _view(self, account: Account, slug: str) -> Content:
        view = await self._views.find(account, slug)
        page = await self._views.bookmarks(account, view, ViewBookmarksQuery())
        whole: Json = msgspec.to_builtins(await self._views.response(account, view))
        shown = response_size.shortened(whole, response_size.MOST_BYTES // 3)
        most = response_size.MOST_BYTES - response_size.AROUND - response_size.size(shown)
        fitted = response_size.fitting(posts.forms(page.body, "concise"), most)
        made: Json = {**shown, "bookmarks": fitted.records}
        if shown is not whole or not fitted.is_whole:
            advice = f"Not all fits here; get_view_bookmarks with slug {slug} shows page by page."
            made |= {"truncated": True, "advice": advice}
        return _content(made)

    async def _digest(self, account: Account, digest_id: str) -> Content:
        found = await self._digests.get(account, digest_id, "json")
        return Content(digests.markdown(found), _MARKDOWN)


def _listing(view: View) -> Json:
    return {
        "uri": f"view://{view.slug}",
        "name": view.slug,
        "title": view.name,
        "description": response_size.short(
            view.description or f"Smart View {view.name}", _DESCRIBED_CHARS
        ),
        "mimeType": JSON,
    }


def _content(shown: Json) -> Content:
    return Content(msgspec.json.encode(shown).decode())
