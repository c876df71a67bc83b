"""What the pages for imports show about files and earlier imports."""

from typing import Any, Final

from msgspec.structs import asdict

from bowerbird.library.imports.report import (
    COUNTS,
    WORDING,
    FileReport,
    name_of,
    nothing_new,
)
from bowerbird.library.imports.runs import Run
from bowerbird.model import instants
from bowerbird.model.arrival import VISIT, FileImport, RunState, UndoCounts
from bowerbird.model.connections import NAMES
from bowerbird.model.jobs import UNFINISHED
from bowerbird.sources.found import Reason
from bowerbird.web.library.addresses import LIBRARY, Address
from bowerbird.web.visits.formats import Moment, Times, size_text

# How many of the links that are not posts a page shows. A file has all of them.
_LINKS_SHOWN: Final = 100
_STATES: Final = {
    RunState.RUNNING: ("running", "busy"),
    RunState.FINISHED: ("", ""),
    RunState.INTERRUPTED: ("stopped before its end", "hold"),
    RunState.UNDOING: ("partly undone", "hold"),
    RunState.UNDONE: ("undone", ""),
}
# A visit of a list does not have to reach its end.
_OF_VISITS: Final = (RunState.RUNNING, RunState.FINISHED, RunState.INTERRUPTED)


def progress(job: FileImport) -> dict[str, Any]:
    """How much of a file is read."""
    return {
        "id": job.job_id,
        "done": job.done,
        "total": job.size,
        "text": f"{size_text(job.done)} of {size_text(job.size)}",
    }


def state(job: FileImport) -> dict[str, Any]:
    """The progress for a script, which opens the page again when `mark` changes."""
    return {"mark": mark(job), "jobs": [progress(job)]}


def mark(job: FileImport) -> str:
    return "open" if job.state in UNFINISHED else job.state


def report(file: FileReport) -> dict[str, Any]:
    return asdict(file) | {
        "left_out": sum(file.left_out.values()),
        "outcomes": _outcomes(file),
        "nothing_new": nothing_new(file, "choose it again with “Liked posts too”"),
        "loses_labels": file.labels_left_out > 0,
        "links": file.links[:_LINKS_SHOWN],
        "links_kept": len(file.links),
        "link_count": file.left_out.get(Reason.NOT_A_POST, 0),
    }


def _outcomes(file: FileReport) -> list[dict[str, Any]]:
    counts = [(field, getattr(file, field), text) for field, text in COUNTS.items()]
    reasons = [(one, n, WORDING[Reason(one)].outcome) for one, n in file.left_out.items()]
    return [
        {"name": name_of(field).capitalize(), "count": count, "text": text}
        for field, count, text in (*counts, *reasons)
        if count
    ]


def run(one: Run, times: Times) -> dict[str, Any]:
    has_written = one.counts.new or one.counts.changed
    is_visit = one.kind == VISIT and one.state in _OF_VISITS
    text, kind = ("while you browsed", "") if is_visit else _STATES[one.state]
    if one.state is RunState.UNDONE:
        text = f"undone: {_undone(one.undone)}"
    return {
        "id": one.run_id,
        "source": NAMES.get(one.source, one.source),
        "client": one.client,
        "new": one.counts.new,
        "changed": one.counts.changed,
        "started_at": _moment(one.started_at, times),
        "state": text,
        "state_kind": kind,
        "undo_until": day(one.undo_until, times),
        # They are known as long as the import can be undone.
        "posts": posts_of(one.run_id) if one.undo_until and has_written else "",
    }


def posts_of(run_id: str) -> str:
    """The list of the posts that an import added or changed."""
    everything = {"is_unread_only": "false", "hide_archived": "false"}
    return Address(LIBRARY, {**everything, "import_run": run_id}).url()


def day(text: str | None, times: Times) -> Moment | None:
    instant = instants.parse(text) if text else None
    return None if instant is None else times.day(instant)


def undone_sentence(one: Run) -> str:
    return f"The import is undone: {_undone(one.undone)}."


def _undone(counts: UndoCounts) -> str:
    removed = "1 post" if counts.removed == 1 else f"{counts.removed:,} posts"
    parts = [f"{removed} removed"]
    if counts.restored:
        parts.append(f"{counts.restored:,} as before")
    if counts.kept:
        parts.append(f"{counts.kept:,} kept, because you changed them since")
    return ", ".join(parts)


def _moment(text: str, times: Times) -> Moment | None:
    instant = instants.parse(text)
    return None if instant is None else times.moment(instant)
