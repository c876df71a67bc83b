"""The queue of jobs: who may have which, for how long, and how each ended.

A job is leased by the database's own clock. Every change of hands raises its fence, and whoever
writes under an older one writes nothing: a worker that was thought dead can do no harm.
"""

import secrets
from collections.abc import Sequence
from typing import Any, Final

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.model.jobs import MOST_TRIES, Job, JobCount, JobShown
from bowerbird.storage.database import Database, Transaction, Values

_ID_BYTES: Final = 16
_DIED: Final = f"It was begun {MOST_TRIES} times, and each time its worker ended in mid-work."
_CANCELLED: Final = "It was cancelled."


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
        for _ in range(MOST_TRIES):
            for name in ("add", "unfinished") if unique is not None else ("add",):
                if rows := await transaction.rows(self._text(name), values):
                    return str(rows[0][0])
        raise Refusal(Code.NOT_FOUND, "The account was deleted meanwhile.")

    async def count_unfinished(self, transaction: Transaction, account_id: int, kind: str) -> int:
        values = {"account_id": account_id, "kind": kind}
        return int((await transaction.rows(self._text("count_unfinished"), values))[0][0])

    async def is_any_due(self, kinds: Sequence[str], most_priority: int) -> bool:
        """Only reads: a worker without work leaves the database alone."""
        return bool(
            await self._database.rows(self._text("is_any_due"), self._wanted(kinds, most_priority))
        )

    async def claim(
        self, kinds: Sequence[str], most_priority: int, *, lease_s: float, now: int
    ) -> Job | None:
        """The job whose turn it is; None when there is none, or another worker was quicker."""

        async def work(transaction: Transaction) -> Job | None:
            wanted = self._wanted(kinds, most_priority)
            while rows := await transaction.rows(self._text("next_due"), wanted):
                account_id, job_id, tries = rows[0]
                values = {"account_id": account_id, "job_id": job_id, "lease": _micro(lease_s)}
                if tries < MOST_TRIES:
                    claimed = await transaction.rows(self._text("claim"), values)
                    return Job(*claimed[0])
                await self._end(transaction, account_id, job_id, _DIED, now)
            return None

        return await self._database.write(work)

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

    async def one(self, account_id: int, job_id: str) -> JobShown | None:
        values = {"account_id": account_id, "job_id": job_id}
        rows = await self._database.rows(self._text("one"), values)
        return JobShown(*rows[0]) if rows else None

    async def one_within(
        self, transaction: Transaction, account_id: int, job_id: str
    ) -> JobShown | None:
        values = {"account_id": account_id, "job_id": job_id}
        rows = await transaction.rows(self._text("one"), values)
        return JobShown(*rows[0]) if rows else None

    async def owner(self, job_id: str) -> int | None:
        """For an operator, who knows a job by its id alone."""
        rows = await self._database.slow_rows(self._text("owner"), {"job_id": job_id})
        return int(rows[0][0]) if rows else None

    async def latest(self, limit: int) -> list[JobShown]:
        rows = await self._database.slow_rows(self._text("latest"), {"limit": limit})
        return [JobShown(*row) for row in rows]

    async def counts(self) -> list[JobCount]:
        return [JobCount(*row) for row in await self._database.slow_rows(self._text("counts"), {})]

    async def due_to_expire(self, now: int, limit: int) -> list[JobShown]:
        """Finished jobs whose file's time is over."""
        values = {"now": now, "limit": limit}
        rows = await self._database.slow_rows(self._text("due_to_expire"), values)
        return [JobShown(*row) for row in rows]

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

    def _wanted(self, kinds: Sequence[str], most_priority: int) -> dict[str, Any]:
        return {"kinds": self._database.text_list(kinds), "most_priority": most_priority}

    def _text(self, name: str, held: str = "") -> str:
        fragments = {part: self._sql[part] for part in ("now", "bytes", "one_of_kinds", "lock")}
        return self._sql[name].format(**fragments, held=held)


def _micro(seconds: float) -> int:
    return int(seconds * MICROSECONDS)
