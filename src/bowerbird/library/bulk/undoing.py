"""One turn of the undo of a change: gives some posts back what the change took.

A field is given back only if the change was the last to set it. If another change has set it since,
that one has to be undone first; other writes have removed the row that is kept for it. A post that
was deleted since gets its flags and labels back in the trash, which has them in its JSON. Posts
that are not where the change has put them stay as they are. Values are put back too: notes,
highlights, labels, views and rules.
"""

from bisect import insort
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from bowerbird.clock import Clock
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.bookmarks.writing.kept_changes import ended
from bowerbird.library.bookmarks.writing.post_documents import post_with_value, with_value
from bowerbird.library.bookmarks.writing.trash_batch import KEPT, TrashBatches, fitting, per_turn
from bowerbird.library.bulk.rule_references import RuleReferences
from bowerbird.library.views.changes import ViewWriting
from bowerbird.model import json_depth
from bowerbird.model.bulk import (
    WHOLE_LABEL_ACTIONS,
    BulkAction,
    BulkRow,
    BulkState,
    Changed,
    ChangedLabel,
    KeptTrash,
    PostField,
    Recorded,
    ValueKind,
    is_label,
    owner_of,
)
from bowerbird.model.labels import Label, View, name_key
from bowerbird.model.posts.bookmarks import tags_json
from bowerbird.model.posts.highlights import HighlightedPassage
from bowerbird.storage.database import Database
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import TimedService

_FLAGS: Final[dict[int, str]] = {PostField.READ: "is_read", PostField.ARCHIVED: "is_archived"}
_TAGS: Final = "tags"
# A save can create as many labels as an account may have: 10,000 took a turn of 18 seconds.
_LABELS_PER_TURN: Final = 200
_encode: Final = msgspec.json.Encoder().encode
_members: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_names: Final = msgspec.json.Decoder(list[str] | None).decode
_trashed: Final = msgspec.json.Decoder(KeptTrash).decode


# What a post in the trash gets back, and for a label its names: the present one first, then others
# that the trash may have.
_GivenBack = tuple[Changed, Sequence[str]]


class _LabelValues(Struct, frozen=True):
    metadata: str
    color: str | None


_label_values: Final = msgspec.json.Decoder(_LabelValues).decode
_view: Final = msgspec.json.Decoder(View).decode


class _Annotated(Struct):
    note: str | UnsetType | None = UNSET
    highlights: list[HighlightedPassage] | UnsetType | None = UNSET


def _edited(bookmark: bytes, fields: Sequence[_GivenBack]) -> bytes | None:
    """The JSON of a post with these fields; None if it already has them."""
    before = _members(json_depth.cut(bookmark))
    after = dict(before)
    for one, names in fields:
        if one.field == PostField.VALUE:
            own = msgspec.json.decode(_encode(after), type=_Annotated)
            values = with_value(own.note, own.highlights, one)
            for name, value in zip(_Annotated.__struct_fields__, values, strict=True):
                after.pop(name, None)
                if value:
                    after[name] = Raw(_encode(value))
        elif one.field in _FLAGS:
            after[_FLAGS[one.field]] = Raw(_encode(one.was_set))
        else:
            tags = after.get(_TAGS, Raw(b"null"))
            after[_TAGS] = Raw(_labelled(tags, names, is_set=one.was_set))
    has_changed = any(
        bytes(after.get(name, b"")) != bytes(before.get(name, b"")) for name in before | after
    )
    return _encode(after) if has_changed else None


def _labelled(tags: Raw, possible: Sequence[str], *, is_set: bool) -> bytes:
    names = _names(tags) or []
    keys = {name_key(name) for name in possible}
    has_label = any(name_key(name) in keys for name in names)
    if has_label is is_set or not possible:
        return bytes(tags)
    if is_set:
        insort(names, possible[0], key=name_key)
    else:
        names = [name for name in names if name_key(name) not in keys]
    return tags_json(names) or b"null"


class BulkUndo(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._batches = TrashBatches(database, clock)
        self._views = ViewWriting(database, clock)
        self._rules = RuleReferences(database, clock)

    async def take(self, library: LockedLibrary, row: BulkRow) -> BulkRow:
        """Takes the next turn of a change that is being undone."""
        # Again, because what came before in this transaction may have raised its version.
        library = await self._stores.libraries.lock(library.transaction, library.account_id)
        most = per_turn(row.action)
        found = await self._stores.bulk.first_posts(library, row.number, most + 1)
        names = [] if row.label is None else [row.label.name]
        changeset = await Changeset.open(
            self._database,
            *(library, names, _label_ids(row, found)),
            is_recorded=True,
            is_quiet=row.is_quiet,
        )
        row = await self._with_label(changeset, row)
        recorded, is_last = await self._some(changeset, row, found)
        restored = 0
        if recorded:
            own = await self._own(library, recorded)
            restored = await self._restore(changeset, row, own)
            last = recorded[-1].change.post_id
            await self._stores.bulk.delete_posts(library, row.number, last)
        if row.action is BulkAction.RENAME_LABEL:
            # Its posts are counted where they get the name.
            restored = 0
        after = msgspec.structs.replace(
            row, restored=row.restored + restored, kept=max(row.kept - len(recorded), 0)
        )
        if is_last:
            new = [one for one in row.labels if one.is_new]
            some, left = new[:_LABELS_PER_TURN], new[_LABELS_PER_TURN:]
            removed = await self._remove_new_labels(changeset, some)
            if left:
                after = msgspec.structs.replace(after, labels=left)
            is_last = not left
        if is_last:
            if row.action is BulkAction.CREATE_LABEL:
                after = msgspec.structs.replace(after, restored=removed)
            after = msgspec.structs.replace(ended(after, BulkState.UNDONE, self._clock()), kept=0)
        await changeset.finish(self._clock())
        await self._stores.bulk.update(library, after)
        return after

    async def _some(
        self, changeset: Changeset, row: BulkRow, found: Sequence[Recorded]
    ) -> tuple[Sequence[Recorded], bool]:
        """What is kept of the posts of a turn, and whether these are the last."""
        library, most = changeset.library, per_turn(row.action)
        by_post: dict[str, list[Recorded]] = {}
        for one in found:
            by_post.setdefault(one.change.post_id, []).append(one)
        ids = list(by_post)
        if len(found) > most:
            # The last post may have another field that was not read.
            ids.pop()
        if row.action is BulkAction.TRASH:
            sizes = await self._stores.trash.sizes(library, ids) if ids else {}
        else:
            sizes = await changeset.sizes(ids)
            if absent := [one for one in ids if one not in sizes]:
                sizes |= await self._stores.trash.sizes(library, absent)
        some = ids[: fitting(row.action, [sizes.get(one, 0) for one in ids])]
        is_last = len(found) <= most and len(some) == len(by_post)
        return [one for post_id in some for one in by_post[post_id]], is_last

    async def _own(self, library: LockedLibrary, recorded: Sequence[Recorded]) -> list[Changed]:
        """The fields that no later change has set."""
        ids = list(dict.fromkeys(one.change.post_id for one in recorded))
        latest = await self._stores.bulk.latest(library, ids)
        return [
            one.change
            for one in recorded
            if latest[one.change.post_id, one.change.field] == one.version
        ]

    async def _restore(self, changeset: Changeset, row: BulkRow, own: Sequence[Changed]) -> int:
        """How many posts get something back."""
        if row.action is BulkAction.TRASH:
            labelled = [one for one in own if is_label(one.field)]
            restored = await self._unlabel(changeset.library, row, labelled) if labelled else 0
            moved = [one.post_id for one in own if not is_label(one.field)]
            return restored + len(await self._batches.take(changeset.library, moved))
        values = [one for one in own if one.field == PostField.VALUE]
        changed = await self._put_back(changeset, values)
        await changeset.load(one.post_id for one in own)
        changed += [one.post_id for one in own if _give_back(changeset, row, one)]
        absent = _absent(changeset, row, own)
        # Posts that the change has created or brought back go to the trash.
        kept = {one.post_id: one.kept for one in own if one.field == PostField.TRASHED}
        posts = [post for one in kept if (post := changeset.post(one)) is not None]
        as_before = {one: _trashed(data) for one, data in kept.items() if data is not None}
        await self._batches.put(changeset, posts, kept=as_before)
        changed += [post.post_id for post in posts]
        restored = len({owner_of(one) for one in changed if not one.startswith(ValueKind.RULE)})
        return restored + await self._give_back_in_trash(changeset.library, absent)

    async def _with_label(self, changeset: Changeset, row: BulkRow) -> BulkRow:
        """Creates the label again that the change has deleted, if its name is still free."""
        lost = row.label
        if row.action not in WHOLE_LABEL_ACTIONS or lost is None:
            return row
        if changeset.label_of_id(str(lost.present_id)) is not None:
            return row
        other = changeset.label(lost.name)
        if other is None:
            await changeset.restore_label(lost.as_it_was(), lost.created_at, self._clock())
        now_id = None if other is None else other.label_id
        return msgspec.structs.replace(row, labels=[msgspec.structs.replace(lost, now_id=now_id)])

    async def _remove_new_labels(self, changeset: Changeset, labels: Sequence[ChangedLabel]) -> int:
        """Deletes labels that the change created, if nobody has used or changed them since.

        Returns how many.
        """
        await changeset.load_label_ids(str(one.label_id) for one in labels)
        removed = 0
        for new in labels:
            label = changeset.label_of_id(str(new.label_id))
            if label is None or label.color or (label.name, label.metadata) != (new.name, "{}"):
                continue
            await changeset.delete_unused_label(label)
            removed += changeset.label_of_id(str(new.label_id)) is None
        return removed

    async def _unlabel(self, library: LockedLibrary, row: BulkRow, own: Sequence[Changed]) -> int:
        """Takes the labels away that posts got from their duplicates; returns from how many.

        In a changeset of its own, which is written before posts come back: they get new numbers.
        """
        changeset = await Changeset.open(
            self._database,
            await self._stores.libraries.lock(library.transaction, library.account_id),
            label_ids=[str(one.present_id) for one in row.labels],
            is_recorded=True,
        )
        await changeset.load(one.post_id for one in own)
        restored = len({one.post_id for one in own if _give_back(changeset, row, one)})
        await changeset.finish(self._clock())
        return restored

    async def _give_back_in_trash(
        self, library: LockedLibrary, fields: Mapping[str, Sequence[_GivenBack]]
    ) -> int:
        """How many of these posts are in the trash and were changed there."""
        if not fields:
            return 0
        oldest = self._clock() - KEPT
        found = await self._stores.trash.within(library, list(fields), oldest)
        changed = [
            one._replace(bookmark=bookmark)
            for one in found
            if (bookmark := _edited(one.bookmark, fields[one.post_id])) is not None
        ]
        await self._stores.trash.put(library, changed)
        return len(changed)

    async def _put_back(self, changeset: Changeset, values: Sequence[Changed]) -> list[str]:
        """The keys of the values that are as they were. Of the others, the owner is gone.

        Posts that are not in the library are left to the caller.
        """
        library = changeset.library
        await changeset.load(owner_of(one.post_id) for one in values)
        rules = {
            one.post_id: one.kept
            for one in values
            if one.kept and one.post_id.startswith(ValueKind.RULE)
        }
        done = list(await self._rules.put_back(library, rules))
        for one in values:
            kind, _, id = one.post_id.partition(":")
            post = changeset.post(owner_of(one.post_id))
            is_back = False
            if kind == ValueKind.VIEW:
                before = None if one.kept is None else _view(one.kept)
                is_back = await self._views.put_back(library, id, before)
            elif kind == ValueKind.LABEL:
                is_back = await self._put_label_back(changeset, id, one)
            elif post is not None:
                is_back = await changeset.rewrite(post, partial(post_with_value, one=one))
            done += [one.post_id] if is_back else []
        return done

    async def _put_label_back(self, changeset: Changeset, id: str, one: Changed) -> bool:
        await changeset.load_label_ids([id])
        label = changeset.label_of_id(id)
        if label is None or one.kept is None:
            return False
        before = _label_values(one.kept)
        changed = msgspec.structs.replace(label, metadata=before.metadata, color=before.color)
        await changeset.update_label(label, changed, self._clock())
        return True


def _label_ids(row: BulkRow, found: Sequence[Recorded]) -> list[str]:
    """Those that a turn gives back or takes, and those that the change created."""
    ids = {one.change.field for one in found if is_label(one.change.field)}
    ids.update(one.present_id for one in row.labels if not one.is_new)
    ids.update(one.into_id for one in row.labels if one.into_id is not None)
    return [str(one) for one in sorted(ids)]


def _give_back(changeset: Changeset, row: BulkRow, one: Changed) -> bool:
    post = changeset.post(one.post_id)
    if post is None or one.field in (PostField.TRASHED, PostField.VALUE):
        return False
    if one.field == PostField.READ:
        return changeset.set_flags(post, is_read=one.was_set, is_archived=None)
    if one.field == PostField.ARCHIVED:
        return changeset.set_flags(post, is_read=None, is_archived=one.was_set)
    label = _label(changeset, row, one.field)
    if label is None:
        return False
    return changeset.attach(post, label) if one.was_set else changeset.detach(post, label)


def _absent(
    changeset: Changeset, row: BulkRow, own: Sequence[Changed]
) -> dict[str, list[_GivenBack]]:
    """What the posts get back that are not in the library."""
    found: dict[str, list[_GivenBack]] = {}
    for one in own:
        post_id = owner_of(one.post_id)
        is_elsewhere = post_id.isdigit() and changeset.post(post_id) is None
        if not is_elsewhere or one.field == PostField.TRASHED:
            continue
        names: list[str] = []
        if is_label(one.field):
            label = _label(changeset, row, one.field)
            if label is None and one.was_set:
                # Another request has deleted it.
                continue
            names += [] if label is None else [label.name]
            # The label may have been renamed while the post was in the trash.
            names += [each.name for each in row.labels if each.label_id == one.field]
        found.setdefault(post_id, []).append((one, names))
    return found


def _label(changeset: Changeset, row: BulkRow, field: int) -> Label | None:
    lost = row.label
    if lost is not None and lost.label_id == field:
        field = lost.present_id
    return changeset.label_of_id(str(field))
