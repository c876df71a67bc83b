"""Makes or undoes a change of many posts, and is killed again and again until it is finished.

Run as `python -m tests.crash.changer EMAIL CHANGE_ID`. Prints how many lives were killed.
"""

import sys

from bowerbird.clock import system_clock
from bowerbird.library.bulk.changes import BulkChanges
from tests.crash import killing


def begin(change_id: str) -> killing.Begin:
    return lambda database, account: BulkChanges(database, system_clock).finish(account, change_id)


if __name__ == "__main__":
    email, change_id = sys.argv[1:]
    print(killing.until_finished(email, begin(change_id)))  # noqa: T201 - the test reads it
