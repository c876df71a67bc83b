"""Reads the bookmarks of an account on Bluesky, or on another server of its network.

The app password is exchanged for a session once and is not stored. Sessions are renewed.
"""

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.connections.records import (
    Answer,
    CursorRefused,
    ListPage,
    Person,
    SourceProblem,
    TokenExpired,
    Tokens,
    require_allowed,
)
from bowerbird.model.connections import Problem

if TYPE_CHECKING:
    from bowerbird.connections.fetching import Fetcher

PER_PAGE: Final = 100
SERVER: Final = "https://bsky.social"
_DID: Final = re.compile(r"did:[a-z]+:[A-Za-z0-9._:%-]{1,200}")
_HANDLE: Final = re.compile(r"[A-Za-z0-9.-]{1,253}")
_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,8192}")
_OK, _BAD_REQUEST, _UNAUTHORIZED, _FORBIDDEN = 200, 400, 401, 403
_EXPIRED: Final = ("ExpiredToken", "InvalidToken")
_SESSION: Final = "com.atproto.server"


class _Session(Struct, frozen=True, rename={"access": "accessJwt", "refresh": "refreshJwt"}):
    did: str
    access: str
    refresh: str
    handle: str = ""


class Bluesky:
    def __init__(self, fetcher: "Fetcher", server: str, clock: Clock) -> None:
        self._fetcher = fetcher
        self._server = server
        self._clock = clock

    async def sign_in(self, handle: str, password: str) -> tuple[Person, Tokens]:
        url = f"{self._server}/xrpc/{_SESSION}.createSession"
        answer = await self._fetcher.post_json(url, {"identifier": handle, "password": password})
        return self._session(answer)

    async def renewed(self, tokens: Tokens) -> Tokens:
        """Other tokens. Those that were given are not valid any more."""
        url = f"{self._server}/xrpc/{_SESSION}.refreshSession"
        answer = await self._fetcher.post_json(url, token=tokens.refresh)
        return self._session(answer)[1]

    async def revoke(self, tokens: Tokens) -> None:
        """Ends the session."""
        url = f"{self._server}/xrpc/{_SESSION}.deleteSession"
        # Its answer is empty, and not JSON.
        answer = await self._fetcher.post_json(url, token=tokens.refresh, is_json=False)
        self._checked(answer)

    async def page(self, tokens: Tokens, cursor: str) -> ListPage:
        query = {"limit": str(PER_PAGE), **({"cursor": cursor} if cursor else {})}
        url = f"{self._server}/xrpc/app.bsky.bookmark.getBookmarks?{urlencode(query)}"
        answer = await self._fetcher.get(url, tokens.access)
        require_allowed(answer, self._clock())
        if answer.status == _UNAUTHORIZED or answer.is_error(*_EXPIRED):
            raise TokenExpired
        if answer.status == _BAD_REQUEST and cursor:
            raise CursorRefused
        return ListPage(self._checked(answer).body, url)

    def _session(self, answer: Answer) -> tuple[Person, Tokens]:
        require_allowed(answer, self._clock())
        if answer.status == _UNAUTHORIZED or (
            answer.status == _BAD_REQUEST and answer.is_error(*_EXPIRED, "AccountTakedown")
        ):
            raise SourceProblem(Problem.REVOKED)
        session = self._checked(answer).read(_Session)
        texts = (session.access, session.refresh)
        if not (_DID.fullmatch(session.did) and all(map(_TOKEN.fullmatch, texts))):
            raise SourceProblem(Problem.WRONG_SERVER, reason="session")
        handle = session.handle if _HANDLE.fullmatch(session.handle) else session.did
        return Person(session.did, f"@{handle}"), Tokens(session.access, session.refresh)

    def _checked(self, answer: Answer) -> Answer:
        if answer.status == _FORBIDDEN:
            raise SourceProblem(Problem.FORBIDDEN)
        if answer.status != _OK:
            raise SourceProblem(Problem.WRONG_SERVER, reason=f"status_{answer.status}")
        return answer
