"""Reads the saved posts of an account at Mastodon, Bluesky or X, through the API of the network.

The app password of Bluesky is exchanged for a session once and is not stored. X charges the owner
of the app for each post. With more than 90 posts per page, it ends some lists too early.
"""

import asyncio
import re
from base64 import b64encode
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import msgspec
from msgspec import Struct

from bowerbird.clock import MICROSECONDS, Clock
from bowerbird.connections.records import (
    Answer,
    CursorRefused,
    ListPage,
    Person,
    SourceProblem,
    TokenExpired,
    Tokens,
    retry_at,
)
from bowerbird.model.connections import Problem
from bowerbird.openid.providers import Endpoints, Provider, X
from bowerbird.openid.sign_in import Begun

if TYPE_CHECKING:
    from bowerbird.connections.fetching import Fetcher
    from bowerbird.openid.flow import Flow


_OK, _BAD_REQUEST, _UNAUTHORIZED, _FORBIDDEN, _TOO_MANY = 200, 400, 401, 403, 429


class _NetworkClient:
    def __init__(self, fetcher: "Fetcher", server: str, clock: Clock) -> None:
        self._fetcher = fetcher
        self._server = server
        self._clock = clock

    def _checked(self, answer: Answer) -> Answer:
        """The answer, if it is what was asked for."""
        if answer.status == _TOO_MANY:
            when = retry_at(answer.headers, self._clock())
            raise SourceProblem(Problem.RATE_LIMITED, retry_at=when)
        if answer.status == _UNAUTHORIZED:
            raise TokenExpired
        if answer.status == _FORBIDDEN:
            raise SourceProblem(Problem.FORBIDDEN)
        if answer.status != _OK:
            raise SourceProblem(Problem.WRONG_SERVER, reason=f"status_{answer.status}")
        return answer


MASTODON_PER_PAGE: Final = 40
_LIST: Final = "/api/v1/bookmarks"
_NEXT: Final = re.compile(r'<([^<>]{1,2048})>;\s*rel="?next"?')
_CURSOR: Final = re.compile(r"[\x21-\x7e]{1,200}")
_MASTODON_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_MASTODON_NAME: Final = re.compile(r"[A-Za-z0-9_.@-]{1,200}")


class _Account(Struct, frozen=True):
    id: str
    acct: str = ""
    username: str = ""


class Mastodon(_NetworkClient):
    async def person(self, tokens: Tokens) -> Person:
        url = f"{self._server}/api/v1/accounts/verify_credentials"
        answer = self._checked(await self._fetcher.get(url, tokens.access))
        account = answer.read(_Account)
        name = account.acct or account.username
        if not (_MASTODON_ID.fullmatch(account.id) and _MASTODON_NAME.fullmatch(name)):
            raise SourceProblem(Problem.WRONG_SERVER, reason="account")
        host = urlsplit(self._server).netloc
        return Person(f"{host}:{account.id}", f"{name.partition('@')[0]}@{host}")

    async def page(self, tokens: Tokens, cursor: str) -> ListPage:
        query = {"limit": str(MASTODON_PER_PAGE), **({"max_id": cursor} if cursor else {})}
        url = f"{self._server}{_LIST}?{urlencode(query)}"
        answer = await self._fetcher.get(url, tokens.access)
        if answer.status == _BAD_REQUEST and cursor:
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


BLUESKY_PER_PAGE: Final = 100
BLUESKY_SERVER: Final = "https://bsky.social"
_DID: Final = re.compile(r"did:[a-z]+:[A-Za-z0-9._:%-]{1,200}")
_HANDLE: Final = re.compile(r"[A-Za-z0-9.-]{1,253}")
_EXPIRED: Final = ("ExpiredToken", "InvalidToken")
_SESSION: Final = "com.atproto.server"


class _Session(Struct, frozen=True, rename={"access": "accessJwt", "refresh": "refreshJwt"}):
    did: str
    access: str
    refresh: str
    handle: str = ""


class Bluesky(_NetworkClient):
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
        url = f"{self._server}/xrpc/{_SESSION}.deleteSession"
        # Its answer is empty, and not JSON.
        answer = await self._fetcher.post_json(url, token=tokens.refresh, is_json=False)
        self._checked(answer)

    async def page(self, tokens: Tokens, cursor: str) -> ListPage:
        query = {"limit": str(BLUESKY_PER_PAGE), **({"cursor": cursor} if cursor else {})}
        url = f"{self._server}/xrpc/app.bsky.bookmark.getBookmarks?{urlencode(query)}"
        answer = await self._fetcher.get(url, tokens.access)
        if answer.is_error(*_EXPIRED):
            raise TokenExpired
        if answer.status == _BAD_REQUEST and cursor:
            raise CursorRefused
        return ListPage(self._checked(answer).body, url)

    def _session(self, answer: Answer) -> tuple[Person, Tokens]:
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


X_PER_PAGE: Final = 90
SCOPE: Final = "bookmark.read tweet.read users.read offline.access"
AUTHORIZATION: Final = "https://x.com/i/oauth2/authorize"
_FIELDS: Final = {
    "tweet.fields": (
        "article,attachments,author_id,conversation_id,created_at,entities,in_reply_to_user_id,"
        "lang,note_tweet,public_metrics,referenced_tweets"
    ),
    "expansions": (
        "author_id,attachments.media_keys,referenced_tweets.id,referenced_tweets.id.author_id,"
        "article.cover_media"
    ),
    "media.fields": "alt_text,duration_ms,height,preview_image_url,type,url,variants,width",
    "user.fields": "name,username,profile_image_url",
}
_ID: Final = re.compile(r"[0-9]{1,20}")
_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,50}")
_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,8192}")
_NO_CREDIT: Final = 402
_DEFAULT_LIFETIME_S: Final = 7_200
# Renewed a little earlier than X says.
_EARLY: Final = 60 * MICROSECONDS
_BEGIN_S: Final = 5.0


class _User(Struct, frozen=True):
    id: str
    username: str = ""


class _Me(Struct, frozen=True):
    data: _User


class _Granted(Struct, frozen=True):
    access_token: str
    refresh_token: str = ""
    expires_in: int = _DEFAULT_LIFETIME_S


class XApi(_NetworkClient):
    async def exchanged(
        self, tokens: Tokens, code: str, verifier: str, redirect_url: str
    ) -> Tokens:
        """The first tokens, for the code with which the person came back from X."""
        return await self._granted(
            tokens,
            {
                "grant_type": "authorization_code",
                "code": code,
                "code_verifier": verifier,
                "redirect_uri": redirect_url,
            },
        )

    async def renewed(self, tokens: Tokens) -> Tokens:
        """Other tokens. The refresh token that was given is not valid any more."""
        fields = {"grant_type": "refresh_token", "refresh_token": tokens.refresh}
        return await self._granted(tokens, fields)

    async def revoke(self, tokens: Tokens) -> None:
        for token in (tokens.refresh, tokens.access):
            self._checked(await self._sent_by_app(tokens, "revoke", {"token": token}))

    def is_expired(self, tokens: Tokens) -> bool:
        return self._clock() >= tokens.expires_at - _EARLY

    async def person(self, tokens: Tokens) -> Person:
        answer = await self._fetcher.get(f"{self._server}/2/users/me", tokens.access)
        user = self._checked(answer).read(_Me).data
        if not (_ID.fullmatch(user.id) and _NAME.fullmatch(user.username)):
            raise SourceProblem(Problem.WRONG_SERVER, reason="user")
        return Person(user.id, f"@{user.username}")

    async def page(self, tokens: Tokens, user_id: str, cursor: str) -> ListPage:
        query = {"max_results": str(X_PER_PAGE), **_FIELDS}
        return await self._list(tokens, f"{_bookmarks(user_id)}", cursor, query)

    async def folders(self, tokens: Tokens, user_id: str, cursor: str) -> ListPage:
        return await self._list(tokens, f"{_bookmarks(user_id)}/folders", cursor, {})

    async def folder(self, tokens: Tokens, user_id: str, folder_id: str, cursor: str) -> ListPage:
        """Only ids: the posts themselves are in the list of all bookmarks."""
        return await self._list(tokens, f"{_bookmarks(user_id)}/folders/{folder_id}", cursor, {})

    async def _list(
        self, tokens: Tokens, path: str, cursor: str, query: dict[str, str]
    ) -> ListPage:
        if cursor:
            query = {**query, "pagination_token": cursor}
        url = f"{self._server}{path}" + (f"?{urlencode(query)}" if query else "")
        answer = await self._fetcher.get(url, tokens.access)
        if answer.status == _BAD_REQUEST and cursor:
            raise CursorRefused
        return ListPage(self._checked(answer).body, url)

    def _checked(self, answer: Answer) -> Answer:
        if answer.status == _NO_CREDIT:
            raise SourceProblem(Problem.CREDITS)
        return super()._checked(answer)

    async def _sent_by_app(self, tokens: Tokens, endpoint: str, fields: dict[str, str]) -> Answer:
        headers = {}
        if tokens.client_secret:
            # RFC 6749, 2.3.1: id and secret are form-encoded first.
            pair = f"{quote(tokens.client_id, safe='')}:{quote(tokens.client_secret, safe='')}"
            headers["Authorization"] = "Basic " + b64encode(pair.encode()).decode()
        else:
            fields = {**fields, "client_id": tokens.client_id}
        url = f"{self._server}/2/oauth2/{endpoint}"
        return await self._fetcher.post_form(url, fields, headers)

    async def _granted(self, tokens: Tokens, fields: dict[str, str]) -> Tokens:
        answer = await self._sent_by_app(tokens, "token", fields)
        if answer.status in (_BAD_REQUEST, _UNAUTHORIZED, _FORBIDDEN):
            raise SourceProblem(Problem.REVOKED, reason=f"status_{answer.status}")
        granted = self._checked(answer).read(_Granted)
        refresh = granted.refresh_token or tokens.refresh
        if not (_TOKEN.fullmatch(granted.access_token) and _TOKEN.fullmatch(refresh)):
            raise SourceProblem(Problem.UNREADABLE_ANSWER, reason="tokens")
        lifetime_s = min(max(granted.expires_in, 60), 86_400)
        return Tokens(
            access=granted.access_token,
            refresh=refresh,
            expires_at=self._clock() + lifetime_s * MICROSECONDS,
            client_id=tokens.client_id,
            client_secret=tokens.client_secret,
        )


async def begin_x(tokens: Tokens, redirect_url: str, clock: Clock) -> Begun:
    """The URL at which X asks the person, and what is needed when the person comes back."""
    provider = Provider(
        name="x",
        title="X",
        issuer=X,
        client_id=tokens.client_id,
        client_secret=tokens.client_secret,
        scope=SCOPE,
        protocol="x",
        endpoints=Endpoints(AUTHORIZATION, "", ""),
    )
    flow = (await asyncio.to_thread(_imported))(provider, redirect_url, clock, _BEGIN_S)
    return await flow.begin(is_again=False)


def _imported() -> "type[Flow]":
    """Slow the first time, so it runs on a thread."""
    from bowerbird.openid.flow import Flow  # noqa: PLC0415 - slow to import

    return Flow


def _bookmarks(user_id: str) -> str:
    return f"/2/users/{user_id}/bookmarks"
