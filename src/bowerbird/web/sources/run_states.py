"""What became of the last run of a device, in the words of all pages that show it."""

from bowerbird.model.ingest import VISIT, IngestRun, RunState


def words(run: IngestRun) -> tuple[str, str]:
    """Words, and how they are marked."""
    # The pages prove it, not the client.
    if run.state == RunState.FINISHED and run.is_complete:
        return "complete", "on"
    if run.kind == VISIT:
        return "read while you browsed", ""
    if run.state == RunState.RUNNING:
        return "running", "busy"
    return "stopped before the end", "hold"
