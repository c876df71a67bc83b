"""The site: looks paths up in a table of pages and documents, and caches what is rendered."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import Any, Final, Protocol

import structlog

from bowerbird.clock import Clock
from bowerbird.errors import Code, Refusal
from bowerbird.model import bulk
from bowerbird.settings import Settings
from bowerbird.web.reference import Route
from bowerbird.web.schema_rows import Json
from bowerbird.web.site_paths import Maker, Resource, SitePaths
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Pipeline, Request, RoutedPath, Surface
from bowerbird.wire.responses import documents
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.responses.replies import Header, Reply

_PLAIN: Final[list[Header]] = [
    (b"content-type", b"text/plain; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"vary", b"Accept"),
    (b"x-content-type-options", b"nosniff"),
    (b"access-control-allow-origin", b"*"),
]
_WITHOUT_BODY: Final = (204, 304)

ShowPublished = Callable[[Request], Awaitable[Reply]]


class PathFinder(Protocol):
    """Finds the pages that differ for each visitor."""

    def find(self, path: str) -> tuple[RoutedPath | None, dict[str, Any]]: ...

    def has_session(self, request: Request) -> bool: ...


Visits = Callable[[ShowPublished], PathFinder]
# Its expiry date is counted from today, so it is rendered for every request.
_NOT_CACHED: Final = "/.well-known/security.txt"


def site(
    settings: Settings,
    openapi: Callable[[], Json],
    sandbox: Collection[Route],
    clock: Clock,
    metrics: RequestMetrics,
    *,
    sections: Collection[str],
    visits: Visits,
) -> Pipeline:
    """Serves every path outside /v1 and the tool server.

    `openapi` builds the OpenAPI document. `sandbox` lists the routes of the API, by method and
    path, that the sandbox offers too; it is empty when there is no sandbox. `sections` names those
    of the reference. `visits` builds the pages that differ for each visitor.
    """
    pages = _Site(SitePaths(settings, openapi, sandbox, sections, clock), visits)
    surface = Surface(
        find=pages.find,
        phrase_refusal=pages.phrase_refusal,
        extra_headers=_content_length,
        on_arrival=pages.load,
        preflight=_preflight,
        maker=bulk.Maker.PAGE,
    )
    return Pipeline(surface, metrics)


class _Site:
    def __init__(self, paths: SitePaths, visits: Visits) -> None:
        self._paths = paths
        self._visits = visits(self.show_published)
        self._makers: dict[str, Maker] = {}
        self._table: dict[str, RoutedPath] | None = None
        # For strangers, and for those who are signed in.
        self._missing: tuple[Resource, Resource] | None = None
        self._rendered: dict[str, Resource] = {}

    async def load(self, _: Request) -> None:
        if self._table is None:
            # Reading the OpenAPI document and every static file would block the event loop.
            self._makers, self._missing = await asyncio.to_thread(
                lambda: (
                    self._paths.table(),
                    (
                        self._paths.missing(is_signed_in=False),
                        self._paths.missing(is_signed_in=True),
                    ),
                )
            )
            self._table = {path: self._routed(path, make) for path, make in self._makers.items()}

    def find(self, path: str) -> tuple[RoutedPath | None, dict[str, Any]]:
        found, params = self._visits.find(path)
        if found is not None:
            return found, params
        assert self._table is not None
        return self._table.get(path), {}

    async def show_published(self, request: Request) -> Reply:
        """The page that strangers see at a path where others see their own."""
        path = request.path
        return await self._show(path, self._makers[path], request)

    def phrase_refusal(self, refused: Refusal, request: Request) -> Reply:
        headers = [(k.lower().encode(), v.encode()) for k, v in refused.headers.items()]
        if b"text/html" in request.headers.get(b"accept", b"").lower():
            try:
                reply = self._problem_page(refused, request).answer(_target(request))
            except Exception:  # noqa: BLE001 - a page that cannot be rendered must not hide the reason
                structlog.get_logger().exception("problem page", reference=request.request_id)
            else:
                return reply.with_headers(*headers)
        sentence = refused.sentence
        if refused.code is Code.NOT_FOUND:
            sentence = "No such page. Start at /llms.txt or /docs."
        return Reply(refused.status, [*_PLAIN, *headers], f"{sentence}\n".encode())

    def _problem_page(self, refused: Refusal, request: Request) -> Resource:
        is_signed_in = self._visits.has_session(request)
        if refused.code is Code.NOT_FOUND and self._missing is not None:
            return self._missing[is_signed_in]
        return self._paths.problem(refused, request.request_id, is_signed_in=is_signed_in)

    def _routed(self, path: str, maker: Maker) -> RoutedPath:
        handler = partial(self._show, path, maker)
        return RoutedPath(path, {"GET": handler, "HEAD": handler}, documents.METHODS.decode())

    async def _show(self, path: str, maker: Maker, request: Request) -> Reply:
        resource = self._rendered.get(path)
        if resource is None:
            resource = await asyncio.to_thread(maker)
            if path != _NOT_CACHED:
                self._rendered[path] = resource
        return resource.answer(_target(request))


def _preflight(path: RoutedPath | None) -> Reply | None:
    """Pages of other sites may read the documents, and nothing that belongs to a visitor."""
    return documents.preflight() if path is not None and "OPTIONS" in path.allow else None


def _content_length(_: Request, reply: Reply) -> Sequence[Header]:
    if reply.status in _WITHOUT_BODY or reply.stream is not None:
        return ()
    return ((b"content-length", b"%d" % len(reply.body)),)


def _target(request: Request) -> RequestTarget:
    return RequestTarget(
        path=request.path,
        query_string=b"",
        accept_encoding=request.headers.get(b"accept-encoding", b""),
        if_none_match=request.headers.get(b"if-none-match"),
    )
