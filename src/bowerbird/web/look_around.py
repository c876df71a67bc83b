"""/demo: the demo library, for people without an account.

Its pages are those of the library, under another path and for a visitor without a session. Nobody
can change anything: it has no route for a change, and its library is in the memory of this process,
in a database that rolls every write back. It never reads the library of an account.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

import msgspec
import structlog

from bowerbird.assembly import Services
from bowerbird.clock import MICROSECONDS
from bowerbird.errors import Code, Refusal
from bowerbird.library import demo
from bowerbird.library.access.call_allowance import AttemptLimits
from bowerbird.library.vectors.builds import VectorBuilds
from bowerbird.library.vectors.semantic_search import SemanticSearch
from bowerbird.model.accounts import Account, Reading, Session, SignedIn
from bowerbird.settings import Settings
from bowerbird.storage.sqlite.rehearsal import RehearsalDatabase
from bowerbird.web import templating
from bowerbird.web.library.pages import LibraryPages
from bowerbird.web.templating import Templates
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.router import Access, PageRoute
from bowerbird.web.visits.visit import MAX_BYTES, Visit
from bowerbird.wire.responses.answer_cache import RequestTarget
from bowerbird.wire.responses.replies import Reply

PATH: Final = "/demo"
_REST: Final = f"{PATH}/{{rest:path}}"
# A network may open so many pages at once, and one more every quarter of a second. A page takes
# about 6 ms.
BURST: Final = 60
REFILL: Final = MICROSECONDS // 4
MAX_CONCURRENT: Final = 8
_VECTOR_BYTES: Final = 4 * 1024 * 1024
_NOBODY: Final = Session("", "", "", "", 0, 0, 0)
# Of the tokens in forms, which nothing accepts. Without it, a page would set a cookie.
_SECRET: Final = "none"  # noqa: S105
_READ_ONLY: Final = "This is the demo: nothing can be changed here. Sign in to have your own."

Handle = Callable[[Visit], Awaitable[Reply]]


class LookAround:
    """`site` renders the pages that are not of the demo."""

    def __init__(self, services: Services, site: VisitPages) -> None:
        settings, clock = services.settings, services.clock
        self._site = site
        self._clock = clock
        self._limits = AttemptLimits(clock, BURST, REFILL)
        self._under_way = 0
        self._library = RehearsalDatabase()
        self._account: Account | None = None
        self._filled_at = 0
        self._filling = asyncio.Lock()
        # A service that embeds may cost the operator money for every search of a stranger.
        self._models = None if settings.embedding_url else services.models
        self._embedding: asyncio.Task[None] | None = None
        shown = replace(settings, site_url=f"{settings.site_origin}{PATH}", fetch_posts="off")
        self._pages = VisitPages(shown, _DemoTemplates(shown, settings))
        looking = Services(
            shown,
            self._library,
            self._now,
            files=services.files,
            models=self._models,
            meaning=SemanticSearch(self._library, self._models, _VECTOR_BYTES),
            wake_worker=lambda: None,
        )
        library = LibraryPages(looking, self._pages, has_images=False)
        self._sidebar, self._routes = library.sidebar, library.routes()

    def routes(self) -> list[PageRoute]:
        return [
            PageRoute("GET", PATH, self._enter, Access.ANYONE),
            *(
                PageRoute(
                    "GET",
                    f"{PATH}{route.path}",
                    self._shown(route.handle),
                    Access.ANYONE,
                    is_json=route.is_json,
                )
                for route in self._routes
                if route.method == "GET"
            ),
            PageRoute("GET", f"{PATH}/static/{{name}}", self._file, Access.ANYONE),
            PageRoute("GET", f"{PATH}/", self._leave, Access.ANYONE),
            PageRoute("GET", _REST, self._elsewhere, Access.ANYONE),
            # Its handler reads no form, so the router need not look for a token in it.
            PageRoute("POST", _REST, self._refuse, Access.ANYONE, max_upload_bytes=MAX_BYTES),
        ]

    async def _enter(self, _: Visit) -> Reply:
        return self._pages.go("/library")

    async def _leave(self, _: Visit) -> Reply:
        return self._site.go("/")

    async def _elsewhere(self, visit: Visit) -> Reply:
        sentence = "The demo does not have this page. A library of your own has it."
        action = (f"{PATH}/library", "Back to the demo")
        shown = msgspec.structs.replace(visit, secret=visit.secret or _SECRET)
        return self._site.problem(shown, 404, "This is the demo", sentence, action)

    async def _refuse(self, _: Visit) -> Reply:
        raise Refusal(Code.INVALID_REQUEST, _READ_ONLY)

    async def _file(self, visit: Visit) -> Reply:
        """A drawing of a post, which has the path of its page."""
        path = f"/static/{visit.request.path_params['name']}"
        document = templating.files().get(path)
        if document is None:
            raise Refusal(Code.NOT_FOUND, "No such page.")
        headers = visit.request.headers
        accepted = headers.get(b"accept-encoding", b"")
        target = RequestTarget(path, b"", accepted, headers.get(b"if-none-match"))
        return document.answer(target)

    def _shown(self, handle: Handle) -> Handle:
        async def show(visit: Visit) -> Reply:
            self._limits.count(visit.network)
            if self._under_way >= MAX_CONCURRENT:
                sentence = "Many people look around at this moment. Try again in a second."
                raise Refusal(Code.RATE_LIMITED, sentence, {"Retry-After": "1"})
            self._under_way += 1
            try:
                account = await self._filled()
                nobody = _nobody(account)
                side = await self._sidebar.values(nobody)
                return await handle(
                    msgspec.structs.replace(visit, visitor=nobody, secret=_SECRET, sidebar=side)
                )
            finally:
                self._under_way -= 1

        return show

    async def _filled(self) -> Account:
        if self._account is None:
            async with self._filling:
                if self._account is None:
                    now = self._clock()
                    self._account = await self._library.fill(lambda each: demo.create(each, now))
                    self._filled_at = now
        self._embed(self._account)
        return self._account

    def _now(self) -> int:
        """The time of the demo stands still, so that its newest posts are always of today."""
        return self._filled_at

    def _embed(self, account: Account) -> None:
        """Starts to prepare the search by meaning, as soon as there is a model."""
        if self._embedding is None and self._models is not None and self._models.problem is None:
            builds = VectorBuilds(self._library.stored, self._models, self._clock)
            self._embedding = asyncio.create_task(_build(builds, account.account_id))


def _nobody(account: Account) -> SignedIn:
    return SignedIn(
        account=account,
        email="",
        is_owner=False,
        time_zone="UTC",
        is_zone_chosen=True,
        reading=Reading(marks_read=False),
        session=_NOBODY,
    )


async def _build(builds: VectorBuilds, account_id: int) -> None:
    async def ignore(_done: int, _total: int) -> None:
        """Nobody waits for it."""

    try:
        await builds.build(account_id, ignore)
    except Refusal as refused:
        # Search by word works without it.
        structlog.get_logger().warning("demo without search by meaning", reason=refused.sentence)


class _DemoTemplates(Templates):
    """Those of the library, which then know that the visitor is `looking` around."""

    def __init__(self, shown: Settings, settings: Settings) -> None:
        super().__init__(shown, has_sandbox=False)
        base_path = urlsplit(settings.site_origin).path.rstrip("/")
        self._shared |= {
            "looking": {"base_path": base_path, "can_sign_up": settings.sign_up == "open"},
            # A stranger comes from the front page, and has its files already.
            "static": {name: base_path + path for name, path in templating.paths().items()},
        }
