"""The traces of one process: what is wrapped to record them, and the thread that sends them.

The SDK's own messages may contain the URL with a password in it, or a token: sentences without
values replace them.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Collection, MutableMapping
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import uuid4

import structlog
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.version import __version__ as sdk_version
from opentelemetry.trace import Span, SpanKind
from requests import PreparedRequest, Request, Response, Session
from starlette.types import ASGIApp

from bowerbird import __version__, logs
from bowerbird.settings import Settings
from bowerbird.telemetry import requests
from bowerbird.telemetry.requests import (
    IsTrusted,
    Spans,
    StatementSpans,
    TracedRequests,
    describe_request,
)

if TYPE_CHECKING:
    from bowerbird.storage.database import Attributes

T = TypeVar("T")


class WatchedSession(Session):
    """Remembers why the last request failed, in words without its URL or headers."""

    def __init__(self) -> None:
        super().__init__()
        # Empty after a request that succeeded.
        self.failure = ""

    def send(self, request: PreparedRequest, **kwargs: Any) -> Response:
        response = self._watched(lambda: super(WatchedSession, self).send(request, **kwargs))
        if not response.ok:
            self.failure = f"The collector answered with status {response.status_code}."
        return response

    def prepare_request(self, request: Request) -> PreparedRequest:
        return self._watched(lambda: super(WatchedSession, self).prepare_request(request))

    def _watched(self, step: Callable[[], T]) -> T:
        try:
            done = step()
        except (OSError, ValueError) as error:
            self.failure = f"Sending to the collector failed ({type(error).__name__})."
            raise
        self.failure = ""
        return done


_IGNORED: Final = (
    "OpenTelemetry ignores the value of a variable (OTEL_…), because it is missing or invalid."
)
# A collector that does not answer must not delay a stop longer.
_STOP_S: Final = 2.0
_REPORT_EVERY_S: Final = 60.0
_MAX_REASON_CHARACTERS: Final = 300


class Traces:
    """Spans wait in a queue of bounded length; a thread sends them. If it is full, they are lost.

    Endpoint, sampler and queue come from OpenTelemetry's own variables.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        session = WatchedSession()
        self._failures = _Failures(session)
        # Not the provider of the whole process: other packages would record what they like.
        self._provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(session=session)))
        self._spans = Spans(self._provider.get_tracer("bowerbird", __version__))
        dialect = "sqlite" if settings.is_sqlite else "postgres"
        self._spans.observer = StatementSpans(self._spans, dialect)

    @property
    def annotations(self) -> logs.Annotations:
        return logs.Annotations(to_line=_add_trace_id, to_request=describe_request)

    def start(self) -> None:
        """Called on the event loop: its thread owns the log, in which failures are reported."""
        self._failures.start(asyncio.get_running_loop())

    def requests(
        self, serve: ASGIApp, *, untraced: Collection[str], is_trusted: IsTrusted
    ) -> ASGIApp:
        origin = self._settings.api_origin
        return TracedRequests(serve, self._spans, origin, untraced, is_trusted)

    def tool(self, name: str) -> AbstractContextManager[None]:
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
        return self._spans.part(f"execute_tool {name}", SpanKind.INTERNAL, attributes)

    def job(self, kind: str, job_id: str, tries: int) -> AbstractContextManager[Span]:
        attributes: Attributes = {
            "bowerbird.job.kind": kind,
            "bowerbird.job.id": job_id,
            "bowerbird.job.tries": tries,
        }
        links = self._spans.links_of(job_id)
        return self._spans.whole(f"job {kind}", SpanKind.CONSUMER, attributes, links=links)

    def stop(self) -> None:
        """Sends the spans that wait, if that takes no longer than two seconds."""
        # On a thread that the end of the process does not wait for.
        sending = threading.Thread(target=self._provider.shutdown, daemon=True)
        sending.start()
        sending.join(_STOP_S)
        self._failures.close()


def _resource() -> Resource:
    """Names this process. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come first."""
    own = Resource(
        {
            "service.name": "bowerbird",
            "service.version": __version__,
            "service.instance.id": str(uuid4()),
            "telemetry.sdk.language": "python",
            "telemetry.sdk.name": "opentelemetry",
            "telemetry.sdk.version": sdk_version,
        }
    )
    return own.merge(OTELResourceDetector().detect())


def _add_trace_id(event: MutableMapping[str, Any]) -> None:
    if span := requests.current():
        event["trace_id"] = requests.trace_id(span)


class _Failures(logging.Handler):
    """Writes a line to our log if spans cannot be sent, at most once per minute.

    Until `start`, the SDK logs only values of its variables that it ignores.
    """

    def __init__(self, session: WatchedSession) -> None:
        super().__init__(logging.WARNING)
        self._session = session
        self._has_ignored = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._silent_until = 0.0
        self._logger = logging.getLogger("opentelemetry")
        self._logger.propagate = False
        self._logger.addHandler(self)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called once the log is configured."""
        self._loop = loop
        if self._has_ignored:
            structlog.get_logger().warning("traces_variable_ignored", reason=_IGNORED)

    def emit(self, record: logging.LogRecord) -> None:
        if self._loop is None:
            self._has_ignored = True
            return
        now = time.monotonic()
        if now < self._silent_until:
            return
        self._silent_until = now + _REPORT_EVERY_S
        reason = (self._session.failure or record.getMessage())[:_MAX_REASON_CHARACTERS]
        # The loop may have ended.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(_report, reason)

    def close(self) -> None:
        self._logger.removeHandler(self)
        super().close()


def _report(reason: str) -> None:
    structlog.get_logger().warning("traces_not_sent", reason=reason)
