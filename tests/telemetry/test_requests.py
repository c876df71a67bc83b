"""Spans of requests: what they record, and what they never do."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from bowerbird.errors import Code, Refusal
from bowerbird.telemetry.requests import MAX_PARTS, Spans, StatementNames
from tests.support import serving, toolcalls
from tests.support.hosts.collector import Collector, Span
from tests.support.waiting import wait_until
from tests.telemetry.conftest import Traced, traced_server

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

SERVER_KIND, CLIENT_KIND = 2, 3


def span_of(traced: Traced, method: str, path: str, **options: Any) -> Span:
    answer = traced.call(method, path, **options)
    return traced.collector.of_request(answer.headers["x-request-id"])


def test_a_span_has_the_request_id_and_its_trace_is_in_the_log(traced: Traced) -> None:
    answer = traced.call("GET", f"/v1/bookmarks/{traced.post_id}?x=1")
    span = traced.collector.of_request(answer.headers["x-request-id"])

    assert span.name == "GET /v1/bookmarks/{post_id}"
    assert span.kind == SERVER_KIND
    assert span.parent_id == ""
    assert not span.is_error
    assert span.attributes == {
        "bowerbird.request_id": answer.headers["x-request-id"],
        "http.request.method": "GET",
        "http.response.status_code": answer.status_code,
        "http.route": "/v1/bookmarks/{post_id}",
        "network.protocol.version": "1.1",
        "server.address": "localhost",
        "server.port": traced.server.port,
        "url.path": "/v1/bookmarks/{post_id}",
        "url.scheme": "http",
    }
    assert span.resource["service.name"] == "bowerbird"
    request_id = answer.headers["x-request-id"]
    [line] = wait_until(
        lambda: [each for each in traced.server.log() if each.get("id") == request_id]
    )
    assert line["trace_id"] == span.trace_id


def test_statements_are_parts_with_their_names(traced: Traced, place: dict[str, Any]) -> None:
    span = span_of(traced, "GET", "/v1/bookmarks?limit=1&q=bower&show_archived=true")
    parts = traced.collector.inside(span)

    system = "postgresql" if place else "sqlite"
    assert parts
    assert {part.attributes["db.system.name"] for part in parts} == {system}
    assert {part.kind for part in parts} == {CLIENT_KIND}
    assert all(part.parent_id == span.span_id for part in parts)
    assert "statement" not in {part.name for part in parts}
    assert any(part.name.startswith("bookmarks.") for part in parts)


def test_a_transaction_contains_its_statements(traced: Traced) -> None:
    span = span_of(traced, "PATCH", f"/v1/bookmarks/{traced.post_id}", json={"is_read": True})
    parts = traced.collector.inside(span)

    [transaction] = [part for part in parts if part.name == "transaction"]
    statements = [part for part in parts if part.parent_id == transaction.span_id]
    assert span.attributes["http.response.status_code"] == 200
    assert transaction.parent_id == span.span_id
    assert len(statements) > 1
    assert "statement" not in {part.name for part in statements}


def test_a_tool_call_is_a_part_of_its_request(traced: Traced) -> None:
    sent = toolcalls.message("tools/call", {"name": "list_bookmarks", "arguments": {"limit": 1}})
    span = span_of(traced, "POST", "/mcp", json=sent, headers=toolcalls.headers_of(sent))
    parts = traced.collector.inside(span)

    [tool] = [part for part in parts if part.name == "execute_tool list_bookmarks"]
    assert span.name == "POST /mcp"
    assert tool.parent_id == span.span_id
    assert tool.attributes["gen_ai.tool.name"] == "list_bookmarks"
    assert any(part.parent_id == tool.span_id for part in parts)


def test_the_trace_that_a_trusted_proxy_sends_is_continued(traced: Traced) -> None:
    span = span_of(traced, "GET", "/v1/account", headers={"traceparent": f"00-{TRACE}-{CALLER}-01"})

    assert (span.trace_id, span.parent_id) == (TRACE, CALLER)


def test_a_trusted_proxy_that_does_not_record_its_trace_is_respected(traced: Traced) -> None:
    other = "1" + TRACE[1:]
    headers = {"traceparent": f"00-{other}-{CALLER}-00"}
    unrecorded = traced.call("GET", "/v1/account", headers=headers)
    recorded = span_of(traced, "GET", "/v1/account")

    ids = {span.attributes.get("bowerbird.request_id") for span in traced.collector.spans()}
    assert recorded.attributes["bowerbird.request_id"] in ids
    assert unrecorded.headers["x-request-id"] not in ids
    assert other not in {span.trace_id for span in traced.collector.spans()}


def test_a_caller_that_is_not_a_trusted_proxy_does_not_decide_what_is_recorded(
    receiver: Collector, tmp_path: Path
) -> None:
    with traced_server(tmp_path, receiver, trusted_proxies="192.0.2.1") as stranger:
        for flag in ("00", "01"):
            headers = {"traceparent": f"00-{TRACE}-{CALLER}-{flag}"}
            span = span_of(stranger, "GET", "/v1/account", headers=headers)

            assert span.trace_id != TRACE
            assert span.parent_id == ""
            assert span.links == [CALLER]
        invalid = {"traceparent": f"ff-{TRACE}-{CALLER}-01"}
        assert span_of(stranger, "GET", "/v1/account", headers=invalid).links == []
        keyless = {"traceparent": f"00-{TRACE}-{CALLER}-00", "Authorization": ""}
        span = span_of(stranger, "GET", "/v1/account", headers=keyless)
        assert span.attributes["http.response.status_code"] == 401


def test_an_invalid_place_in_a_trace_is_ignored(traced: Traced) -> None:
    hostile = [
        b"",
        b"00",
        f"00-{TRACE}-{CALLER}-01-more".encode(),
        f"ff-{TRACE}-{CALLER}-01".encode(),
        f"00-{'0' * 32}-{CALLER}-01".encode(),
        f"00-{TRACE}-{'0' * 16}-01".encode(),
        f"00-{TRACE.upper()}-{CALLER}-01".encode(),
        f"00-{TRACE}-{CALLER}-zz".encode(),
        f"00-{TRACE}-{CALLER}-01".encode() + b"\xff",
        f"cc-{TRACE}-{CALLER}-01-".encode() + b"a" * 20_000,
    ]
    answers = [
        traced.call("GET", "/v1/account", headers={b"traceparent": value}) for value in hostile
    ]
    address = f"http://127.0.0.1:{traced.server.port}/v1/account"
    twice = [("traceparent", f"00-{TRACE}-{CALLER}-01")] * 2
    key = ("Authorization", f"Bearer {traced.key}")
    answers.append(serving.http.get(address, headers=[key, *twice]))

    assert {answer.status_code for answer in answers} == {200}
    for answer in answers:
        assert traced.collector.of_request(answer.headers["x-request-id"]).parent_id == ""


def test_health_checks_are_not_recorded(traced: Traced) -> None:
    other = "2" + TRACE[1:]
    headers = {"traceparent": f"00-{other}-{CALLER}-01"}
    assert traced.call("GET", "/healthz", headers=headers).status_code == 200
    assert traced.call("GET", "/readyz", headers=headers).status_code == 200
    span_of(traced, "GET", "/v1/account")

    assert other not in {span.trace_id for span in traced.collector.spans()}


def test_unknown_paths_and_methods_do_not_become_names(traced: Traced) -> None:
    missing = span_of(traced, "GET", "/v1/quokkaesque")
    odd = span_of(traced, "PROPFIND", "/v1/account")

    assert missing.name == "GET"
    assert missing.attributes["http.response.status_code"] == 404
    assert "http.route" not in missing.attributes
    assert odd.name == "HTTP /v1/account"
    assert odd.attributes["http.request.method"] == "_OTHER"
    assert not missing.is_error


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_a_request_that_the_database_cannot_answer_is_an_error(
    traced: Traced, request: pytest.FixtureRequest
) -> None:
    traced.call("GET", "/v1/account")
    server = request.getfixturevalue("postgres")
    server.pause()
    try:
        answer = traced.call("GET", "/v1/account")
    finally:
        server.resume()

    span = traced.collector.of_request(answer.headers["x-request-id"])
    assert answer.status_code == 503
    assert span.is_error
    assert span.attributes["error.type"] == "503"
    assert any(part.is_error for part in traced.collector.inside(span))


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Spans:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Spans(provider.get_tracer("tests"))


def whole_of(exporter: InMemorySpanExporter) -> ReadableSpan:
    [whole] = [span for span in exporter.get_finished_spans() if span.parent is None]
    return whole


def test_a_request_records_a_bounded_number_of_parts(
    spans: Spans, exporter: InMemorySpanExporter
) -> None:
    with spans.whole("whole", SpanKind.SERVER, {}):
        for _ in range(MAX_PARTS + 7):
            with spans.part("part", SpanKind.INTERNAL, {}):
                pass

    assert len(exporter.get_finished_spans()) == MAX_PARTS + 1
    assert dict(whole_of(exporter).attributes or {}) == {"bowerbird.omitted_spans": 7}


def test_nothing_is_recorded_outside_of_requests_and_jobs(
    spans: Spans, exporter: InMemorySpanExporter
) -> None:
    with spans.part("part", SpanKind.INTERNAL, {}):
        pass

    assert exporter.get_finished_spans() == ()


@pytest.mark.anyio
async def test_a_task_that_outlives_its_request_records_nothing_more(
    spans: Spans, exporter: InMemorySpanExporter
) -> None:
    is_over = asyncio.Event()

    async def later() -> None:
        await is_over.wait()
        with spans.part("late", SpanKind.INTERNAL, {}):
            pass

    with spans.whole("whole", SpanKind.SERVER, {}):
        task = asyncio.create_task(later())
        await asyncio.sleep(0)
    is_over.set()
    await task

    assert [span.name for span in exporter.get_finished_spans()] == ["whole"]


@pytest.mark.parametrize(
    ("error", "kind", "is_error"),
    [
        (ValueError("a word of somebody"), "ValueError", True),
        (Refusal(Code.NOT_FOUND, "a word of somebody"), "NOT_FOUND", False),
        (Refusal(Code.SERVICE_UNAVAILABLE, "a word of somebody"), "SERVICE_UNAVAILABLE", True),
        (asyncio.CancelledError(), "CancelledError", False),
    ],
)
def test_errors_are_recorded_without_their_message(
    spans: Spans,
    exporter: InMemorySpanExporter,
    *,
    error: BaseException,
    kind: str,
    is_error: bool,
) -> None:
    with pytest.raises(type(error)), spans.whole("whole", SpanKind.SERVER, {}):
        raise error

    whole = whole_of(exporter)
    assert dict(whole.attributes or {}) == {"error.type": kind}
    assert whole.status.is_ok is not is_error
    assert "somebody" not in whole.to_json()


def names() -> StatementNames:
    statements = {
        "one": "SELECT b.number FROM bookmark AS b WHERE b.post_id = :post_id",
        "page": "SELECT b.number FROM bookmark AS b WHERE {filters} LIMIT :limit",
        "numbers": "SELECT b.number FROM bookmark AS b WHERE {filters}",
        "joined": "{content} || x",
    }
    return StatementNames({"bookmarks": statements})


def test_a_statement_has_the_name_of_its_resource_and_its_own() -> None:
    one = "SELECT b.number FROM bookmark AS b WHERE b.post_id = :post_id"

    assert names().of(one) == "bookmarks.one"


def test_the_name_of_a_filled_statement_is_the_one_that_fits_best() -> None:
    filled = "SELECT b.number FROM bookmark AS b WHERE b.is_read AND b.author = :author"

    assert names().of(filled) == "bookmarks.numbers"
    assert names().of(f"{filled} LIMIT :limit") == "bookmarks.page"


ROOT = Path(__file__).parents[2]

PAGE = (ROOT / "docs" / "monitoring.md").read_text(encoding="utf-8").partition("## Traces")[2]

PACKAGE = ROOT / "src/bowerbird"

# What is recorded of models stands beside them.
FILES = (*(PACKAGE / "telemetry").glob("*.py"), PACKAGE / "search/meaning/embedding.py")

SOURCES = "".join(file.read_text(encoding="utf-8") for file in FILES)


def test_every_attribute_is_documented_and_every_documented_one_exists() -> None:
    table = PAGE.partition("| Span | Attributes |")[2].partition("\n\n")[0]
    documented = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", PAGE)) - {"bookmarks.page"}
    groups = "bowerbird|db|error|gen_ai|http|network|server|url"
    recorded = set(re.findall(rf'"((?:{groups})\.[a-z_.]+)"', SOURCES))

    assert table
    assert documented == recorded
    assert f"at most {MAX_PARTS} parts" in PAGE
