"""Which page of X's web client a captured answer is: read from the request, not from the answer."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from bowerbird.sources.x.values import InvalidDocument, at, decode, post_id, short_text

MAX_URL_CHARACTERS: Final = 32_000
_MAX_QUERY_FIELDS: Final = 50
_PATH: Final = re.compile(r"/i/api/graphql/[^/]+/([A-Za-z]+)/?")
_HOSTS: Final = frozenset({"x.com", "twitter.com", "mobile.x.com", "mobile.twitter.com"})


class Operation(StrEnum):
    """The operations of X's web client that show saved posts. Their ids change every few weeks."""

    BOOKMARKS = "Bookmarks"
    FOLDER = "BookmarkFolderTimeline"
    SEARCH = "BookmarkSearchTimeline"
    FOLDERS = "BookmarkFoldersSlice"
    CREATE = "CreateBookmark"
    DELETE = "DeleteBookmark"
    POST_PAGE = "TweetDetail"
    POST = "TweetResultByRestId"


_OPERATIONS: Final[Mapping[str, Operation]] = {str(each): each for each in Operation}


class PageRequest(Struct, frozen=True, kw_only=True):
    operation: Operation
    cursor: str = ""
    folder_id: str = ""
    # The post that the request names: the one to save, to remove or to show.
    post_id: str = ""


def read(url: str, body: bytes = b"") -> PageRequest | None:
    """Reads the request of a captured answer. None if it is another request."""
    if len(url) > MAX_URL_CHARACTERS:
        return None
    try:
        parts = urlsplit(url)
        query = parse_qs(parts.query, max_num_fields=_MAX_QUERY_FIELDS)
        is_x = parts.scheme == "https" and parts.hostname in _HOSTS
    except ValueError:
        return None
    match = _PATH.fullmatch(parts.path)
    operation = _OPERATIONS.get(match[1]) if match else None
    if not is_x or operation is None:
        return None
    variables = _json(query.get("variables", [""])[0].encode("utf-8", "replace"))
    if not isinstance(variables, dict):
        variables = at(_json(body), "variables")
    return PageRequest(
        operation=operation,
        cursor=short_text(at(variables, "cursor")),
        folder_id=post_id(at(variables, "bookmark_collection_id")),
        post_id=next(filter(None, (post_id(at(variables, name)) for name in _POST_VARIABLES)), ""),
    )


_POST_VARIABLES: Final = ("tweet_id", "tweetId", "focalTweetId")


def _json(raw: bytes) -> Any:
    try:
        return decode(raw)
    except InvalidDocument:
        return None
