"""Every path of the site, and how what stands there is made."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

import msgspec

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.library.access import plans
from bowerbird.settings import Settings
from bowerbird.web import assets, discovery, page_examples
from bowerbird.web.pages import HtmlPage, page
from bowerbird.web.reference import Reference, Route
from bowerbird.web.schema_rows import Json
from bowerbird.web.templating import Templates, contact
from bowerbird.wire import server_card
from bowerbird.wire.documents import Document

_JSON: Final = "application/json"
_MARKDOWN: Final = "text/markdown; charset=utf-8"
_PLAIN: Final = "text/plain; charset=utf-8"
# RFC 9116 wants less than a year; half of one leaves room for a server that is not restarted.
_SECURITY_DAYS: Final = 180

Resource = Document | HtmlPage
Maker = Callable[[], Resource]


class SitePaths:
    """`openapi` makes the API's document; it is asked once, when somebody first needs it."""

    def __init__(
        self,
        settings: Settings,
        openapi: Callable[[], Json],
        sandbox: Collection[Route],
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._openapi = cache(openapi)
        self._reference = cache(lambda: Reference(self._openapi(), sandbox))
        self._sections = cache(lambda: self._reference().sections())
        self._templates = cache(lambda: Templates(settings, has_sandbox=bool(sandbox)))

    def table(self) -> dict[str, Maker]:
        """Path -> maker. What a maker returns is kept by the caller, except security.txt."""
        return {
            **{path: _kept(document) for path, document in assets.files().items()},
            **self._documents(),
            **self._texts(),
            **self._pages(),
        }

    def missing(self) -> HtmlPage:
        return self._page("missing.html", status=404)

    def _documents(self) -> dict[str, Maker]:
        settings = self._settings
        metadata = {
            **discovery.protected_resources(settings),
            **discovery.authorization_servers(settings),
        }
        made: dict[str, Maker] = {path: _json(fields) for path, fields in metadata.items()}
        made[discovery.AI_CATALOG] = _json(
            discovery.ai_catalog(settings), discovery.AI_CATALOG_TYPE
        )
        made["/openapi.json"] = lambda: Document(msgspec.json.encode(self._openapi()), _JSON)
        made["/icon.svg"] = assets.icon
        for path in (discovery.SERVER_CARD, server_card.card_path(settings)):
            made[path] = _kept(server_card.card_document(settings))
        return made

    def _texts(self) -> dict[str, Maker]:
        made: dict[str, Maker] = {
            "/auth.md": lambda: self._text("auth.md", _MARKDOWN),
            "/llms.txt": lambda: self._text("llms.txt", _PLAIN, sections=self._sections()),
            "/robots.txt": lambda: self._text("robots.txt", _PLAIN),
        }
        if self._settings.security_contact or self._settings.operator_contact:
            made["/.well-known/security.txt"] = self._security
        return made

    def _pages(self) -> dict[str, Maker]:
        pages: dict[str, Maker] = {
            "/": self._home,
            "/keys": lambda: self._page("keys.html"),
            "/upgrade": lambda: self._page("upgrade.html", plans=self._plans()),
            "/docs": lambda: self._page("docs/overview.html", sections=self._sections()),
        }
        names = self._reference().names()
        return pages | {f"/docs/{name}": self._section_page(name) for name in names}

    def _home(self) -> HtmlPage:
        return self._page(
            "home.html",
            first_answer=page_examples.FIRST_ANSWER,
            tool_entry=page_examples.tool_entry(self._settings),
        )

    def _section_page(self, name: str) -> Maker:
        def made() -> HtmlPage:
            sections = self._sections()
            [section] = [section for section in sections if section.name == name]
            return self._page("docs/section.html", is_live=True, section=section, sections=sections)

        return made

    def _security(self) -> Document:
        today = datetime.fromtimestamp(self._clock() // MICROSECONDS, UTC).replace(
            hour=0, minute=0, second=0
        )
        given = self._settings.security_contact or self._settings.operator_contact
        return self._text(
            "security.txt",
            _PLAIN,
            contact=contact(given),
            expires=(today + timedelta(days=_SECURITY_DAYS)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )

    def _plans(self) -> tuple[plans.Feature, ...]:
        return plans.features(self._settings.free_calls_per_month)

    def _text(self, name: str, media_type: str, **values: Any) -> Document:
        return Document(self._templates().render(name, **values).encode(), media_type)

    def _page(
        self, name: str, *, is_live: bool = False, status: int = 200, **values: Any
    ) -> HtmlPage:
        html = self._templates().render(name, **values)
        return page(self._settings, html, is_live=is_live, status=status)


def _json(fields: Json, media_type: str = _JSON) -> Maker:
    return _kept(Document(msgspec.json.encode(fields), media_type))


def _kept(document: Document) -> Maker:
    return lambda: document
