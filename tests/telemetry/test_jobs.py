"""Spans of jobs, in the server and in a worker of its own, and of embedding."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.databases import TEMPLATE
from tests.support.hosts.collector import Collector, Span
from tests.support.hosts.embedding_service import embedding_service
from tests.support.postgres import ThrowawayPostgres
from tests.support.serving import BOWERBIRD, Server
from tests.support.waiting import PATIENCE_S, wait_until
from tests.telemetry.conftest import SECRET_TEXT, Traced, traced_server

CONSUMER_KIND = 5


def start_export(traced: Traced) -> tuple[str, Span]:
    """The id of a new export job, and the span of the request that added it."""
    answer = traced.call("POST", "/v1/exports/json")
    assert answer.status_code == 202, answer.text
    span = traced.collector.of_request(answer.headers["x-request-id"])
    return str(answer.json()["data"]["job_id"]), span


def span_of_job(receiver: Collector, job_id: str) -> Span:
    def found() -> list[Span]:
        key = "bowerbird.job.id"
        return [s for s in receiver.named("job export") if s.attributes.get(key) == job_id]

    [span] = wait_until(found)
    return span


def test_a_job_is_linked_with_the_request_that_added_it(traced: Traced) -> None:
    job_id, request = start_export(traced)
    job = span_of_job(traced.collector, job_id)

    assert request.attributes["bowerbird.job.id"] == job_id
    assert job.links == [request.span_id]
    assert job.trace_id != request.trace_id
    assert job.kind == CONSUMER_KIND
    assert not job.is_error
    assert job.attributes == {
        "bowerbird.job.id": job_id,
        "bowerbird.job.kind": "export",
        "bowerbird.job.tries": 1,
    }
    assert traced.collector.inside(job)


@contextmanager
def worker(server: Server, folder: Path) -> Iterator[None]:
    with (folder / "worker").open("wb") as output:
        process = subprocess.Popen(
            [*BOWERBIRD, "worker"],
            env={**server.environment, "BOWERBIRD_ADMIN_PORT": "0"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        yield
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


def test_a_worker_of_its_own_sends_spans_with_the_same_job_id(
    postgres: ThrowawayPostgres, receiver: Collector, tmp_path: Path
) -> None:
    with (
        postgres.fresh_database(TEMPLATE) as url,
        traced_server(tmp_path, receiver, "--no-worker", database_url=url) as traced,
    ):
        job_id, request = start_export(traced)
        with worker(traced.server, tmp_path):
            job = span_of_job(receiver, job_id)

    assert request.attributes["bowerbird.job.id"] == job_id
    assert job.links == []
    instance = "service.instance.id"
    assert job.resource[instance] != request.resource[instance]


def test_calls_of_the_embedding_model_are_parts(receiver: Collector, tmp_path: Path) -> None:
    with (
        embedding_service() as service,
        traced_server(
            tmp_path, receiver, embedding_url=service.url, embedding_key=service.key
        ) as traced,
    ):
        [job, *_] = wait_until(lambda: receiver.named("job embed"))
        path = f"/v1/bookmarks?vector_search_term={SECRET_TEXT}"
        answer = wait_until(
            lambda: (found := traced.call("GET", path)).json().get("data") and found
        )
        request = receiver.of_request(answer.headers["x-request-id"])

    [posts] = [part for part in receiver.inside(job) if part.name == "embed posts"]
    [query] = [part for part in receiver.inside(request) if part.name == "embed query"]
    assert posts.attributes == {
        "gen_ai.request.model": "text-embedding-3-small",
        "bowerbird.texts": 1,
    }
    assert query.parent_id == request.span_id
