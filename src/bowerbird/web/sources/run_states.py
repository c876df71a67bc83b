"""What became of the last run of a device, in the words of all pages that show it."""

from typing import Final

from bowerbird.model.ingest import VISIT, EndReason, IngestRun, RunState

_COMPLETE: Final = (EndReason.END, EndReason.CAUGHT_UP)


def words(run: IngestRun) -> tuple[str, str]:
    """Words, and how they are marked."""
    if run.state == RunState.FINISHED and run.reason in _COMPLETE:
        return "complete", "on"
    if run.kind == VISIT:
        return "read while you browsed", ""
    if run.state == RunState.RUNNING:
        return "running", "busy"
    return "stopped before the end", "hold"
