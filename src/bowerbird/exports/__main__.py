"""`python -m bowerbird.exports`: runs one step of an export in its own process.

The first line of standard input is the task. The service keeps the input open for as long as it
lives; when the input closes, the process exits, because no caller waits for the file any more.
"""

import errno
import gc
import os
import resource
import sys
import threading
from importlib import import_module
from typing import Final

import msgspec

from bowerbird.exports.tasks import (
    DISK_FULL,
    FORMATS,
    MEBIBYTE,
    OUT_OF_MEMORY,
    ProcessLimits,
    Report,
    Task,
)

_NICE: Final = 10
_UMASK: Final = 0o077
_STDIN: Final = 0
_DISK_FULL_ERRORS: Final = (errno.ENOSPC, errno.EDQUOT)
_PDF: Final = "volumes"


def main() -> None:
    os.umask(_UMASK)
    line = bytearray()
    while not line.endswith(b"\n"):
        # One byte at a time: a buffered reader would hold a lock that the thread below needs.
        line += os.read(_STDIN, 1) or sys.exit("standard input contains no task")
    task = msgspec.json.decode(line, type=Task)
    threading.Thread(target=_exit_with_the_service, daemon=True).start()
    _apply_limits(task.limits)
    try:
        send_report(_run(task))
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
    except OSError as error:
        if not _is_disk_full(error):
            raise
        sys.exit(DISK_FULL)


def _is_disk_full(error: OSError) -> bool:
    # typst raises an OSError without an errno; only its message contains the number.
    messages = [f"(os error {number})" for number in _DISK_FULL_ERRORS]
    return error.errno in _DISK_FULL_ERRORS or any(part in str(error) for part in messages)


def send_report(report: Report) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
    sys.stdout.buffer.flush()


def _exit_with_the_service() -> None:
    while os.read(_STDIN, 4096):
        pass
    os._exit(1)


def _apply_limits(limits: ProcessLimits) -> None:
    os.nice(_NICE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s + 5))
    # Not RLIMIT_AS: it would count the fonts, which are mapped and use no memory until read.
    memory = limits.memory_mib * MEBIBYTE
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _run(task: Task) -> Report:
    """Imports only the module of the step: a CSV file does not need the typesetter."""
    module = FORMATS[task.step].module if task.step in FORMATS else ""
    step = import_module(f"bowerbird.exports.{module or _PDF}")
    if task.step == "csv":
        # Rows form no cycles, and the process ends with the file.
        gc.disable()
    report: Report = step.run_step(task, send_report)
    if task.step == "split" and len(report.names) == 1:
        return _typeset_only_volume(task, report)
    return report


def _typeset_only_volume(task: Task, split: Report) -> Report:
    """Typesets the volume in this process: starting another one takes a tenth of a second."""
    (name,) = split.names
    volume = msgspec.structs.replace(
        task, step="pdf", source=f"{task.target}/{name}.posts", target=f"{task.target}/{name}"
    )
    return msgspec.structs.replace(_run(volume), names=split.names)


if __name__ == "__main__":
    main()
