"""`bowerbird jobs` and `bowerbird worker`."""

import signal
import subprocess

import pytest

from tests.cli.libraries import EMAIL, Library, sqlite_library
from tests.support.serving import free_port
from tests.support.waiting import wait_until

ON_POSTGRES = pytest.mark.parametrize("empty", ["postgres"], indirect=True)


def account_of(library: Library) -> int:
    library.run("account", "create", EMAIL)
    return int(library.value("SELECT account_id FROM person"))


def test_jobs_are_listed_newest_first(empty: Library) -> None:
    account_id = account_of(empty)
    empty.add_jobs(account_id, "ja", "jb")
    empty.add_jobs(77, "orphan", state="pending")

    ran = empty.run("jobs", "list")

    assert ran.code == 0
    rows = [line.split("\t") for line in ran.out.splitlines()]
    assert [row[0] for row in rows] == ["ja", "jb", "orphan"]
    assert rows[0] == [
        *("ja", EMAIL, "errand", "failed", "3", "1/2"),
        *("1970-01-01T00:00:00", "It broke."),
    ]
    assert rows[2][1] == "77"
    assert len(empty.run("jobs", "list", "--limit", 1).out.splitlines()) == 1


def test_a_failed_job_is_put_back_and_a_waiting_one_ended(empty: Library) -> None:
    empty.add_jobs(account_of(empty), "ja")

    assert empty.run("jobs", "retry", "ja").text == "Job ja is in the queue again.\n"
    assert empty.value("SELECT state FROM job") == "pending"
    refused = empty.run("jobs", "retry", "ja")
    assert refused.code == 1
    assert "It has not failed, or the same is under way already." in refused.text
    assert empty.run("jobs", "cancel", "ja").text == "Job ja is cancelled.\n"
    assert empty.sql("SELECT state, error FROM job") == [("failed", "It was cancelled.")]
    assert "It has ended already." in empty.run("jobs", "cancel", "ja").text


def test_an_unknown_job_is_told(empty: Library) -> None:
    for command in ("retry", "cancel"):
        ran = empty.run("jobs", command, "nothing")
        assert ran.code == 1
        assert "There is no job 'nothing'" in ran.text


def test_a_sqlite_library_needs_no_worker(tmp_path: object) -> None:
    ran = sqlite_library(tmp_path).run("worker")  # type: ignore[arg-type] # a Path

    assert ran.code == 1
    assert "bowerbird serve does its jobs" in ran.text


def add_export(library: Library) -> None:
    library.sql(
        "INSERT INTO job (account_id, job_id, kind, parameters, priority, state, tries, fence,"  # noqa: S608 - ours
        " due_at, done, total, created_at)"
        f" VALUES ({account_of(library)}, 'ja', 'export', '{{\"format\":\"json\"}}', 10,"
        " 'pending', 0, 0, 0, 0, 0, 0)"
    )


def mark_its_files(library: Library) -> None:
    """The first node says where files are kept."""
    with library.start("worker", stdin=subprocess.DEVNULL) as first:
        wait_until(lambda: bool(library.sql("SELECT 1 FROM secret")))
        first.send_signal(signal.SIGTERM)


def beside(library: Library) -> Library:
    """Another node, with a folder of its own."""
    folder = library.folder.parent / "elsewhere"
    return Library({**library.environment, "BOWERBIRD_DATA_DIR": str(folder)})


@ON_POSTGRES
def test_a_worker_does_what_is_asked_for_and_stops_in_order(empty: Library) -> None:
    add_export(empty)
    with empty.start("worker") as process:
        wait_until(lambda: empty.value("SELECT state FROM job") == "completed")
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=20)

    assert (process.returncode, out) == (0, "Working on background jobs.\n")
    assert len(list((empty.folder / "files" / "exports").rglob("*.json"))) == 1


@ON_POSTGRES
def test_nodes_that_do_not_share_their_files_are_refused(empty: Library) -> None:
    elsewhere = beside(empty)
    mark_its_files(empty)

    refused = elsewhere.run("worker")

    assert refused.code == 1
    assert "other nodes keep them elsewhere. Set BOWERBIRD_FILES_URL" in refused.text
    with elsewhere.start("serve", "--port", free_port()) as serving:
        _, told = serving.communicate(timeout=20)
    assert serving.returncode == 1
    assert "other nodes keep them elsewhere. Set BOWERBIRD_FILES_URL" in told
    moved = elsewhere.run("migrate", "--files-moved")
    assert "The next start says where files are kept." in moved.text
    assert empty.sql("SELECT 1 FROM secret") == []


@ON_POSTGRES
def test_a_worker_does_nothing_before_it_knows_that_files_are_shared(empty: Library) -> None:
    elsewhere = beside(empty)
    mark_its_files(empty)
    in_the_way = elsewhere.folder / "files"
    elsewhere.folder.mkdir()
    in_the_way.write_text("")
    add_export(empty)

    with elsewhere.start("worker") as process:
        assert process.stdout is not None
        assert "Not known yet" in process.stdout.readline()
        # It looks at the files, waits, and looks again: long enough to claim what is due.
        assert process.stderr is not None
        for _ in range(2):
            assert "files not known as shared" in process.stderr.readline()
        assert empty.value("SELECT state FROM job") == "pending"
        in_the_way.unlink()
        _, told = process.communicate(timeout=20)

    assert process.returncode == 1
    assert "other nodes keep them elsewhere. Set BOWERBIRD_FILES_URL" in told
    assert empty.sql("SELECT state, tries FROM job") == [("pending", 0)]


def test_a_deleted_account_leaves_no_file(empty: Library) -> None:
    account_id = account_of(empty)
    folder = empty.folder / "files" / "exports" / str(account_id)
    other = empty.folder / "files" / "exports" / "77"
    under_way = empty.folder / "scratch" / f"{account_id}-job-x1"
    for each in (folder, other, under_way):
        each.mkdir(parents=True)
        (each / "job.json").write_text("[]")

    assert empty.run("account", "delete", EMAIL, "--yes").code == 0

    assert not list(folder.glob("*"))
    assert not under_way.exists()
    assert list(other.glob("*"))


def test_doctor_tells_of_jobs_and_files(empty: Library) -> None:
    empty.add_jobs(account_of(empty), "ja")
    failed = empty.run("doctor").text
    assert "! jobs: 1 errand failed" in failed
    assert "✓ files:" in failed

    empty.run("jobs", "retry", "ja")

    assert "! jobs: 1 errand pending; nobody works on them" in empty.run("doctor").text


def test_doctor_tells_of_files_that_cannot_be_reached(empty: Library) -> None:
    away = Library(
        {
            **empty.environment,
            "BOWERBIRD_FILES_URL": "s3://shelf",
            "BOWERBIRD_FILES_S3_ENDPOINT": "http://127.0.0.1:9",
            "BOWERBIRD_FILES_S3_KEY_ID": "bower",
            "BOWERBIRD_FILES_S3_SECRET": "s",
        }
    )

    ran = away.run("doctor")

    assert ran.code == 1
    assert "✗ files: The files cannot be reached in s3://shelf: " in ran.text
    assert "BOWERBIRD_FILES_S3_SECRET=(hidden)" in ran.text
