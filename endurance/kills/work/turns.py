"""Work in short transactions: chunks of posts, changes of many posts, undos, and indexing."""

import asyncio
import os
from typing import Any, Final

from endurance.kills.trials import EMAIL, Kind, Library, Trial
from tests.crash import (
    changer,
    importer,
    killing,
    reindexer,
    test_bulk_changes,
    test_kill,
    test_reindexing,
    test_undo,
    undoer,
)
from tests.crash.killing import Moment

_CHUNK_LIVES: Final = 25
# Often within the first turn, so that most lives do little and many are needed.
_EARLY: Final = Moment(0, 1, 0.03)


def _take_chunks(trial: Trial) -> None:
    file = trial.library.folder / "acknowledged"
    acknowledged = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in range(_CHUNK_LIVES):
        importer.one_life(EMAIL, number, acknowledged, trial.chance)
        trial.kills += 1
    os.close(acknowledged)
    chunks = {int(line) for line in file.read_text(encoding="ascii").split()}
    asyncio.run(test_kill.check_library(trial.settings, chunks))


def _start_changes(library: Library) -> tuple[list[str], Any]:
    return asyncio.run(test_bulk_changes.start(library.settings))


def _change(trial: Trial) -> None:
    change_ids, before = trial.state
    # Who works on the last one works on all that were accepted before it.
    _until_finished(trial, changer.begin(change_ids[-1]))
    asyncio.run(test_bulk_changes.check_done(trial.settings, change_ids))
    _until_finished(trial, changer.begin(change_ids[0]))
    asyncio.run(test_bulk_changes.check_undone(trial.settings, change_ids, before))


def _fill_for_undo(library: Library) -> tuple[str, Any]:
    return asyncio.run(test_undo.fill(library.settings))


def _undo(trial: Trial) -> None:
    run_id, before = trial.state
    _until_finished(trial, undoer.begin(run_id))
    asyncio.run(test_undo.check(trial.settings, run_id, before))


def _fill_with_old_posts(library: Library) -> None:
    asyncio.run(test_reindexing.fill(library.folder, library.options))


def _index(trial: Trial) -> None:
    trial.until_finished(lambda report: asyncio.run(reindexer.index(report)), Moment(0, 2, 0.03))
    asyncio.run(test_reindexing.check(trial.settings))


def _until_finished(trial: Trial, begin: killing.Begin) -> None:
    trial.kills += killing.until_finished(EMAIL, begin, trial.chance, _EARLY)


CHUNKS: Final = Kind(_take_chunks)
CHANGES: Final = Kind(_change, _start_changes)
UNDO: Final = Kind(_undo, _fill_for_undo)
REINDEXING: Final = Kind(_index, _fill_with_old_posts)
