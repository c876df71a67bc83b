"""Reads the bookmarks of an account on a Mastodon server."""

import re
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
from msgspec import Struct

from bowerbird.connections.records import (
    BAD_REQUEST,
    CursorRefused,
    ListPage,
    NetworkClient,
    Person,
    SourceProblem,
    Tokens,
)
from bowerbird.model.connections import Problem

PER_PAGE: Final = 40
_LIST: Final = "/api/v1/bookmarks"
_NEXT: Final = re.compile(r'<([^<>]{1,2048})>;\s*rel="?next"?')
_CURSOR: Final = re.compile(r"[\x21-\x7e]{1,200}")
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NAME: Final = re.compile(r"[A-Za-z0-9_.@-]{1,200}")


class _Account(Struct, frozen=True):
    id: str
    acct: str = ""
    username: str = ""


class Mastodon(NetworkClient):
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
        if answer.status == BAD_REQUEST and cursor:
            raise CursorRefused
        statuses = self._checked(answer).read(list[msgspec.Raw])
        # The ids of bookmarks, with which the list goes on, are only in the header.
        following = next_cursor(answer.headers.get("link", ""))
        page = {"bookmarks": statuses, "cursor": following}
        return ListPage(msgspec.json.encode(page), url)


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
