"""Puts values back that a change has replaced: notes, highlights, labels, views and rules."""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.library.bookmarks.writing.annotations import post_with_value
from bowerbird.library.bookmarks.writing.changeset import Changeset
from bowerbird.library.bulk.rule_references import RuleReferences
from bowerbird.library.views.writing import ViewWriting
from bowerbird.model.bulk import Changed, ValueKind, owner_of
from bowerbird.model.labels import View
from bowerbird.storage.database import Database, Transaction


class _LabelValues(Struct, frozen=True):
    metadata: str
    color: str | None


_label: Final = msgspec.json.Decoder(_LabelValues).decode
_view: Final = msgspec.json.Decoder(View).decode


class FormerValues:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._views = ViewWriting(database, clock)
        self._rules = RuleReferences(database, clock)
        self._clock = clock

    async def put_back(
        self, transaction: Transaction, changeset: Changeset, values: Sequence[Changed]
    ) -> list[str]:
        """The keys of those that are as they were. Of the others, what they belong to is gone.

        Posts that are not in the library are left to the caller.
        """
        account_id = changeset.library.account_id
        await changeset.load(owner_of(one.post_id) for one in values)
        rules = {
            one.post_id: one.kept for one in values if _kind(one) == ValueKind.RULE and one.kept
        }
        done = list(await self._rules.put_back(transaction, account_id, rules))
        for one in values:
            kind, _, id = one.post_id.partition(":")
            if kind == ValueKind.VIEW:
                before = None if one.kept is None else _view(one.kept)
                is_back = await self._views.put_back(transaction, account_id, id, before)
            elif kind == ValueKind.LABEL:
                is_back = await self._label(changeset, id, one)
            else:
                is_back = await _annotation(changeset, one)
            done += [one.post_id] if is_back else []
        return done

    async def _label(self, changeset: Changeset, id: str, one: Changed) -> bool:
        await changeset.load_label_ids([id])
        label = changeset.label_of_id(id)
        if label is None or one.kept is None:
            return False
        before = _label(one.kept)
        changed = msgspec.structs.replace(label, metadata=before.metadata, color=before.color)
        await changeset.update_label(label, changed, self._clock())
        return True


def _kind(one: Changed) -> str:
    return one.post_id.partition(":")[0]


async def _annotation(changeset: Changeset, one: Changed) -> bool:
    post = changeset.post(owner_of(one.post_id))
    if post is None:
        return False
    return await changeset.rewrite(post, lambda stored: post_with_value(stored, one))
