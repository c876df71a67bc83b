"""Changes of many posts for tests, without REST."""

from collections.abc import Sequence
from typing import Any

from bowerbird.library.access import turns
from bowerbird.library.bulk.changes import BulkChanges, NewChange, packed_parts
from bowerbird.model.bulk import BulkAction, BulkRow
from tests.support.service import Member


async def change(
    member: Member, action: str, post_ids: Sequence[str], label_name: str | None = None
) -> BulkRow:
    """Takes the first turn of a change; the rest is left to a job."""
    new = NewChange(BulkAction(action), packed_parts(post_ids), len(post_ids), label_name)
    return await changes(member).run(await member.account(), new)


async def change_all(member: Member, *arguments: Any) -> BulkRow:
    row = await change(member, *arguments)
    return row if row.is_finished else await finish(member, row)


async def finish(member: Member, row: BulkRow) -> BulkRow:
    """Does what the job would do."""
    return await changes(member).finish(await member.account(), row.change_id)


async def undo(member: Member, row: BulkRow) -> BulkRow:
    undoing = await changes(member).run_undo(await member.account(), row.change_id)
    return undoing if undoing.is_finished else await finish(member, undoing)


def changes(member: Member) -> BulkChanges:
    return BulkChanges(member.database, member.clock)


async def step(member: Member, row: BulkRow) -> BulkRow | None:
    """Takes one turn, as a job does among others; None if turns are left."""
    account = await member.account()
    taken = await turns.run(
        member.database,
        lambda transaction: changes(member).turn(transaction, account, row.change_id),
        member.account_id,
    )
    return taken if taken.is_finished else None
