"""Works out the rows of bookmarks as they were before a run of an import."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from bowerbird.library.bookmarks.writing.bookmark_row import Row, row_of, searchable_texts, words_of
from bowerbird.library.bookmarks.writing.upsert_batch import removed_at_of
from bowerbird.model.bookmarks import Post, content_hash, is_undated, post_json, tags_json
from bowerbird.model.bulk import PostField
from bowerbird.model.events import changed_fields
from bowerbird.model.imports import (
    Change,
    Completeness,
    Counts,
    Deletion,
    Incoming,
    Placement,
    State,
    counts_of,
    decompressed,
)
from bowerbird.model.labels import Label
from bowerbird.sources import own_json
from bowerbird.storage.imports.changes import CurrentPost

_decode: Final = msgspec.json.Decoder(Post).decode


def undone(change: Change, state: State) -> State | None:
    """A state of a bookmark without a change; None if the bookmark would not exist.

    Flags and labels that its owner has changed since the run stay.
    """
    before = change.before
    if before is None:
        is_touched = (state.is_read, state.is_archived) != (
            change.is_read,
            change.is_archived,
        ) or not set(state.labels) <= set(change.labels)
        return state if is_touched else None
    added = set(change.labels) - set(before.labels)
    removed = set(before.labels) - set(change.labels)
    return msgspec.structs.replace(
        before,
        is_read=before.is_read if state.is_read == change.is_read else state.is_read,
        is_archived=(
            before.is_archived if state.is_archived == change.is_archived else state.is_archived
        ),
        labels=tuple(sorted((set(state.labels) - added) | removed)),
    )


class Restoration:
    """Collects what one turn of an undo writes."""

    def __init__(self, labels: Mapping[int, Label]) -> None:
        self._labels = labels
        self.removed: list[int] = []
        self.rows: list[Row] = []
        # Posts that are only links again.
        self.emptied: list[str] = []
        # The fields that are changed, by post.
        self.fields: dict[str, list[str]] = {}
        # The earlier post of each restored bookmark, by its number.
        self.arrivals: dict[int, Incoming] = {}
        self.attached: list[tuple[int, int]] = []
        self.detached: list[tuple[int, int]] = []
        self.deletions: list[Deletion] = []
        self.change = Counts()
        self.kept = 0

    def add(self, number: int, change: Change, current: CurrentPost) -> None:
        state = undone(change, current.state)
        if state is current.state:
            self.kept += 1
            return
        self.change += -counts_of(current.state)
        if state is None:
            self.removed.append(number)
            if change.deletion is not None:
                self.deletions.append(change.deletion)
            return
        self.change += counts_of(state)
        self._restore(number, state, change.removed_at, current)

    def _restore(
        self, number: int, state: State, run_removed_at: str | None, current: CurrentPost
    ) -> None:
        rendering = decompressed(state.rendering)
        incoming = own_json.read(rendering + b"}", is_stored=True).incoming
        now = _decoded(current)
        removed_at = removed_at_of(current.rendering)
        was_removed_at = incoming.record.removed_at or ""
        is_same = removed_at in (was_removed_at, run_removed_at)
        if not is_same:
            # The source has said since whether the post is still saved there.
            incoming = _with_removed_at(incoming, removed_at or UNSET)
        # Labels that were deleted since the run do not come back.
        labels = [self._labels[one] for one in state.labels if one in self._labels]
        ids = {label.label_id for label in labels}
        self.attached += [(one, number) for one in sorted(ids - set(current.state.labels))]
        self.detached += [(one, number) for one in sorted(set(current.state.labels) - ids)]
        names = [label.name for label in sorted(labels, key=lambda label: label.name_key)]
        placement = Placement(
            sort_index=state.sort_index,
            imported_at=state.imported_at,
            bookmarked_at=state.bookmarked_at,
            is_read=state.is_read,
            is_archived=state.is_archived,
            completeness=state.completeness,
            order_source=state.order_source,
        )
        row = row_of(incoming, placement, number, "", tags_json(names))
        if is_same and not is_undated(rendering):
            # As they were, even if this release would write them differently.
            row["rendering"], row["content_hash"] = rendering, state.content_hash
        row["words"] = None if _same_texts(now, incoming) else words_of(incoming.record)
        self.rows.append(row)
        self.fields[current.post_id] = changed_fields(now, incoming.record)
        if state.completeness == Completeness.STUB < current.state.completeness:
            self.emptied.append(current.post_id)
        self.arrivals[number] = incoming


def changes_of(
    current: Mapping[int, CurrentPost], work: Restoration
) -> list[tuple[str, int, bool]]:
    """The flags and labels that an undo changes: post, field, and whether it was set before."""
    changed: list[tuple[str, int, bool]] = []
    for row in work.rows:
        before = current[row["number"]].state
        if row["is_read"] != before.is_read:
            changed.append((row["post_id"], PostField.READ, before.is_read))
        if row["is_archived"] != before.is_archived:
            changed.append((row["post_id"], PostField.ARCHIVED, before.is_archived))
    for pairs, was_set in ((work.attached, False), (work.detached, True)):
        changed += [(current[number].post_id, one, was_set) for one, number in pairs]
    return changed


def _decoded(current: CurrentPost) -> Post | None:
    try:
        return _decode(current.rendering + b"}")
    except (msgspec.MsgspecError, RecursionError):
        return None


def _same_texts(now: Post | None, incoming: Incoming) -> bool:
    return now is not None and searchable_texts(now) == searchable_texts(incoming.record)


def _with_removed_at(incoming: Incoming, removed_at: str | UnsetType) -> Incoming:
    record = msgspec.structs.replace(incoming.record, removed_at=removed_at)
    data = post_json(own_json.post_of(record))
    return msgspec.structs.replace(
        incoming, record=record, post_json=data, content_hash=content_hash(data)
    )
