"""Adds labels to posts and removes them, in turns.

An operation with many or long posts takes several turns. Everything that can refuse it is checked
before its first turn changes anything. After that it is not refused any more: if another request
deletes the label between two turns, or fills a post with labels, the result names the posts that
were not changed.
"""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.errors import Refusal
from bowerbird.library.access import turns
from bowerbird.library.access.turns import TurnTime, Unfinished
from bowerbird.library.bookmarks.writing.changeset import Changeset, Changesets, post_is_full
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.model.labels import Label
from bowerbird.requests import limits
from bowerbird.storage.bookmarks.changeset import EditablePost
from bowerbird.storage.database import Transaction
from bowerbird.storage.libraries import LockedLibrary

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
    # Ids of the posts that could not get the label any more, because of another request.
    not_changed: list[str] = []


Outcome = Labelled | Refusal


class Change(Struct, frozen=True):
    """One operation, or what is left of it: a label by name or by id, and the posts to change."""

    op: Op
    post_ids: list[str]
    label_name: str | None
    label_id: str | None = None
    # The result of the turns so far.
    done: Labelled | None = None


class _Part(Struct, frozen=True):
    """The posts of a change that are changed in this turn, and those left for another."""

    change: Change
    post_ids: list[str]
    later: list[str]

    def split(self, most: int) -> tuple["_Part", list[str]]:
        """A part with at most `most` posts, and the posts that it leaves out."""
        left = self.post_ids[most:]
        return _Part(self.change, self.post_ids[:most], [*left, *self.later]), left


class Room(NamedTuple):
    """How much more one answer repeats: posts, and characters of their labels."""

    posts: int = limits.ECHOED_POSTS_MAX
    characters: int = limits.ECHOED_NAMES_MAX


class Echo:
    """Which posts one answer repeats with their labels, so that its size is bounded."""

    def __init__(self, room: Room) -> None:
        """`room` is what the earlier turns have left."""
        self._posts_left, self._characters_left = room

    @property
    def room(self) -> Room:
        return Room(self._posts_left, self._characters_left)

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


_FULL_ROOM: Final = Room()


class Operations:
    def __init__(
        self,
        changesets: Changesets,
        renames: LabelRenames,
        clock: Clock,
        posts_per_turn: int | None,
    ) -> None:
        self._changesets = changesets
        self._renames = renames
        self._clock = clock
        self._most = posts_per_turn

    async def run(
        self,
        transaction: Transaction,
        account_id: int,
        changes: Sequence[Change],
        outcomes: Sequence[Outcome] = (),
        room: Room = _FULL_ROOM,
    ) -> Sequence[Outcome] | Unfinished[Sequence[Outcome]]:
        """The result of each change, or why it was refused; a refused one changed nothing."""
        # Before each turn, because a rename may have started since the last one.
        return await self._renames.finished_in(
            transaction,
            account_id,
            lambda t, library: self._turn(t, library, changes, outcomes, room),
        )

    async def _turn(
        self,
        transaction: Transaction,
        library: LockedLibrary,
        changes: Sequence[Change],
        outcomes: Sequence[Outcome],
        room: Room,
    ) -> Sequence[Outcome] | Unfinished[Sequence[Outcome]]:
        time = TurnTime(self._clock)
        most = turns.posts_per_turn(transaction) if self._most is None else self._most
        group = _group(changes, most)
        names = [one.label_name for one in group if one.label_name is not None]
        label_ids = [one.label_id for one in group if one.label_id is not None]
        account_id = library.account_id
        changeset = await self._changesets.open(
            transaction, account_id, names, label_ids, library=library
        )
        sizes = await changeset.sizes(post_id for one in group for post_id in one.post_ids)
        time.begin()
        finished, rest = [*outcomes], [*changes]
        # A new one in each attempt, because a turn can be repeated.
        echo = Echo(room)
        done, limit = 0, min(most, turns.POSTS_PER_TURN)
        waiting = _parts(group, sizes, most)
        while waiting and limit > done:
            part, left = waiting.pop(0).split(limit - done)
            outcome = await _outcome(changeset, part, sizes, echo)
            rest.pop(0)
            if isinstance(outcome, Change):
                rest.insert(0, outcome)
                if left:
                    waiting.insert(0, _Part(outcome, left, part.later[len(left) :]))
            else:
                finished.append(outcome)
            done += len(part.post_ids)
            if waiting and done >= limit:
                # These posts show how many more fit into the turn.
                await changeset.write_labels(self._clock())
                limit = done + time.more(done)
        await changeset.finish(self._clock())
        if not rest:
            return finished
        return Unfinished(lambda later: self.run(later, account_id, rest, finished, echo.room))


def _group(changes: Sequence[Change], most: int) -> Sequence[Change]:
    """The first changes, as many as one turn can make if their posts are short."""
    count, posts = 0, 0
    for one in changes:
        posts += len(one.post_ids)
        if count and posts > most:
            break
        count += 1
    return changes[:count]


def _parts(group: Sequence[Change], sizes: dict[str, int], most: int) -> list[_Part]:
    """As many of the changes as fit into one turn; only a part of the first if it is large."""
    parts: list[_Part] = []
    counted: set[str] = set()
    total = 0
    for one in group:
        new = [i for i in one.post_ids if i in sizes and i not in counted]
        total += sum(sizes[post_id] for post_id in new)
        is_small = len(one.post_ids) <= most and total <= turns.BYTES_PER_TURN
        if is_small:
            parts.append(_Part(one, [i for i in one.post_ids if i in sizes], []))
            counted.update(new)
            continue
        if not parts:
            found = [post_id for post_id in one.post_ids if post_id in sizes]
            count = turns.fitting((sizes[post_id] for post_id in found), most)
            parts.append(_Part(one, found[:count], found[count:]))
        break
    return parts


async def _outcome(
    changeset: Changeset, part: _Part, sizes: dict[str, int], echo: Echo
) -> Labelled | Refusal | Change:
    """The result of a change, or the rest of it."""
    if part.change.done is not None:
        return _continued(changeset, part, part.change.done, sizes, echo)
    change = part.change
    posts = _posts(changeset, part)
    try:
        label, not_found = await _checked(changeset, change, sizes)
    except Refusal as refused:
        return refused
    started = msgspec.structs.replace(change, label_name=None, label_id=str(label.label_id))
    return _step(
        started,
        part.later,
        Labelled([], 0, not_found, []),
        _applied(changeset, started, posts, echo),
    )


def _continued(
    changeset: Changeset, part: _Part, done: Labelled, sizes: dict[str, int], echo: Echo
) -> Labelled | Change:
    """The next turn of a change. What other requests have done since does not refuse it."""
    change, later = part.change, part.later
    posts = _posts(changeset, part)
    label = _label_of(changeset, change, is_required=False)
    unchangeable: list[str] = []
    if change.op == "add" and label is None:
        # The label was deleted, from the posts of the earlier turns too.
        unchangeable = [post_id for post_id in change.post_ids if post_id in sizes]
        posts, later = [], []
    elif change.op == "add":
        unchangeable = [post.post_id for post in posts if _is_full(post, label)]
        posts = [post for post in posts if not _is_full(post, label)]
    known = set(done.not_found)
    gone = [i for i in change.post_ids if i not in sizes and i not in known]
    before = msgspec.structs.replace(
        done,
        not_found=[*done.not_found, *gone],
        not_changed=[*done.not_changed, *unchangeable],
    )
    return _step(change, later, before, _applied(changeset, change, posts, echo))


def _posts(changeset: Changeset, part: _Part) -> list[EditablePost]:
    return [post for post_id in part.post_ids if (post := changeset.post(post_id)) is not None]


def _applied(
    changeset: Changeset, change: Change, posts: Sequence[EditablePost], echo: Echo
) -> Labelled:
    """Changes these posts. A label that is deleted by now is already removed from them."""
    label = _label_of(changeset, change, is_required=False)
    apply = changeset.attach if change.op == "add" else changeset.detach
    affected = 0 if label is None else sum(apply(post, label) for post in posts)
    tagged, further_ids = echo.split(posts)
    return Labelled(tagged, affected, [], further_ids)


def _step(change: Change, later: list[str], before: Labelled, turn: Labelled) -> Labelled | Change:
    """The result of all turns, or the rest of the change."""
    done = msgspec.structs.replace(
        before,
        posts=[*before.posts, *turn.posts],
        affected=before.affected + turn.affected,
        further_ids=[*before.further_ids, *turn.further_ids],
    )
    return msgspec.structs.replace(change, post_ids=later, done=done) if later else done


async def _checked(
    changeset: Changeset, change: Change, sizes: dict[str, int]
) -> tuple[Label, list[str]]:
    """The label of a new change, and the ids that are not in the library."""
    label = _label_of(changeset, change)
    if label is None and change.op == "remove":
        assert change.label_name is not None
        raise errors.not_found("label", change.label_name)
    not_found = [post_id for post_id in change.post_ids if post_id not in sizes]
    if len(not_found) == len(change.post_ids):
        raise errors.not_found("post", ", ".join(change.post_ids[:3]))
    if change.op == "add":
        _require_room(changeset, change, label)
    if label is None:
        assert change.label_name is not None
        label = await changeset.create_label(change.label_name)
    return label, not_found


def _require_room(changeset: Changeset, change: Change, label: Label | None) -> None:
    """Refuses a change if one of its posts cannot get another label."""
    for post_id in change.post_ids:
        post = changeset.post(post_id)
        if post is not None and _is_full(post, label):
            raise post_is_full(post_id)


def _is_full(post: EditablePost, label: Label | None) -> bool:
    if len(post.tags) < limits.POST_LABELS_MAX:
        return False
    return label is None or label.name not in post.tags


def _label_of(changeset: Changeset, change: Change, *, is_required: bool = True) -> Label | None:
    """The label of a change; None if no label has that name yet.

    A label that is named by its id must exist if it is required.
    """
    if change.label_name is not None:
        return changeset.label(change.label_name)
    assert change.label_id is not None
    label = changeset.label_of_id(change.label_id)
    if label is None and is_required:
        raise errors.not_found("label", change.label_id)
    return label
