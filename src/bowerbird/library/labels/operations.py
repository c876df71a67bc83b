"""Adds labels to named posts and removes them, in the transaction of the request.

Each operation is checked before it changes anything, so a refused one changes nothing.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from bowerbird import errors
from bowerbird.errors import Code, Refusal
from bowerbird.library.bookmarks.writing.changeset import Changeset, post_is_full
from bowerbird.model.bulk import BulkRow
from bowerbird.model.labels import Label
from bowerbird.requests import limits
from bowerbird.storage.bookmarks.changeset import EditablePost

Op = Literal["add", "remove"]


class Tagged(Struct, frozen=True):
    post_id: str
    tags: list[str] | None


class Labelled(Struct, frozen=True):
    """The result of adding or removing a label."""

    posts: list[Tagged]
    affected: int
    not_found: list[str]
    # Ids of the posts beyond those that an answer repeats.
    further_ids: list[str]
    # None if nothing has changed, or for an operation of a batch.
    change: BulkRow | None = None


Outcome = Labelled | Refusal


class Change(Struct, frozen=True):
    """One operation: a label by name or by id, and the posts to change."""

    op: Op
    post_ids: list[str]
    label_name: str | None
    label_id: str | None = None


class Echo:
    """Which posts one answer repeats with their labels, so that its size is bounded."""

    def __init__(self) -> None:
        self._posts_left = limits.ECHOED_POSTS_MAX
        self._characters_left = limits.ECHOED_NAMES_MAX

    def split(self, posts: Sequence[EditablePost]) -> tuple[list[Tagged], list[str]]:
        """The posts with their labels while there is room, and the ids of all the others."""
        tagged: list[Tagged] = []
        for post in posts:
            if self._posts_left <= 0 or self._characters_left <= 0:
                break
            self._posts_left -= 1
            self._characters_left -= len("".join(post.tags))
            tagged.append(Tagged(post.post_id, list(post.tags) or None))
        return tagged, [post.post_id for post in posts[len(tagged) :]]


class Operations:
    """The operations of one request. The changeset has read their labels and posts."""

    def __init__(self, changeset: Changeset, sizes: dict[str, int]) -> None:
        """`sizes` has the stored bytes of the posts that exist."""
        self._changeset = changeset
        self._sizes = sizes
        self._changed: set[str] = set()
        self._bytes_left = limits.LABELLED_BYTES_MAX
        self._echo = Echo()

    async def run(self, change: Change) -> Outcome:
        """What the operation did, or why it was refused."""
        try:
            label, not_found = await self._checked(change)
        except Refusal as refused:
            return refused
        found = (self._changeset.post(post_id) for post_id in change.post_ids)
        posts = [post for post in found if post is not None]
        apply = self._changeset.attach if change.op == "add" else self._changeset.detach
        affected = sum(apply(post, label) for post in posts)
        if change.op == "remove":
            await self._changeset.refuse(posts, label)
        tagged, further_ids = self._echo.split(posts)
        return Labelled(tagged, affected, not_found, further_ids)

    async def _checked(self, change: Change) -> tuple[Label, list[str]]:
        """The label, and the ids that are not in the library."""
        label = self.label_of(change)
        if label is None and change.op == "remove":
            assert change.label_name is not None
            raise errors.not_found("label", change.label_name)
        not_found = [post_id for post_id in change.post_ids if post_id not in self._sizes]
        if len(not_found) == len(change.post_ids):
            raise errors.not_found("post", ", ".join(change.post_ids[:3]))
        if change.op == "add":
            self._require_room(change, label)
        self._require_bytes(change)
        if label is None:
            assert change.label_name is not None
            label = await self._changeset.create_label(change.label_name)
        return label, not_found

    def _require_room(self, change: Change, label: Label | None) -> None:
        """Refuses a change if one of its posts cannot get another label."""
        for post_id in change.post_ids:
            post = self._changeset.post(post_id)
            if post is not None and _is_full(post, label):
                raise post_is_full(post_id)

    def _require_bytes(self, change: Change) -> None:
        """Changing the labels of a post writes its stored JSON again: a bound for long posts."""
        new = [one for one in change.post_ids if one in self._sizes and one not in self._changed]
        size = total_size(self._sizes, new)
        if size > self._bytes_left:
            raise Refusal(
                Code.INVALID_REQUEST,
                f"The posts of one batch can have {limits.LABELLED_BYTES_MAX // 2**20} MiB. Send "
                "this operation as a request of its own.",
            )
        self._bytes_left -= size
        self._changed.update(new)

    def label_of(self, change: Change) -> Label | None:
        """The label of a change; None if no label has that name yet."""
        if change.label_name is not None:
            return self._changeset.label(change.label_name)
        assert change.label_id is not None
        label = self._changeset.label_of_id(change.label_id)
        if label is None:
            raise errors.not_found("label", change.label_id)
        return label


def total_size(sizes: dict[str, int], post_ids: Iterable[str]) -> int:
    return sum(sizes.get(post_id, 0) for post_id in post_ids)


def _is_full(post: EditablePost, label: Label | None) -> bool:
    if len(post.tags) < limits.POST_LABELS_MAX:
        return False
    return label is None or label.name not in post.tags
