"""Reads the answers of X's web client: lists of saved posts, single posts, folders and changes."""

from typing import Any, Final

import msgspec

from bowerbird.model.labels import clean_name
from bowerbird.sources.parsing.json_values import at
from bowerbird.sources.x import timelines
from bowerbird.sources.x.pages import (
    MAX_ENTRIES,
    NO_FOLDERS,
    NO_LIST,
    TOO_MANY,
    UNKNOWN_FORM,
    Folder,
    Operation,
    Page,
    PageRequest,
    errors_of,
    failed,
    without_list,
)
from bowerbird.sources.x.timelines import (
    Item,
    Timeline,
    has_unknown_form,
    has_unknown_item,
    read_items,
)
from bowerbird.sources.x.values import (
    InvalidDocument,
    decode,
    mapping,
    objects,
    post_id,
    short_text,
)

# Where the instructions are. X adds a version to the first name from time to time.
_PATHS: Final = {
    Operation.BOOKMARKS: ("bookmark_timeline", ()),
    Operation.FOLDER: ("bookmark_collection_timeline", ()),
    Operation.SEARCH: ("search_by_raw_query", ("bookmarks_search_timeline",)),
    Operation.POST_PAGE: ("threaded_conversation", ()),
}
_LISTS: Final = frozenset({Operation.BOOKMARKS, Operation.FOLDER})


def read_page(request: PageRequest, payload: bytes, now: int, folder_name: str = "") -> Page:
    """Reads a list of saved posts, or the page of one post. `now` is in microseconds."""
    try:
        document = decode(payload)
    except InvalidDocument as error:
        return failed(str(error))
    errors = errors_of(document)
    if request.operation is Operation.POST:
        return _single(request, document, errors)
    instructions = _instructions(request.operation, document)
    if instructions is None or (errors and not instructions):
        return without_list(document, NO_LIST)
    timeline = timelines.collect(instructions)
    if len(timeline.items) > MAX_ENTRIES:
        return failed(TOO_MANY)
    is_list = request.operation in _LISTS
    label = clean_name(folder_name) if request.operation is Operation.FOLDER else None
    posts = read_items(timeline.items, now if is_list else None, (label,) if label else ())
    is_unknown = timeline.hides_items or has_unknown_form(timeline.items, posts)
    errors = (*errors, UNKNOWN_FORM) if is_unknown else errors
    return Page(
        posts=posts,
        cursor_out=timeline.cursor,
        proves_end=is_list and not errors and _is_end(timeline, request.cursor),
        lists_saved_posts=request.operation is not Operation.POST_PAGE,
        folder_id=request.folder_id,
        errors=errors,
        is_unknown_form=is_unknown,
        is_blank=not (timeline.items or is_unknown),
    )


def read_folders(payload: bytes) -> Page:
    try:
        document = decode(payload)
    except InvalidDocument as error:
        return failed(str(error))
    viewer = at(document, "data", "viewer")
    part = mapping(
        at(viewer, "user_results", "result", "bookmark_collections_slice")
        or at(viewer, "bookmark_collections_slice")
    )
    items = part.get("items")
    folders = tuple(filter(None, map(_folder, objects(items))))
    if not isinstance(items, list) or len(folders) * 2 < len(items):
        return without_list(document, NO_FOLDERS)
    return Page(
        folders=folders,
        cursor_out=short_text(at(part, "slice_info", "next_cursor")),
        errors=errors_of(document),
    )


def _folder(item: dict[str, Any]) -> Folder | None:
    inner = mapping(item.get("bookmarkCollection") or item.get("bookmark_collection")) or item
    number = post_id(inner.get("id")) or post_id(inner.get("id_str"))
    name = clean_name(short_text(inner.get("name")))
    return Folder(number, name) if number and name else None


def _instructions(operation: Operation, document: object) -> list[Any] | None:
    prefix, path = _PATHS.get(operation, ("", ()))
    for name, value in mapping(at(document, "data")).items():
        if not prefix or not name.startswith(prefix):
            continue
        holder = at(value, *path)
        for found in (at(holder, "timeline", "instructions"), at(holder, "instructions")):
            if isinstance(found, list):
                return found
    return None


def _is_end(timeline: Timeline, cursor_in: str) -> bool:
    """Whether the list ends with this page.

    A page without posts but with a cursor is not the end: X leaves out deleted posts, and
    hundreds of them can follow each other.
    """
    if timeline.is_terminated:
        return True
    if timeline.is_damaged or has_unknown_item(timeline.items):
        return False
    is_repeated = timeline.cursor == cursor_in
    return not timeline.cursor or is_repeated or (timeline.stops_if_empty and not timeline.items)


def _single(request: PageRequest, document: object, errors: tuple[str, ...]) -> Page:
    data = mapping(at(document, "data"))
    holder = data.get("tweetResult", data.get("tweet_result"))
    if not isinstance(holder, dict):
        failed = without_list(document, "The page has no post.")
        return msgspec.structs.replace(failed, lists_saved_posts=False)
    item = Item(f"tweet-{request.post_id}", {"tweet_results": holder}, None)
    posts = read_items([item])
    is_unknown = has_unknown_form([item], posts)
    return Page(
        posts=posts,
        lists_saved_posts=False,
        errors=(*errors, UNKNOWN_FORM) if is_unknown else errors,
        is_unknown_form=is_unknown,
    )
