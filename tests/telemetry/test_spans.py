"""What requests record: their parts, the names of statements, errors; and what the pages say."""

import asyncio
import re
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from bowerbird.errors import Code, Refusal
from bowerbird.telemetry.spans import MAX_PARTS, Spans
from bowerbird.telemetry.statements import StatementNames


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
