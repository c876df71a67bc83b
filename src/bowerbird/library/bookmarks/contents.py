"""How much of a post the library has. The JSON of a post that is only a link says so."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird.model.accounts import Account
from bowerbird.model.posts.networks import ContentState, PostContent
from bowerbird.storage.database import Database
from bowerbird.storage.links import LinkStore

_FIRST: Final = b'{"post_id":"'
_posts: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_encode: Final = msgspec.json.Encoder().encode


class ContentFields(Struct, frozen=True):
    content_state: ContentState
    content_problem: str | UnsetType = UNSET


class Contents:
    def __init__(self, database: Database, *, is_fetched: bool) -> None:
        """`is_fetched`: whether the text of posts that are only links is asked for."""
        self._is_fetched = is_fetched
        self._links = LinkStore(database)

    async def of(self, account: Account, post_id: str) -> PostContent:
        return await self._links.content(account.account_id, post_id, is_fetched=self._is_fetched)

    async def of_page(self, account: Account, body: bytes) -> Mapping[str, PostContent]:
        """Of the posts of a page that are only links, by id."""
        # Most libraries have no posts that are only links, and their lists need no ids.
        if not body or not account.has_bare_links:
            return {}
        ids = [_id(bytes(raw)) for raw in _posts(b"[%b]" % body)]
        return await self._links.contents(account.account_id, ids, is_fetched=self._is_fetched)


def with_content(bookmark: bytes, content: PostContent | None) -> bytes:
    """The JSON of a bookmark with the state of its post, unless that is whole."""
    if content is None or content.state is ContentState.WHOLE:
        return bookmark
    said = _encode(ContentFields(content.state, content.problem or UNSET))
    return b"%b,%b" % (bookmark[:-1], said[1:])


def with_contents(body: bytes, contents: Mapping[str, PostContent]) -> bytes:
    """The bookmarks of a page, still separated by commas."""
    if not contents:
        return body
    bookmarks = [bytes(raw) for raw in _posts(b"[%b]" % body)]
    return b",".join([with_content(one, contents.get(_id(one))) for one in bookmarks])


def _id(bookmark: bytes) -> str:
    """The id, which is the first field: a document of any depth need not be decoded."""
    return bookmark[len(_FIRST) : bookmark.index(b'"', len(_FIRST))].decode()
