"""Reads the bookmarks of an account on Bluesky, or on another server of its network.

The app password is exchanged for a session once and is not stored. Sessions are renewed.
"""

import re
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from bowerbird.connections.records import (
    BAD_REQUEST,
    UNAUTHORIZED,
    Answer,
    CursorRefused,
    ListPage,
    NetworkClient,
    Person,
    SourceProblem,
    TokenExpired,
    Tokens,
)
from bowerbird.model.connections import Problem

PER_PAGE: Final = 100
SERVER: Final = "https://bsky.social"
_DID: Final = re.compile(r"did:[a-z]+:[A-Za-z0-9._:%-]{1,200}")
_HANDLE: Final = re.compile(r"[A-Za-z0-9.-]{1,253}")
_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,8192}")
_EXPIRED: Final = ("ExpiredToken", "InvalidToken")
_SESSION: Final = "com.atproto.server"


class _Session(Struct, frozen=True, rename={"access": "accessJwt", "refresh": "refreshJwt"}):
    did: str
    access: str
    refresh: str
    handle: str = ""


class Bluesky(NetworkClient):
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
        if answer.is_error(*_EXPIRED):
            raise TokenExpired
        if answer.status == BAD_REQUEST and cursor:
            raise CursorRefused
        return ListPage(self._checked(answer).body, url)

    def _session(self, answer: Answer) -> tuple[Person, Tokens]:
        if answer.status == UNAUTHORIZED or (
            answer.status == BAD_REQUEST and answer.is_error(*_EXPIRED, "AccountTakedown")
        ):
            raise SourceProblem(Problem.REVOKED)
        session = self._checked(answer).read(_Session)
        texts = (session.access, session.refresh)
        if not (_DID.fullmatch(session.did) and all(map(_TOKEN.fullmatch, texts))):
            raise SourceProblem(Problem.WRONG_SERVER, reason="session")
        handle = session.handle if _HANDLE.fullmatch(session.handle) else session.did
        return Person(session.did, f"@{handle}"), Tokens(session.access, session.refresh)
