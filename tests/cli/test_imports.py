"""`bowerbird imports list`, `undo` and `removals`."""

import asyncio
import json
from pathlib import Path

import pytest

from bowerbird.cli.context import opened_library
from bowerbird.library.accounts.accounts import Accounts
from bowerbird.library.imports.intake import Intake
from bowerbird.library.imports.runs import ImportRuns
from bowerbird.library.ingest.page_reading import CapturedPage
from bowerbird.library.ingest.pages import IngestPages
from bowerbird.library.ingest.runs import IngestRuns, StartedRun
from bowerbird.requests.saving import FinishRequest, RunRequest
from bowerbird.storage.database import Transaction
from tests.cli.libraries import EMAIL, Library
from tests.support import ingesting
from tests.support.imports import found

# Runs a command that gets Ctrl-C when the second turn of an undo begins.
INTERRUPTED = """
import os, signal
from bowerbird.cli import main
from bowerbird.library.imports.undoing import Undoing
# Tests may run in the background of a shell, which ignores Ctrl-C for them.
signal.signal(signal.SIGINT, signal.default_int_handler)
turn, turns = Undoing._turn, []
async def interrupted(*arguments):
    turns.append(1)
    if len(turns) == 2:
        os.kill(os.getpid(), signal.SIGINT)
    return await turn(*arguments)
Undoing._turn = interrupted
main()
"""


@pytest.fixture
def library(empty: Library) -> Library:
    empty.run("account", "create", EMAIL)
    return empty


def imported(library: Library, *post_ids: str, client: str = "test") -> str:
    """Imports posts in a run; returns its id."""

    async def work() -> str:
        async with opened_library(library.settings) as opened:
            account = await Accounts(opened.database, opened.clock).find(EMAIL)
            runs = ImportRuns(opened.database, opened.clock)
            run = await runs.start(account, source="x", kind="file", client=client)
            posts = [found(post_id=post_id) for post_id in post_ids]
            await Intake(opened.database, opened.clock).take(account, posts, run_id=run.run_id)
            await runs.finish(account, run.run_id, "end")
            return run.run_id

    return asyncio.run(work())


def test_imports_are_listed_with_the_latest_first(library: Library) -> None:
    first = imported(library, "1", "2")
    second = imported(library, "2", "3", client="a\tb\nc")

    listed = library.run("imports", "list", EMAIL)

    rows = [line.split("\t") for line in listed.out.splitlines()]
    assert [(row[0], row[1]) for row in rows] == [(second, "finished"), (first, "finished")]
    assert [row[3:10] for row in rows] == [
        ["x", "file", "a?b?c", "1", "0", "1", "0"],
        ["x", "file", "test", "2", "0", "0", "0"],
    ]


def _sources(library: Library) -> list[str]:
    listed = library.run("imports", "list", EMAIL)
    return [line.split("\t")[3] for line in listed.out.splitlines()]


def test_an_import_is_listed_with_the_names_of_its_files(library: Library, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("diary.txt", "a.txt", "b.txt", "c.txt")]
    for number, file in enumerate(files):
        file.write_text(f"https://x.com/ada/status/2{number}\n")
    files[0].write_text("Dear diary")

    library.run("import", EMAIL, files[1])
    library.run("import", EMAIL, *files)
    library.run("import", EMAIL, "-", answer="https://x.com/ada/status/30\n")

    assert _sources(library) == [
        "stdin (list of links)",
        "a.txt and 2 more",
        "a.txt (list of links)",
    ]


def test_a_file_name_that_no_database_can_store_is_listed(library: Library, tmp_path: Path) -> None:
    file = tmp_path / ("\udcff" + "n" * 240)
    file.write_text("https://x.com/ada/status/20\n")

    ran = library.run("import", EMAIL, file)

    assert ran.code == 0, ran.text
    assert _sources(library) == ["?" + "n" * 98 + "… (list of links)"]


@pytest.mark.both
def test_undoing_prints_what_was_done(library: Library) -> None:
    run_id = imported(library, "1", "2")

    ran = library.run("imports", "undo", EMAIL, run_id)

    assert (ran.code, ran.out) == (0, "removed 2\nrestored 0\nkept 0\n")
    assert library.value("SELECT total FROM library") == 0
    assert library.run("check", "--deep").code == 0


def test_undoing_again_says_that_it_was_done(library: Library) -> None:
    run_id = imported(library, "1", "2")
    library.run("imports", "undo", EMAIL, run_id)

    ran = library.run("imports", "undo", EMAIL, run_id)

    assert ran.code == 0
    assert ran.out == (
        "This import was already undone, so nothing changed. The undo removed 2, restored 0 and "
        "kept 0.\n"
    )


def test_an_interrupted_undo_says_how_to_continue(library: Library) -> None:
    run_id = imported(library, *(str(number) for number in range(1, 2_001)))

    with library.start("imports", "undo", EMAIL, run_id, script=INTERRUPTED) as process:
        _, problem = process.communicate(timeout=120)

    assert process.returncode == 130
    assert problem == (
        "Interrupted before the import was undone completely. To continue, run the command again: "
        f"bowerbird imports undo {EMAIL} {run_id}\n"
    )
    left = library.value("SELECT total FROM library")
    assert 0 < left < 2_000
    ran = library.run("imports", "undo", EMAIL, run_id)
    assert (ran.code, ran.out) == (0, "removed 2000\nrestored 0\nkept 0\n")


def synced(library: Library, *lists: list[int]) -> str:
    """Reads lists of X, each in a run of its own; returns the id of the last run."""

    async def work() -> str:
        run_id = ""
        async with opened_library(library.settings) as opened:
            account = await Accounts(opened.database, opened.clock).find(EMAIL)
            runs = IngestRuns(opened.database, opened.clock)
            pages = IngestPages(opened.database, opened.clock, runs)
            request = RunRequest(source="x", kind="full")

            async def start(transaction: Transaction) -> StartedRun:
                return await runs.start(transaction, account, request)

            for numbers in lists:
                run_id = (await opened.database.write(start)).run_id
                body = ingesting.listed(numbers, is_last=True)
                page = CapturedPage(
                    format=body["format"],
                    payload=json.dumps(body["payload"]).encode(),
                    request_url=body["request_url"],
                    captured_at=opened.clock(),
                )
                await pages.take(account, run_id, 0, page)
                counted = await Accounts(opened.database, opened.clock).find(EMAIL)
                await runs.finish(counted, run_id, FinishRequest(reason="end"))
        return run_id

    return asyncio.run(work())


@pytest.mark.both
def test_removals_that_are_held_are_listed_and_confirmed(library: Library) -> None:
    run_id = synced(library, list(range(60, 0, -1)), [60, 1])
    listed = library.run("imports", "removals", EMAIL).out

    confirmed = library.run("imports", "removals", EMAIL, run_id)

    (row,) = [line.split("\t") for line in listed.splitlines()]
    assert (row[0], row[3]) == (run_id, "58")
    assert confirmed.out == "removed 58\n"
    assert library.run("imports", "removals", EMAIL).out == ""
    removed = "SELECT count(*) FROM source_post WHERE removed_at IS NOT NULL"
    assert library.value(removed) == 58
    again = library.run("imports", "removals", EMAIL, run_id)
    assert (again.code, again.text) == (
        1,
        f"Error: Run {run_id} has no removals that wait for a confirmation.",
    )


def test_removals_cannot_be_confirmed_when_the_pages_are_gone(library: Library) -> None:
    run_id = synced(library, list(range(60, 0, -1)), [60, 1])
    library.sql("DELETE FROM ingest_page")

    ran = library.run("imports", "removals", EMAIL, run_id)

    assert ran.code == 1
    assert ran.text.endswith("are kept for 7 days, and these have passed. Read the list again.")
