"""A changeset collects changes to one library in memory and writes them together at the end.

So a refused operation changes nothing, fifty operations are written together, and the library's
version grows once, or not at all if nothing changed.
"""

from bisect import insort
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from bowerbird.errors import Code, Refusal
from bowerbird.library.access import turns
from bowerbird.library.access.library_lock import lock_library
from bowerbird.model.labels import Label, name_key
from bowerbird.model.rendering import tags_json
from bowerbird.model.upsert import Counts, counts_of
from bowerbird.requests import limits
from bowerbird.storage.bookmarks.changeset import ChangesetStore, EditablePost
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.labels import LabelStore
from bowerbird.storage.libraries import LibraryStore, LockedLibrary

# The labels of a post may take 40 kB as JSON, so only these many posts have theirs in memory.
_POSTS_AT_ONCE: Final = 500
_ID_DIGITS: Final = 18


class _Stores(NamedTuple):
    libraries: LibraryStore
    labels: LabelStore
    bookmarks: ChangesetStore


class Changeset:
    """Opened by `Changesets.open` and written by `finish`, in the same transaction."""

    def __init__(
        self,
        stores: _Stores,
        transaction: Transaction,
        library: LockedLibrary,
        labels: dict[str, Label],
    ) -> None:
        self._stores = stores
        self._transaction = transaction
        self._library = library
        self._labels = labels
        self._posts: dict[str, EditablePost] = {}
        self._new_labels: list[Label] = []
        self._pairs: dict[tuple[int, int], bool] = {}
        self._retagged: dict[int, EditablePost] = {}
        self._flagged: dict[int, EditablePost] = {}
        self._label_count: int | None = None
        self._change = Counts()
        self._has_changed = False

    async def load(self, post_ids: Iterable[str]) -> None:
        """Reads these bookmarks, for later calls of `post`."""
        missing = [
            post_id
            for post_id in dict.fromkeys(post_ids)
            if post_id not in self._posts and _is_id(post_id)
        ]
        for first in range(0, len(missing), _POSTS_AT_ONCE):
            self._posts |= await self._stores.bookmarks.posts(
                self._transaction, self._library, missing[first : first + _POSTS_AT_ONCE]
            )

    async def sizes(self, post_ids: Iterable[str]) -> dict[str, int]:
        """The stored bytes of those of these bookmarks that exist."""
        wanted = [post_id for post_id in dict.fromkeys(post_ids) if _is_id(post_id)]
        if not wanted:
            return {}
        return await self._stores.bookmarks.sizes(self._transaction, self._library, wanted)

    async def load_labelled(self, label: Label) -> tuple[Sequence[EditablePost], bool]:
        """Reads as many bookmarks of a label as fit into a turn, and whether these are all."""
        stored, limit = self._stores.bookmarks, turns.POSTS_PER_TURN
        sizes = await stored.sizes_of_label(
            self._transaction, self._library, label.label_id, after=0, limit=limit
        )
        count = turns.fitting(size for _, size in sizes)
        is_all = count == len(sizes) < limit
        if not count:
            return [], is_all
        found = await stored.posts_of_label(
            self._transaction, self._library, label.label_id, (0, sizes[count - 1][0])
        )
        self._posts |= found
        return list(found.values()), is_all

    async def full_post(self, post_ids: Iterable[str], label: Label | None) -> str | None:
        """One of these bookmarks that has as many labels as allowed, and not this one."""
        wanted = [post_id for post_id in post_ids if _is_id(post_id)]
        return await self._stores.bookmarks.full_post(
            self._transaction,
            self._library,
            wanted,
            0 if label is None else label.label_id,
            limits.POST_LABELS_MAX,
        )

    def post(self, post_id: str) -> EditablePost | None:
        return self._posts.get(post_id)

    def label(self, name: str) -> Label | None:
        return self._labels.get(name_key(name))

    def label_of_id(self, label_id: str) -> Label | None:
        return next((x for x in self._labels.values() if str(x.label_id) == label_id), None)

    async def create_label(self, name: str) -> Label:
        """Refused if the account has as many labels as allowed."""
        if self._label_count is None:
            self._label_count = await self._stores.labels.count_within(
                self._transaction, self._library.account_id
            )
        if self._label_count >= limits.LABELS_MAX:
            raise account_is_full()
        self._label_count += 1
        label = self._library.new_label(name)
        self._labels[label.name_key] = label
        self._new_labels.append(label)
        self._has_changed = True
        return label

    def attach(self, post: EditablePost, label: Label) -> bool:
        """False if the bookmark already has the label."""
        if label.name in post.tags:
            return False
        insort(post.tags, label.name, key=name_key)
        self._note_pair(post, label, is_attached=True)
        return True

    def detach(self, post: EditablePost, label: Label) -> bool:
        """False if the bookmark does not have the label."""
        if label.name not in post.tags:
            return False
        post.tags = [name for name in post.tags if name != label.name]
        self._note_pair(post, label, is_attached=False)
        return True

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
        self._flagged[post.number] = post
        self._has_changed = True
        return True

    async def remove(self, post: EditablePost) -> None:
        """Deletes a bookmark and detaches its labels."""
        await self._stores.labels.detach_all(self._transaction, self._library, post.number)
        self._retagged.pop(post.number, None)
        self._flagged.pop(post.number, None)
        self._change += -counts_of(post)
        await self._stores.bookmarks.remove(self._transaction, self._library, post.number)
        del self._posts[post.post_id]
        self._has_changed = True

    async def update_label(self, label: Label, changed: Label) -> None:
        """Stores a label's new fields. `LabelRenames` renames it on its bookmarks."""
        del self._labels[label.name_key]
        self._labels[changed.name_key] = changed
        await self._stores.labels.update(self._transaction, self._library, changed)
        self._has_changed = True

    async def delete_label(self, label: Label) -> None:
        """Deletes a label that was detached from all its bookmarks."""
        await self._write_labels(0)
        await self._stores.labels.delete(self._transaction, self._library, label)
        del self._labels[label.name_key]
        self._has_changed = True

    async def finish(self, now: int) -> None:
        """Writes the changes."""
        if not self._has_changed:
            return
        await self._write_labels(now)
        await self._stores.bookmarks.set_flags(
            self._transaction, self._library, list(self._flagged.values())
        )
        # In the order of their numbers, as they are stored on disk.
        retagged = sorted(self._retagged.items())
        for first in range(0, len(retagged), _POSTS_AT_ONCE):
            some = retagged[first : first + _POSTS_AT_ONCE]
            tags = {number: tags_json(post.tags) for number, post in some}
            await self._stores.bookmarks.set_tags(self._transaction, self._library, tags)
        await self._stores.libraries.advance(self._transaction, self._library, self._change)

    async def _write_labels(self, now: int) -> None:
        await self._stores.labels.insert(self._transaction, self._library, self._new_labels, now)
        attached = sorted(pair for pair, is_attached in self._pairs.items() if is_attached)
        detached = sorted(pair for pair, is_attached in self._pairs.items() if not is_attached)
        await self._stores.labels.relabel(self._transaction, self._library, attached, detached)
        self._new_labels, self._pairs = [], {}

    def _note_pair(self, post: EditablePost, label: Label, *, is_attached: bool) -> None:
        pair = (label.label_id, post.number)
        # Attached and detached in the same changeset: nothing to write.
        if self._pairs.get(pair) is (not is_attached):
            del self._pairs[pair]
        else:
            self._pairs[pair] = is_attached
        self._retagged[post.number] = post
        self._has_changed = True


class Changesets:
    """Opens changesets on one database."""

    def __init__(self, database: Database) -> None:
        self._stores = _Stores(
            LibraryStore(database), LabelStore(database), ChangesetStore(database)
        )

    async def open(
        self,
        transaction: Transaction,
        account_id: int,
        names: Iterable[str] = (),
        label_ids: Iterable[str] = (),
    ) -> Changeset:
        """Locks the library and reads the labels with these names or ids."""
        stores = self._stores
        library = await lock_library(stores.libraries, transaction, account_id)
        labels: dict[str, Label] = {}
        if keys := sorted({name_key(name) for name in names}):
            labels = await stores.labels.named(transaction, account_id, keys)
        for text in label_ids:
            if _is_label_id(text):
                found = await stores.labels.by_id(transaction, account_id, int(text))
                labels |= {} if found is None else {found.name_key: found}
        return Changeset(stores, transaction, library, labels)


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


def _is_id(post_id: str) -> bool:
    """Ids are digits. Other text is never an id, and databases reject some characters."""
    return post_id.isascii() and post_id.isdigit()


def _is_label_id(text: str) -> bool:
    """Whether a text is a number as we write it, and small enough for the databases."""
    return _is_id(text) and len(text) <= _ID_DIGITS and str(int(text)) == text
