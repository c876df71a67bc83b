"""PostgreSQL in two commands: `migrate`, then `serve`, which runs the jobs too."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import serving
from tests.support.postgres import ThrowawayPostgres
from tests.support.serving import Server
from tests.support.waiting import wait_until

NO_JOBS = "  Jobs     not run by this server; start bowerbird worker\n"


@pytest.fixture
def url(postgres: ThrowawayPostgres) -> Iterator[str]:
    with postgres.fresh_database() as found:
        yield found


def state_of(server: Server, key: str, job_id: str) -> str:
    return str(server.get(f"/v1/exports/{job_id}", key).json()["data"]["status"])


def start_export(server: Server, key: str) -> str:
    address = f"http://127.0.0.1:{server.port}/v1/exports/json"
    answer = serving.http.post(address, headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["data"]["job_id"])


def is_ended(server: Server, key: str, job_id: str) -> bool:
    return state_of(server, key, job_id) not in ("pending", "processing")


def test_an_export_completes_without_another_process(url: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"database_url": url, "data_dir": tmp_path / "data"}
    environment = serving.environment_of(**settings)
    assert serving.bowerbird("migrate", environment=environment).returncode == 0

    with serving.serving(tmp_path, "--workers", "2", **settings) as server:
        key = server.new_key()
        assert NO_JOBS not in server.output()
        job_id = start_export(server, key)
        wait_until(lambda: is_ended(server, key, job_id))
        assert state_of(server, key, job_id) == "completed"
        assert server.stop() == 0


def test_a_server_that_starts_before_the_migration_serves_and_runs_jobs_after_it(
    url: str, tmp_path: Path
) -> None:
    with serving.serving(tmp_path, database_url=url) as server:
        assert "Not ready: The PostgreSQL database has not been migrated" in server.output()
        assert server.get("/readyz").status_code == 503
        assert server.get("/healthz").status_code == 200
        server.run("migrate")
        assert server.get("/readyz").status_code == 200
        key = server.new_key()
        job_id = start_export(server, key)
        wait_until(lambda: is_ended(server, key, job_id))
        assert state_of(server, key, job_id) == "completed"
        assert not [line for line in server.log() if line["level"] == "error"]


def test_without_a_worker_jobs_wait_and_doctor_says_so(url: str, tmp_path: Path) -> None:
    serving.command("migrate", environment=serving.environment_of(database_url=url))
    with serving.serving(tmp_path, "--no-worker", database_url=url) as server:
        key = server.new_key()
        assert NO_JOBS in server.output()
        job_id = start_export(server, key)

        wait_until(
            lambda: (
                "no process is running them"
                in serving.bowerbird("doctor", environment=server.environment).stdout
            ),
        )
        assert state_of(server, key, job_id) == "pending"


def test_a_sqlite_library_cannot_do_without_its_worker(tmp_path: Path) -> None:
    ran = serving.bowerbird(
        "serve", "--no-worker", environment=serving.environment_of(data_dir=tmp_path / "data")
    )

    assert ran.returncode == 2
    assert "--no-worker needs PostgreSQL" in ran.stderr
    assert not (tmp_path / "data").exists()
