"""Saves posts that a person, a program or an agent sends: whole posts, or only links."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans, turns
from bowerbird.library.access.turns import Unfinished
from bowerbird.library.imports.intake import Intake, IntakeOutcome
from bowerbird.library.labels.labels import OperationError
from bowerbird.model.accounts import Account
from bowerbird.requests.saving import ItemToSave
from bowerbird.sources.found import Completeness, FoundPost
from bowerbird.storage.database import Database, Transaction

# From the poorest to the richest.
_COMPLETENESS: Final = tuple(Completeness)
# In the order of a summary. A completed post was known only by its link before.
RESULTS: Final = ("new", "completed", "changed", "unchanged")


class SavedItem(Struct, frozen=True, omit_defaults=True):
    """The outcome of one item of a request."""

    index: int
    ok: bool
    post_id: str | None = None
    # One of RESULTS.
    result: str | None = None
    # Labels that the post did not get, because of a bound.
    labels_left_out: list[str] | None = None
    error: OperationError | None = None


class SaveResult(Struct, frozen=True):
    results: list[SavedItem]
    succeeded: int
    failed: int


class PreparedSave(Struct, frozen=True):
    """A request that is ready to be written: the work that needs no lock is done."""

    items: Sequence[ItemToSave]
    posts: Any


class Saving:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._intake = Intake(database, clock)

    async def prepare(
        self, account: Account, items: Sequence[ItemToSave], labels: Sequence[str] = ()
    ) -> PreparedSave:
        """`labels` are added to every post."""
        if labels:
            plans.check_writes(account)
        admitted = [_admitted(account, one) for one in items]
        found = [_labelled(one, labels) for one in _once_each(admitted)]
        return PreparedSave(admitted, await self._intake.prepare(account, found))

    async def save(
        self, transaction: Transaction, account: Account, prepared: PreparedSave
    ) -> SaveResult | Unfinished[SaveResult]:
        """Saves each item, or reports why it changed nothing."""
        outcome = await self._intake.take_within(transaction, account, prepared.posts)
        return turns.then(outcome, lambda done: _result(prepared.items, done))

    async def save_now(
        self, account: Account, items: Sequence[ItemToSave], labels: Sequence[str] = ()
    ) -> SaveResult:
        """Saves in transactions of its own."""
        prepared = await self.prepare(account, items, labels)
        return await turns.run(
            self._database,
            lambda transaction: self.save(transaction, account, prepared),
            account.account_id,
        )


def summary(result: SaveResult) -> str:
    """What was done, in a sentence or two."""
    counts = Counter(item.result for item in result.results)
    sentences = []
    if result.failed:
        sentences.append(f"{result.failed} of {len(result.results)} items failed.")
    if result.succeeded:
        items = "item" if result.succeeded == 1 else "items"
        parts = ", ".join(f"{counts[one]} {one}" for one in RESULTS if counts[one])
        sentences.append(f"Saved {result.succeeded} {items}: {parts}.")
    if any(item.labels_left_out for item in result.results):
        sentences.append("Some labels were left out.")
    return " ".join(sentences)


def _admitted(account: Account, item: ItemToSave) -> ItemToSave:
    """The item as the plan allows it: a free account can neither add labels nor remove them."""
    if item.found is None or item.found.record.tags is UNSET or not account.is_free:
        return item
    if item.found.record.tags:
        sentence = f"{item.place}: Writing labels needs a paid plan. Remove tags, or upgrade."
        return ItemToSave(place=item.place, refusal=Refusal(Code.SUBSCRIPTION_REQUIRED, sentence))
    record = msgspec.structs.replace(item.found.record, tags=UNSET)
    return msgspec.structs.replace(item, found=msgspec.structs.replace(item.found, record=record))


def _once_each(items: Sequence[ItemToSave]) -> list[FoundPost]:
    """Each post once. Of a repeated one, the richest item counts, and of equal ones the last."""
    chosen: dict[str, FoundPost] = {}
    for item in items:
        if item.found is not None:
            before = chosen.get(item.found.record.post_id)
            if before is None or _richness(item.found) >= _richness(before):
                chosen[item.found.record.post_id] = item.found
    return list(chosen.values())


def _richness(found: FoundPost) -> int:
    return _COMPLETENESS.index(found.completeness)


def _labelled(found: FoundPost, labels: Sequence[str]) -> FoundPost:
    if not labels:
        return found
    tags = [*(found.record.tags or ()), *labels]
    return msgspec.structs.replace(found, record=msgspec.structs.replace(found.record, tags=tags))


def _result(items: Sequence[ItemToSave], outcome: IntakeOutcome) -> SaveResult:
    by_post = dict(outcome.results)
    left_out = {one.post_id: list(one.names) for one in outcome.labels_left_out}
    results = []
    for index, item in enumerate(items):
        if item.found is None:
            assert item.refusal is not None
            error = OperationError(item.refusal.code, item.refusal.sentence)
            results.append(SavedItem(index, ok=False, error=error))
            continue
        post_id = item.found.record.post_id
        results.append(
            SavedItem(
                index,
                ok=True,
                post_id=post_id,
                result=by_post[post_id],
                labels_left_out=left_out.get(post_id),
            )
        )
    failed = sum(not one.ok for one in results)
    return SaveResult(results, len(results) - failed, failed)
