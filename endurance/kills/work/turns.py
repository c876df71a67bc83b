"""Work in short transactions: chunks of posts, changes of many posts, undos, and indexing."""

import asyncio
import os
from typing import Any, Final

from endurance.kills.trials import EMAIL, Kind, Library, Trial
from tests.crash import importer, killing, programs, test_kill, test_turns
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
    return asyncio.run(test_turns.start_changes(library.settings))


def _change(trial: Trial) -> None:
    change_ids, before = trial.state
    # Who works on the last one works on all that were accepted before it.
    _until_finished(trial, programs.change(change_ids[-1]))
    asyncio.run(test_turns.check_changed(trial.settings, change_ids))
    _until_finished(trial, programs.change(change_ids[0]))
    asyncio.run(test_turns.check_unchanged(trial.settings, change_ids, before))


def _fill_for_undo(library: Library) -> tuple[str, Any]:
    return asyncio.run(test_turns.fill_for_undo(library.settings))


def _undo(trial: Trial) -> None:
    run_id, before = trial.state
    _until_finished(trial, programs.undo(run_id))
    asyncio.run(test_turns.check_undone(trial.settings, run_id, before))


def _fill_with_old_posts(library: Library) -> None:
    asyncio.run(test_turns.fill_old(library.folder, library.options))


def _index(trial: Trial) -> None:
    trial.until_finished(lambda report: asyncio.run(programs.index(report)), Moment(0, 2, 0.03))
    asyncio.run(test_turns.check_indexed(trial.settings))


def _until_finished(trial: Trial, begin: killing.Begin) -> None:
    trial.kills += killing.until_finished(begin, trial.chance, _EARLY)


CHUNKS: Final = Kind(_take_chunks)
CHANGES: Final = Kind(_change, _start_changes)
UNDO: Final = Kind(_undo, _fill_for_undo)
REINDEXING: Final = Kind(_index, _fill_with_old_posts)
