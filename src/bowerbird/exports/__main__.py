"""`python -m bowerbird.exports`: one step of an export, in a process that may fail alone.

The task is the first line of the input. The input then stays open as long as the service lives:
when it closes, nobody waits for the file any longer.
"""

import errno
import os
import resource
import sys
import threading
from importlib import import_module
from typing import Final

import msgspec

from bowerbird.exports.tasks import DISK_FULL, MEBIBYTE, OUT_OF_MEMORY, ProcessLimits, Report, Task

_NICE: Final = 10
_LIFELINE: Final = 0
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
_STEPS: Final = {"csv": "csv_file", "arrange": "arranging", "pdf": "pdf_file", "zip": "volumes"}


def main() -> None:
    line = bytearray()
    while not line.endswith(b"\n"):
        # One byte at a time: a buffered reader would hold a lock that the thread below needs.
        line += os.read(_LIFELINE, 1) or sys.exit("no task was given")
    task = msgspec.json.decode(line, type=Task)
    threading.Thread(target=_leave_with_the_service, daemon=True).start()
    _limit(task.limits)
    try:
        say(_carried_out(task))
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
    except OSError as error:
        if not _is_about_room(error):
            raise
        sys.exit(DISK_FULL)


def _is_about_room(error: OSError) -> bool:
    # typst raises with a sentence alone.
    told = [f"(os error {number})" for number in _NO_ROOM]
    return error.errno in _NO_ROOM or any(number in str(error) for number in told)


def say(report: Report) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
    sys.stdout.buffer.flush()


def _leave_with_the_service() -> None:
    while os.read(_LIFELINE, 4096):
        pass
    os._exit(1)


def _limit(limits: ProcessLimits) -> None:
    os.nice(_NICE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s + 5))
    # Not RLIMIT_AS: that would count the fonts, which are mapped and cost nothing until read.
    memory = limits.memory_mib * MEBIBYTE
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _carried_out(task: Task) -> Report:
    """Only what a step needs is imported: rows need no typesetter."""
    step = import_module(f"bowerbird.exports.{_STEPS[task.step]}")
    made: Report = step.carry_out(task, say)
    return made


if __name__ == "__main__":
    main()
