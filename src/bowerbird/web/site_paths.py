"""The paths of the website, and the functions that create the resource at each path."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from bowerbird import __version__
from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.errors import Code, Refusal
from bowerbird.library.access import plans
from bowerbird.settings import Settings
from bowerbird.web import discovery, page_examples, templating
from bowerbird.web.pages import HtmlPage, page
from bowerbird.web.reference import Reference, Route
from bowerbird.web.schema_rows import Json
from bowerbird.web.templating import Templates, contact_url
from bowerbird.wire.responses.documents import Document, card_document, card_path

_JSON: Final = "application/json"
_MARKDOWN: Final = "text/markdown; charset=utf-8"
_PLAIN: Final = "text/plain; charset=utf-8"
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
        documents: dict[str, Maker] = {path: _json(fields) for path, fields in metadata.items()}
        documents[discovery.AI_CATALOG] = _json(
            discovery.ai_catalog(settings), discovery.AI_CATALOG_TYPE
        )
        documents["/openapi.json"] = lambda: Document(msgspec.json.encode(self._openapi()), _JSON)
        documents["/icon.svg"] = templating.icon
        documents[discovery.PATH] = _json(discovery.fields(settings), discovery.MEDIA_TYPE)
        for path in (discovery.SERVER_CARD, card_path(settings)):
            documents[path] = _constant(card_document(settings))
        return documents

    def _texts(self) -> dict[str, Maker]:
        texts: dict[str, Maker] = {
            "/auth.md": lambda: self._text("auth.md", _MARKDOWN),
            "/llms.txt": lambda: self._text("llms.txt", _PLAIN, sections=self._sections()),
            "/robots.txt": lambda: self._text("robots.txt", _PLAIN),
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
            _PLAIN,
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


def _json(fields: Json, media_type: str = _JSON) -> Maker:
    return _constant(Document(msgspec.json.encode(fields), media_type))


def _constant(document: Document) -> Maker:
    return lambda: document
