"""Undoes an import and is killed again and again until it is done.

Run as `python -m tests.crash.undoer EMAIL RUN_ID`. Prints how many lives were killed.
"""

import sys

from bowerbird.clock import system_clock
from bowerbird.library.imports.runs import ImportRuns
from tests.crash import killing


def begin(run_id: str) -> killing.Begin:
    return lambda database, account: ImportRuns(database, system_clock).undo(account, run_id)


if __name__ == "__main__":
    email, run_id = sys.argv[1:]
    print(killing.until_finished(email, begin(run_id)))  # noqa: T201 - the test reads it
