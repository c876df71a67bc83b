"""The job queue: claims, leases and outcomes of jobs.

Leases use the database's clock. Every claim and every outcome increments the fence of the job. A
write with an older fence changes nothing, so a worker that lost its lease can do no harm.
"""

import secrets
from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.model.jobs import MAX_TRIES, Job, JobCount, JobResponse, OpenJob, QueueState
from bowerbird.storage.database import Reader, Store, Transaction, Values, Writable

_ID_BYTES: Final = 16
_WORKER_DIED: Final = f"The worker stopped during the last of {MAX_TRIES} attempts."
# How many accounts a claim considers, so that its cost does not grow with the queue.
_WINDOW: Final = 100
_CANDIDATES: Final = 5
# Keeps a transaction below 20 ms, so that other writers do not wait.
_ADDED_AT_ONCE: Final = 50
# Longer than any lease or pause. A job whose time is further ahead has it from a clock that was
# set back since; it would be stuck if its worker has died.
_MAX_AHEAD: Final = 300 * MICROSECONDS
_LAST_ACCOUNT: Final = 2**63 - 1
_LAST_PRIORITY: Final = 2**31 - 1
CANCELLED: Final = "The job was cancelled."


class _OnlyTried(Exception):  # noqa: N818 - named for what it is
    """Undoes a claim that was only tried."""


class _Turn(Struct, frozen=True):
    """An account with unfinished jobs, and the job that has been due longest, if any is due."""

    account_id: int
    job_id: str | None
    running: int
    last_started_at: int


class JobStore(Store):
    resource = "jobs"

    async def add(
        self,
        library: Writable,
        kind: str,
        parameters: bytes,
        *,
        priority: int,
        now: int,
        unique: str | None = None,
    ) -> str:
        """Returns the id of the new job, or of the unfinished job with the same `unique` text."""
        values = {
            "job_id": secrets.token_hex(_ID_BYTES),
            "kind": kind,
            "parameters": parameters,
            "priority": priority,
            "now": now,
            "unique_text": unique,
        }
        # The unfinished job can end between the two statements; then the next insert succeeds.
        for _ in range(MAX_TRIES):
            for name in ("add", "unfinished") if unique is not None else ("add",):
                if rows := await self._of(library, name, **values):
                    return str(rows[0][0])
        raise Refusal(Code.NOT_FOUND, "The account has been deleted.")

    async def add_own(self, library: Writable, kind: str, priority: int, now: int) -> None:
        """The job of a kind of which an account has one at a time."""
        await self.add(library, kind, b"{}", priority=priority, now=now, unique=kind)

    async def add_for(self, account_ids: Sequence[int], kind: str, priority: int, now: int) -> None:
        """The own jobs of accounts. Those that were deleted since they were found get none."""

        async def work(transaction: Transaction, some: Sequence[int]) -> None:
            for account_id in some:
                try:
                    await self.add_own(Writable(transaction, account_id), kind, priority, now)
                except Refusal as refused:
                    if refused.code is not Code.NOT_FOUND:
                        raise

        for first in range(0, len(account_ids), _ADDED_AT_ONCE):
            some = account_ids[first : first + _ADDED_AT_ONCE]
            await self._database.write(partial(work, some=some))

    async def count_unfinished(self, library: Writable, kind: str) -> int:
        return int((await self._of(library, "count_unfinished", kind=kind))[0][0])

    async def unfinished_of_kind(self, kind: str, priority: int, limit: int) -> int:
        """The number of jobs of all accounts, counted up to `limit`."""
        values = {"kind": kind, "priority": priority, "limit": limit}
        return int((await self._read("unfinished_of_kind", **values))[0][0])

    async def claim(
        self,
        kinds: Sequence[str],
        max_priority: int,
        *,
        lease_s: float,
        now: int,
        excluded_accounts: Collection[int] = (),
    ) -> Job | None:
        """Claims the next job; None if none is due, or other workers were faster.

        Finding the job only reads, so an idle worker never writes to the database.
        """
        while turns := await self._turns(kinds, max_priority, frozenset(excluded_accounts)):
            job, must_repeat = await self._database.write(
                partial(self._claim_one, turns=turns, lease=_micro(lease_s), now=now)
            )
            if not must_repeat:
                return job
        return None

    async def claim_problem(self, kinds: Sequence[str]) -> str:
        """Why a worker cannot claim the next job; empty if it can. The job stays in the queue."""
        turns = await self._turns(kinds, _LAST_PRIORITY, frozenset())

        async def work(transaction: Transaction) -> str:
            await self._claim_one(transaction, turns, 0, 0)
            raise _OnlyTried

        try:
            return await self._database.write(work)
        except _OnlyTried:
            return ""
        except Refusal as refused:
            return f"{refused.sentence} {refused.__cause__ or ''}".strip()
        except Exception as error:  # noqa: BLE001 - whatever the database says
            return str(error)

    async def _claim_one(
        self, transaction: Transaction, turns: Sequence[_Turn], lease: int, now: int
    ) -> tuple[Job | None, bool]:
        """The claimed job, and whether to look again because an abandoned job has failed."""
        for turn in turns:
            values = {
                "account_id": turn.account_id,
                "job_id": turn.job_id,
                "most_tries": MAX_TRIES,
                "max_ahead": _MAX_AHEAD,
            }
            if claimed := await self._rows(transaction, "claim", **values, lease=lease):
                return Job(*claimed[0]), False
            failure = {**values, "error": _WORKER_DIED, "now": now}
            if await transaction.rows(self._sql["fail_abandoned"], failure):
                return None, True
        return None, False

    async def _turns(
        self, kinds: Sequence[str], max_priority: int, excluded_accounts: frozenset[int]
    ) -> list[_Turn]:
        """A few of the due jobs with the best priority, those of the least served accounts first.

        If more accounts have jobs than a claim considers, some of them are chosen at random.
        """
        above = -1
        while True:
            rows = await self._read("next_priority", above=above, max_priority=max_priority)
            if rows[0][0] is None:
                return []
            above = rows[0][0]
            turns = [
                turn
                for turn in await self._waiting(kinds, above)
                if turn.job_id is not None and turn.account_id not in excluded_accounts
            ]
            if turns:
                turns.sort(key=lambda turn: (turn.running, turn.last_started_at))
                return turns[:_CANDIDATES]

    async def _waiting(self, kinds: Sequence[str], priority: int) -> list[_Turn]:
        found = await self._window(kinds, priority, 0)
        if len(found) < _WINDOW:
            return found
        others = await self._window(kinds, priority, secrets.randbelow(_LAST_ACCOUNT))
        return list({turn.account_id: turn for turn in (*found, *others)}.values())

    async def _window(self, kinds: Sequence[str], priority: int, after: int) -> list[_Turn]:
        values = {
            "kinds": kinds,
            "priority": priority,
            "after": after,
            "limit": _WINDOW,
            "max_ahead": _MAX_AHEAD,
        }
        return [_Turn(*row) for row in await self._read("turns", **values)]

    async def renew_lease(self, job: Job, done: int, total: int, *, lease_s: float) -> bool:
        """Renews the lease and stores the progress; False if the worker lost the job."""
        values = {"lease": _micro(lease_s), "done": done, "total": total}
        return await self._update("renew_lease", job, values)

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
        return await self._update("complete", job, values)

    async def postpone(self, job: Job, error: str, *, pause_s: float) -> bool:
        """Puts the job back into the queue for another attempt."""
        values = {"tries": job.tries, "pause": _micro(pause_s), "error": error}
        return await self._update("postpone", job, values)

    async def release(self, job: Job) -> bool:
        """Puts the job back into the queue without counting the attempt."""
        values = {"tries": job.tries - 1, "pause": 0, "error": None}
        return await self._update("postpone", job, values)

    async def fail(self, job: Job, error: str, *, now: int) -> bool:
        values = {"error": error, "now": now}
        return await self._update("fail", job, values, condition="fence = :fence")

    async def cancel(self, account_id: int, job_id: str, *, now: int) -> bool:
        """Cancels an unfinished job. A worker that runs it stops when it next reports progress."""
        return await self._database.write(
            lambda transaction: self._end(Writable(transaction, account_id), job_id, CANCELLED, now)
        )

    async def retry(self, account_id: int, job_id: str) -> bool:
        """Queues a failed job again; False if it has not failed, or the same job is unfinished."""
        return bool(await self._write("retry", None, account_id=account_id, job_id=job_id))

    async def one(
        self, account_id: int, job_id: str, reader: Reader | None = None
    ) -> JobResponse | None:
        values = {"account_id": account_id, "job_id": job_id}
        rows = await (reader or self._database).rows(self._sql["one"], values)
        return JobResponse(*rows[0]) if rows else None

    async def of_kind(self, account_id: int, kind: str, limit: int) -> list[JobResponse]:
        """The latest jobs of an account, newest first."""
        rows = await self._read("of_kind", account_id=account_id, kind=kind, limit=limit)
        return [JobResponse(*row) for row in rows]

    async def owner(self, job_id: str) -> int | None:
        """The account of a job, for an operator who knows only the job's id."""
        rows = await self._database.slow_rows(self._sql["owner"], {"job_id": job_id})
        return int(rows[0][0]) if rows else None

    async def latest(self, limit: int) -> list[JobResponse]:
        rows = await self._database.slow_rows(self._sql["latest"], {"limit": limit})
        return [JobResponse(*row) for row in rows]

    async def open_page(self, after: tuple[int, int, str], limit: int) -> list[OpenJob]:
        """Jobs that are not finished or have failed, after an account, date and id."""
        account_id, created_at, job_id = after
        key = {"account_id": account_id, "created_at": created_at, "job_id": job_id}
        rows = await self._database.rows(self._sql["open_page"], {**key, "limit": limit})
        return [OpenJob(*row) for row in rows]

    async def counts(self, *, only_unfinished: bool = False) -> list[JobCount]:
        """Counting only unfinished jobs is much faster, because they have their own index."""
        sql = self._sql["counts_unfinished" if only_unfinished else "counts"]
        return [JobCount(*row) for row in await self._database.slow_rows(sql, {})]

    async def queue(self) -> QueueState:
        row = (await self._read_slowly("queue", max_ahead=_MAX_AHEAD))[0]
        return QueueState(*map(int, row))

    async def due_to_expire(self, now: int, limit: int) -> list[JobResponse]:
        """Completed jobs whose file has expired."""
        rows = await self._read_slowly("due_to_expire", now=now, limit=limit)
        return [JobResponse(*row) for row in rows]

    async def expire(self, account_id: int, job_id: str) -> None:
        await self._write("expire", None, account_id=account_id, job_id=job_id)

    async def accounts_with_old(self, before: int, limit: int) -> list[int]:
        rows = await self._read_slowly("accounts_with_old", before=before, limit=limit)
        return [row[0] for row in rows]

    async def delete_old(self, account_id: int, before: int, limit: int) -> int:
        """Deletes up to `limit` jobs that ended before an instant; returns their number."""
        values = {"account_id": account_id, "before": before, "limit": limit}
        return len(await self._write("delete_old", None, **values))

    async def _update(self, name: str, job: Job, values: Values, condition: str = "") -> bool:
        """False if the worker no longer holds the job."""

        async def work(transaction: Transaction) -> bool:
            key = {"account_id": job.account_id, "job_id": job.job_id, "fence": job.fence}
            return bool(
                await transaction.rows(
                    self._sql[name].format(condition=condition), {**values, **key}
                )
            )

        return await self._database.write(work)

    async def _end(self, library: Writable, job_id: str, error: str, now: int) -> bool:
        values = {**library.values, "job_id": job_id, "error": error, "now": now}
        return bool(
            await library.transaction.rows(self._sql["fail"].format(condition="TRUE"), values)
        )


def _micro(seconds: float) -> int:
    return int(seconds * MICROSECONDS)
