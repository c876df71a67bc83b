"""The traces of one process: what is wrapped to record them, and the thread that sends them.

The SDK's own messages about a failure contain the URL, which may have a password in it, and some
have no cause: one sentence replaces them. So does one about each wrong variable of OpenTelemetry,
which the SDK ignores or only logs. It never names the value, which may be a token.
"""

import asyncio
import difflib
import logging
import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import structlog
from opentelemetry import environment_variables
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk import environment_variables as sdk_environment_variables
from opentelemetry.sdk.environment_variables import (
    OTEL_EXPORTER_OTLP_PROTOCOL,
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL,
)
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.version import __version__ as sdk_version
from opentelemetry.trace import Span, SpanKind
from requests import PreparedRequest, Request, RequestException, Response, Session, Timeout
from requests.exceptions import InvalidHeader, InvalidSchema
from starlette.types import ASGIApp

from bowerbird import __version__, logs
from bowerbird.settings import Settings
from bowerbird.telemetry import spans
from bowerbird.telemetry.requests import IsTrusted, StatementSpans, TracedRequests, describe_request
from bowerbird.telemetry.spans import Spans

if TYPE_CHECKING:
    from bowerbird.storage.database import Attributes

_BAD_URL: Final = "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL with http:// or https://."


class WatchedSession(Session):
    """Remembers why the last request failed."""

    def __init__(self) -> None:
        super().__init__()
        # Empty after a request that succeeded.
        self.failure = ""

    def send(self, request: PreparedRequest, **kwargs: Any) -> Response:
        try:
            response = super().send(request, **kwargs)
        except (OSError, ValueError) as error:
            self.failure = _failure(error)
            raise
        status = response.status_code
        self.failure = (
            "" if response.ok else f"The collector answered with status {_named(status)}."
        )
        return response

    def prepare_request(self, request: Request) -> PreparedRequest:
        try:
            return super().prepare_request(request)
        except InvalidHeader:
            self.failure = "OTEL_EXPORTER_OTLP_HEADERS has a value that no header can have."
            raise
        except RequestException:
            self.failure = _BAD_URL
            raise


def _failure(error: BaseException) -> str:
    if isinstance(error, InvalidSchema):
        return _BAD_URL
    if isinstance(error, Timeout):
        return "The collector did not answer in time."
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return "The name of the collector cannot be resolved."
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"The certificate of the collector is refused: {cause.verify_message}."
        if isinstance(cause, OSError) and cause.errno:
            return f"The collector cannot be reached: {os.strerror(cause.errno)}."
        cause = _inner(cause)
    return f"Sending to the collector failed ({type(error).__name__})."


def _inner(error: BaseException) -> BaseException | None:
    """The libraries keep the error that they wrap in different places."""
    kept = (getattr(error, "reason", None), *error.args, error.__cause__, error.__context__)
    return next((each for each in kept if isinstance(each, BaseException)), None)


def _named(status: int) -> str:
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)


_PREFIX: Final = "OTEL_"
_NAME: Final = re.compile(r"[A-Z][A-Z_]+")
# The exporter would load a session of its own, but gets ours.
_UNUSED: Final = "_CREDENTIAL_PROVIDER"
_PROTOCOL: Final = "http/protobuf"


def _known() -> Iterator[str]:
    for module in (environment_variables, sdk_environment_variables):
        for value in vars(module).values():
            is_name = isinstance(value, str) and value.startswith(_PREFIX)
            if is_name and not value.endswith(_UNUSED):
                yield value


KNOWN: Final = frozenset(_known())


def without_effect(environment: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable that nothing reads, or whose value has no effect."""
    for name in sorted(environment):
        if name.startswith(_PREFIX) and name not in KNOWN:
            nearest = difflib.get_close_matches(name, sorted(KNOWN), n=1)
            hint = f" Did you mean {nearest[0]}?" if nearest else ""
            yield f"{name} is unknown and has no effect.{hint}"
    for name in (OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL):
        if environment.get(name, "").strip() not in ("", _PROTOCOL):
            yield f"{name} has no effect: the service sends {_PROTOCOL} only."


def invalid(record: logging.LogRecord, environment: Mapping[str, str]) -> str:
    """A sentence for what the SDK logs about a value while it reads the variables."""
    names = _names_in(record) or _names_with_value(record, environment)
    if not names:
        return "OpenTelemetry ignores the value of one of its variables (OTEL_…)."
    listed = " or ".join(names)
    return f"The value of {listed} is missing or invalid, so OpenTelemetry ignores it."


def _names_in(record: logging.LogRecord) -> list[str]:
    words = set(_NAME.findall(record.getMessage()))
    return sorted(name for name in KNOWN if {name, name.removeprefix(_PREFIX)} & words)


def _names_with_value(record: logging.LogRecord, environment: Mapping[str, str]) -> list[str]:
    given = record.args if isinstance(record.args, tuple) else ()
    parts = [each.strip().lower() for each in given if isinstance(each, str) and each.strip()]
    values = {name: environment[name].strip().lower() for name in sorted(KNOWN & {*environment})}
    equal = [name for name, value in values.items() if value in parts]
    return equal or [name for name, value in values.items() if any(part in value for part in parts)]


# A collector that does not answer must not delay a stop longer.
_STOP_S: Final = 2.0
_REPORT_EVERY_S: Final = 60.0
_MAX_REASON_CHARACTERS: Final = 300
_MAX_PROBLEMS: Final = 20


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
    if span := spans.current():
        event["trace_id"] = spans.trace_id(span)


class _Failures(logging.Handler):
    """Writes a line to our log if spans cannot be sent, at most once per minute.

    Until `start`, the SDK logs only values of its variables that it ignores.
    """

    def __init__(self, session: WatchedSession) -> None:
        super().__init__(logging.WARNING)
        self._session = session
        self._problems: list[str] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._silent_until = 0.0
        self._logger = logging.getLogger("opentelemetry")
        self._logger.propagate = False
        self._logger.addHandler(self)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Called once the log is configured."""
        self._loop = loop
        problems = [*without_effect(os.environ), *self._problems]
        for problem in problems[:_MAX_PROBLEMS]:
            structlog.get_logger().warning("traces_variable_ignored", reason=problem)

    def emit(self, record: logging.LogRecord) -> None:
        if self._loop is None:
            self._problems.append(invalid(record, os.environ))
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
