"""What answers add to the JSON of bookmarks, and what they leave out.

The JSON of a post that is only a link says how much of it the library has. If a program asks for
some fields, a type with only these reads the JSON: everything else is skipped, and what is wanted
is copied as it is.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from bowerbird import errors
from bowerbird.model import json_depth
from bowerbird.model.accounts import Account
from bowerbird.model.posts.bookmarks import Bookmark
from bowerbird.model.posts.networks import ContentState, PostContent
from bowerbird.requests.limits import FIELDS_MAX
from bowerbird.storage.database import Database
from bowerbird.storage.stores import Service

_FIRST: Final = b'{"post_id":"'
_posts: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_encode: Final = msgspec.json.Encoder().encode


class ContentFields(Struct, frozen=True):
    content_state: ContentState
    content_problem: str | UnsetType = UNSET


class Contents(Service):
    def __init__(self, database: Database, *, is_fetched: bool) -> None:
        """`is_fetched`: whether the text of posts that are only links is asked for."""
        super().__init__(database)
        self._is_fetched = is_fetched

    async def of(self, account: Account, post_id: str) -> PostContent:
        return await self._stores.links.content(
            account.account_id, post_id, is_fetched=self._is_fetched
        )

    async def of_page(self, account: Account, body: bytes) -> Mapping[str, PostContent]:
        """Of the posts of a page that are only links, by id."""
        # Most libraries have no posts that are only links, and their lists need no ids.
        if not body or not account.has_bare_links:
            return {}
        ids = [_id(bytes(raw)) for raw in _posts(b"[%b]" % body)]
        return await self._stores.links.contents(
            account.account_id, ids, is_fetched=self._is_fetched
        )


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


def _paths(kind: type[Struct], before: str = "") -> list[str]:
    found = []
    for field in msgspec.structs.fields(kind):
        found.append(before + field.encode_name)
        if isinstance(field.type, type) and issubclass(field.type, Struct):
            found += _paths(field.type, f"{before}{field.encode_name}.")
    return found


# What some lists add to a bookmark.
_ADDED: Final = ("highlight", "score", *ContentFields.__struct_fields__)
# The fields of a bookmark that can be selected, and those of the objects inside it.
_SELECTABLE: Final = (*_paths(Bookmark), *_ADDED)

# The wanted fields by name; those of an object, or nothing if all of it is wanted.
_Wanted = dict[str, "_Wanted"]


def selected(body: bytes, fields: str | None) -> bytes:
    """The bookmarks of a page, separated by commas, with these fields only."""
    if fields is None or not fields.strip():
        return body
    names = [name.strip() for name in fields.split(",") if name.strip()]
    if not names or len(names) > FIELDS_MAX:
        raise errors.invalid("fields", f"must be 1 to {FIELDS_MAX} names, got {len(names)}")
    for name in names:
        if name not in _SELECTABLE:
            allowed = ", ".join(_SELECTABLE)
            raise errors.invalid("fields", f"has no {errors.shown(name)}. Allowed: {allowed}")
    decode = msgspec.json.Decoder(list[_type_of(_tree(names))]).decode  # type: ignore[misc]
    whole = b"[%b]" % body
    try:
        found = decode(whole)
    except RecursionError:
        found = decode(b"[%b]" % b",".join(json_depth.cut(bytes(one)) for one in _posts(whole)))
    return _encode(found)[1:-1]


def _tree(names: list[str]) -> _Wanted:
    wanted: _Wanted = {}
    # A whole object comes before its fields, which it has already.
    for name in sorted(names, key=lambda name: name.count(".")):
        place = wanted
        *objects, last = name.split(".")
        for one in objects:
            if place.get(one) == {}:
                break
            place = place.setdefault(one, {})
        else:
            place[last] = {}
    return wanted


def _type_of(wanted: Mapping[str, _Wanted]) -> type[Struct]:
    fields: list[tuple[str, Any, Any]] = [
        (name, (_type_of(inner) if inner else Raw) | UnsetType, UNSET)
        for name, inner in wanted.items()
    ]
    return msgspec.defstruct("Selected", fields, frozen=True)
