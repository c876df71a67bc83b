"""A changeset collects changes to one library in memory and writes them together at the end.

So a refused operation changes nothing, fifty operations are written together, and the library's
version grows once, or not at all if nothing changed.

A field of a post that a changeset changes is not changed any more if an earlier change of posts is
undone.
"""

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Self

from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.bookmarks.writing.bookmark_row import counted_words
from bowerbird.library.bookmarks.writing.post_documents import PostDocuments, replaced_values
from bowerbird.model import events
from bowerbird.model.arrival import Counts, counts_of
from bowerbird.model.bulk import Changed, ChangedLabel, PostField, ValueKind, replaced, value_key
from bowerbird.model.events import EventType, Happening, event_label
from bowerbird.model.labels import Label, name_key
from bowerbird.model.posts.bookmarks import Post, tags_json
from bowerbird.requests import limits
from bowerbird.storage.bookmarks.changeset import EditablePost
from bowerbird.storage.database import Database
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import Service

# The labels of a post may take 40 kB as JSON, so only these many posts have theirs in memory.
_POSTS_AT_ONCE: Final = 500
_ID_DIGITS: Final = 18
_FLAGS: Final = (PostField.READ, PostField.ARCHIVED)
_LABEL_FIELDS: Final = ("color", "metadata")


class _NameKeys(dict[str, str]):
    """The folded name by name: folding the labels of many posts takes long."""

    def __missing__(self, name: str) -> str:
        key = self[name] = name_key(name)
        return key


class Changeset(Service):
    """Opened by `open` and written by `finish`, in the same transaction."""

    def __init__(
        self, database: Database, library: LockedLibrary, *, is_recorded: bool, is_quiet: bool
    ) -> None:
        super().__init__(database)
        self._is_recorded = is_recorded
        self._is_quiet = is_quiet
        self.library = library
        self._labels: dict[str, Label] = {}
        self._name_keys = _NameKeys()
        self._posts: dict[str, EditablePost] = {}
        self._new_labels: list[Label] = []
        self._pairs: dict[tuple[int, int], bool] = {}
        self._retagged: dict[int, EditablePost] = {}
        self._flagged: dict[int, EditablePost] = {}
        self._label_count: int | None = None
        self._change = Counts()
        self._has_changed = False
        self._touches = True
        # By post and field, whether it was set before.
        self._changed: dict[tuple[str, int], bool] = {}
        # The notes, highlights and labels that were replaced, by key, as they were.
        self._replaced: dict[str, Changed] = {}
        # The posts and labels that the request wants together, also if they were.
        self._labelled: set[tuple[str, int]] = set()
        # What happened besides these: labels that were created, and what follows the posts.
        self._created: list[Happening] = []
        self._contents: dict[str, Sequence[str]] = {}
        self._purged: list[str] = []
        self._ended: list[Happening] = []

    @classmethod
    async def open(
        cls,
        database: Database,
        library: LockedLibrary,
        names: Iterable[str] = (),
        label_ids: Iterable[str] = (),
        *,
        posts: dict[str, EditablePost] | None = None,
        is_recorded: bool = False,
        is_quiet: bool = False,
    ) -> Self:
        """Reads the labels with these names or ids of a library that was locked just now.

        `posts`: those that changesets of this transaction have read. `is_recorded`: the caller
        keeps `changed` for an undo. `is_quiet`: no rule runs because of it.
        """
        changeset = cls(database, library, is_recorded=is_recorded, is_quiet=is_quiet)
        await changeset.load_labels(names)
        await changeset.load_label_ids(label_ids)
        if posts is not None:
            changeset.share(posts)
        return changeset

    @property
    def version(self) -> int:
        """The library's version once the changeset is written."""
        return self.library.version + 1

    @property
    def changed(self) -> list[Changed]:
        """The fields of posts that were changed so far, and the values that were replaced."""
        fields = [Changed(*key, was_set) for key, was_set in self._changed.items()]
        return [*fields, *self._replaced.values()]

    @property
    def changed_labels(self) -> list[ChangedLabel]:
        """The labels that were created, added to posts or removed so far."""
        new = {label.label_id for label in self._new_labels}
        ids = new.union(field for _, field in self._changed)
        return [
            ChangedLabel(label.label_id, label.name, is_new=label.label_id in new)
            for label in self._labels.values()
            if label.label_id in ids
        ]

    def share(self, posts: dict[str, EditablePost]) -> None:
        """Uses posts that were read before, and adds what is read later to them.

        The caller notes when they changed.
        """
        self._posts = posts
        self._touches = False

    async def load(self, post_ids: Iterable[str]) -> None:
        """Reads these bookmarks, for later calls of `post`."""
        unread = [post_id for post_id in post_ids if post_id not in self._posts]
        if not unread:
            return
        missing = _ids(unread)
        for first in range(0, len(missing), _POSTS_AT_ONCE):
            self._posts |= await self._stores.changesets.posts(
                self.library, missing[first : first + _POSTS_AT_ONCE]
            )

    async def sizes(self, post_ids: Iterable[str]) -> dict[str, int]:
        """Reads these bookmarks too; returns the stored bytes of those that exist.

        Most likely all of them are changed next, and finding them twice takes twice as long.
        """
        wanted, sizes = _ids(post_ids), dict[str, int]()
        for first in range(0, len(wanted), _POSTS_AT_ONCE):
            some = wanted[first : first + _POSTS_AT_ONCE]
            found, of_some = await self._stores.changesets.posts_with_sizes(self.library, some)
            self._posts |= found
            sizes |= of_some
        return sizes

    async def load_labelled(
        self, label: Label, after: int = 0
    ) -> tuple[Sequence[EditablePost], bool]:
        """Reads as many bookmarks of a label as fit into a turn, and whether these are all.

        They are in the order of their numbers, and begin after this one.
        """
        stored, limit = self._stores.changesets, turns.POSTS_PER_TURN
        sizes = await stored.sizes_of_label(self.library, label.label_id, after=after, limit=limit)
        count = turns.fitting(size for _, size in sizes)
        is_all = count == len(sizes) < limit
        if not count:
            return [], is_all
        found = await stored.posts_of_label(
            self.library, label.label_id, (after, sizes[count - 1][0])
        )
        self._posts |= found
        return list(found.values()), is_all

    async def load_labels(self, names: Iterable[str]) -> None:
        """Reads the labels with these names, for later calls of `label`."""
        keys = sorted({name_key(name) for name in names} - self._labels.keys())
        if keys:
            self._labels |= await self._stores.labels.named(self.library, keys)

    async def load_label_ids(self, label_ids: Iterable[str]) -> None:
        """Reads the labels with these ids, for later calls of `label_of_id`."""
        ids = sorted({int(text) for text in label_ids if is_label_id(text)})
        if ids:
            found = await self._stores.labels.by_ids(self.library, ids)
            self._labels |= {label.name_key: label for label in found.values()}

    def post(self, post_id: str) -> EditablePost | None:
        return self._posts.get(post_id)

    def label(self, name: str) -> Label | None:
        return self._labels.get(name_key(name))

    def label_of_id(self, label_id: str) -> Label | None:
        return next((x for x in self._labels.values() if str(x.label_id) == label_id), None)

    async def create_label(self, name: str) -> Label:
        """Refused if the account has as many labels as allowed."""
        if self._label_count is None:
            self._label_count = await self._stores.labels.count_within(self.library)
        if self._label_count >= limits.LABELS_MAX:
            raise account_is_full()
        self._label_count += 1
        label = self.library.new_label(name)
        self._labels[label.name_key] = label
        self._new_labels.append(label)
        self._created += events.of_labels(EventType.LABEL_CREATED, [label])
        self._has_changed = True
        return label

    def attach(self, post: EditablePost, label: Label) -> bool:
        """False if the bookmark already has the label."""
        self._labelled.add((post.post_id, label.label_id))
        if label.name in post.tags:
            return False
        insort(post.tags, label.name, key=self._name_keys.__getitem__)
        self._note_pair(post, label, is_attached=True)
        return True

    def detach(self, post: EditablePost, label: Label) -> bool:
        """False if the bookmark does not have the label."""
        self._labelled.discard((post.post_id, label.label_id))
        if label.name not in post.tags:
            return False
        post.tags = [name for name in post.tags if name != label.name]
        self._note_pair(post, label, is_attached=False)
        return True

    async def refuse(self, posts: Sequence[EditablePost], label: Label) -> None:
        """The label is not suggested for these bookmarks any more."""
        numbers = [post.number for post in posts]
        if await self._stores.labels.refuse(self.library, label.label_id, numbers):
            self._has_changed = True

    def set_flags(
        self, post: EditablePost, *, is_read: bool | None, is_archived: bool | None
    ) -> bool:
        """False if the bookmark already has these flags."""
        before = (post.is_read, post.is_archived)
        self._change += -counts_of(post)
        post.is_read = post.is_read if is_read is None else is_read
        post.is_archived = post.is_archived if is_archived is None else is_archived
        self._change += counts_of(post)
        if (post.is_read, post.is_archived) == before:
            return False
        for field, was, now in zip(_FLAGS, before, (post.is_read, post.is_archived), strict=True):
            if was is not now:
                self._note_field(post, field, was_set=was)
        self._flagged[post.number] = post
        self._has_changed = True
        return True

    async def rewrite(self, post: EditablePost, change: Callable[[Post], Post]) -> bool:
        """Changes what the owner has written about a post. False if it stays as it is."""
        rewritten = await PostDocuments(self._database).rewrite(self.library, post.post_id, change)
        if rewritten is None:
            return False
        self._contents[post.post_id] = events.changed_fields(*rewritten)
        self._note_values(replaced_values(post.post_id, *rewritten))
        self._has_changed = True
        return True

    async def remove(self, posts: Sequence[EditablePost], *, is_purged: bool = False) -> None:
        """Deletes bookmarks and detaches their labels. `is_purged`: they are not in the trash."""
        numbers = [post.number for post in posts]
        await self._stores.labels.detach_all(self.library, numbers)
        counted = await counted_words(self._database, self.library, numbers)
        await self._stores.changesets.remove(self.library, numbers, counted)
        for post in posts:
            self._retagged.pop(post.number, None)
            self._flagged.pop(post.number, None)
            self._change += -counts_of(post)
            self._note_field(post, PostField.TRASHED, was_set=False)
            del self._posts[post.post_id]
            self._has_changed = True
        if is_purged:
            self._purged += [post.post_id for post in posts]

    async def update_label(self, label: Label, changed: Label, now: int) -> None:
        """Stores a label's new fields. `LabelRenames` renames it on its bookmarks."""
        del self._labels[label.name_key]
        self._labels[changed.name_key] = changed
        await self._stores.labels.update(self.library, changed, now)
        fields = [one for one in _LABEL_FIELDS if getattr(label, one) != getattr(changed, one)]
        if fields:
            before = {name: getattr(label, name) for name in _LABEL_FIELDS}
            self._note_values([replaced(value_key(ValueKind.LABEL, str(label.label_id)), before)])
            label_event = Happening(
                EventType.LABEL_CHANGED, fields=fields, label=event_label(changed)
            )
            self._ended.append(label_event)
        self._has_changed = True

    async def delete_label(self, label: Label, into: Label | None = None) -> None:
        """Deletes a label that was detached from all its bookmarks, or merged into another."""
        await self._write_labels(0)
        await self._stores.labels.delete(self.library, label)
        del self._labels[label.name_key]
        self._ended.append(
            Happening(EventType.LABEL_DELETED, label=event_label(label))
            if into is None
            else Happening(EventType.LABEL_MERGED, label=event_label(label), into=event_label(into))
        )
        self._has_changed = True

    async def delete_unused_label(self, label: Label, into: Label | None = None) -> None:
        """Deletes a label if no bookmark has it. `into`: it was merged into this one."""
        await self._write_labels(0)
        found = await self._stores.labels.by_id(self.library, label.label_id)
        if found is not None and not found.bookmark_count:
            await self.delete_label(label, into)

    async def restore_label(self, label: Label, created_at: int, now: int) -> None:
        """Creates a deleted label again, under its old id."""
        await self._stores.labels.insert(self.library, [label], created_at)
        await self._stores.labels.update(self.library, label, now)
        self._labels[label.name_key] = label
        self._created += events.of_labels(EventType.LABEL_CREATED, [label])
        self._has_changed = True

    async def finish(self, now: int) -> None:
        """Writes the changes."""
        if self._has_changed:
            await self._write(now)
        if not self._is_recorded:
            await self.claim()

    async def claim(self) -> None:
        """A change that is about to delete a label leaves it on the posts that have got it here."""
        if self._labelled:
            await self._stores.bulk.claim(self.library, sorted(self._labelled), self.version)

    async def _write(self, now: int) -> None:
        await self._write_labels(now)
        if self._flagged:
            await self._stores.changesets.set_flags(self.library, list(self._flagged.values()))
        await self._write_tags()
        if not self._is_recorded:
            fields = [(one.post_id, one.field) for one in self.changed]
            await self._stores.bulk.take_over(self.library, fields, self._purged)
        await self._stores.libraries.advance(
            *(self.library, self._change, self._happened(), now), touches=self._touches
        )

    def _happened(self) -> list[Happening]:
        names = {label.label_id: label.name for label in self._labels.values()}
        names |= {one.label.label_id: one.label.name for one in self._ended if one.label}
        purged = set(self._purged)
        changed = [
            (post_id, field, was_set)
            for (post_id, field), was_set in self._changed.items()
            if field != PostField.TRASHED or post_id not in purged
        ]
        happened = [
            *self._created,
            *events.of_contents(self._contents),
            *events.of_posts(changed, names),
            *events.of_purged(self._purged),
            *self._ended,
        ]
        return [*map(events.quiet, happened)] if self._is_quiet else happened

    async def _write_tags(self) -> None:
        # In the order of their numbers, as they are stored on disk.
        retagged = sorted(self._retagged.items())
        for first in range(0, len(retagged), _POSTS_AT_ONCE):
            some = retagged[first : first + _POSTS_AT_ONCE]
            tags = {number: tags_json(post.tags) for number, post in some}
            await self._stores.changesets.set_tags(self.library, tags)
        self._retagged = {}

    async def _write_labels(self, now: int) -> None:
        if self._new_labels:
            await self._stores.labels.insert(self.library, self._new_labels, now)
            self._new_labels = []
        if not self._pairs:
            return
        attached = sorted(pair for pair, is_attached in self._pairs.items() if is_attached)
        detached = sorted(pair for pair, is_attached in self._pairs.items() if not is_attached)
        await self._stores.labels.relabel(self.library, attached, detached)
        self._pairs = {}

    def _note_pair(self, post: EditablePost, label: Label, *, is_attached: bool) -> None:
        pair = (label.label_id, post.number)
        # Attached and detached in the same changeset: nothing to write.
        if self._pairs.get(pair) is (not is_attached):
            del self._pairs[pair]
        else:
            self._pairs[pair] = is_attached
        self._note_field(post, label.label_id, was_set=not is_attached)
        self._retagged[post.number] = post
        self._has_changed = True

    def _note_values(self, values: Iterable[Changed]) -> None:
        for one in values:
            # What was there before the first of several changes.
            self._replaced.setdefault(one.post_id, one)

    def _note_field(self, post: EditablePost, field: int, *, was_set: bool) -> None:
        key = (post.post_id, field)
        # Changed back in the same changeset: it is as it was.
        if self._changed.get(key) is (not was_set):
            del self._changed[key]
        else:
            self._changed[key] = was_set


def post_is_full(post_id: str) -> Refusal:
    return Refusal(
        Code.INVALID_REQUEST,
        f"Post {post_id} already has {limits.POST_LABELS_MAX:,} labels, which is the maximum.",
    )


def account_is_full() -> Refusal:
    return Refusal(
        Code.INVALID_REQUEST,
        f"The account already has {limits.LABELS_MAX:,} labels, which is the maximum. Use one of "
        "them, or delete or merge some.",
    )


def _ids(texts: Iterable[str]) -> list[str]:
    """The texts that can be ids, each once.

    Ids are digits. Other text is never an id, and databases reject some characters.
    """
    unique = dict.fromkeys(texts)
    unique.pop("", None)
    # All at once: nearly always all of them are ids.
    joined = "".join(unique)
    if joined.isascii() and joined.isdigit():
        return list(unique)
    return [text for text in unique if text.isascii() and text.isdigit()]


def is_label_id(text: str) -> bool:
    """Whether a text is a number as we write it, and small enough for the databases."""
    return bool(_ids([text])) and len(text) <= _ID_DIGITS and str(int(text)) == text
