"""The queue of jobs: who may have which, for how long, and how each ended.

A job is leased by the database's own clock. Every change of hands raises its fence, and whoever
writes under an older one writes nothing: a worker that was thought dead can do no harm.
"""

import secrets
from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.model.jobs import MAX_TRIES, Job, JobCount, JobResponse
from bowerbird.storage.database import Database, Transaction, Values

_ID_BYTES: Final = 16
_DIED: Final = f"At the last of {MAX_TRIES} tries its worker ended in mid-work."
# So many accounts are looked at to find whose turn it is: bounded work, however many wait.
_WINDOW: Final = 100
_FEW: Final = 5
_LAST_ACCOUNT: Final = 2**63 - 1
_CANCELLED: Final = "It was cancelled."


class _Turn(Struct, frozen=True):
    """An account that waits, and its job that is due longest, if any is."""

    account_id: int
    job_id: str | None
    at_work: int
    served_at: int


class JobStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.queries("jobs")

    async def add(
        self,
        transaction: Transaction,
        account_id: int,
        kind: str,
        parameters: bytes,
        *,
        priority: int,
        now: int,
        unique: str | None = None,
    ) -> str:
        """The id of the new job, or of the unfinished one that has the same `unique` text."""
        values = {
            "account_id": account_id,
            "job_id": secrets.token_hex(_ID_BYTES),
            "kind": kind,
            "parameters": parameters,
            "priority": priority,
            "now": now,
            "unique_text": unique,
        }
        # A job may end between the two statements; then there is room for the new one.
        for _ in range(MAX_TRIES):
            for name in ("add", "unfinished") if unique is not None else ("add",):
                if rows := await transaction.rows(self._text(name), values):
                    return str(rows[0][0])
        raise Refusal(Code.NOT_FOUND, "The account was deleted meanwhile.")

    async def count_unfinished(self, transaction: Transaction, account_id: int, kind: str) -> int:
        values = {"account_id": account_id, "kind": kind}
        return int((await transaction.rows(self._text("count_unfinished"), values))[0][0])

    async def unfinished_of_kind(self, kind: str, priority: int, most: int) -> int:
        """Of all accounts, counted up to `most`."""
        values = {"kind": kind, "priority": priority, "limit": most}
        return int((await self._database.rows(self._text("unfinished_of_kind"), values))[0][0])

    async def is_any_due(self, kinds: Sequence[str], most_priority: int) -> bool:
        return bool(await self._turns(kinds, most_priority, frozenset()))

    async def claim(
        self,
        kinds: Sequence[str],
        most_priority: int,
        *,
        lease_s: float,
        now: int,
        except_of: Collection[int] = (),
    ) -> Job | None:
        """The job whose turn it is; None when there is none, or other workers were quicker.

        Whose turn it is, is only read: a worker without work leaves the database alone.
        """
        while turns := await self._turns(kinds, most_priority, frozenset(except_of)):
            job, is_to_go_on = await self._claim_one(turns, _micro(lease_s), now)
            if not is_to_go_on:
                return job
        return None

    async def _claim_one(
        self, turns: Sequence[_Turn], lease: int, now: int
    ) -> tuple[Job | None, bool]:
        """A claimed job; and whether to look again, as a job was ended that died too often."""

        async def work(transaction: Transaction) -> tuple[Job | None, bool]:
            for turn in turns:
                values = {
                    "account_id": turn.account_id,
                    "job_id": turn.job_id,
                    "most_tries": MAX_TRIES,
                }
                claim = {**values, "lease": lease}
                if claimed := await transaction.rows(self._text("claim"), claim):
                    return Job(*claimed[0]), False
                dead = {**values, "error": _DIED, "now": now}
                if await transaction.rows(self._text("fail_of_dead"), dead):
                    return None, True
            return None, False

        return await self._database.write(work)

    async def _turns(
        self, kinds: Sequence[str], most_priority: int, except_of: frozenset[int]
    ) -> list[_Turn]:
        """The most urgent jobs that are due, a few; an account that is served little comes first.

        Where more accounts wait than are looked at, those looked at change from time to time.
        """
        above = -1
        while True:
            wanted = {"above": above, "most_priority": most_priority}
            rows = await self._database.rows(self._text("next_priority"), wanted)
            if rows[0][0] is None:
                return []
            above = rows[0][0]
            turns = [
                turn
                for turn in await self._waiting(kinds, above)
                if turn.job_id is not None and turn.account_id not in except_of
            ]
            if turns:
                return sorted(turns, key=lambda turn: (turn.at_work, turn.served_at))[:_FEW]

    async def _waiting(self, kinds: Sequence[str], priority: int) -> list[_Turn]:
        found = await self._window(kinds, priority, 0)
        if len(found) < _WINDOW:
            return found
        others = await self._window(kinds, priority, secrets.randbelow(_LAST_ACCOUNT))
        return list({turn.account_id: turn for turn in (*found, *others)}.values())

    async def _window(self, kinds: Sequence[str], priority: int, after: int) -> list[_Turn]:
        values = {
            "kinds": self._database.text_list(kinds),
            "priority": priority,
            "after": after,
            "limit": _WINDOW,
        }
        return [_Turn(*row) for row in await self._database.rows(self._text("turns"), values)]

    async def hold(self, job: Job, done: int, total: int, *, lease_s: float) -> bool:
        """Prolongs the lease and notes the progress; False when the job is somebody else's."""
        values = {"lease": _micro(lease_s), "done": done, "total": total}
        return await self._changed("hold", job, values)

    async def complete(
        self, job: Job, result: bytes | None, *, total: int, now: int, expires_at: int | None
    ) -> bool:
        values = {
            "result": result,
            "done": total,
            "total": total,
            "now": now,
            "expires_at": expires_at,
        }
        return await self._changed("complete", job, values)

    async def put_off(self, job: Job, error: str, *, pause_s: float) -> bool:
        """Back into the queue for another try."""
        values = {"tries": job.tries, "pause": _micro(pause_s), "error": error}
        return await self._changed("put_off", job, values)

    async def give_back(self, job: Job) -> bool:
        """Back into the queue as if it had not been begun: its worker stops."""
        values = {"tries": job.tries - 1, "pause": 0, "error": None}
        return await self._changed("put_off", job, values)

    async def fail(self, job: Job, error: str, *, now: int) -> bool:
        values = {"error": error, "now": now}
        return await self._changed("fail", job, values, held="fence = :fence")

    async def cancel(self, account_id: int, job_id: str, *, now: int) -> bool:
        """Ends an unfinished job; a worker that has it finds out at its next progress."""

        async def work(transaction: Transaction) -> bool:
            return await self._end(transaction, account_id, job_id, _CANCELLED, now)

        return await self._database.write(work)

    async def retry(self, account_id: int, job_id: str) -> bool:
        """A failed job anew; False when it has not failed, or the same is under way already."""

        async def work(transaction: Transaction) -> bool:
            values = {"account_id": account_id, "job_id": job_id}
            return bool(await transaction.rows(self._text("retry"), values))

        return await self._database.write(work)

    async def one(self, account_id: int, job_id: str) -> JobResponse | None:
        values = {"account_id": account_id, "job_id": job_id}
        rows = await self._database.rows(self._text("one"), values)
        return JobResponse(*rows[0]) if rows else None

    async def one_within(
        self, transaction: Transaction, account_id: int, job_id: str
    ) -> JobResponse | None:
        values = {"account_id": account_id, "job_id": job_id}
        rows = await transaction.rows(self._text("one"), values)
        return JobResponse(*rows[0]) if rows else None

    async def owner(self, job_id: str) -> int | None:
        """For an operator, who knows a job by its id alone."""
        rows = await self._database.slow_rows(self._text("owner"), {"job_id": job_id})
        return int(rows[0][0]) if rows else None

    async def latest(self, limit: int) -> list[JobResponse]:
        rows = await self._database.slow_rows(self._text("latest"), {"limit": limit})
        return [JobResponse(*row) for row in rows]

    async def counts(self, *, only_unfinished: bool = False) -> list[JobCount]:
        """All that are kept are many more than the unfinished, which an index holds alone."""
        sql = self._text("counts_unfinished" if only_unfinished else "counts")
        return [JobCount(*row) for row in await self._database.slow_rows(sql, {})]

    async def due_to_expire(self, now: int, limit: int) -> list[JobResponse]:
        """Finished jobs whose file's time is over."""
        values = {"now": now, "limit": limit}
        rows = await self._database.slow_rows(self._text("due_to_expire"), values)
        return [JobResponse(*row) for row in rows]

    async def expire(self, account_id: int, job_id: str) -> None:
        async def work(transaction: Transaction) -> None:
            values = {"account_id": account_id, "job_id": job_id}
            await transaction.run(self._text("expire"), values)

        await self._database.write(work)

    async def accounts_with_old(self, before: int, limit: int) -> list[int]:
        values = {"before": before, "limit": limit}
        rows = await self._database.slow_rows(self._text("accounts_with_old"), values)
        return [row[0] for row in rows]

    async def forget_old(self, account_id: int, before: int, most: int) -> int:
        """Removes a few jobs that ended long ago; tells how many."""

        async def work(transaction: Transaction) -> int:
            values = {"account_id": account_id, "before": before, "most": most}
            return len(await transaction.rows(self._text("forget_old"), values))

        return await self._database.write(work)

    async def _changed(self, name: str, job: Job, values: Values, held: str = "") -> bool:
        async def work(transaction: Transaction) -> bool:
            whose = {"account_id": job.account_id, "job_id": job.job_id, "fence": job.fence}
            return bool(await transaction.rows(self._text(name, held), {**values, **whose}))

        return await self._database.write(work)

    async def _end(
        self, transaction: Transaction, account_id: int, job_id: str, error: str, now: int
    ) -> bool:
        values = {"account_id": account_id, "job_id": job_id, "error": error, "now": now}
        return bool(await transaction.rows(self._text("fail", "TRUE"), values))

    def _text(self, name: str, held: str = "") -> str:
        fragments = {part: self._sql[part] for part in ("now", "bytes", "one_of_kinds")}
        return self._sql[name].format(**fragments, held=held)


def _micro(seconds: float) -> int:
    return int(seconds * MICROSECONDS)
