"""Does what a rule says with some posts, inside the caller's transaction.

Labels, flags and the trash are a change each, as they are for a person, so that each can be undone.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from bowerbird import errors
from bowerbird.clock import Clock
from bowerbird.library.access import activity
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.bookmarks.writing.kept_changes import KeptChanges
from bowerbird.library.bookmarks.writing.label_renames import LabelRenames
from bowerbird.library.bookmarks.writing.trash_batch import TrashBatches
from bowerbird.library.rules.matching import Compiled
from bowerbird.model.accounts import Account
from bowerbird.model.bulk import FLAG_ACTIONS, BulkAction, Changed, Maker, is_label
from bowerbird.model.events import EventType, Happening
from bowerbird.model.labels import name_key
from bowerbird.model.rules import Action, Applied, Do, Rule, When
from bowerbird.requests import limits
from bowerbird.storage.bookmarks.changeset import EditablePost
from bowerbird.storage.database import Database, Transaction, Writable
from bowerbird.storage.stores import Service


class Outcome(Struct, frozen=True):
    """What a rule has done."""

    changes: Sequence[Applied] = ()
    # The posts that it has changed, and what it has added to them: post and folded label.
    posts: frozenset[str] = frozenset()
    labelled: frozenset[tuple[str, str]] = frozenset()
    # The posts that it has sent to webhooks.
    sent: frozenset[str] = frozenset()


class Pass(NamedTuple):
    """What the rules of one transaction share."""

    transaction: Transaction
    account: Account
    # All of them change posts at this time, so that a post is touched once.
    now: int
    # The posts that were read, as the rules have left them.
    posts: dict[str, EditablePost]


class Applying(Service):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database)
        self._kept = KeptChanges(database, clock)
        self._batches = TrashBatches(database, clock)

    async def apply(self, within: Pass, compiled: Compiled, post_ids: Sequence[str]) -> Outcome:
        found = _Found()
        with activity.made_by(maker(compiled.rule.name)):
            await self._label(within, compiled, post_ids, found)
            await self._flag(within, compiled, post_ids, found)
            if compiled.rule.does(Do.TRASH):
                await self._trash(within, post_ids, found)
        # Whatever else a rule of every night matches is matched again the next night.
        is_nightly = compiled.rule.body.when is When.NIGHTLY
        sent = [one for one in post_ids if not is_nightly or one in found.posts]
        is_sent = await self._send(within, compiled.rule, sent)
        return Outcome(
            found.changes,
            frozenset(found.posts),
            frozenset(found.labelled),
            frozenset(sent if is_sent else ()),
        )

    async def finish(self, within: Pass, post_ids: Sequence[str], added: int) -> None:
        """Once for all changes of a pass, each of which would look at the same rows.

        `post_ids`: what they have changed. `added`: how many posts, counted per change.
        """
        transaction, account_id = within.transaction, within.account.account_id
        await self._stores.libraries.touch_posts(
            Writable(transaction, account_id), post_ids, within.now
        )
        library = await LabelRenames(self._database).lock(transaction, account_id)
        await self._kept.make_room(library, added)

    async def _label(
        self, within: Pass, compiled: Compiled, post_ids: Sequence[str], found: "_Found"
    ) -> None:
        labels = [
            (action, name)
            for action in compiled.rule.body.actions
            if (name := compiled.label_of(action)) is not None
        ]
        if not labels:
            return
        names = [name for _, name in labels]
        changeset = await self._opened(within, post_ids, names)
        posts = _posts(changeset, post_ids)
        for action, name in labels:
            await _change_label(changeset, posts, action, name)
        keys = {one.label_id: name_key(one.name) for one in changeset.changed_labels}
        for one in changeset.changed:
            if is_label(one.field) and not one.was_set and one.field in keys:
                found.labelled.add((one.post_id, keys[one.field]))
        await self._finish(within, changeset, _label_action(labels), len(posts), found)

    async def _flag(
        self, within: Pass, compiled: Compiled, post_ids: Sequence[str], found: "_Found"
    ) -> None:
        is_read = True if compiled.rule.does(Do.MARK_READ) else None
        is_archived = True if compiled.rule.does(Do.ARCHIVE) else None
        if is_read is None and is_archived is None:
            return
        changeset = await self._opened(within, post_ids)
        posts = _posts(changeset, post_ids)
        for post in posts:
            changeset.set_flags(post, is_read=is_read, is_archived=is_archived)
        action = FLAG_ACTIONS[is_read, is_archived]
        await self._finish(within, changeset, action, len(posts), found)

    async def _trash(self, within: Pass, post_ids: Sequence[str], found: "_Found") -> None:
        changeset = await self._opened(within, post_ids)
        posts = _posts(changeset, post_ids)
        await self._batches.put(changeset, posts)
        await self._finish(within, changeset, BulkAction.TRASH, len(posts), found)
        for post in posts:
            within.posts.pop(post.post_id, None)

    async def _send(self, within: Pass, rule: Rule, post_ids: Sequence[str]) -> bool:
        """Sends posts to webhooks, whatever their filters are, after what came before."""
        if not rule.webhook_ids or not post_ids:
            return False
        transaction, account_id = within.transaction, within.account.account_id
        library = Writable(transaction, account_id)
        for one in rule.webhook_ids:
            if await self._stores.webhooks.one(library, one) is None:
                raise errors.not_found("webhook", one)
        sent = [Happening(EventType.POST_SENT, post_ids, webhook=one) for one in rule.webhook_ids]
        await self._stores.libraries.touch(library, sent, within.now)
        return True

    async def _opened(
        self, within: Pass, post_ids: Sequence[str], names: Sequence[str] = ()
    ) -> Changeset:
        account_id = within.account.account_id
        library = await LabelRenames(self._database).lock(within.transaction, account_id)
        changeset = await Changeset.open(
            self._database, library, names, posts=within.posts, is_recorded=True, is_quiet=True
        )
        await changeset.load(post_ids)
        return changeset

    async def _finish(
        self, within: Pass, changeset: Changeset, action: BulkAction, matched: int, found: "_Found"
    ) -> None:
        changed: Sequence[Changed] = changeset.changed
        row = await self._kept.finish(changeset, action, matched, at=within.now)
        if row is not None:
            found.posts.update(one.post_id for one in changed)
            found.changes.append(Applied(action, row.changed, row.change_id, row.label_name))


def maker(name: str) -> str:
    """What is stored as the maker of the changes of a rule."""
    return f"{Maker.RULE.value}:{name}"


class _Found:
    def __init__(self) -> None:
        self.changes: list[Applied] = []
        self.posts: set[str] = set()
        self.labelled: set[tuple[str, str]] = set()


def _posts(changeset: Changeset, post_ids: Sequence[str]) -> list[EditablePost]:
    return [post for one in post_ids if (post := changeset.post(one)) is not None]


async def _change_label(
    changeset: Changeset, posts: Sequence[EditablePost], action: Action, name: str
) -> None:
    """Refused if the account cannot have another label."""
    label = changeset.label(name)
    if action.do is Do.REMOVE_LABEL:
        for post in posts if label is not None else ():
            assert label is not None
            changeset.detach(post, label)
        return
    # A post that has as many labels as it can have is left as it is.
    with_room = [post for post in posts if len(post.tags) < limits.POST_LABELS_MAX]
    if label is None and with_room:
        label = await changeset.create_label(name)
    for post in with_room:
        assert label is not None
        changeset.attach(post, label)


def _label_action(labels: Sequence[tuple[Action, str]]) -> BulkAction:
    if len(labels) > 1:
        return BulkAction.LABEL_BATCH
    is_removed = labels[0][0].do is Do.REMOVE_LABEL
    return BulkAction.REMOVE_LABEL if is_removed else BulkAction.ADD_LABEL
