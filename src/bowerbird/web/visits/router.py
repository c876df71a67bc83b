"""Finds the page of a path, and lets only those see it who may. Receives the file of a form.

Every change needs a token from one of our forms and an `Origin` that is ours, so that pages of
other sites cannot cause it. The token of a form has to come before its file.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct

from bowerbird.errors import Code, Refusal
from bowerbird.library.sign_in.sessions import Sessions
from bowerbird.model.accounts import SignedIn, Where
from bowerbird.requests import limits
from bowerbird.web.visits.pages import VisitPages
from bowerbird.web.visits.visit import (
    ANONYMOUS,
    MAX_BYTES,
    SESSION,
    CookieJar,
    OwnHosts,
    Visit,
    browser_of,
    is_of_script,
    is_own_path,
    read_form,
    read_query,
)
from bowerbird.wire import form_files
from bowerbird.wire.auth import ClientAddresses
from bowerbird.wire.form_files import NoFile, SentFile, TwoFiles
from bowerbird.wire.pipeline import Request, RoutedPath
from bowerbird.wire.responses.replies import Reply
from bowerbird.wire.router import Router, Served

# A body up to here is received, though not stored, so that the browser shows the answer: it shows
# an error of its own if the server closes the connection early.
MAX_BODY_BYTES: Final = 4 * limits.INGEST_FILE_BYTES_MAX
_MAX_SIZE: Final = f"{limits.INGEST_FILE_BYTES_MAX // 1_000_000} MB"


class NotOurForm(Refusal):
    """The form has no valid token before its file."""


async def receive(visit: Visit, folder: Path) -> SentFile:
    """The file in `folder`; the fields before it are then the form of the visit."""

    def admit(fields: Mapping[str, str]) -> None:
        visit.form = fields
        if not visit.has_valid_token():
            raise NotOurForm(Code.INVALID_REQUEST, "The form has no valid token before its file.")

    kind = visit.request.headers.get(b"content-type", b"")
    return await form_files.receive_form(visit.request.receive, folder, kind, admit)


def explained(refused: Refusal) -> str:
    """Why a file was not received, for the person who chose it."""
    if isinstance(refused, NoFile):
        return "Choose a file first."
    if isinstance(refused, TwoFiles):
        return "Choose one file at a time."
    if refused.code is Code.PAYLOAD_TOO_LARGE:
        return (
            f"The file is larger than {_MAX_SIZE}. Pack it as a zip file, or import it with the "
            "command on the server."
        )
    if refused.code is Code.INVALID_REQUEST:
        return "The file is empty, or did not arrive whole. Choose it again."
    return refused.sentence


_OK: Final = 200
SIGN_IN: Final = "/sign-in"
PROVE: Final = "/reauthenticate"
_NOT_OUR_FORM: Final = (
    "The form is out of date, or was not sent by this site. Open the page again and retry. "
    "Your browser must accept cookies."
)


_SIGNED_OUT: Final = (
    "You are no longer signed in here, maybe because you have signed out in another tab. Sign in, "
    "then do it again."
)


class Access(Enum):
    """Who may open a page."""

    ANYONE = auto()
    SIGNED_IN = auto()
    # Signed in, and proved it within the last ten minutes.
    PROVED = auto()
    OWNER = auto()


class PageRoute(Struct, frozen=True):
    method: str
    path: str
    handle: Callable[[Visit], Awaitable[Any]]
    access: Access = Access.SIGNED_IN
    # Where to return after a proof, for a path that has no page of its own.
    page: str = ""
    # For a form: its refusals are a page with this heading and a link, given by path and text.
    back: tuple[str, str] | Callable[[Visit], tuple[str, str]] | None = None
    heading: str = "Nothing was changed"
    # For a form: shows its page again, with what was typed and `visit.problem`.
    again: Callable[[Visit], Awaitable[Reply]] | None = None
    # For a form that makes one change: where its sender goes then, and where if that refuses so.
    done: str = ""
    otherwise: tuple[type[Refusal], str] | None = None
    # The answer to the form is shown only once. Browsers send the form again when that page is
    # reloaded; the person then goes to the page of the form, and nothing is created.
    is_once: bool = False
    # A script calls it: refusals are JSON too, {"error": sentence}.
    is_json: bool = False
    # False for a file, which has no sidebar.
    is_page: bool = True
    # Above 0, the form has a file: its handler receives it with `uploads.receive`, which checks the
    # token. `Origin` and the visitor are checked before anything is read.
    max_upload_bytes: int = 0
    max_form_bytes: int = MAX_BYTES


class PageVisits:
    def __init__(
        self,
        routes: Sequence[PageRoute],
        sessions: Sessions,
        pages: VisitPages,
        *,
        jar: CookieJar,
        hosts: OwnHosts,
        addresses: ClientAddresses,
        sidebar: Callable[[SignedIn], Awaitable[Mapping[str, Any]]],
    ) -> None:
        self._sessions = sessions
        self._pages = pages
        self._jar = jar
        self._hosts = hosts
        self._addresses = addresses
        self._sidebar = sidebar
        self._router = Router(
            Served(
                method=route.method,
                path=route.path,
                handle=partial(self._run, route),
                max_body_bytes=max(route.max_form_bytes, route.max_upload_bytes),
            )
            for route in routes
        )

    def find(self, path: str) -> tuple[RoutedPath | None, dict[str, Any]]:
        return self._router.find(path)

    def has_session(self, request: Request) -> bool:
        """Whether the browser seems to be signed in. Pages about a refusal read no database."""
        return bool(self._jar.read(_joined_cookies(request), SESSION))

    async def visit_of(self, request: Request) -> Visit:
        """Reads the session: the only read of the database that a page needs for its visitor."""
        host = self._hosts.of(request.headers.get(b"host"))
        cookie = _joined_cookies(request)
        token = self._jar.read(cookie, SESSION)
        visitor = await self._sessions.visitor(token) if token else None
        if visitor is not None:
            request.identify(visitor.account)
        return Visit(
            request=request,
            jar=self._jar,
            host=host,
            where=Where(
                self._addresses.of(request.scope),
                browser_of(request.headers.get(b"user-agent", b"")),
            ),
            visitor=visitor,
            secret=token if visitor is not None else self._jar.read(cookie, ANONYMOUS),
            query=read_query(request.scope["query_string"]),
        )

    async def _run(self, route: PageRoute, request: Request) -> Reply:
        if not _is_json(route, request):
            return await self._answer(route, request)
        try:
            return await self._answer(route, request)
        except Refusal as refused:
            return self._pages.refusal_as_json(refused)

    async def _answer(self, route: PageRoute, request: Request) -> Reply:
        visit = await self.visit_of(request)
        if route.method == "POST" and not await self._is_our_form(route, visit):
            return self._finished(visit, self._refused_form(route, visit))
        refused = self._refused(route, visit)
        # A form may show a page to a script too.
        shows_page = route.again is not None or route.is_once or not _is_json(route, request)
        if visit.visitor and not refused and route.is_page and shows_page:
            visit.sidebar = await self._sidebar(visit.visitor)
        try:
            reply = refused or await self._handled(route, visit)
        except NotOurForm:
            reply = self._refused_form(route, visit)
        except Refusal as problem:
            if route.again is not None:
                visit.refused = problem
                reply = await route.again(visit)
            elif route.back is None or _is_json(route, request):
                raise
            else:
                back = route.back(visit) if callable(route.back) else route.back
                reply = self._pages.refused(visit, problem, back, route.heading)
        if visit.replaced is not None:
            await self._sessions.end_replaced(visit.replaced)
        return self._finished(visit, reply)

    async def _handled(self, route: PageRoute, visit: Visit) -> Reply:
        path = route.done
        if route.is_once and visit.is_sent_before:
            return self._pages.go(f"{route.page}?said=sent-before")
        try:
            made: Reply = await route.handle(visit)
        except Refusal as refused:
            if route.otherwise is None or not isinstance(refused, route.otherwise[0]):
                raise
            path = route.otherwise[1]
        if route.is_once and made.status == _OK:
            visit.keep_sent()
        return self._pages.go(path) if path else made

    async def _is_our_form(self, route: PageRoute, visit: Visit) -> bool:
        origin = visit.request.headers.get(b"origin", b"").decode("latin-1").lower()
        is_ours = origin == visit.host.origin
        if route.max_upload_bytes:
            return is_ours
        visit.form = await read_form(visit.request, route.max_form_bytes)
        return is_ours and visit.has_valid_token()

    def _refused_form(self, route: PageRoute, visit: Visit) -> Reply:
        is_signed_out = route.access is not Access.ANYONE and visit.visitor is None
        sentence = _SIGNED_OUT if is_signed_out else _NOT_OUR_FORM
        if _is_json(route, visit.request):
            return self._pages.json({"error": sentence}, status=403)
        sign_in = f"{SIGN_IN}?next={quote(route.page or '/', safe='/')}", "Sign in"
        action = sign_in if is_signed_out else ("/", "Home")
        return self._pages.problem(visit, 403, "Nothing was changed", sentence, action)

    def _refused(self, route: PageRoute, visit: Visit) -> Reply | None:
        if route.access is Access.ANYONE:
            return None
        page = route.page or (_with_query(visit.request) if route.method == "GET" else "/")
        after = f"?next={quote(page, safe='/')}"
        if visit.visitor is None:
            return self._elsewhere(route, visit, SIGN_IN + after)
        if route.access is Access.OWNER and not visit.visitor.is_owner:
            # Others are not told that there is such a page.
            raise Refusal(Code.NOT_FOUND, "No such page.")
        if route.access is Access.PROVED and not self._sessions.is_proved(visit.visitor):
            if route.method == "POST":
                visit.keep_unsent(page)
            return self._elsewhere(route, visit, PROVE + after)
        return None

    def _elsewhere(self, route: PageRoute, visit: Visit, path: str) -> Reply:
        """A script follows `go`, because it cannot show the page of a redirect."""
        if _is_json(route, visit.request):
            answer = {"error": "Sign in again.", "go": self._pages.path(path)}
            return self._pages.json(answer, status=401)
        return self._pages.go(path)

    def _finished(self, visit: Visit, reply: Reply) -> Reply:
        if not visit.cookies:
            return reply
        return reply.with_headers(*visit.cookies)


def _is_json(route: PageRoute, request: Request) -> bool:
    """A script may send the form of a page too; it asks for JSON."""
    return route.is_json or (route.method == "POST" and is_of_script(request))


def _with_query(request: Request) -> str:
    """The path of a page, with its query if that can be kept while somebody signs in."""
    query = request.scope["query_string"].decode("latin-1")
    page = f"{request.path}?{query}"
    return page if query and is_own_path(page) else request.path


def _joined_cookies(request: Request) -> bytes | None:
    """HTTP/2 sends each cookie in a header of its own (RFC 9113, 8.2.3)."""
    sent = [value for name, value in request.scope["headers"] if name == b"cookie"]
    if not sent:
        return None
    request.headers[b"cookie"] = b"; ".join(sent)
    return request.headers[b"cookie"]
