"""Pages of lists at X: which page a request asks for, and what a page says."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from bowerbird.sources.found import Found
from bowerbird.sources.parsing.json_values import at
from bowerbird.sources.x.values import (
    decoded,
    first_text,
    objects,
    post_id,
    short_text,
)

# X's own pages have 20 posts, and those of its API 100.
MAX_ENTRIES: Final = 1_000
TOO_MANY: Final = f"The page has more than {MAX_ENTRIES:,} entries."
NO_LIST: Final = "The page has no list of posts."
NO_FOLDERS: Final = "The page has no list of folders."
UNKNOWN_FORM: Final = (
    "Most posts of the page have a form that this server does not know. X has changed its answers."
)
_MAX_ERRORS: Final = 5
_MAX_ERROR_CHARACTERS: Final = 300


class Folder(Struct, frozen=True):
    id: str
    # A valid label name, or "" if it is not known.
    name: str


class Page(Struct, frozen=True, kw_only=True):
    posts: tuple[Found, ...] = ()
    # Of a page with the names of folders.
    folders: tuple[Folder, ...] = ()
    # What to ask for the next page with, or "".
    cursor_out: str = ""
    # The list is complete: saved posts that no page of it had are not saved any more.
    proves_end: bool = False
    # The posts are saved ones. Otherwise they only update posts that the library already has.
    lists_saved_posts: bool = True
    # The folder whose posts these are, or "".
    folder_id: str = ""
    # Sentences. A page with errors and without posts is not an empty page.
    errors: tuple[str, ...] = ()
    # X has changed its answers. What the page does not have says nothing.
    is_unknown_form: bool = False
    # Known, and without anything that a later reader could find.
    is_blank: bool = False


def failed(sentence: str) -> Page:
    return Page(errors=(sentence,))


def without_list(document: object, sentence: str) -> Page:
    """An answer in which there is nothing to read: X says why, or has changed its answers."""
    errors = errors_of(document)
    is_blank = bool(errors) and _has_nothing(at(document, "data"))
    return Page(errors=errors or (sentence,), is_unknown_form=not errors, is_blank=is_blank)


def _has_nothing(value: object) -> bool:
    """Whether there is no text and no number in it, only the objects around them."""
    if isinstance(value, dict):
        return all(map(_has_nothing, value.values()))
    return value is None or value == []


def errors_of(document: object) -> tuple[str, ...]:
    listed = objects(at(document, "errors"))[:_MAX_ERRORS]
    names = (
        first_text((at(error, "message"), at(error, "detail"), at(error, "title")))
        for error in listed
    )
    return tuple(
        f"X reports an error: {name[:_MAX_ERROR_CHARACTERS].rstrip('.') or 'no message'}."
        for name in names
    )


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


def read_request(url: str) -> PageRequest | None:
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
    variables = decoded(query.get("variables", [""])[0])
    return PageRequest(
        operation=operation,
        cursor=short_text(at(variables, "cursor")),
        folder_id=post_id(at(variables, "bookmark_collection_id")),
        post_id=next(filter(None, (post_id(at(variables, name)) for name in _POST_VARIABLES)), ""),
    )


_POST_VARIABLES: Final = ("tweet_id", "tweetId", "focalTweetId")


_FOLDERS: Final = re.compile(r"/2/users/[0-9]{1,20}/bookmarks/folders(?:/([0-9]{1,20}))?")


def folder_request(url: str) -> PageRequest | None:
    """The list of folders, or the posts of one; None for any other request."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    found = _FOLDERS.fullmatch(path)
    if found is None:
        return None
    if found[1] is None:
        return PageRequest(operation=Operation.FOLDERS)
    return PageRequest(operation=Operation.FOLDER, folder_id=found[1])
