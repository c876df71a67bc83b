"""Saves posts that a person, a program or an agent sends: whole posts, or only links.

A post of Bluesky can be in the library under its other address. The address has the name of its
author, or their id. Which id a name has only the network knows, so both give posts of their own,
unless the library knows name and id of the author.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET, Struct

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, OperationError, Refusal
from bowerbird.library.access import plans, turns
from bowerbird.library.access.turns import DoFirst
from bowerbird.library.imports.intake import (
    Intake,
    IntakeOutcome,
    ItemResult,
    PreparedIntake,
    parts,
)
from bowerbird.model import instants
from bowerbird.model.accounts import Account
from bowerbird.model.arrival import Completeness
from bowerbird.model.bulk import BulkRow
from bowerbird.model.json_depth import cut
from bowerbird.model.posts import networks
from bowerbird.model.posts.filters import BookmarkFilter, Sort
from bowerbird.model.posts.networks import BLUESKY, NETWORKS
from bowerbird.requests.saving import ItemToSave
from bowerbird.sources.found import FoundPost
from bowerbird.storage.database import Database, Transaction
from bowerbird.storage.stores import Service, TimedService

# The key of a post has a time that is usually that of the post.
_APART: Final = 86_400 * MICROSECONDS
_LOOKED_AT: Final = 100
# By the index of the times: in another order, all posts would be looked at.
_BY_TIME: Final = Sort("posted_at")
_BITS: Final = networks.bits_of(BLUESKY)


class _Known(Struct, frozen=True):
    post_id: str
    author_id: str = ""
    author_username: str = ""
    source_id: str = ""


_decode: Final = msgspec.json.Decoder(_Known).decode


class TwoAddresses(Service):
    async def known(
        self, account: Account, source_id: str, seen: dict[int, _Known] | None = None
    ) -> _Known | None:
        """The post of the library with another address of this one.

        `seen`: posts that need not be read again, by number. Those that are read are added.
        """
        seen = {} if seen is None else seen
        time_in_id = NETWORKS[BLUESKY].time_in_id
        posted_at = time_in_id(source_id) if time_in_id else None
        if posted_at is None:
            return None
        near = BookmarkFilter(
            unread_only=False,
            hide_archived=False,
            network_bits=_BITS,
            posted_from=posted_at - _APART,
            posted_to=posted_at + _APART,
        )
        numbers = await self._stores.bookmarks.first(account, near, _LOOKED_AT, _BY_TIME)
        unseen = [number for number in numbers if number not in seen]
        found = await self._stores.bookmarks.each(account, unseen) if unseen else {}
        seen.update((number, _decode(cut(body))) for number, body in found.items())
        posts = [seen[number] for number in numbers if number in seen]
        same = [one for one in posts if _is_same(one, source_id)]
        # A library may have both from before.
        return next((one for one in same if one.source_id == source_id), same[0] if same else None)

    async def settled(self, account: Account, items: Sequence[ItemToSave]) -> list[ItemToSave]:
        """The items, those with another address of a known post as that post."""
        # Posts may be long, and a list of links often has those of one day.
        seen: dict[int, _Known] = {}
        settled = list(items)
        for place, item in enumerate(items):
            found = item.found
            if found is None or found.own is not None or found.source != BLUESKY:
                continue
            if known := await self.known(account, found.source_id, seen):
                record = msgspec.structs.replace(found.record, post_id=known.post_id)
                same = msgspec.structs.replace(found, record=record, source_id=known.source_id)
                settled[place] = msgspec.structs.replace(item, found=same)
        return settled


def _is_same(known: _Known, source_id: str) -> bool:
    author, _, rest = source_id.removeprefix("at://").partition("/")
    theirs, _, their_rest = known.source_id.removeprefix("at://").partition("/")
    names = (theirs, known.author_id, known.author_username.lower())
    return rest == their_rest and author in names


# In the order of a summary. A completed post was known only by its link before.
_COMPLETED: Final = "completed"
RESULTS: Final = ("new", _COMPLETED, "changed", "unchanged")
_NOT_A_LINK: Final = "not a link"
_FAILED: Final = "failed"
_FAILURES: Final = (_NOT_A_LINK, _FAILED)
_SUMMARY: Final = {
    "new": ("saved", "saved"),
    _COMPLETED: ("completed", "completed"),
    "changed": ("changed", "changed"),
    "unchanged": ("known already", "known already"),
    _NOT_A_LINK: ("is not a link to a post", "are not links to posts"),
    _FAILED: ("could not be saved", "could not be saved"),
}


class PostPreview(Struct, frozen=True, omit_defaults=True):
    """A post that is not saved, as far as its network publishes it."""

    # A ContentState.
    content_state: str
    """whole (its text is known), link (it would stay a link) or gone."""
    content_problem: str | None = None
    """Why the text is not known, as a sentence; only if it is not."""
    text: str | None = None
    """The text of the post; only if it is known."""
    author_name: str | None = None
    """The author's name; only if it is known."""
    author_username: str | None = None
    """The author's handle; only if it is known."""
    posted_at: str | None = None
    """When the post was written; only if it is known."""


class SavedItem(Struct, frozen=True, omit_defaults=True):
    """The outcome of one item of a request."""

    index: int
    """Position of the item in the request, from 0: posts first, then links."""
    ok: bool
    """Whether the item was saved."""
    post_id: str | None = None
    """Identifier of the saved post; only if it was saved."""
    # One of RESULTS.
    result: str | None = None
    """new, completed (only its link was known before), changed or unchanged; only if it was
    saved."""
    labels_left_out: list[str] | None = None
    """Labels that the post did not get, because an account or a post cannot have more; only if
    there are any."""
    error: OperationError | None = None
    """Why it failed; only if it failed."""
    preview: PostPreview | None = None
    """What its network publishes about the post of a link; only if preview was sent."""


class SaveResult(Struct, frozen=True):
    results: list[SavedItem]
    """One entry per item: the posts, then the links, in the order of the request."""
    succeeded: int
    """Number of items that were saved."""
    failed: int
    """Number of items that failed."""


Saved = tuple[SaveResult, BulkRow | None]
"""What was saved, and the change; None if nothing was created, restored or labelled."""


class PreparedSave(Struct):
    """A request that is ready to be written: the work that needs no lock is done."""

    items: Sequence[ItemToSave]
    # Each is written in one transaction.
    parts: Sequence[PreparedIntake]
    # How many of them are written, and with which outcome.
    written: int = 0
    outcome: IntakeOutcome = IntakeOutcome()


class Saving(TimedService):
    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__(database, clock)
        self._intake = Intake(database, clock)
        self.addresses = TwoAddresses(database)

    async def prepare(
        self, account: Account, items: Sequence[ItemToSave], labels: Sequence[str] = ()
    ) -> PreparedSave:
        """`labels` are added to every post."""
        if labels:
            plans.check_writes(account)
        admitted = [_admitted(account, one) for one in items]
        admitted = await self.addresses.settled(account, admitted)
        found = [
            msgspec.structs.replace(_saved_now(one, self._clock()), added_labels=tuple(labels))
            for one in _once_each(admitted)
        ]
        prepared = [
            await self._intake.prepare(account, part, is_saving=True) for part in parts(found)
        ]
        return PreparedSave(admitted, prepared)

    async def save(
        self, transaction: Transaction, account: Account, prepared: PreparedSave
    ) -> Saved:
        """Saves each item, or reports why it changed nothing.

        All parts but the last are written before, each in a transaction of its own. Saving again
        changes nothing, so a request that is interrupted can be repeated.
        """
        if not prepared.parts:
            return _result(prepared, prepared.outcome), None
        if prepared.written < len(prepared.parts) - 1:
            raise DoFirst(lambda: self._save_first_parts(account, prepared))
        before = prepared.outcome
        last = await self._intake.take_within(
            transaction, account, prepared.parts[-1], before.change
        )
        return _result(prepared, before + last), last.change

    async def save_now(
        self, account: Account, items: Sequence[ItemToSave], labels: Sequence[str] = ()
    ) -> Saved:
        """Saves in transactions of its own."""
        prepared = await self.prepare(account, items, labels)
        return await turns.change(self._database, account, self.save, prepared)

    async def _save_first_parts(self, account: Account, prepared: PreparedSave) -> None:
        for part in prepared.parts[prepared.written : -1]:
            prepared.outcome += await self._intake.write(account, part, prepared.outcome.change)
            prepared.written += 1


def summary(results: Sequence[SavedItem]) -> str:
    """What was done, in a sentence or two."""
    seen: set[str] = set()
    counts: Counter[str] = Counter()
    for item in results:
        # A post that occurs twice is saved once.
        counts["unchanged" if item.post_id in seen else _outcome(item)] += 1
        if item.post_id is not None:
            seen.add(item.post_id)
    parts: list[str] = []
    for outcome, (one, many) in _SUMMARY.items():
        if count := counts[outcome]:
            posts = "" if parts or outcome in _FAILURES else " post" if count == 1 else " posts"
            parts.append(f"{count:,}{posts} {one if count == 1 else many}")
    sentences = [f"{', '.join(parts)}."]
    if any(item.labels_left_out for item in results):
        sentences.append("Some labels were left out.")
    return " ".join(sentences)


def _outcome(item: SavedItem) -> str:
    if item.error is None:
        return item.result or ""
    return _NOT_A_LINK if item.error.message.startswith("links[") else _FAILED


def _admitted(account: Account, item: ItemToSave) -> ItemToSave:
    """The item as the plan allows it: a free account can neither add labels nor remove them."""
    if item.found is None or item.found.record.tags is UNSET or not account.is_free:
        return item
    if item.found.record.tags:
        sentence = f"{item.place}: Writing labels needs a paid plan. Remove tags, or upgrade."
        return ItemToSave(place=item.place, refusal=Refusal(Code.SUBSCRIPTION_REQUIRED, sentence))
    found = item.found
    record = msgspec.structs.replace(found.record, tags=UNSET)
    own = found.own and msgspec.structs.replace(found.own, record=record, tags=None)
    return ItemToSave(
        place=item.place, found=msgspec.structs.replace(found, record=record, own=own)
    )


def _once_each(items: Sequence[ItemToSave]) -> list[FoundPost]:
    """Each post once. Of a repeated one, the richest item counts, and of equal ones the last."""
    chosen: dict[str, FoundPost] = {}
    for item in items:
        if item.found is not None:
            before = chosen.get(item.found.record.post_id)
            if before is None or _richness(item.found) >= _richness(before):
                chosen[item.found.record.post_id] = item.found
    return list(chosen.values())


def _saved_now(found: FoundPost, now: int) -> FoundPost:
    """A link without a date is saved now. The date of a new post alone counts.

    A moment before the import: both are equal only if nobody knows when a post was saved.
    """
    if found.own is not None or found.record.bookmarked_at is not UNSET:
        return found
    record = msgspec.structs.replace(found.record, bookmarked_at=instants.with_offset(now - 1))
    return msgspec.structs.replace(found, record=record)


def _richness(found: FoundPost) -> tuple[int, bool]:
    return found.completeness, bool(found.record.tweet_details.text)


def _result(prepared: PreparedSave, outcome: IntakeOutcome) -> SaveResult:
    by_post = dict(outcome.results)
    left_out: dict[str, list[str]] = {}
    for one in outcome.labels_left_out:
        left_out.setdefault(one.post_id, []).extend(one.names)
    completed = {post_id for part in prepared.parts for post_id in _completed(part)}
    results = []
    for index, item in enumerate(prepared.items):
        if item.found is None:
            assert item.refusal is not None
            error = OperationError(item.refusal.code, item.refusal.sentence)
            results.append(SavedItem(index, ok=False, error=error))
            continue
        post_id = item.found.record.post_id
        result = by_post[post_id]
        is_completed = result is ItemResult.CHANGED and post_id in completed
        results.append(
            SavedItem(
                index,
                ok=True,
                post_id=post_id,
                result=_COMPLETED if is_completed else result.value,
                labels_left_out=left_out.get(post_id),
            )
        )
    failed = sum(not one.ok for one in results)
    return SaveResult(results, len(results) - failed, failed)


def _completed(part: PreparedIntake) -> list[str]:
    """The posts that were only links before and have content now."""
    stubs = {
        post_id
        for post_id, stored in part.known.posts.items()
        if stored.existing.completeness == Completeness.STUB
    }
    return [
        one.record.post_id
        for one in part.found
        if one.completeness is not Completeness.STUB and one.record.post_id in stubs
    ]
