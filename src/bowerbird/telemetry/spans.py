"""Spans of requests and jobs, and of their parts. A part belongs to the request that runs it.

Attributes are names and numbers of ours: never a text, a key, an address or an account. So errors
are recorded by their type, without their message.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

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
    set_span_in_context,
)

from bowerbird.errors import Refusal
from bowerbird.lru import LruCache
from bowerbird.storage.database import OBSERVER, Attributes, Observer

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
