"""How many parts a request records, when it records none, and what errors leave behind."""

import asyncio

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from bowerbird.errors import Code, Refusal
from bowerbird.telemetry.spans import MAX_PARTS, Spans


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
