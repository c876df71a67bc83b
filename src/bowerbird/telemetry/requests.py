"""Spans of requests, jobs and their parts, and one span per HTTP request with its request id.

A part, such as a statement, a transaction or a call of a model, belongs to the request or job that
runs it. Attributes are names and numbers of ours: never a text, a key, an address, an account or
SQL. So errors are recorded by their type, without their message.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    format_trace_id,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import ASGIApp, Receive, Scope, Send

from bowerbird.errors import Refusal
from bowerbird.lru import LruCache
from bowerbird.storage import queries
from bowerbird.storage.database import OBSERVER, Attributes, Observer
from bowerbird.storage.queries import Queries

# A job may run thousands of statements. The first ones show its shape.
MAX_PARTS: Final = 128
# Jobs that wait for a worker of this process.
_QUEUED_JOBS: Final = 1_024
_SERVER_FAULT: Final = 500


class _Whole:
    """A request or a job: its span, and how many parts may still be recorded."""

    __slots__ = ("is_open", "omitted", "parts", "span")

    def __init__(self, span: Span) -> None:
        self.span = span
        # Parts of a request that is not sampled would be created only to be dropped.
        self.is_open = span.is_recording()
        self.parts = self.omitted = 0

    def take(self) -> bool:
        if not self.is_open:
            return False
        if self.parts == MAX_PARTS:
            self.omitted += 1
            return False
        self.parts += 1
        return True


class _Place(NamedTuple):
    """Where the running code is in a trace."""

    context: Context
    whole: _Whole


_PLACE: ContextVar[_Place | None] = ContextVar("place_in_trace", default=None)


class Spans:
    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        # Runs around the statements of requests and jobs.
        self.observer: Observer | None = None
        self._queued = LruCache(_QUEUED_JOBS)

    @contextmanager
    def whole(
        self,
        name: str,
        kind: SpanKind,
        attributes: Attributes,
        *,
        parent: Context | None = None,
        links: Sequence[Link] = (),
    ) -> Iterator[Span]:
        """A request or a job. What runs inside is recorded as its parts."""
        context = parent or Context()
        span = self._tracer.start_span(name, context, kind, attributes, links)
        whole = _Whole(span)
        _PLACE.set(_Place(set_span_in_context(span, context), whole))
        OBSERVER.set(self.observer if whole.is_open else None)
        try:
            yield span
        except BaseException as error:
            _record(span, error)
            raise
        finally:
            _PLACE.set(None)
            OBSERVER.set(None)
            # Tasks that outlive the request record nothing more.
            whole.is_open = False
            if whole.omitted:
                span.set_attribute("bowerbird.omitted_spans", whole.omitted)
            span.end()

    @contextmanager
    def part(self, name: str, kind: SpanKind, attributes: Attributes) -> Iterator[None]:
        """A part of the current request or job. Outside of them, nothing is recorded."""
        place = _PLACE.get()
        if place is None or not place.whole.take():
            yield
            return
        span = self._tracer.start_span(name, place.context, kind, attributes)
        _PLACE.set(_Place(set_span_in_context(span, place.context), place.whole))
        try:
            yield
        except BaseException as error:
            _record(span, error)
            raise
        finally:
            _PLACE.set(place)
            span.end()

    def note_queued(self, job_id: str) -> None:
        """Remembers which request added a job, to link the job's span with it."""
        place = _PLACE.get()
        if place is not None and place.whole.span.is_recording():
            place.whole.span.set_attribute("bowerbird.job.id", job_id)
            self._queued.put(job_id, place.whole.span.get_span_context())

    def links_of(self, job_id: str) -> list[Link]:
        """The request that added a job, if this process has answered it lately."""
        context: SpanContext | None = self._queued.peek(job_id)
        return [] if context is None else [Link(context)]


def current() -> Span | None:
    """The span of the current request or job."""
    place = _PLACE.get()
    return None if place is None else place.whole.span


def is_recording() -> bool:
    """Whether parts of the current request or job are recorded."""
    place = _PLACE.get()
    return place is not None and place.whole.is_open


def trace_id(span: Span) -> str:
    return format_trace_id(span.get_span_context().trace_id)


def _record(span: Span, error: BaseException) -> None:
    if isinstance(error, Refusal):
        span.set_attribute("error.type", error.code.value)
        if error.status < _SERVER_FAULT:
            return
    else:
        span.set_attribute("error.type", type(error).__qualname__)
    # The client disconnected, or the worker stopped.
    if not isinstance(error, asyncio.CancelledError):
        span.set_status(Status(StatusCode.ERROR))


# The methods that the conventions for HTTP name; clients may send any other word.
_METHODS: Final = frozenset(
    {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
)
# Version 00 has 55 characters. Later ones may add some.
_MAX_PARENT_BYTES: Final = 128
_PORTS: Final = {"http": 80, "https": 443}
# The pipeline names a path that does not exist like this.
_NO_ROUTE: Final = "unknown"
_propagator: Final = TraceContextTextMapPropagator()

# Whether a request comes from a proxy whose headers are trusted.
IsTrusted = Callable[[Scope], bool]


class TracedRequests:
    """Records what an ASGI application serves, except the paths of health checks."""

    def __init__(
        self,
        serve: ASGIApp,
        recorded: Spans,
        origin: str,
        untraced: Collection[str],
        is_trusted: IsTrusted,
    ) -> None:
        self._serve = serve
        self._spans = recorded
        self._untraced = untraced
        self._is_trusted = is_trusted
        address = urlsplit(origin)
        # From the settings: a client may send any name as Host.
        self._attributes: Attributes = {
            "server.address": address.hostname or "",
            "server.port": address.port or _PORTS.get(address.scheme, 0),
            "url.scheme": address.scheme,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._untraced:
            await self._serve(scope, receive, send)
            return
        method = _method(scope["method"])
        attributes = {
            **self._attributes,
            "http.request.method": method,
            "network.protocol.version": scope["http_version"],
        }
        name = "HTTP" if method == "_OTHER" else method
        parent = _parent(scope["headers"])
        links: Sequence[Link] = ()
        if parent is not None and not self._is_trusted(scope):
            links = _links(parent)
            parent = None
        with self._spans.whole(name, SpanKind.SERVER, attributes, parent=parent, links=links):
            await self._serve(scope, receive, send)


def describe_request(fields: dict[str, Any]) -> None:
    """Adds to the span what the log line of its request says, and the trace to the line."""
    span = current()
    if span is None:
        return
    fields["trace_id"] = trace_id(span)
    if span.is_recording():
        _describe(span, fields)


def _describe(span: Span, fields: dict[str, Any]) -> None:
    route, status = fields["route"], fields["status"]
    attributes = {"bowerbird.request_id": fields["id"], "http.response.status_code": status}
    if route != _NO_ROUTE:
        # The path itself may contain words of people, such as the name of a view, and tokens.
        attributes |= {"http.route": route, "url.path": route}
        span.update_name(f"{_name(fields['method'])} {route}")
    if status >= _SERVER_FAULT:
        attributes["error.type"] = str(status)
        span.set_status(Status(StatusCode.ERROR))
    # All at once: each call takes a lock.
    span.set_attributes(attributes)


def _method(text: str) -> str:
    return text if text in _METHODS else "_OTHER"


def _name(text: str) -> str:
    return text if text in _METHODS else "HTTP"


def _parent(headers: Iterable[tuple[bytes, bytes]]) -> Context | None:
    """The caller's place in its trace. A value that is not valid is ignored."""
    sent = [value for name, value in headers if name == b"traceparent"]
    if len(sent) != 1 or len(sent[0]) > _MAX_PARENT_BYTES:
        return None
    return _propagator.extract({"traceparent": sent[0].decode("latin-1")})


def _links(caller: Context) -> Sequence[Link]:
    """A stranger must not decide whether we record its requests, nor write into our traces."""
    place = get_current_span(caller).get_span_context()
    return [Link(place)] if place.is_valid else []


T = TypeVar("T")

UNKNOWN: Final = "statement"
_PLACEHOLDER: Final = re.compile(r"\{\w+(?:\[\d\])?\}")
# Statements with less text of their own, such as fragments, would fit too many others.
_LEAST_CHARACTERS: Final = 24
_ADD_JOB: Final = "jobs.add"


class StatementSpans:
    """The observer of the databases (`storage/database.py`)."""

    def __init__(self, spans: Spans, dialect: str) -> None:
        self._spans = spans
        self._names = StatementNames(queries.every(dialect))
        self._system = "sqlite" if dialect == "sqlite" else "postgresql"

    async def __call__(
        self,
        result: Awaitable[T],
        *,
        sql: str = "",
        name: str = "",
        attributes: Attributes | None = None,
    ) -> T:
        name = name or self._names.of(sql)
        kind = SpanKind.CLIENT if attributes is None else SpanKind.INTERNAL
        called = {"db.system.name": self._system, "db.query.summary": name}
        with self._spans.part(name, kind, attributes or called):
            found = await result
        if name == _ADD_JOB and isinstance(found, list) and found:
            self._spans.note_queued(str(found[0][0]))
        return found


class StatementNames:
    """Stores fill the placeholders of their statements, so a text is compared with what is left."""

    def __init__(self, statements: Mapping[str, Queries]) -> None:
        self._exact: dict[str, str] = {}
        # Of those with placeholders: the length of the fixed text, the name, and the pattern.
        self._filled: list[tuple[int, str, re.Pattern[str]]] = []
        for resource, named in statements.items():
            for key, text in named.items():
                name = f"{resource}.{key}"
                pieces = _PLACEHOLDER.split(text)
                length = sum(map(len, pieces))
                if len(pieces) == 1:
                    self._exact[text] = name
                elif length >= _LEAST_CHARACTERS:
                    first, *middle, last = map(re.escape, pieces)
                    # Without going back: a text of a caller that nearly fits would take seconds.
                    inner = "".join(f"(?>.*?{piece})" for piece in middle)
                    fitting = re.compile(f"{first}{inner}.*{last}", re.DOTALL)
                    self._filled.append((length, name, fitting))
        # The one that fits best comes first.
        self._filled.sort(key=lambda one: one[:2], reverse=True)

    def of(self, sql: str) -> str:
        if name := self._exact.get(sql):
            return name
        found = (name for _, name, fitting in self._filled if fitting.fullmatch(sql))
        return next(found, UNKNOWN)
