"""A server that is killed while clients write, rename labels, or send the pages of a source."""

import asyncio
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NoReturn

from endurance.kills.trials import EMAIL, Kind, Library, Trial
from tests.crash import lives, test_ingest, test_keyed_writes, test_label_edits
from tests.crash.test_keyed_writes import Lives
from tests.crash.test_label_edits import Caller

_WRITE_KILLS: Final = 20
_RENAMES: Final = 14


def _prepare_writes(library: Library) -> tuple[str, Any]:
    return _new_key(library), asyncio.run(test_keyed_writes.prepared(library.settings))


def _write(trial: Trial) -> None:
    key, before = trial.state
    disturb = partial(
        test_keyed_writes.kill_at_any_moment, chance=trial.chance, rounds=_WRITE_KILLS
    )
    with _served(trial) as server:
        clients = test_keyed_writes.written(trial.settings.port, key, server, disturb)
    writes = len(clients.answers)
    asyncio.run(test_keyed_writes.check_library(trial.settings, before, writes))


def _prepare_labels(library: Library) -> str:
    asyncio.run(test_label_edits.fill(library.settings))
    return _new_key(library)


def _edit_labels(trial: Trial) -> None:
    caller = Caller(trial.settings.port, trial.state)
    with _served(trial) as server:
        test_label_edits.rename_and_merge(caller, server, trial.chance, _RENAMES)
    asyncio.run(test_label_edits.check(trial.settings))


def _prepare_pages(library: Library) -> str:
    return library.command("device", "create", EMAIL).split()[-1]


def _send_pages(trial: Trial) -> None:
    with _served(trial) as server:
        test_ingest.send_all(server, trial.settings.port, trial.state, trial.chance)
    posts = test_ingest.PAGES * test_ingest.PER_PAGE
    assert asyncio.run(test_ingest.stored(trial.settings)) == (posts, [])


WRITES: Final = Kind(_write, _prepare_writes)
LABELS: Final = Kind(_edit_labels, _prepare_labels)
PAGES: Final = Kind(_send_pages, _prepare_pages)


def _new_key(library: Library) -> str:
    return library.command("key", "create", EMAIL).split()[-1]


@contextmanager
def _served(trial: Trial) -> Iterator[Lives]:
    """`tests.crash.lives` in a fork of this process, which has imported everything."""
    (orders, ordering), (answering, answers) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ordering)
        _keep_serving(orders, answers)
    os.close(orders)
    os.close(answers)
    with os.fdopen(answering) as reading:
        with os.fdopen(ordering, "w") as writing:
            server = Lives(writing, reading)
            try:
                yield server
            finally:
                trial.kills += server.kills
        _, status = os.waitpid(child, 0)
    assert status == 0, "the server did not stop cleanly"


def _keep_serving(orders: int, answers: int) -> NoReturn:
    try:
        sys.stdin, sys.stdout = os.fdopen(orders), os.fdopen(answers, "w")
        lives.main()
    except BaseException:  # noqa: BLE001 - the parent reads the exit code
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
