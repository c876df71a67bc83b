"""Reads the answers of X's web client: lists of saved posts, single posts, folders and changes."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from bowerbird.model.arrival import Completeness
from bowerbird.model.labels import clean_name
from bowerbird.sources.found import Found, FoundPost, LeftOut, Reason
from bowerbird.sources.parsing.json_values import at
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
from bowerbird.sources.x.posts import (
    UNPLACED,
    Saved,
    found_post,
    place_of,
    read_post,
    unavailable_reason,
)
from bowerbird.sources.x.values import (
    MAX_SHORT_CHARACTERS,
    InvalidDocument,
    Object,
    decode,
    mapping,
    objects,
    post_id,
    sequence,
    short_text,
    whole_number,
)

_ENDS: Final = frozenset({"Bottom", "TopAndBottom"})
# They say nothing about the list.
_IGNORED: Final = frozenset({"TimelinePinEntry", "TimelineClearCache", "TimelineShowAlert"})
# The cursors that do not lead to the next page.
_OTHER_CURSORS: Final = frozenset(
    {"Top", "Gap", "ShowMore", "ShowMoreThreads", "ShowMoreThreadsPrompt"}
)
_LISTED_POST: Final = re.compile(r"(?:^|-)(?:tweet|tombstone)-([1-9][0-9]{0,18})$")


class Item(NamedTuple):
    """One item of a timeline: a post, or something else that X shows between posts."""

    entry_id: str
    # The value of `itemContent`, of any type.
    content: Any
    sort_index: int | None
    # The number of the item in its module.
    number: int = 0

    @property
    def listed_id(self) -> str:
        match = _LISTED_POST.search(self.entry_id)
        return match[1] if match else ""


class Timeline(Struct):
    items: list[Item] = []
    cursor: str = ""
    # X asks clients to stop at a page without items.
    stops_if_empty: bool = False
    is_terminated: bool = False
    # A part could not be read, so that the absence of something proves nothing.
    is_damaged: bool = False
    # That part may have had posts.
    hides_items: bool = False

    def add(self, item: Item) -> None:
        # One more than the maximum, so that a reader sees that there are too many.
        if len(self.items) <= MAX_ENTRIES:
            self.items.append(item)


def collect(instructions: list[Any]) -> Timeline:
    # X sends at least a cursor. An empty answer says nothing about the list.
    timeline = Timeline(is_damaged=not instructions, hides_items=not instructions)
    for instruction in instructions:
        _follow(timeline, instruction)
    return timeline


def _follow(timeline: Timeline, instruction: object) -> None:
    kind = at(instruction, "type")
    if kind == "TimelineAddEntries":
        _add_entries(timeline, at(instruction, "entries"))
    elif kind == "TimelineAddToModule":
        _add_items(timeline, at(instruction, "moduleItems"), None)
    elif kind == "TimelineReplaceEntry":
        _add_entry(timeline, at(instruction, "entry"))
    elif kind == "TimelineTerminateTimeline":
        timeline.is_terminated |= short_text(at(instruction, "direction")) in _ENDS
    elif not isinstance(kind, str):
        timeline.is_damaged = True
        # An older form has no type.
        _add_entries(timeline, at(instruction, "entries"))
    elif kind not in _IGNORED:
        # X may have given another name to one of those above.
        parts = mapping(instruction).values()
        timeline.hides_items |= any(objects(part) for part in parts)
        timeline.is_damaged |= any(isinstance(part, dict) for part in parts)


def _add_entries(timeline: Timeline, entries: object) -> None:
    timeline.hides_items |= not isinstance(entries, list)
    for entry in sequence(entries):
        _add_entry(timeline, entry)


def _add_entry(timeline: Timeline, entry: object) -> None:
    entry_id = short_text(at(entry, "entryId"))
    content = at(entry, "content")
    timeline.is_damaged |= not entry_id or not isinstance(content, dict)
    item = at(content, "itemContent")
    sort_index = whole_number(at(entry, "sortIndex"))
    if entry_id.startswith("cursor-") or _is_cursor(content) or _is_cursor(item):
        _take_cursor(timeline, entry_id, mapping(content), mapping(item))
    elif isinstance(at(content, "items"), list):
        _add_items(timeline, at(content, "items"), sort_index)
    else:
        timeline.add(Item(entry_id, item, sort_index))


def _is_cursor(content: object) -> bool:
    return isinstance(at(content, "cursorType"), str)


def _take_cursor(timeline: Timeline, entry_id: str, content: Object, item: Object) -> None:
    holder = content if "cursorType" in content or "value" in content else item
    kind = short_text(holder.get("cursorType"))
    if kind in _OTHER_CURSORS or (kind != "Bottom" and entry_id.startswith("cursor-top")):
        return
    if kind != "Bottom" and not entry_id.startswith("cursor-bottom"):
        timeline.is_damaged = True
        return
    value = holder.get("value")
    if not isinstance(value, str) or not 0 < len(value) <= MAX_SHORT_CHARACTERS:
        timeline.is_damaged = True
        return
    timeline.cursor = value
    stops = holder.get("stopOnEmptyResponse", item.get("stopOnEmptyResponse"))
    timeline.stops_if_empty = stops is True


def _add_items(timeline: Timeline, items: object, sort_index: int | None) -> None:
    timeline.hides_items |= not isinstance(items, list)
    for number, entry in enumerate(sequence(items)):
        item = at(entry, "item", "itemContent")
        if not _is_cursor(item):
            entry_id = short_text(at(entry, "entryId"))
            timeline.add(Item(entry_id, item, sort_index, number))


_RESULTS: Final = ("tweet_results", "tweet_result", "tweetResult")
_TOMBSTONE: Final = "TimelineTombstone"
# What X shows between posts.
_OTHERS: Final = frozenset(
    {
        "TimelineLabel",
        "TimelineMessagePrompt",
        "TimelinePrompt",
        "TimelineTopic",
        "TimelineTrend",
        "TimelineUser",
    }
)
# So few posts without content are posts that X deleted. More of them are a sign that X has changed
# its answers, if they are most of the page.
_FEW: Final = 2


def read_items(
    items: Iterable[Item], now: int | None = None, tags: tuple[str, ...] = ()
) -> tuple[Found, ...]:
    """Reads the items of a page. X sends them in any order, and some of them twice.

    `now` is None if the indexes of the items say nothing about when they were saved.
    """
    best: dict[str, FoundPost] = {}
    left_out: list[LeftOut] = []
    ordered = sorted(items, key=_order)
    for line, (item, read) in enumerate(zip(ordered, _credible(ordered), strict=True), 1):
        if isinstance(read, LeftOut):
            left_out.append(read.at(line, item.sort_index))
        elif read is not None:
            place = UNPLACED
            if now is not None:
                place = place_of(read, item.sort_index, now)
            _keep_richer(best, found_post(read, line, place, tags))
    return tuple(sorted((*best.values(), *left_out), key=lambda found: found.line))


def _credible(items: Sequence[Item]) -> list[Saved | LeftOut | None]:
    """What the items have. If most of them have nothing, they cannot be read; they are not gone."""
    found = [_read(item) for item in items]
    empty = sum(_is_empty(one) for one in found)
    shown = sum(isinstance(one, Saved) and not _is_empty(one) for one in found)
    if empty <= max(shown, _FEW):
        return found
    return [
        _unreadable(item) if _is_empty(one) else one for item, one in zip(items, found, strict=True)
    ]


def has_unknown_form(items: Sequence[Item], found: Sequence[Found]) -> bool:
    """Whether most posts of a page have an unknown form, apart from those that X calls deleted."""
    unread = sum(isinstance(one, LeftOut) and one.reason is Reason.INVALID for one in found)
    shown = sum(isinstance(one, FoundPost) for one in found)
    return unread > shown or (not found and has_unknown_item(items))


def has_unknown_item(items: Iterable[Item]) -> bool:
    """Whether an item may be anything: a post or a cursor in a form that nobody knows."""
    return any(
        not item.listed_id and _kind(item.content) not in _OTHERS and _read(item) is None
        for item in items
    )


def _is_empty(read: Saved | LeftOut | None) -> bool:
    """Whether there is neither content nor a word of X about why."""
    if isinstance(read, LeftOut):
        return read.is_empty or read.reason is Reason.INVALID
    return read is not None and read.completeness is Completeness.STUB


def _kind(content: object) -> str:
    return short_text(at(content, "itemType")) or short_text(at(content, "__typename"))


def _order(item: Item) -> tuple[int, int, int, str]:
    index = -1 if item.sort_index is None else item.sort_index
    return -index, item.number, -int(item.listed_id or 0), item.entry_id


def _keep_richer(best: dict[str, FoundPost], post: FoundPost) -> None:
    known = best.setdefault(post.record.post_id, post)
    if _rank(post) > _rank(known):
        best[post.record.post_id] = post


def _rank(post: FoundPost) -> tuple[int, int, int, str]:
    text = post.record.tweet_details.text
    return post.completeness, -post.line, len(text), text


def _read(item: Item) -> Saved | LeftOut | None:
    """The post of an item. None for what X shows between posts, such as suggested accounts."""
    content = item.content
    if not isinstance(content, dict):
        return _unreadable(item)
    if content.get("promotedMetadata") or item.entry_id.startswith("promoted"):
        return _advertisement(item, content)
    name = next((name for name in _RESULTS if name in content), "")
    kind = _kind(content)
    if not name and kind == _TOMBSTONE:
        return _tombstone(item, content)
    if not name and kind != "TimelineTweet" and not item.listed_id:
        return None
    results = content.get(name)
    # X gives an empty object for a post that is gone.
    if not name or (results and "result" not in mapping(results)):
        return _unreadable(item)
    display_type = short_text(content.get("tweetDisplayType"))
    return read_post(at(results, "result"), item.listed_id, display_type)


def _unreadable(item: Item) -> LeftOut | None:
    if item.listed_id:
        sentence = f"The entry of post {item.listed_id} cannot be read."
        return LeftOut(reason=Reason.INVALID, sentence=sentence, post_id=item.listed_id)
    if item.entry_id and item.content is None:
        return None
    return LeftOut(reason=Reason.INVALID, sentence="An entry of the page cannot be read.")


def _advertisement(item: Item, content: Object) -> LeftOut:
    read = read_post(at(content, "tweet_results", "result"), item.listed_id)
    number = read.post_id if isinstance(read, LeftOut) else read.content.post_id
    sentence = f"Post {number or '?'} is an advertisement."
    return LeftOut(reason=Reason.ADVERTISEMENT, sentence=sentence, post_id=number)


def _tombstone(item: Item, content: Object) -> LeftOut:
    reason = unavailable_reason({"tombstone": content.get("tombstoneInfo")}).rstrip(".")
    name = f"Post {item.listed_id}" if item.listed_id else "A post"
    sentence = f"{name} is not available on X{f': {reason}' if reason else ''}."
    return LeftOut(
        reason=Reason.UNAVAILABLE,
        sentence=sentence,
        post_id=item.listed_id,
        source_reason=reason,
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
    timeline = collect(instructions)
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
