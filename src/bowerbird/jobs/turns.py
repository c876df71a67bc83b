"""Ends a long job after a while, so that the jobs of other accounts get their turns."""

import time

from bowerbird.jobs.leases import Progress
from bowerbird.jobs.worker import Paused


def in_turns(progress: Progress, turn_s: float) -> Progress:
    """Reports as `progress` does, and raises Paused when the turn is over and work is left."""
    end = time.monotonic() + turn_s

    async def report(done: int, total: int) -> None:
        await progress(done, total)
        if done < total and time.monotonic() >= end:
            raise Paused

    return report
