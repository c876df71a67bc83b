"""Reads the bookmarks of an account on a Mastodon server."""

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
from msgspec import Struct

from bowerbird.clock import Clock
from bowerbird.connections.records import (
    Answer,
    CursorRefused,
    ListPage,
    Person,
    SourceProblem,
    Tokens,
    require_allowed,
)
from bowerbird.model.connections import Problem

if TYPE_CHECKING:
    from bowerbird.connections.fetching import Fetcher

PER_PAGE: Final = 40
_LIST: Final = "/api/v1/bookmarks"
_NEXT: Final = re.compile(r'<([^<>]{1,2048})>;\s*rel="?next"?')
_CURSOR: Final = re.compile(r"[\x21-\x7e]{1,200}")
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NAME: Final = re.compile(r"[A-Za-z0-9_.@-]{1,200}")
_OK, _BAD_REQUEST, _UNAUTHORIZED, _FORBIDDEN = 200, 400, 401, 403


class _Account(Struct, frozen=True):
    id: str
    acct: str = ""
    username: str = ""


class Mastodon:
    def __init__(self, fetcher: "Fetcher", server: str, clock: Clock) -> None:
        self._fetcher = fetcher
        self._server = server
        self._clock = clock

    async def person(self, tokens: Tokens) -> Person:
        url = f"{self._server}/api/v1/accounts/verify_credentials"
        answer = self._checked(await self._fetcher.get(url, tokens.access))
        account = answer.read(_Account)
        name = account.acct or account.username
        if not (_ID.fullmatch(account.id) and _NAME.fullmatch(name)):
            raise SourceProblem(Problem.WRONG_SERVER, reason="account")
        host = urlsplit(self._server).netloc
        return Person(f"{host}:{account.id}", f"{name.partition('@')[0]}@{host}")

    async def page(self, tokens: Tokens, cursor: str) -> ListPage:
        query = {"limit": str(PER_PAGE), **({"max_id": cursor} if cursor else {})}
        url = f"{self._server}{_LIST}?{urlencode(query)}"
        answer = await self._fetcher.get(url, tokens.access)
        if answer.status == _BAD_REQUEST and cursor:
            raise CursorRefused
        statuses = self._checked(answer).read(list[msgspec.Raw])
        # The ids of bookmarks, with which the list goes on, are only in the header.
        following = next_cursor(answer.headers.get("link", ""))
        page = {"bookmarks": statuses, "cursor": following}
        return ListPage(msgspec.json.encode(page), url)

    def _checked(self, answer: Answer) -> Answer:
        require_allowed(answer, self._clock())
        if answer.status == _UNAUTHORIZED:
            raise SourceProblem(Problem.REVOKED)
        if answer.status == _FORBIDDEN:
            raise SourceProblem(Problem.FORBIDDEN)
        if answer.status != _OK:
            raise SourceProblem(Problem.WRONG_SERVER, reason=f"status_{answer.status}")
        return answer


def next_cursor(link: str) -> str:
    """The place after this page, out of a Link header; "" at the end of the list.

    Only the number is taken: the next request goes to the server that the person chose.
    """
    found = _NEXT.search(link)
    if found is None:
        return ""
    try:
        values = parse_qs(urlsplit(found[1]).query, max_num_fields=20).get("max_id", [""])
    except ValueError:
        return ""
    return values[0] if _CURSOR.fullmatch(values[0]) else ""
