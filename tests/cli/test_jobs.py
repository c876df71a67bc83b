"""`bowerbird jobs` and `bowerbird worker`, which serves its metrics on the admin port."""

import signal
import socket
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import pytest

from bowerbird.clock import MICROSECONDS
from bowerbird.library.upkeep import health
from bowerbird.library.upkeep.health import Mark
from bowerbird.model.jobs import JobCount, QueueState
from bowerbird.settings import Settings
from tests.cli.libraries import EMAIL, Library, sqlite_library
from tests.support import serving
from tests.support.serving import free_port
from tests.support.waiting import PATIENCE_S, wait_until

ON_POSTGRES = pytest.mark.parametrize("empty", ["postgres"], indirect=True)

NO_CLAIMS = {
    "sqlite": [
        "CREATE TRIGGER n BEFORE UPDATE ON job BEGIN SELECT RAISE(ABORT, 'table is closed'); END"
    ],
    "postgres": [
        """CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql
           AS $$ BEGIN RAISE EXCEPTION 'table is closed'; END $$""",
        "CREATE TRIGGER no BEFORE UPDATE ON job EXECUTE FUNCTION no()",
    ],
}


def account_of(library: Library) -> int:
    library.run("account", "create", EMAIL)
    return int(library.value("SELECT account_id FROM person"))


def test_lists_jobs_newest_first(empty: Library) -> None:
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


@pytest.mark.both
def test_retries_a_failed_job_and_cancels_a_queued_one(empty: Library) -> None:
    empty.add_jobs(account_of(empty), "ja")

    assert empty.run("jobs", "retry", "ja").text == "Job ja is queued again.\n"
    assert empty.value("SELECT state FROM job") == "pending"
    refused = empty.run("jobs", "retry", "ja")
    assert refused.code == 1
    assert "Job ja has not failed, or the same work is already queued or running." in refused.text
    assert empty.run("jobs", "cancel", "ja").text == "Cancelled job ja.\n"
    assert empty.sql("SELECT state, error FROM job") == [("failed", "The job was cancelled.")]
    assert "Job ja has already ended." in empty.run("jobs", "cancel", "ja").text


def test_an_unknown_job_is_refused(empty: Library) -> None:
    for command in ("retry", "cancel"):
        ran = empty.run("jobs", command, "nothing")
        assert ran.code == 1
        assert "No job has the id 'nothing'" in ran.text


def test_an_argument_that_is_no_text_is_refused(tmp_path: Path) -> None:
    library = sqlite_library(tmp_path / "data")
    library.fill(1)
    _, failure = (command := library.start("jobs", "retry", "\udcff")).communicate()
    assert (command.returncode, failure) == (1, "Error: An argument is not valid UTF-8.\n")


def test_output_that_the_terminal_cannot_show_is_no_wrong_argument(tmp_path: Path) -> None:
    library = sqlite_library(tmp_path / "data")
    library.fill(1)
    library.environment["PYTHONIOENCODING"] = "latin-1"
    (named := tmp_path / "\N{BIRD}.txt").write_text("https://x.com/ada/status/20")
    _, failure = (command := library.start("import", EMAIL, named)).communicate()
    sentence = "The output cannot be written as latin-1; set PYTHONUTF8=1."
    assert (command.returncode, failure) == (1, f"Error: {sentence}\n")


def test_the_worker_does_not_start_on_sqlite(tmp_path: object) -> None:
    ran = sqlite_library(tmp_path).run("worker")  # type: ignore[arg-type] # a Path

    assert ran.code == 1
    assert "bowerbird serve runs its jobs" in ran.text


def add_export(library: Library) -> None:
    library.sql(
        "INSERT INTO job (account_id, job_id, kind, parameters, priority, state, tries, fence,"  # noqa: S608 - ours
        " due_at, done, total, created_at)"
        f" VALUES ({account_of(library)}, 'ja', 'export', '{{\"format\":\"json\"}}', 10,"
        " 'pending', 0, 0, 0, 0, 0, 0)"
    )


def record_file_location(library: Library) -> None:
    """Starts a first node, which records where files are stored."""
    with library.start("worker", stdin=subprocess.DEVNULL) as first:
        wait_until(lambda: bool(library.sql("SELECT 1 FROM secret")))
        first.send_signal(signal.SIGTERM)


def node_with_other_folder(library: Library) -> Library:
    """Another node of the same database, with its own folder."""
    folder = library.folder.parent / "elsewhere"
    return Library({**library.environment, "BOWERBIRD_DATA_DIR": str(folder)})


@ON_POSTGRES
def test_a_worker_runs_a_job_and_stops_on_sigterm(empty: Library) -> None:
    add_export(empty)
    with empty.start("worker") as process:
        wait_until(lambda: empty.value("SELECT state FROM job") == "completed")
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=120)

    assert (process.returncode, out) == (0, "Running background jobs.\n")
    assert len(list((empty.folder / "files" / "exports").rglob("*.json"))) == 1


@ON_POSTGRES
def test_a_worker_waits_for_a_database_that_is_away(empty: Library, tmp_path: Path) -> None:
    add_export(empty)
    url = empty.environment["BOWERBIRD_DATABASE_URL"]
    [folder] = parse_qs(urlsplit(url).query)["host"]
    socket = tmp_path / "s"
    away = url.replace(quote(folder, safe=""), quote(str(socket), safe=""))
    node = Library({**empty.environment, "BOWERBIRD_DATABASE_URL": away})

    with node.start("worker") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "Not ready: PostgreSQL cannot be reached" in process.stdout.readline()
        assert "shared_files_check_failed" in process.stderr.readline()
        socket.symlink_to(folder)
        wait_until(lambda: empty.value("SELECT state FROM job") == "completed")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)

    assert process.returncode == 0


@pytest.mark.both
@ON_POSTGRES
def test_a_node_that_does_not_share_its_files_does_not_start(empty: Library) -> None:
    elsewhere = node_with_other_folder(empty)
    record_file_location(empty)

    refused = elsewhere.run("worker")

    assert refused.code == 1
    assert "other nodes store them elsewhere. Set BOWERBIRD_FILES_URL" in refused.text
    with elsewhere.start("serve", "--port", free_port()) as serving:
        _, errors = serving.communicate(timeout=120)
    assert serving.returncode == 1
    assert "other nodes store them elsewhere. Set BOWERBIRD_FILES_URL" in errors
    moved = elsewhere.run("migrate", "--files-moved")
    assert "The next server or worker that starts records where it stores files." in moved.text
    assert empty.sql("SELECT 1 FROM secret") == []


@ON_POSTGRES
def test_a_worker_runs_no_job_until_it_knows_that_files_are_shared(empty: Library) -> None:
    elsewhere = node_with_other_folder(empty)
    record_file_location(empty)
    obstacle = elsewhere.folder / "files"
    elsewhere.folder.mkdir()
    obstacle.write_text("")
    add_export(empty)

    with elsewhere.start("worker") as process:
        assert process.stdout is not None
        assert "Cannot check yet" in process.stdout.readline()
        # It checks the files, waits and checks again: long enough for a worker to claim a job.
        assert process.stderr is not None
        for _ in range(2):
            assert "shared_files_check_failed" in process.stderr.readline()
        assert empty.value("SELECT state FROM job") == "pending"
        obstacle.unlink()
        _, errors = process.communicate(timeout=120)

    assert process.returncode == 1
    assert "other nodes store them elsewhere. Set BOWERBIRD_FILES_URL" in errors
    assert empty.sql("SELECT state, tries FROM job") == [("pending", 0)]


@pytest.mark.both
def test_deleting_an_account_deletes_its_files(empty: Library) -> None:
    account_id = account_of(empty)
    folder = empty.folder / "files" / "exports" / str(account_id)
    other = empty.folder / "files" / "exports" / "77"
    unfinished = empty.folder / "scratch" / f"{account_id}-job-x1"
    for each in (folder, other, unfinished):
        each.mkdir(parents=True)
        (each / "job.json").write_text("[]")

    assert empty.run("account", "delete", EMAIL, "--yes").code == 0

    assert not list(folder.glob("*"))
    assert not unfinished.exists()
    assert list(other.glob("*"))


def test_doctor_reports_jobs_and_files(empty: Library) -> None:
    empty.add_jobs(account_of(empty), "ja")
    failed = empty.run("doctor").text
    assert "! jobs: 1 errand job failed" in failed
    assert "✓ files:" in failed

    empty.run("jobs", "retry", "ja")

    assert "! jobs: 1 errand job waiting; no process is running them" in empty.run("doctor").text


@pytest.mark.both
def test_doctor_says_that_due_jobs_have_no_worker(empty: Library) -> None:
    due = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
    if not empty.settings.is_sqlite:
        due = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"
    empty.add_jobs(account_of(empty), "ja", "jb", state="pending")

    def doctor(state: str, seconds: int) -> str:
        """What it says about two jobs of which the second has this state and due date."""
        empty.sql(f"UPDATE job SET created_at = {due}, due_at = {due}")  # noqa: S608 - ours
        empty.sql("UPDATE job SET due_at = due_at - 60000000 WHERE job_id = 'ja'")
        change = f"state = '{state}', due_at = due_at + {seconds * 1_000_000}"
        empty.sql(f"UPDATE job SET {change} WHERE job_id = 'jb'")  # noqa: S608 - ours
        return empty.run("doctor").text

    fix = "run bowerbird serve"
    if not empty.settings.is_sqlite:
        fix = "run bowerbird worker, or bowerbird serve without --no-worker"
    # The other job waits for its next attempt, or a dead worker held it.
    for state, seconds in (("pending", 30), ("processing", -1)):
        said = doctor(state, seconds)
        assert "no process is running them" in said
        assert f"    fix: {fix}\n" in said
    # A live lease: a worker is busy.
    assert "✓ jobs: 1 errand job waiting, 1 errand job running\n" in doctor("processing", 200)


def test_doctor_says_why_workers_cannot_claim_jobs(empty: Library) -> None:
    empty.add_jobs(account_of(empty), "ja", state="pending")
    for statement in NO_CLAIMS["sqlite" if empty.settings.is_sqlite else "postgres"]:
        empty.sql(statement)

    ran = empty.run("doctor")

    assert ran.code == 1
    assert "✗ jobs: 1 errand job waiting; workers cannot claim them: " in ran.text
    assert "table is closed" in ran.text
    assert "bowerbird worker" not in ran.text
    assert empty.value("SELECT state FROM job") == "pending"


def test_a_job_that_has_just_been_queued_is_no_problem() -> None:
    now = 1_000_000_000_000_000
    counts = [JobCount("export", "pending", 1, now - MICROSECONDS)]

    for waited_s, mark in ((1, Mark.GOOD), (16, Mark.WARNING)):
        queue = QueueState(due=1, waited=waited_s * MICROSECONDS, running=0)
        assert health.queue_result(Settings(), counts, queue, now).mark is mark


def test_doctor_reports_unreachable_files(empty: Library) -> None:
    unreachable = Library(
        {
            **empty.environment,
            "BOWERBIRD_FILES_URL": "s3://shelf",
            "BOWERBIRD_FILES_S3_ENDPOINT": "http://127.0.0.1:9",
            "BOWERBIRD_FILES_S3_KEY_ID": "bower",
            "BOWERBIRD_FILES_S3_SECRET": "s",
        }
    )

    ran = unreachable.run("doctor")

    assert ran.code == 1
    assert "✗ files: cannot reach the files in s3://shelf: " in ran.text
    assert "BOWERBIRD_FILES_S3_SECRET=(hidden)" in ran.text


def with_admin_port(library: Library, port: int) -> Library:
    return Library({**library.environment, "BOWERBIRD_ADMIN_PORT": str(port)})


def metrics_at(port: int) -> str:
    try:
        return serving.http.get(f"http://127.0.0.1:{port}/metrics").text
    except httpx.TransportError:
        return ""


@ON_POSTGRES
def test_a_worker_serves_the_metrics_of_its_jobs(empty: Library) -> None:
    port = serving.free_port()
    worker = with_admin_port(empty, port)
    add_export(worker)

    with worker.start("worker") as process:
        done = 'bowerbird_job_attempts_total{kind="export",outcome="completed"} 1.0'
        wait_until(lambda: done in metrics_at(port))
        metrics = metrics_at(port)
        page = serving.http.get(f"http://127.0.0.1:{port}/v1/bookmarks")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)

    assert 'bowerbird_job_seconds_count{kind="export"} 1.0' in metrics
    # Of the whole queue, and of the search by meaning.
    assert "# TYPE bowerbird_oldest_job_seconds gauge" in metrics
    assert "# TYPE bowerbird_posts_pending_embedding gauge" in metrics
    assert page.status_code == 404
    assert process.returncode == 0


@ON_POSTGRES
def test_a_worker_whose_admin_port_is_in_use_runs_jobs_and_says_so(empty: Library) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        worker = with_admin_port(empty, other.getsockname()[1])
        add_export(worker)
        with worker.start("worker") as process:
            wait_until(lambda: worker.value("SELECT state FROM job") == "completed")
            process.send_signal(signal.SIGTERM)
            _, log = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 0
    assert "metrics_not_served" in log
    assert "Set BOWERBIRD_ADMIN_PORT to another port" in log
