"""The site: looks paths up in a table of pages and documents, and caches what is rendered."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import msgspec
import structlog

from bowerbird import __version__
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.model import bulk
from bowerbird.settings import Settings
from bowerbird.web import discovery, page_examples, templating
from bowerbird.web.pages import HtmlPage, page
from bowerbird.web.reference import Json, Reference, Route
from bowerbird.web.templating import Templates, contact_url
from bowerbird.wire.metrics import RequestMetrics
from bowerbird.wire.pipeline import Pipeline, Request, RoutedPath, Surface
from bowerbird.wire.responses import documents
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.responses.documents import Document, card_document, card_path
from bowerbird.wire.responses.replies import Header, Reply

_JSON: Final = "application/json"
_MARKDOWN: Final = "text/markdown; charset=utf-8"
_PLAIN_TEXT: Final = "text/plain; charset=utf-8"
_SCRIPT: Final = "text/javascript; charset=utf-8"
# What the page needs that is shown when the server does not answer.
_OFFLINE_FILES: Final = ("tokens.css", "parts.css", "site.css", "theme.js", "copy.js", "mark.svg")
# RFC 9116 recommends less than a year.
_SECURITY_TXT_DAYS: Final = 180

_HEADINGS: Final = {
    Code.RATE_LIMITED: "Too many attempts",
    Code.METHOD_NOT_ALLOWED: "This page cannot do that",
    Code.PAYLOAD_TOO_LARGE: "That is too large",
}

Resource = Document | HtmlPage
Maker = Callable[[], Resource]


class SitePaths:
    """`openapi` returns the OpenAPI document; the first page that needs it calls it, once."""

    def __init__(
        self,
        settings: Settings,
        openapi: Callable[[], Json],
        sandbox: Collection[Route],
        sections: Collection[str],
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._names_of_sections = sections
        self._clock = clock
        self._openapi = cache(openapi)
        self._reference = cache(lambda: Reference(self._openapi(), sandbox))
        self._sections = cache(lambda: self._reference().sections())
        self._templates = cache(lambda: Templates(settings, has_sandbox=bool(sandbox)))

    def table(self) -> dict[str, Maker]:
        """Path -> function that creates the resource. The caller caches all but security.txt."""
        return {
            **{path: _constant(document) for path, document in templating.files().items()},
            **self._documents(),
            **self._texts(),
            **self._pages(),
        }

    def missing(self, *, is_signed_in: bool) -> HtmlPage:
        return self._page("missing.html", status=404, is_signed_in=is_signed_in)

    def problem(self, refused: Refusal, reference: str, *, is_signed_in: bool) -> HtmlPage:
        """The page for a request that was refused, or that failed."""
        status = refused.status
        if refused.code is Code.INTERNAL_ERROR:
            return self._page(
                "error.html", status=status, reference=reference, is_signed_in=is_signed_in
            )
        if refused.code is Code.SERVICE_UNAVAILABLE:
            retry_after = refused.headers.get("Retry-After", "")
            return self._page("maintenance.html", status=status, retry_after=retry_after)
        return self._page(
            "problem.html",
            status=status,
            heading=_HEADINGS.get(refused.code, "That did not work"),
            sentence=refused.sentence,
            is_signed_in=is_signed_in,
            action={"path": "/", "text": "Home"},
        )

    def _documents(self) -> dict[str, Maker]:
        settings = self._settings
        metadata = {
            **discovery.protected_resources(settings),
            **discovery.authorization_servers(settings),
        }
        documents: dict[str, Maker] = {
            path: _json_document(fields) for path, fields in metadata.items()
        }
        documents[discovery.AI_CATALOG] = _json_document(
            discovery.ai_catalog(settings), discovery.AI_CATALOG_TYPE
        )
        documents["/openapi.json"] = lambda: Document(msgspec.json.encode(self._openapi()), _JSON)
        documents["/icon.svg"] = templating.icon
        documents[discovery.PATH] = _json_document(discovery.fields(settings), discovery.MEDIA_TYPE)
        for path in (discovery.SERVER_CARD, card_path(settings)):
            documents[path] = _constant(card_document(settings))
        return documents

    def _texts(self) -> dict[str, Maker]:
        texts: dict[str, Maker] = {
            "/auth.md": lambda: self._text("auth.md", _MARKDOWN),
            "/llms.txt": lambda: self._text("llms.txt", _PLAIN_TEXT, sections=self._sections()),
            "/robots.txt": lambda: self._text("robots.txt", _PLAIN_TEXT),
            "/offline-worker.js": self._offline_worker,
        }
        if self._settings.security_contact or self._settings.operator_contact:
            texts["/.well-known/security.txt"] = self._security_txt
        return texts

    def _pages(self) -> dict[str, Maker]:
        pages: dict[str, Maker] = {
            "/": self._home,
            "/keys": lambda: self._page("keys_signed_out.html"),
            "/offline": lambda: self._page("offline.html"),
            "/upgrade": lambda: self._page("upgrade.html", plans=self._plans()),
            "/docs": lambda: self._page("docs/overview.html", sections=self._sections()),
        }
        # Not from the OpenAPI document, which takes a quarter of a second to make.
        names = self._names_of_sections
        return pages | {f"/docs/{name}": self._section_page(name) for name in names}

    def _home(self) -> HtmlPage:
        return self._page(
            "home.html",
            has_demo=self._settings.demo == "on",
            first_response=page_examples.FIRST_RESPONSE,
            mcp_client_config=page_examples.mcp_client_config(self._settings),
        )

    def _section_page(self, name: str) -> Maker:
        def render() -> HtmlPage:
            sections = self._sections()
            [section] = [section for section in sections if section.name == name]
            return self._page(
                "docs/section.html", calls_api=True, section=section, sections=sections
            )

        return render

    def _security_txt(self) -> Document:
        today = datetime.fromtimestamp(self._clock() // MICROSECONDS, UTC).replace(
            hour=0, minute=0, second=0
        )
        setting = self._settings.security_contact or self._settings.operator_contact
        return self._text(
            "security.txt",
            _PLAIN_TEXT,
            contact=contact_url(setting),
            expires=(today + timedelta(days=_SECURITY_TXT_DAYS)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )

    def _offline_worker(self) -> Document:
        base_path = urlsplit(self._settings.site_origin).path.rstrip("/")
        return self._text(
            "offline_worker.js",
            _SCRIPT,
            release=__version__,
            page=f"{base_path}/offline",
            files=[base_path + templating.paths()[name] for name in _OFFLINE_FILES],
            left_alone=[f"{base_path}/{name}" for name in ("sign-in", "sign-up", "link")],
        )

    def _plans(self) -> tuple[plans.Feature, ...]:
        return plans.features(self._settings.free_calls_per_month)

    def _text(self, name: str, media_type: str, **values: Any) -> Document:
        return Document(self._templates().render(name, **values).encode(), media_type)

    def _page(
        self, name: str, *, calls_api: bool = False, status: int = 200, **values: Any
    ) -> HtmlPage:
        html = self._templates().render(name, **values)
        return page(self._settings, html, calls_api=calls_api, status=status)


def _json_document(fields: Json, media_type: str = _JSON) -> Maker:
    return _constant(Document(msgspec.json.encode(fields), media_type))


def _constant(document: Document) -> Maker:
    return lambda: document


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
