"""Collects the items and the cursor of a timeline from its instructions."""

import re
from typing import Any, Final, NamedTuple

from msgspec import Struct

from bowerbird.sources.x.pages import MAX_ENTRIES
from bowerbird.sources.x.values import (
    MAX_SHORT_CHARACTERS,
    Object,
    at,
    mapping,
    objects,
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
