"""Reads the pages that devices send, whatever is in them."""

import io
from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qs, urlsplit

import msgspec
import structlog
from msgspec import UNSET, Struct

from bowerbird import errors
from bowerbird.model.arrival import GonePost, OrderSource, PageAddress
from bowerbird.model.instants import with_offset
from bowerbird.model.labels import clean_name
from bowerbird.requests import limits
from bowerbird.sources import bluesky, mastodon
from bowerbird.sources.found import Choices, Format, Found, FoundPost, LeftOut, Reason, mark
from bowerbird.sources.own_json import FORMAT as OWN_JSON
from bowerbird.sources.x import api2, graphql
from bowerbird.sources.x.pages import (
    MAX_ENTRIES,
    TOO_MANY,
    Folder,
    Operation,
    Page,
    PageRequest,
    failed,
    folder_request,
    read_request,
)
from bowerbird.sources.x.posts import valid_index
from bowerbird.sources.x.values import short_text

MASTODON: Final = "mastodon.api"
BLUESKY: Final = "bluesky.api"
# The reader of a format, and the parameter of a request that says where the page begins.
_NETWORKS: Final = {
    MASTODON: (mastodon.API, "max_id"),
    BLUESKY: (bluesky.FORMAT, "cursor"),
}
_NO_LIST: Final = "The page has no list of posts."


class _Listed(Struct, frozen=True):
    bookmarks: list[msgspec.Raw]
    # Mastodon sends it in a header; its client puts it here.
    cursor: str | None = None


def list_page(name: str, payload: bytes, now: int) -> Page:
    try:
        listed = msgspec.json.decode(payload, type=_Listed)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return failed(_NO_LIST)
    if len(listed.bookmarks) > MAX_ENTRIES:
        return failed(TOO_MANY)
    cursor = short_text(listed.cursor or "")
    return Page(
        posts=tuple(_posts_once(_NETWORKS[name][0], payload, now) if listed.bookmarks else ()),
        cursor_out=cursor if cursor.isprintable() else "",
        proves_end=not listed.cursor,
    )


def _posts_once(format: Format, payload: bytes, now: int) -> list[Found]:
    """A post that is saved twice, as itself and as a boost, is one post."""
    found: dict[str, Found] = {}
    for one in format.read(io.BytesIO(payload), Choices(now=now)):
        key = one.record.post_id if isinstance(one, FoundPost) else f"line {len(found)}"
        found.setdefault(key, one)
    return list(found.values())


_MAX_QUERY_FIELDS: Final = 50
_EMPTY: Final = "The list is empty, but it had posts before. Nothing is recorded as removed."
_NO_URL: Final = "request_url is not a URL."
_CHANGES: Final = frozenset({Operation.CREATE, Operation.DELETE})
# What is left out for these reasons is a post of the list all the same.
_LISTED: Final = frozenset({Reason.UNAVAILABLE, Reason.INVALID})


class CapturedPage(PageAddress, frozen=True, kw_only=True):
    """An answer of the source, as a device captured it."""

    payload: bytes
    captured_at: int


class ReadPage(Page, frozen=True, kw_only=True):
    posts: tuple[FoundPost, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    # Those of them that the source lists and does not show, and what that says about a post that
    # the library has.
    gone: tuple[GonePost, ...] = ()
    marks: tuple[FoundPost, ...] = ()
    cursor_in: str = ""
    # A page of the list of all saved posts, not of a part of it.
    is_listed: bool = False
    # Records in the format of the API, of any source.
    is_own: bool = False
    # Its posts belong to a folder whose name is not known yet.
    lacks_folder: bool = False

    @property
    def says_saved(self) -> bool:
        """Whether its posts were saved at the source. Records of other sources say nothing."""
        return self.lists_saved_posts and not self.is_own

    @property
    def unreadable(self) -> int:
        """How many parts of the page no reader understood."""
        invalid = sum(found.reason is Reason.INVALID for found in self.left_out)
        return invalid + len(self.errors)

    @property
    def taken(self) -> tuple[FoundPost, ...]:
        """What the library takes of the page: posts, and marks of posts that it has."""
        return self.posts + self.marks

    @property
    def listed_ids(self) -> list[str]:
        """The posts that the list has, also those that are not available any more."""
        ids = [found.record.post_id for found in self.posts]
        ids += [
            found.post_id for found in self.left_out if found.post_id and found.reason in _LISTED
        ]
        return list(dict.fromkeys(ids))

    @property
    def unnamed_indexes(self) -> list[int]:
        """The places of posts that could not be read otherwise."""
        return [one.sort_index for one in self._unnamed if one.sort_index is not None]

    @property
    def hides_posts(self) -> bool:
        """Whether the page may have posts of which neither the id nor the place could be read."""
        return bool(self.errors) or any(one.sort_index is None for one in self._unnamed)

    @property
    def _unnamed(self) -> list[LeftOut]:
        return [one for one in self.left_out if one.reason in _LISTED and not one.post_id]

    @property
    def indexes(self) -> list[int]:
        return [index for found in self.posts if (index := found.record.sort_index) is not UNSET]


def request_of(page: PageAddress) -> PageRequest | None:
    """Which page of X it is. None for other formats, and for lists that need no name."""
    if page.format == "x.api2":
        return folder_request(page.request_url)
    if page.format != "x.graphql":
        return None
    if found := read_request(page.request_url):
        return found
    try:
        return PageRequest(operation=Operation(page.op))
    except ValueError:
        return None


def folder_of(page: PageAddress) -> str:
    """The folder whose posts the page has, or ""."""
    request = request_of(page)
    return "" if request is None else request.folder_id


def read(page: CapturedPage, now: int, folder_name: str = "") -> ReadPage:
    """Never raises: a page that cannot be read has errors."""
    try:
        read = _read(page, now, folder_name)
        captured_at = min(page.captured_at, now)
        is_saved = read.says_saved
        posts = [
            msgspec.structs.replace(
                post, captured_at=captured_at, is_saved=is_saved, is_shown=not read.is_own
            )
            for post in read.posts
        ]
        gone = () if read.is_unknown_form else tuple(_gone(read, now).values())
        return msgspec.structs.replace(
            read,
            posts=tuple(posts),
            gone=gone,
            marks=tuple(_mark(one, captured_at, is_saved=is_saved) for one in gone),
        )
    except Exception:  # noqa: BLE001 - otherwise the client would send the page again and again
        structlog.get_logger().exception("unreadable page", format=page.format, op=page.op)
        return _failed("The page cannot be read.")


def doubted(read: ReadPage, *, had_posts: bool) -> ReadPage:
    """An empty list that had posts before proves nothing: X may show it by mistake."""
    is_empty = read.is_listed and not (read.cursor_in or read.posts or read.left_out)
    if not (is_empty and read.proves_end and had_posts):
        return read
    return msgspec.structs.replace(read, proves_end=False, errors=(_EMPTY,), is_blank=True)


def require_size(read: ReadPage) -> None:
    """Refuses a page with more than a page can have. It would be refused again, so it is not kept.

    A page with far more is not read to its end.
    """
    entries, folders = len(read.posts) + len(read.left_out), len(read.folders)
    if TOO_MANY in read.errors or entries > limits.INGEST_ENTRIES_MAX:
        sent = f"more than {MAX_ENTRIES:,}" if TOO_MANY in read.errors else entries
        problem = f"has {sent} entries; a page can have {limits.INGEST_ENTRIES_MAX}"
        raise errors.invalid("payload", problem)
    if folders > limits.INGEST_FOLDERS_MAX:
        problem = f"has {folders:,} folders; a page can have {limits.INGEST_FOLDERS_MAX:,}"
        raise errors.invalid("payload", problem)


def _gone(read: ReadPage, now: int) -> dict[str, GonePost]:
    shown = {post.record.post_id for post in read.posts}
    gone = {}
    for one in read.left_out:
        if one.reason is Reason.UNAVAILABLE and one.post_id and one.post_id not in shown:
            index = valid_index(one.sort_index, one.post_id, now)
            gone[one.post_id] = GonePost(one.post_id, one.source_reason, index)
    return gone


def _mark(gone: GonePost, captured_at: int, *, is_saved: bool) -> FoundPost:
    said = mark(
        gone.post_id,
        captured_at,
        sort_index=UNSET if gone.sort_index is None else gone.sort_index,
        gone_at=with_offset(captured_at),
        gone_reason=gone.reason or UNSET,
    )
    order = OrderSource.IMPORT if gone.sort_index is None else OrderSource.X
    return msgspec.structs.replace(said, order_source=order, is_saved=is_saved)


def _read(page: CapturedPage, now: int, folder_name: str) -> ReadPage:
    request = request_of(page)
    if page.format == "x.api2":
        return _api2(page, request, folder_name)
    if page.format != "x.graphql":
        return _own(page.payload) if page.format == "bookmark" else _network(page, now)
    if request is None:
        return _failed("request_url is not a request of X that shows saved posts.")
    if request.operation in _CHANGES:
        return _failed("Changes of bookmarks belong to /ingest/v1/events.")
    if request.operation is Operation.FOLDERS:
        return _of(graphql.read_folders(page.payload), "", is_listed=False)
    read = graphql.read_page(request, page.payload, now, folder_name)
    is_listed = request.operation is Operation.BOOKMARKS
    return _of(read, request.cursor, is_listed=is_listed)


def _network(page: CapturedPage, now: int) -> ReadPage:
    query = _query(page)
    if query is None or page.format not in _NETWORKS:
        return _failed(_NO_URL if query is None else "The format of the page is not known.")
    cursor_in = short_text(query.get(_NETWORKS[page.format][1], [""])[0])
    read = list_page(page.format, page.payload, now)
    return _of(read, cursor_in, is_listed=True)


def _api2(page: CapturedPage, request: PageRequest | None, folder_name: str) -> ReadPage:
    query = _query(page)
    if query is None:
        return _failed(_NO_URL)
    if request is not None:
        if request.operation is Operation.FOLDERS:
            return _of(api2.read_folders(page.payload), "", is_listed=False)
        folder = Folder(request.folder_id, clean_name(folder_name) or "")
        return _of(api2.read_page(page.payload, folder=folder), "", is_listed=False)
    sent = query.get("max_results", [""])[0]
    # Without a size, X sends up to 100, and the end of such a list proves nothing.
    size = int(sent) if sent.isdecimal() and len(sent) < 4 else 100  # noqa: PLR2004 - three digits
    read = api2.read_page(page.payload, size)
    token = short_text(query.get("pagination_token", [""])[0])
    cursor_in = token if token.isprintable() else ""
    return _of(read, cursor_in, is_listed="/folders" not in urlsplit(page.request_url).path)


def _query(page: CapturedPage) -> dict[str, list[str]] | None:
    try:
        return parse_qs(urlsplit(page.request_url).query, max_num_fields=_MAX_QUERY_FIELDS)
    except ValueError:
        return None


def _own(payload: bytes) -> ReadPage:
    found: list[Found] = []
    for number, one in enumerate(OWN_JSON.read(io.BytesIO(payload), Choices()), 1):
        if isinstance(one, FoundPost):
            # Devices only add to what the library has; they replace nothing.
            found.append(msgspec.structs.replace(one, own=None))
        elif isinstance(one, LeftOut):
            # A page is one line, whatever is in it.
            record = f"Record {number}: "
            problem = one.sentence.removeprefix(f"Line {one.line}: ").removeprefix(record)
            found.append(msgspec.structs.replace(one, sentence=record + problem))
        if len(found) > MAX_ENTRIES:
            return _failed(TOO_MANY)
    read = _of(Page(posts=tuple(_latest(found))), "", is_listed=False)
    return msgspec.structs.replace(read, is_own=True)


def _latest(found: Sequence[Found]) -> list[Found]:
    """The later of two records of a post wins."""
    last = {one.record.post_id: one for one in found if isinstance(one, FoundPost)}
    return [
        one for one in found if not isinstance(one, FoundPost) or last[one.record.post_id] is one
    ]


def _of(page: Page, cursor_in: str, *, is_listed: bool) -> ReadPage:
    given = msgspec.structs.asdict(page)
    found = given.pop("posts")
    return ReadPage(
        **given,
        posts=tuple(one for one in found if isinstance(one, FoundPost)),
        left_out=tuple(one for one in found if isinstance(one, LeftOut)),
        cursor_in=cursor_in,
        is_listed=is_listed,
    )


def _failed(sentence: str) -> ReadPage:
    return ReadPage(errors=(sentence,))
