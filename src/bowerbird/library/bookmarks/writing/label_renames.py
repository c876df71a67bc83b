"""Finishes the renames of labels that are on many posts, and keeps to the limits of labels.

A rename changes the label first and then its posts, some per turn. Until the last turn, the other
posts still have the former name, and the label remembers it. Every write that compares names of
labels finishes such a rename first, so no other code sees a label with two names. The regular
sweep finishes a rename whose process was killed.
"""

from bisect import insort
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.clock import system_clock
from bowerbird.library.access import turns
from bowerbird.library.access.turns import DoFirst
from bowerbird.model import events
from bowerbird.model.arrival import Counts, ExistingBookmark, Incoming, LeftOutLabels
from bowerbird.model.events import EventType, Happening, event_label
from bowerbird.model.labels import Label, name_key
from bowerbird.model.posts.bookmarks import tags_json
from bowerbird.requests import limits
from bowerbird.storage.database import Transaction
from bowerbird.storage.libraries import LockedLibrary
from bowerbird.storage.stores import Service


class LabelRoom:
    """The labels of one chunk of an import. A post keeps all labels that it already has."""

    def __init__(
        self,
        new_label: Callable[[str], Label],
        labels: dict[str, Label],
        new_labels: int,
        per_post: int,
    ) -> None:
        """`new_labels` is how many labels may be created."""
        self._new_label = new_label
        self._new_labels = new_labels
        self._per_post = per_post
        # Existing and created labels, by folded name.
        self.labels = labels
        self.created: list[Label] = []
        self.left_out: list[LeftOutLabels] = []

    def fit(self, incoming: Incoming, stored: ExistingBookmark | None) -> Incoming:
        """The post with the labels that it gets; labels that do not exist yet are created."""
        if not incoming.tags:
            return incoming
        kept = set() if stored is None else incoming.tags.keys() & stored.tags
        over_post: list[str] = []
        over_account: list[str] = []
        for key, name in incoming.tags.items():
            if key in kept:
                continue
            if len(kept) >= self._per_post:
                over_post.append(name)
            elif not self._exists(key, name):
                over_account.append(name)
            else:
                kept.add(key)
        self._report(incoming, over_post, f"a post can have {self._per_post:,} labels")
        self._report(incoming, over_account, f"an account can have {limits.LABELS_MAX:,} labels")
        if len(kept) == len(incoming.tags):
            return incoming
        tags = {key: name for key, name in incoming.tags.items() if key in kept}
        return msgspec.structs.replace(incoming, tags=tags)

    def _exists(self, key: str, name: str) -> bool:
        """Creates the label if it is new; False if there is no room for it."""
        if key in self.labels:
            return True
        if len(self.created) >= self._new_labels:
            return False
        label = self._new_label(name)
        self.labels[key] = label
        self.created.append(label)
        return True

    def _report(self, incoming: Incoming, names: list[str], reason: str) -> None:
        if names:
            self.left_out.append(LeftOutLabels(incoming.post_id, names, reason))


class Position(Struct, frozen=True):
    """A turn of a rename: the posts of the label up to this number have its new name."""

    label_id: int = 0
    number: int = 0
    # The posts of the turn, and whether it was the last one.
    count: int = 0
    is_last: bool = False


_START: Final = Position()


class LabelRenames(Service):
    async def lock(self, transaction: Transaction, account_id: int) -> LockedLibrary:
        """Locks the library. If a label is being renamed, that is finished before."""
        library = await self._stores.libraries.lock(transaction, account_id)
        if await self._stores.labels.being_renamed(library):
            raise DoFirst(lambda: self.finish(account_id))
        return library

    async def finish(self, account_id: int) -> None:
        """Takes all turns that are left of a rename."""
        done: Position | None = _START

        async def work(transaction: Transaction) -> Position | None:
            assert done is not None
            return await self.turn(transaction, account_id, done)

        while done is not None and not done.is_last:
            done = await self._database.write(work, account_id, is_continuing=True)

    async def turn(
        self, transaction: Transaction, account_id: int, done: Position
    ) -> Position | None:
        """Renames the label on some posts; None if no label is being renamed."""
        library = await self._stores.libraries.lock(transaction, account_id)
        label = await self._stores.labels.being_renamed(library)
        if label is None:
            return None
        after = done.number if done.label_id == label.label_id else 0
        found = await self._stores.changesets.sizes_of_label(
            library, label.label_id, after=after, limit=turns.POSTS_PER_TURN
        )
        count = turns.fitting(size for _, size in found)
        happened: list[Happening] = []
        if count:
            last = found[count - 1][0]
            renamed_on = await self._rename(library, label, (after, last))
            happened += events.of_contents(dict.fromkeys(renamed_on, ("tags",)))
            after = last
        is_last = count == len(found) < turns.POSTS_PER_TURN
        if is_last:
            renamed = msgspec.structs.replace(label, former_name=None)
            await self._stores.labels.update(library, renamed)
            happened.append(
                Happening(
                    EventType.LABEL_RENAMED,
                    label=event_label(label),
                    former_name=label.former_name or "",
                )
            )
        await self._stores.libraries.advance(library, Counts(), happened, system_clock())
        return Position(label.label_id, after, count, is_last)

    async def _rename(
        self, library: LockedLibrary, label: Label, numbers: tuple[int, int]
    ) -> list[str]:
        """Returns the posts that it was renamed on."""
        posts = await self._stores.changesets.posts_of_label(library, label.label_id, numbers)
        tags: dict[int, bytes | None] = {}
        for post in posts.values():
            if label.former_name in post.tags:
                names = [name for name in post.tags if name != label.former_name]
                # The others are sorted already, and folding all of their names takes long.
                insort(names, label.name, key=name_key)
                tags[post.number] = tags_json(names)
        await self._stores.changesets.set_tags(library, dict(sorted(tags.items())))
        return [post_id for post_id, post in posts.items() if post.number in tags]
