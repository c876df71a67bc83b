"""Quick checks of the service, for `bowerbird doctor` and the operator's page."""

import ipaddress
import os
import shutil
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from bowerbird.clock import MICROSECONDS
from bowerbird.model.jobs import KIND_NAMES, JobCount, JobState, QueueState
from bowerbird.settings import PREFIX, Settings
from bowerbird.storage.backup import archives
from bowerbird.storage.media import MediaStore
from bowerbird.storage.sqlite.database import FILE_NAME
from bowerbird.storage.upkeep.jobs import JobStore

BACKUP_DAYS: Final = 7
_MIN_FREE_BYTES: Final = 1 << 30
_LONG_WAIT: Final = 300 * MICROSECONDS
_UNCLAIMED: Final = 15 * MICROSECONDS
_STATES: Final[dict[str, str]] = {JobState.PENDING: "waiting", JobState.PROCESSING: "running"}
_DAY: Final = 86_400 * MICROSECONDS
# Names that only work at home or in an office.
_LOCAL_ENDINGS: Final = (".localhost", ".local", ".lan", ".internal", ".home.arpa", ".test")


class Mark(StrEnum):
    GOOD = "✓"
    WARNING = "!"
    BROKEN = "✗"


class Result(Struct, frozen=True):
    """The result of one check."""

    mark: Mark
    subject: str
    sentence: str
    fix: str = ""


def address(settings: Settings) -> Result:
    origin = settings.site_origin
    if origin.startswith("http:") and _is_public(urlsplit(origin).hostname or ""):
        return Result(
            Mark.WARNING,
            "address",
            f"{origin} has no encryption: others on the way can read keys and sessions, and "
            "browsers do not offer passkeys there",
            f"use a reverse proxy with a certificate, and set {PREFIX}SITE_URL to its address",
        )
    return Result(Mark.GOOD, "address", origin)


def data_folder(settings: Settings) -> Result:
    folder, existing = settings.data_dir.absolute(), _existing(settings)
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        return Result(
            Mark.BROKEN,
            "data folder",
            f"this user cannot write to {existing}",
            f"chown it to the user that runs bowerbird, or set {PREFIX}DATA_DIR to another folder",
        )
    free = free_bytes(settings)
    state = f"{folder} is writable" if folder.exists() else f"the first start creates {folder}"
    fix = "" if free >= _MIN_FREE_BYTES else "free disk space: imports and backups need it"
    mark = Mark.WARNING if fix else Mark.GOOD
    return Result(mark, "data folder", f"{state}, {free / 1e9:,.1f} GB free", fix)


def free_bytes(settings: Settings) -> int:
    return shutil.disk_usage(_existing(settings)).free


def backup(settings: Settings, now: int) -> Result | None:
    """None if there is nothing to back up, or if another program makes the backups."""
    if not settings.is_sqlite or not (settings.data_dir / FILE_NAME).exists():
        return None
    found, fix = archives.read_last(settings.data_dir), "run bowerbird backup FILE every day"
    if found is None and (file := settings.data_dir / archives.LAST_NAME).exists():
        advice = "chown it to the user that runs bowerbird, or run bowerbird backup FILE"
        return Result(Mark.WARNING, "backup", f"{file.absolute()} cannot be read", advice)
    if found is None:
        return Result(Mark.WARNING, "backup", "there is none yet", fix)
    days = max(0, now - found.made_at) // _DAY
    sentence = f"the last one was made {_ago(days)}, {found.bytes / 1e6:,.1f} MB"
    if days >= BACKUP_DAYS:
        return Result(Mark.WARNING, "backup", sentence, fix)
    return Result(Mark.GOOD, "backup", sentence)


async def jobs(settings: Settings, store: JobStore, now: int, *, is_quick: bool) -> Result:
    """`is_quick` leaves out jobs that have ended; counting them takes long in a large table."""
    counts, queue = await store.counts(only_unfinished=is_quick), await store.queue()
    problem = ""
    if queue.due and not queue.running:
        problem = await store.claim_problem([each.kind for each in counts])
    return queue_result(settings, counts, queue, now, problem)


async def images(settings: Settings, store: MediaStore) -> Result:
    found = await store.totals(settings.media_quota_mb * 1_000_000)
    sentence = (
        f"{found.kept:,} kept, {found.bytes / 1e6:,.1f} MB; {found.waiting:,} waiting, "
        f"{found.left_out:,} left out"
    )
    if settings.keep_media == "off":
        return Result(Mark.GOOD, "images", f"{sentence}; no more are downloaded")
    if found.full:
        fix = "raise BOWERBIRD_MEDIA_QUOTA_MB"
        accounts = "1 account has" if found.full == 1 else f"{found.full} accounts have"
        return Result(Mark.WARNING, "images", f"{sentence}; {accounts} used the quota", fix)
    return Result(Mark.GOOD, "images", sentence)


def queue_result(
    settings: Settings, counts: list[JobCount], queue: QueueState, now: int, problem: str = ""
) -> Result:
    """`problem`: why no worker can claim a job."""
    summary = ", ".join(map(_counted, counts))
    pending = [each.oldest_at for each in counts if each.state == JobState.PENDING]
    # A worker looks for due jobs every second, so one that is left for longer has no worker. A job
    # that was queued again is due again, but its age shows that it waits.
    is_old = bool(pending) and now - min(pending) > _LONG_WAIT
    if queue.due and not queue.running and (queue.waited > _UNCLAIMED or is_old):
        if problem:
            sentence = f"{summary}; workers cannot claim them: {problem}"
            fix = "correct what the database refuses; the jobs start by themselves afterwards"
            return Result(Mark.BROKEN, "jobs", sentence, fix)
        fix = "run bowerbird serve"
        if not settings.is_sqlite:
            fix = "run bowerbird worker, or bowerbird serve without --no-worker"
        return Result(Mark.WARNING, "jobs", f"{summary}; no process is running them", fix)
    if any(each.state == JobState.FAILED for each in counts):
        fix = "run bowerbird jobs list for the reason, then bowerbird jobs retry"
        return Result(Mark.WARNING, "jobs", summary, fix)
    return Result(Mark.GOOD, "jobs", summary or "none")


def _counted(jobs: JobCount) -> str:
    noun = "job" if jobs.count == 1 else "jobs"
    kind, state = KIND_NAMES.get(jobs.kind, jobs.kind), _STATES.get(jobs.state, jobs.state)
    return f"{jobs.count} {kind} {noun} {state}"


def _existing(settings: Settings) -> Path:
    """The data folder, or the nearest folder above it that exists."""
    folder = settings.data_dir.absolute()
    return next(path for path in (folder, *folder.parents) if path.exists())


def _ago(days: int) -> str:
    if days == 0:
        return "within the last 24 hours"
    return "1 day ago" if days == 1 else f"{days} days ago"


def _is_public(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith(_LOCAL_ENDINGS)
