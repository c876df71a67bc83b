"""The rows and labels that the incoming posts of one transaction change."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from bowerbird.library.bookmarks.writing.bookmark_row import (
    Row,
    complete,
    searchable_texts,
    words_of,
)
from bowerbird.library.bookmarks.writing.post_documents import replaced_values
from bowerbird.model import events
from bowerbird.model.arrival import (
    Change,
    Completeness,
    Counts,
    Deletion,
    ExistingBookmark,
    Incoming,
    OrderSource,
    Placement,
    State,
    compressed,
    counts_of,
)
from bowerbird.model.bulk import Changed, KeptTrash, PostField
from bowerbird.model.events import EventType, Happening, changed_fields
from bowerbird.model.instants import without_offset
from bowerbird.model.labels import Label
from bowerbird.model.posts.bookmarks import Post, rendered_post, tags_json, without_saving_time
from bowerbird.storage.libraries import LockedLibrary

_NO_TAGS: Final = frozenset[str]()
_LARGEST: Final = 2**63 - 1
_PLACE: Final = ("sort_index", "imported_at", "bookmarked_at")
# Of a stored bookmark, in the order of the fields of a state.
_kept: Final = attrgetter(
    *("content_hash", *_PLACE, "completeness", "order_source", "is_read", "is_archived")
)


class _State(Struct):
    removed_at: str | UnsetType | None = UNSET


_decode_state: Final = msgspec.json.Decoder(_State).decode


class Batch:
    def __init__(
        self,
        opened: LockedLibrary,
        labels: dict[str, Label],
        stored: dict[str, ExistingBookmark],
        renderings: dict[int, bytes],
        now: int,
    ) -> None:
        """`renderings` has those of the stored bookmarks that will change, by number."""
        self._opened, self._labels, self._stored, self._now = opened, labels, stored, now
        self._renderings = renderings
        self._updated_at = without_offset(now)
        self.new: list[Row] = []
        self.changed: list[Row] = []
        # The incoming post of each changed bookmark, by its number.
        self.arrivals: dict[int, Incoming] = {}
        self.attached: list[tuple[int, int]] = []
        self.detached: list[tuple[int, int]] = []
        self.change = Counts()
        # The label ids of each written bookmark that has labels, by its number.
        self._after: dict[int, tuple[int, ...]] = {}
        self._decoded: dict[int, Post | None] = {}

    def add(self, incoming: Incoming, draft: Row) -> None:
        """`incoming` differs from what is stored."""
        stored = self._stored.get(incoming.post_id)
        placement = placement_of(incoming, stored, self._now)
        number = stored.number if stored else self._take_number()
        self.change += counts_of(placement)
        if stored is not None:
            self.change += -counts_of(stored)
        tags = self._relabel(incoming, stored, number)
        # A copy: the work of a transaction may run again, with the same drafts.
        row = self._opened.values | draft
        complete(row, incoming.post_json, placement, number, tags)
        if stored is None:
            row["updated_at"] = self._updated_at
            self.new.append(row)
        else:
            self.changed.append(row)
            self.arrivals[number] = incoming
            if self._has_same_texts(incoming, stored):
                # The index of words stays as it is; counts change on every sight of a post.
                row["words"] = None
                return
        if row["words"] is None:
            row["words"] = words_of(incoming.record)

    def changes(self, deletions: Callable[[str], Deletion | None]) -> dict[int, Change]:
        """What the batch changes on each bookmark, for the log of a run."""
        changes = {}
        for row in self.new:
            labels = self._after.get(row["number"], ())
            deletion = deletions(row["post_id"])
            changes[row["number"]] = Change(
                None, row["is_read"], row["is_archived"], labels, deletion
            )
        for row in self.changed:
            before = self._state(self._stored[row["post_id"]])
            changes[row["number"]] = Change(
                before,
                row["is_read"],
                row["is_archived"],
                self._after.get(row["number"], ()),
                removed_at=self._set_removed_at(row["number"]),
            )
        return changes

    def changed_fields(self) -> list[tuple[str, int, bool]]:
        """The flags and labels of stored bookmarks that change: post, field, and what it was."""
        changed: list[tuple[str, int, bool]] = []
        for row in self.changed:
            was = self._stored[row["post_id"]]
            if row["is_read"] != was.is_read:
                changed.append((row["post_id"], PostField.READ, was.is_read))
            if row["is_archived"] != was.is_archived:
                changed.append((row["post_id"], PostField.ARCHIVED, was.is_archived))
        # Labels of new bookmarks are left out.
        posts = {row["number"]: row["post_id"] for row in self.changed}
        for pairs, was_set in ((self.attached, False), (self.detached, True)):
            changed += [(posts[number], one, was_set) for one, number in pairs if number in posts]
        return changed

    def recorded(self, deletions: Callable[[str], Deletion | None], now: int) -> list[Changed]:
        """What an undo gives back: posts that are new, or restored, go to the trash."""
        arrived = []
        for row in self.new:
            mark = deletions(row["post_id"])
            kept = None if mark is None else msgspec.json.encode(KeptTrash(now, mark))
            arrived.append(Changed(row["post_id"], PostField.TRASHED, was_set=True, kept=kept))
        return [*arrived, *(Changed(*one) for one in self.changed_fields())]

    def replaced_values(self) -> list[tuple[str, int]]:
        """The notes and highlights that the batch changes."""
        found: list[tuple[str, int]] = []
        for row in self.changed:
            stored = self._stored[row["post_id"]]
            before = None if row["content_hash"] == stored.content_hash else self._before(stored)
            if before is not None:
                after = self.arrivals[stored.number].record
                values = replaced_values(row["post_id"], before, after)
                found += [(one.post_id, one.field) for one in values]
        return found

    def happened(self, created: Sequence[Label], *, is_restored: bool) -> list[Happening]:
        """The events of the batch. `created` are the labels that it needed."""
        arrived = EventType.POST_RESTORED if is_restored else EventType.POST_CREATED
        new = [row["post_id"] for row in self.new]
        names = {label.label_id: label.name for label in self._labels.values()}
        return [
            *events.of_labels(EventType.LABEL_CREATED, created),
            *([Happening(arrived, new)] if new else ()),
            *events.of_contents({row["post_id"]: self._fields(row) for row in self.changed}),
            *events.of_posts(self.changed_fields(), names),
        ]

    def _fields(self, row: Row) -> list[str]:
        """The fields of a stored post that the batch changes, but for flags and labels."""
        stored = self._stored[row["post_id"]]
        places = [name for name in _PLACE if row[name] != getattr(stored, name)]
        if row["content_hash"] == stored.content_hash:
            return places
        before = self._before(stored)
        if before is not None:
            before = without_saving_time(before, stored.bookmarked_at)
        return changed_fields(before, self.arrivals[stored.number].record) + places

    def labelled(self) -> list[tuple[str, int]]:
        """The labels that posts get, by post."""
        posts = {row["number"]: row["post_id"] for row in (*self.new, *self.changed)}
        return [(posts[number], label_id) for label_id, number in self.attached]

    def _set_removed_at(self, number: int) -> str | None:
        """What the batch sets removed_at to; None if it stays."""
        before = removed_at_of(self._renderings[number])
        after = self.arrivals[number].record.removed_at or ""
        return None if after == before else after

    def _state(self, stored: ExistingBookmark) -> State:
        rendering = compressed(self._renderings[stored.number])
        return State(*(rendering, *_kept(stored), self._ids(stored.tags)))

    def _ids(self, keys: frozenset[str]) -> tuple[int, ...]:
        return tuple(sorted(self._labels[key].label_id for key in keys))

    def _take_number(self) -> int:
        self._opened.next_number += 1
        return self._opened.next_number - 1

    def _has_same_texts(self, incoming: Incoming, stored: ExistingBookmark) -> bool:
        """Whether the searchable texts of a stored post stay as they are."""
        if incoming.content_hash == stored.content_hash:
            return True
        before = self._before(stored)
        return before is not None and searchable_texts(before) == searchable_texts(incoming.record)

    def _before(self, stored: ExistingBookmark) -> Post | None:
        """The stored post; None if it cannot be read."""
        if stored.number not in self._decoded:
            rendering = self._renderings.get(stored.number, b"")
            self._decoded[stored.number] = rendered_post(rendering)
        return self._decoded[stored.number]

    def _relabel(
        self, incoming: Incoming, stored: ExistingBookmark | None, number: int
    ) -> bytes | None:
        """Records added and removed labels; returns the names of the current ones as JSON."""
        before = stored.tags if stored else _NO_TAGS
        after = before if incoming.tags is None else frozenset(incoming.tags)
        if not before and not after:
            return None
        self._after[number] = self._ids(after)
        self.attached += [(self._labels[k].label_id, number) for k in sorted(after - before)]
        self.detached += [(self._labels[k].label_id, number) for k in sorted(before - after)]
        return tags_json([self._labels[key].name for key in sorted(after)])


def removed_at_of(rendering: bytes) -> str:
    """When a post was removed at its source, or ""."""
    if b'"removed_at":' not in rendering:
        return ""
    try:
        return _decode_state(rendering + b"}").removed_at or ""
    except (msgspec.MsgspecError, RecursionError):
        return ""


def differs(incoming: Incoming, stored: ExistingBookmark | None) -> bool:
    if stored is None or incoming.content_hash != stored.content_hash:
        return True
    if incoming.tags is not None and stored.tags != incoming.tags.keys():
        return True
    if incoming.completeness is not None and incoming.completeness != stored.completeness:
        return True
    if incoming.order_source is not None and incoming.order_source != stored.order_source:
        return True
    record = incoming.record
    for given, kept in (
        (record.sort_index, stored.sort_index),
        (incoming.imported_at, stored.imported_at),
        (incoming.bookmarked_at, stored.bookmarked_at),
        (record.is_read, stored.is_read),
        (record.is_archived, stored.is_archived),
    ):
        if given is not UNSET and given != kept:
            return True
    return False


def placement_of(incoming: Incoming, stored: ExistingBookmark | None, now: int) -> Placement:
    arrival = incoming.record
    imported_at = _first_set(incoming.imported_at, stored and stored.imported_at, now)
    bookmarked_at = _first_set(incoming.bookmarked_at, stored and stored.bookmarked_at, imported_at)
    sort_index = arrival.sort_index
    if sort_index is UNSET:
        sort_index = index_of(bookmarked_at) if stored is None else stored.sort_index
    return Placement(
        sort_index=sort_index,
        imported_at=imported_at,
        bookmarked_at=bookmarked_at,
        is_read=_first_set(arrival.is_read, stored and stored.is_read, False),  # noqa: FBT003 - a default
        is_archived=_first_set(arrival.is_archived, stored and stored.is_archived, False),  # noqa: FBT003 - a default
        completeness=Completeness.FULL if incoming.completeness is None else incoming.completeness,
        order_source=_order_source(incoming, stored),
    )


def index_of(instant: int) -> int:
    """The format of X: the time in milliseconds in the high bits, clamped to 64 bits."""
    return min(max((instant // 1000) << 20, -_LARGEST), _LARGEST)


def _order_source(incoming: Incoming, stored: ExistingBookmark | None) -> int:
    if incoming.order_source is not None:
        return incoming.order_source
    if incoming.record.sort_index is not UNSET:
        return OrderSource.X
    if stored is not None:
        return stored.order_source
    return OrderSource.IMPORT if incoming.bookmarked_at is UNSET else OrderSource.SAVED_DATE


def _first_set(incoming: Any, stored: Any, default: Any) -> Any:
    if incoming is not UNSET:
        return incoming
    return default if stored is None else stored
