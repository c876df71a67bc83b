"""A collector of traces for tests: receives OTLP over HTTP and decodes it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from tests.support.hosts.loopback import Handler, on_thread
from tests.support.waiting import wait_until


@dataclass(frozen=True)
class Span:
    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, Any]
    is_error: bool
    # Span ids of other traces.
    links: list[str]
    resource: dict[str, Any]


@dataclass
class Collector:
    url: str = ""
    bodies: list[bytes] = field(default_factory=list)

    def spans(self) -> list[Span]:
        return [span for body in list(self.bodies) for span in _decoded(body)]

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans() if span.name == name]

    def of_request(self, request_id: str) -> Span:
        """Waits for the span of a request."""

        def found() -> list[Span]:
            key = "bowerbird.request_id"
            return [span for span in self.spans() if span.attributes.get(key) == request_id]

        [span] = wait_until(found)
        return span

    def inside(self, whole: Span) -> list[Span]:
        """The parts of a request or a job, and their own parts."""
        return [
            span
            for span in self.spans()
            if span.trace_id == whole.trace_id and span.span_id != whole.span_id
        ]


def _decoded(body: bytes) -> Iterator[Span]:
    for group in ExportTraceServiceRequest.FromString(body).resource_spans:
        resource = _values(group.resource.attributes)
        for scope in group.scope_spans:
            for span in scope.spans:
                yield Span(
                    span.name,
                    span.kind,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    _values(span.attributes),
                    span.status.code == span.status.STATUS_CODE_ERROR,
                    [link.span_id.hex() for link in span.links],
                    resource,
                )


def _values(pairs: Sequence[KeyValue]) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, str(pair.value.WhichOneof("value"))) for pair in pairs}


@contextmanager
def collector() -> Iterator[Collector]:
    received = Collector()

    class Traces(Handler):
        def reply(self) -> None:
            assert self.path == "/v1/traces"
            received.bodies.append(self.body())
            answer = ExportTraceServiceResponse().SerializeToString()
            self.answer(answer, Content_Type="application/x-protobuf")

    with on_thread(Traces) as port:
        received.url = f"http://127.0.0.1:{port}"
        yield received
