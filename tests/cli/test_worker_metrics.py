"""`bowerbird worker` serves its metrics on the admin port."""

import signal
import socket

import httpx
import pytest

from tests.cli.libraries import Library
from tests.cli.test_jobs import add_export
from tests.support import serving
from tests.support.waiting import wait_until

ON_POSTGRES = pytest.mark.parametrize("empty", ["postgres"], indirect=True)


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
        process.communicate(timeout=serving.PATIENCE_SECONDS)

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
            _, log = process.communicate(timeout=serving.PATIENCE_SECONDS)

    assert process.returncode == 0
    assert "metrics_not_served" in log
    assert "Set BOWERBIRD_ADMIN_PORT to another port" in log
