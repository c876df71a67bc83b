"""The resources: a post, a view or a digest under an address of its own."""

import re
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.library.bookmarks import Bookmarks
from bowerbird.library.digests import LATEST, Digests
from bowerbird.library.views import Views
from bowerbird.model.accounts import Account
from bowerbird.toolserver import posts
from bowerbird.toolserver.declared import Json

JSON: Final = "application/json"
_POST_CHARS: Final = 20_000
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


class Resources:
    def __init__(self, bookmarks: Bookmarks, views: Views, digests: Digests) -> None:
        self._views = views
        self._bookmarks = bookmarks
        self._digests = digests
        self._readers = {"bookmark": self._post, "view": self._view, "digest": self._digest}

    async def listed(self, account: Account) -> list[Json]:
        """The account's views. Posts are too many to list here; the tools find them."""
        return [
            {
                "uri": f"view://{view.slug}",
                "name": view.slug,
                "title": view.name,
                "description": view.description or f"Smart View {view.name}",
                "mimeType": JSON,
            }
            for view in await self._views.held(account)
        ]

    async def read(self, account: Account, uri: str) -> Content:
        """Raises a refusal when there is nothing under the address."""
        match = _ADDRESS.fullmatch(uri)
        if match is None:
            raise errors.not_found("resource", uri)
        kind, key = match.groups()
        return await self._readers[kind](account, key)

    async def slugs(self, account: Account, beginning: str) -> list[str]:
        """Slugs of views, to complete what a person types."""
        slugs = [view.slug for view in await self._views.held(account)]
        return [slug for slug in slugs if slug.startswith(beginning)][:_MOST_COMPLETIONS]

    async def _post(self, account: Account, post_id: str) -> Content:
        whole: Json = msgspec.json.decode(await self._bookmarks.get(account, post_id))
        shown = posts.fitting([posts.cut(whole, _POST_CHARS)], posts.MOST_BYTES)
        return Content(msgspec.json.encode(shown.posts[0]).decode())

    async def _view(self, account: Account, slug: str) -> Content:
        view = await self._views.find(account, slug)
        page = await self._views.bookmarks(account, view, {})
        shown = await self._views.shown(account, view)
        body: Json = {
            **msgspec.to_builtins(shown),
            "bookmarks": posts.forms(page.body, "concise"),
        }
        return Content(msgspec.json.encode(body).decode())

    async def _digest(self, account: Account, digest_id: str) -> Content:
        wanted = None if digest_id == LATEST else digest_id
        found = await self._digests.get(account, wanted, "markdown")
        assert isinstance(found.markdown, str)
        return Content(found.markdown, _MARKDOWN)
